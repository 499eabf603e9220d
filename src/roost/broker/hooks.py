"""A client's hook: whose it is, and the one thing it may do.

Claude Code runs its hooks under ``sh -c`` and its MCP servers perhaps under ``npx`` or ``uvx``: the
hook is no descendant of the shim, but both descend from the client. So the hook belongs to the
agent whose shim hangs below the hook's nearest common ancestor.

Climbing goes past shells and launchers only. The first other program above the hook is the client
that ran it; had that no shim, the next common ancestor would be a terminal or a service manager,
and the hook would end another client's turns. For the same reason the ancestor of all, to whom
orphans fall, is nobody's client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar, cast

from roost.api.broker import BrokerApi, Notices
from roost.api.operations import Answers, LoopTurn
from roost.api.views import View
from roost.core.model import Agent
from roost.errors import Unauthorized
from roost.local.processes import Process, lineages

R = TypeVar("R", bound=View)

LAUNCHERS: Final = frozenset(
    {"sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "zsh"}
    | {"env", "nice", "timeout", "uv", "uvx"}
)
"""Programs that only pass a command on, by the names the kernel has for them."""

GUARDIANS: Final = frozenset(
    {"systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "s6-svscan", "runit"}
)
"""Programs that adopt other people's processes."""


def agent_beside(pid: int, shims: Sequence[Agent], session: str | None) -> Agent | None:
    """The agent whose client runs the process ``pid`` as a hook. Where descent does not decide,
    ``session`` does: the id a client made up for itself, which nobody else can guess."""
    beside = _beside(pid, shims)
    if len({shim.home for shim in beside}) == 1:
        return beside[0]
    return next((shim for shim in beside or shims if shim.home == session), None)


def _beside(pid: int, shims: Sequence[Agent]) -> list[Agent]:
    known = lineages([pid, *(shim.pid for shim in shims)])
    lines = [(shim, {Process(shim.pid, shim.process_started), *known[shim.pid]}) for shim in shims]
    for ancestor in known[pid]:
        if ancestor.program in GUARDIANS:
            break
        below = [shim for shim, line in lines if ancestor in line]
        if below:
            return below
        if ancestor.program not in LAUNCHERS:
            break
    return []


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
