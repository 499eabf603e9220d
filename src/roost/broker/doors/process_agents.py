"""Agents that only run commands: they have no connection, so they live by a process.

Such an agent's process is the client that runs its commands (``roost click e12`` in a shell of
Claude Code), or the first process of a terminal of the person's. All commands below that process
are one agent. The agent ends when the process ends. The kernel reports that end at once on Linux
(pidfd); elsewhere ``sweep`` looks for it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Collection, Sequence

from roost import core
from roost.broker.broker import Broker
from roost.broker.doors.identity import Place
from roost.core import events as ev
from roost.core.rows import Agent
from roost.core.sessions import NAME_CHARS
from roost.local.lineage import description, lineage
from roost.local.processes import Process, is_alive, open_pidfd
from roost.vocabulary import AgentId

ENDED = "its process ended"
TERMINAL = "(terminal)"
"""Stands for the conversation of a terminal's agent. No client's conversation is called so."""


class ProcessAgents:
    """Make such agents, find them again (also after a broker restart), and end them."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._agents: dict[tuple[Process, str], AgentId] = {}
        self._places: dict[AgentId, Place] = {}
        for row in [row for row in broker.state.agents.values() if row.by_process]:
            broker.decide(core.resume_agent, row.id)
            self._keep(row)

    def places(self) -> Collection[Place]:
        """Return where the agents run that are clients'."""
        return self._places.values()

    def find(self, process: Process, conversation: str = "") -> AgentId | None:
        """Return the agent that lives by the process, if there is one."""
        return self._agents.get((process, conversation))

    def make(
        self,
        process: Process,
        conversation: str = "",
        *,
        name: str,
        session: core.SessionSpec,
        folders: Sequence[str] = (),
    ) -> AgentId:
        """Make an agent that lives by the process.

        conversation: the client's conversation that the agent is for, or ``TERMINAL``. Each has
            its own agent.
        name: the name that people see.
        session: the agent's own session.
        folders: where the agent may read and write files.
        """
        agent = AgentId(f"agent_{secrets.token_hex(16)}_{process.pid}")
        self._broker.decide(
            core.connect_agent,
            agent=agent,
            pid=process.pid,
            process_started=process.started,
            name=name[:NAME_CHARS],
            program=description(process.pid) or f"a process that cannot be seen, {name}",
            secret_digest="",
            session=session,
            by_process=True,
            conversation=conversation,
            folders=tuple(folders),
        )
        self._broker.seen_at.setdefault(agent, self._broker.clock.now())
        self._keep(self._broker.state.agents[agent])
        return agent

    def sweep(self) -> None:
        """End the agents whose process is gone."""
        for (process, _), agent in list(self._agents.items()):
            if not is_alive(process):
                self._broker.hear(ev.AgentLeft(agent, ENDED))

    def _keep(self, row: Agent) -> None:
        key = Process(row.pid, row.process_started), row.conversation
        self._agents[key] = row.id
        if row.conversation != TERMINAL:
            line = lineage(row.pid)
            above = frozenset(one.process for one in line.above)
            self._places[row.id] = Place(line.control_group, above)
        watch = self._broker.tasks.spawn(self._watch(key[0], row.id), name=f"watch {row.pid}")

        def forget() -> None:
            self._agents.pop(key, None)
            self._places.pop(row.id, None)
            watch.cancel()

        self._broker.when_agent_ends(row.id, forget)

    async def _watch(self, process: Process, agent: AgentId) -> None:
        """Wait until the process has ended, then end the agent."""
        pidfd = open_pidfd(process.pid)
        try:
            # The pidfd was opened first, so it belongs to this process if the process is alive now.
            if is_alive(process):
                if pidfd is None:
                    return  # no pidfds here: ``sweep`` notices the end
                await _readable(pidfd)
        finally:
            if pidfd is not None:
                os.close(pidfd)
        self._broker.hear(ev.AgentLeft(agent, ENDED))


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
