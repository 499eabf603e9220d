"""A client's hook: which agent it belongs to, and the two operations it may call.

Claude Code runs its hooks as it runs commands, beside its MCP servers, so the rules of
``identity.py`` find the agent. Only clients run hooks, so the first program above a hook is its
client, even if the MCP server runs inside a wrapper. If the ancestors lead to no agent, the session
id decides: the client generated it, so no other program can guess it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from roost.api.broker import BrokerApi, Notices
from roost.api.operations import Answers, LoopTurn, SubagentReport
from roost.api.views import View
from roost.broker.broker import Broker
from roost.broker.doors.caller import Caller
from roost.broker.doors.identity import ActsAs, Shim, caller_of, client_of
from roost.errors import SessionGone, Unauthorized
from roost.local.lineage import Lineage
from roost.local.processes import Process
from roost.vocabulary import AgentId

R = TypeVar("R", bound=View)


def agent_of_hook(
    hook: Lineage, agents: Mapping[Process, AgentId], shims: Sequence[Shim], session: str | None
) -> AgentId | None:
    """Return the agent whose client runs the hook, or None if no single agent is found.

    agents: the agents of ``shims``, by their own process.
    session: the session id that the client generated and gave to the hook.
    """
    client = client_of(hook.above)
    if client is not None:
        below = [shim for shim in shims if client.process in shim.above]
        shims = [replace(shim, client=client.process) for shim in below] or shims
    verdict = caller_of(hook, agents, shims, conversation=session)
    if isinstance(verdict, ActsAs):
        return verdict.agents[0] if len(verdict.agents) == 1 else None
    return next((shim.agent for shim in shims if shim.session == session), None)


class CommandHookCaller:
    """The broker for a hook whose client has no shim. The client's commands are an agent
    (``process_agents.py``), which is made when a hook reports its first command.

    agent: that agent, if it exists.
    made: returns the agent, made if there is none.
    """

    def __init__(self, broker: Broker, agent: AgentId | None, made: Callable[[], AgentId]) -> None:
        self._broker = broker
        self._agent = agent
        self._made = made

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        begins = isinstance(operation, SubagentReport) and operation.event == "PreToolUse"
        agent = self._made() if begins else self._agent
        if agent is None:
            raise SessionGone("This hook's client has run no command of Roost.")
        caller = HookCaller(Caller(self._broker, agent, is_told=False))
        return await caller.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        raise Unauthorized("A hook receives no notices.", hint="Watch as the agent.")


class HookCaller:
    """The broker for a hook. A hook may end a turn of its agent's loop, and report which
    sub-agent of its agent runs a tool."""

    def __init__(self, agent: BrokerApi) -> None:
        self._agent = agent

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        is_turn = isinstance(operation, LoopTurn) and operation.session is None
        if not is_turn and not isinstance(operation, SubagentReport):
            raise Unauthorized(
                "A hook may end a turn of its own session's loop or report a sub-agent, and nothing"
                " else.",
                hint="Call this from the agent, or from a terminal.",
            )
        return await self._agent.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        raise Unauthorized("A hook receives no notices.", hint="Watch as the agent.")
