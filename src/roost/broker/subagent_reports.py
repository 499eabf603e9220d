"""What clients' hooks reported: which sub-agent makes a call, and which runs a command.

Claude Code sends the id of the tool use with each call, and no sub-agent. Its hooks know both. They
report before the call begins (``operations.SubagentReport``); only a hook that takes longer than
the client waits for it reports after the call.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from roost.vocabulary import AgentId

V = TypeVar("V")
MAIN = ""
"""Stands for the main conversation where a report would name a sub-agent."""
REPORT_SECONDS = 0.3
"""How long a call waits for its report, on a connection whose client reports its calls."""
MISSES = 3
"""After this many calls in a row without a report, calls stop waiting until a report comes."""
TOOL_USES = 256
COMMANDS = 64
"""The number of tool uses and of commands that are remembered for each agent."""
_QUOTING = re.compile(r"[\s\\'\"]+")
"""What a shell's command line may add to a command's text or take from it."""


@dataclass(slots=True)
class _Reports:
    """The reports of one client, which has one agent with a connection.

    tool_uses: the sub-agent of each tool use, oldest first.
    commands: the sub-agent and the text of each command that runs, by tool use.
    kinds: what the client calls each sub-agent's kind.
    """

    tool_uses: dict[str, str] = field(default_factory=dict)
    commands: dict[str, tuple[str, str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, asyncio.Future[str]] = field(default_factory=dict)
    expects: bool = False
    """The client reports calls of tools, so a call waits for its report."""
    misses: int = 0
    """How many calls in a row waited and got no report."""
    is_noted: bool = False


class SubagentReports:
    """The reports about all agents. They are lost with the broker."""

    def __init__(self) -> None:
        self._agents: dict[AgentId, _Reports] = {}

    def began(self, agent: AgentId, tool_use: str, subagent: str, kind: str, command: str) -> None:
        """Record which sub-agent begins a tool use. ``command``: what it runs in a shell."""
        reports = self._agents.setdefault(agent, _Reports())
        _remember(reports.tool_uses, tool_use, subagent, TOOL_USES)
        if subagent:
            _remember(reports.kinds, subagent, kind, TOOL_USES)
        if command:
            _remember(reports.commands, tool_use, (subagent, command), COMMANDS)
        else:
            reports.expects, reports.misses = True, 0
        waiting = reports.waiting.pop(tool_use, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(subagent)

    def ended(self, agent: AgentId, tool_use: str) -> None:
        """Forget a command that has ended."""
        if agent in self._agents:
            self._agents[agent].commands.pop(tool_use, None)

    def stopped(self, agent: AgentId, subagent: str) -> None:
        """Forget the commands of a sub-agent that has ended."""
        reports = self._agents.get(agent)
        if reports is not None:
            for tool_use in [use for use, one in reports.commands.items() if one[0] == subagent]:
                del reports.commands[tool_use]

    def forget(self, agent: AgentId) -> None:
        self._agents.pop(agent, None)

    def expect(self, agent: AgentId) -> None:
        """Expect reports again: the agent has sub-agents from before a restart of the broker."""
        if agent not in self._agents:
            self._agents[agent] = _Reports(expects=True)

    def are_expected(self, agent: AgentId) -> bool:
        """Return whether the agent's client reports its calls."""
        reports = self._agents.get(agent)
        return reports is not None and reports.expects

    def kind(self, agent: AgentId, subagent: str) -> str:
        reports = self._agents.get(agent)
        return "" if reports is None else reports.kinds.get(subagent, "")

    async def reported(self, agent: AgentId, tool_use: str) -> str | None:
        """Return the sub-agent that makes the call, or ``MAIN``. None: no report came in time."""
        reports = self._agents[agent]
        known = reports.tool_uses.get(tool_use)
        if known is not None:
            return known
        waiting = reports.waiting.setdefault(tool_use, asyncio.get_running_loop().create_future())
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                return await asyncio.shield(waiting)
        except TimeoutError:
            reports.misses += 1
            reports.expects = reports.misses < MISSES
            return None
        finally:
            reports.waiting.pop(tool_use, None)

    def note_once(self, agent: AgentId) -> bool:
        """Return whether the agent must still be told that a report is missing."""
        reports = self._agents.setdefault(agent, _Reports())
        is_first, reports.is_noted = not reports.is_noted, True
        return is_first

    def has_commands(self, agent: AgentId) -> bool:
        """Return whether a command of the agent's client is reported that has not ended."""
        reports = self._agents.get(agent)
        return reports is not None and bool(reports.commands)

    def running(self, agent: AgentId, lines: Sequence[str]) -> set[str]:
        """Return the sub-agents (or ``MAIN``) that may run a command below shells with these
        command lines.

        If only one runs commands, it is that one. Else the text of its command must stand in one
        of the lines.
        """
        reports = self._agents.get(agent)
        commands = [] if reports is None else list(reports.commands.values())
        owners = {subagent for subagent, _ in commands}
        if len(owners) == 1:
            return owners
        bare = [_QUOTING.sub("", line) for line in lines]
        found = {
            subagent
            for subagent, text in commands
            if any(_QUOTING.sub("", text) in line for line in bare)
        }
        return found or owners or {MAIN}


def _remember(table: dict[str, V], key: str, value: V, most: int) -> None:
    table.pop(key, None)
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]
