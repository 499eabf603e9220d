"""A client's hook: whose it is, and the one thing it may do.

Claude Code runs its hooks beside its MCP servers, as it runs commands: ``callers.py`` says whose a
hook is. Only clients run hooks, so the first program above a hook is its client, also if there is a
wrapper around the MCP server. Where descent leaves no agent, the session id that the client made up
for itself decides: nobody else can guess it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from roost.api.broker import BrokerApi, Notices
from roost.api.operations import Answers, LoopTurn
from roost.api.views import View
from roost.broker.doors.callers import ActsAs, Shim, client_of, whose
from roost.errors import Unauthorized
from roost.local.lineage import Lineage
from roost.local.processes import Process
from roost.vocabulary import AgentId

R = TypeVar("R", bound=View)


def agent_of_hook(
    hook: Lineage, agents: Mapping[Process, AgentId], shims: Sequence[Shim], session: str | None
) -> AgentId | None:
    """The agent whose client runs the hook. ``agents`` are the same shims by their own process."""
    client = client_of(hook.above)
    if client is not None:
        below = [shim for shim in shims if client.process in shim.above]
        shims = [replace(shim, client=client.process) for shim in below] or shims
    verdict = whose(hook, agents, shims, conversation=session)
    if isinstance(verdict, ActsAs):
        return verdict.agents[0] if len(verdict.agents) == 1 else None
    return next((shim.agent for shim in shims if shim.home == session), None)


class HookCaller:
    """The broker as a hook may use it: to end a turn of its agent's loop, and nothing else."""

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
