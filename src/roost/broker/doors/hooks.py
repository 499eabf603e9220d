"""A client's hook: which agent it belongs to, and the one operation it may call.

Claude Code runs its hooks as it runs commands, beside its MCP servers, so the rules of
``identity.py`` find the agent. Only clients run hooks, so the first program above a hook is its
client, even if the MCP server runs inside a wrapper. If the ancestors lead to no agent, the session
id decides: the client generated it, so no other program can guess it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from roost.api.broker import BrokerApi, Notices
from roost.api.operations import Answers, LoopTurn
from roost.api.views import View
from roost.broker.doors.identity import ActsAs, Shim, caller_of, client_of
from roost.errors import Unauthorized
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


class HookCaller:
    """The broker as a hook may use it: it may only end a turn of its agent's loop."""

    def __init__(self, agent: BrokerApi) -> None:
        self._agent = agent

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        if not isinstance(operation, LoopTurn) or operation.session is not None:
            raise Unauthorized(
                "A hook may end a turn of its own session's loop, and nothing else.",
                hint="Call this from the agent, or from a terminal.",
            )
        answer = await self._agent.call(operation, timeout=timeout)
        return cast(R, answer)

    def watch(self, session: str | None = None) -> Notices:
        raise Unauthorized("A hook is told of nothing.", hint="Watch as the agent.")
