"""Admit a ``roost`` command: as an agent, as the operator, or as neither.

``identity.py`` decides who runs the command. This file gives the command the agent or the callers
that follow from the decision (``command_callers.py``), and says why (``Welcome.why``).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from roost import core
from roost.api.broker import BrokerApi
from roost.api.door import Admission
from roost.broker.broker import Broker
from roost.broker.browser.files import working_folder
from roost.broker.doors.caller import Caller
from roost.broker.doors.command_callers import (
    AgentVerbs,
    GivingCaller,
    PersonVerbs,
    SeveralSubagents,
    SiblingsCaller,
    UnprovenCaller,
)
from roost.broker.doors.hooks import CommandHookCaller
from roost.broker.doors.identity import ActsAs, IsOperator, OfClient, Place, Unproven, Verdict
from roost.broker.doors.process_agents import TERMINAL, ProcessAgents
from roost.broker.doors.subagents import SharedConnection, caller_for
from roost.broker.doors.token_callers import TokenCallers
from roost.core.sessions import is_counted
from roost.errors import BadRequest
from roost.local.home import user_folder
from roost.local.lineage import Lineage, lineage, working_directory
from roost.local.processes import Peer, Process, command_lines, session_leader
from roost.local.project_file import Project, read_project
from roost.local.project_place import find_project
from roost.local.tcp_peers import started_with
from roost.vocabulary import NOBODY, OPERATOR, AgentId, Lifetime, SessionId, is_session_id
from roost.wire.hello import ClientKind, Hello, Welcome


class WritesAudit(Protocol):
    def __call__(self, kind: str, peer: Peer, line: Lineage, **more: str | None) -> None: ...


class Commands:
    """Admit commands.

    whose: decides who runs the command with that lineage and conversation.
    audit: writes to the audit trail.
    own_subagents: sub-agents of one client get sessions of their own.
    """

    def __init__(
        self,
        broker: Broker,
        token_callers: TokenCallers,
        whose: Callable[[Lineage, str | None], Verdict],
        audit: WritesAudit,
        *,
        own_subagents: bool,
    ) -> None:
        self._own_subagents = own_subagents
        self._broker = broker
        self._token_callers = token_callers
        self._process_agents = ProcessAgents(broker)
        self._whose = whose
        self._audit = audit
        self.given: dict[SessionId, set[Process]] = {}
        """Clients and editors in which the person opened each session or asked for its address."""

    def admit(self, hello: Hello, peer: Peer, version: int) -> Admission:
        line = lineage(peer.pid)
        verdict = self._whose(line, hello.session)
        is_verb = hello.kind is ClientKind.VERB
        api: BrokerApi
        if hello.operator:
            below = verdict.agents[0] if isinstance(verdict, ActsAs) else None
            self._audit("acts as operator", peer, line, why="--operator", below=below)
            api = (
                self._person(peer, has_terminal=True, is_proven=True)
                if is_verb
                else self._giving(verdict)
            )
            return self._visitor(api, OPERATOR, version, "The command says --operator.")
        match verdict:
            case IsOperator(why):
                self._audit("acts as operator", peer, line, why=why)
                operator = Caller(self._broker, OPERATOR)
                api = self._person(peer, has_terminal=True, is_proven=True) if is_verb else operator
                return self._visitor(api, OPERATOR, version, "It runs in a terminal of yours.")
            case Unproven():
                if verdict.may_keep_house:
                    why = "neither client nor terminal"
                    self._audit("acts as operator", peer, line, why=why)
                    if is_verb:
                        api = self._person(peer, has_terminal=False, is_proven=False)
                        return self._visitor(api, NOBODY, version, verdict.because)
                unproven = UnprovenCaller(Caller(self._broker, OPERATOR), verdict)
                return self._visitor(unproven, NOBODY, version, verdict.because)
            case OfClient():
                conversation = hello.session or ""
                agent = self._agent_of(verdict, conversation)
                program = _program(line, verdict.client)
                why = f"It runs below {program} (pid {verdict.client.pid}), which is the agent."
                return self._as_agent(agent, hello, line, version, why)
            case ActsAs((agent,)):
                why = "It runs below or beside a connected agent's process."
                return self._as_agent(agent, hello, line, version, why)
            case ActsAs(agents):
                make = AgentVerbs if is_verb else caller_for
                callers: dict[AgentId, BrokerApi] = {one: make(self._broker, one) for one in agents}
                siblings = SiblingsCaller(callers, lambda session: self._owner(agents, session))
                why = "Its client has several agents, so each command names a session."
                return self._visitor(siblings, NOBODY, version, why)

    def places(self) -> Collection[Place]:
        """Return where the agents run that only run commands."""
        return self._process_agents.places()

    def sweep(self) -> None:
        """End agents whose process is gone, and forget what was given of ended sessions."""
        self._process_agents.sweep()
        for session in self.given.keys() - self._broker.state.sessions.keys():
            del self.given[session]

    def admit_hook(self, hello: Hello, line: Lineage, version: int) -> Admission | None:
        """Admit a hook of a client that has no shim, for the agent that its commands are."""
        verdict = self._whose(line, hello.session)
        if not isinstance(verdict, OfClient):
            return None
        found = self._process_agents.find(verdict.client, hello.session or "")

        def made() -> AgentId:
            return found or self._agent_of(verdict, hello.session or "")

        api = CommandHookCaller(self._broker, found, made)
        welcome = Welcome(version=version, agent=found or NOBODY, software=self._broker.version)
        return Admission(api=api, agent=found or NOBODY, welcome=welcome, is_life=False)

    def _as_agent(
        self, agent: AgentId, hello: Hello, line: Lineage, version: int, why: str
    ) -> Admission:
        """Admit a command of that agent, or of the sub-agent of it that runs the command."""
        make = AgentVerbs if hello.kind is ClientKind.VERB else caller_for
        running = self._running(agent, hello, line)
        if len(running) > 1:
            several = SeveralSubagents(make(self._broker, agent))
            why = "Several sub-agents of its client run commands now, so it must name a session."
            return self._visitor(several, NOBODY, version, why)
        for one in running - {agent}:
            agent, why = one, f"{why} A sub-agent of that agent runs it."
        return self._visitor(make(self._broker, agent), agent, version, why)

    def _running(self, agent: AgentId, hello: Hello, line: Lineage) -> set[AgentId]:
        """Return who may run the command: the agent, or sub-agents of it."""
        known = self._broker.state.subagent(agent, hello.session or "")
        if known is not None:  # the command's environment names the sub-agent's thread
            return {known}
        reports = self._broker.subagent_reports
        if not self._own_subagents or not reports.has_commands(agent):
            return {agent}
        lines = command_lines([one.process.pid for one in line.above])
        shared = SharedConnection(self._broker, agent, list)
        found = reports.running(agent, [" ".join(words) for words in lines.values()])
        return {shared.agent_of(subagent) for subagent in found}

    def _visitor(self, api: BrokerApi, agent: AgentId, version: int, why: str) -> Admission:
        """Admit a command. No agent's life depends on its connection."""
        row = self._broker.state.agents.get(agent)
        welcome = Welcome(
            version=version,
            agent=agent,
            software=self._broker.version,
            session=None if row is None else row.own_session,
            why=why,
        )
        return Admission(api=api, agent=agent, welcome=welcome, is_life=False)

    def _giving(self, verdict: Verdict) -> GivingCaller:
        given = verdict.below[:1] if isinstance(verdict, Unproven | OfClient) else ()
        operator = Caller(self._broker, OPERATOR)
        return GivingCaller(operator, lambda session: self._give(session, given))

    def _give(self, session: SessionId, processes: Sequence[Process]) -> None:
        """Remember that processes below these may use the session."""
        self.given.setdefault(session, set()).update(processes)

    def _owner(self, agents: Sequence[AgentId], session: str) -> AgentId | None:
        """Return the one agent that has a session of that id or alias, or None if not exactly one
        has."""
        state = self._broker.state
        found = [
            agent
            for agent in agents
            if state.aliased(agent, session) or state.member(agent, SessionId(session))
        ]
        return found[0] if len(found) == 1 else None

    # --- agents that live by a process -----------------------------------------------------------

    def _agent_of(self, verdict: OfClient, conversation: str) -> AgentId:
        """Return the agent of a client that has no shim, made at its first command."""
        client = verdict.client
        known = self._process_agents.find(client, conversation)
        if known is not None:
            return known
        # A process sets its own environment as it likes, so only the client's counts, and only if
        # the person started that client.
        named = started_with(client.pid, "ROOST_SESSION") if verdict.is_persons else None
        is_named = named and is_session_id(named) and not is_counted(named)
        spec = self._spec(working_directory(client.pid), named if is_named else None)
        folder = self._folder(client.pid)
        name = " · ".join(filter(None, [client.program, os.path.basename(folder or "")]))
        return self._process_agents.make(
            client, conversation, name=name, session=spec, folders=[folder] if folder else ()
        )

    def _person(self, peer: Peer, *, has_terminal: bool, is_proven: bool) -> PersonVerbs:
        """Return the callers for the person's page verbs.

        has_terminal: the command may have a session by its terminal.
        """
        leader = session_leader(peer.pid) if has_terminal else None
        terminal = None
        if leader is not None:

            def terminal(leader: Process = leader) -> AgentId:
                return self._agent_of_terminal(peer.pid, leader)

        def spec(named: str) -> core.SessionSpec:
            return self._spec(working_directory(peer.pid), named)

        return PersonVerbs(self._broker, self._token_callers, terminal, spec, is_proven=is_proven)

    def _agent_of_terminal(self, pid: int, leader: Process) -> AgentId:
        """Return the agent of the person's terminal, which is made at its first page verb."""
        known = self._process_agents.find(leader, TERMINAL)
        if known is not None:
            return known
        folders = [working_directory(pid)]
        with contextlib.suppress(BadRequest):  # this user is not in the password database
            folders.append(str(user_folder()))
        return self._process_agents.make(
            leader,
            TERMINAL,
            name=f"terminal {leader.pid}",
            session=self._spec(working_directory(pid), None),
            folders=[folder for folder in folders if folder],
        )

    def _spec(self, folder: str | None, named: str | None) -> core.SessionSpec:
        """Return the properties of a new session, as the repository around the folder chooses.

        folder: where the client was started, or where the person runs the command. An agent that
            changes its folder does not get rid of what the repository forbids.
        named: id of the session; None: an anonymous session.

        Raises ``BadRequest`` if the repository's file is wrong: it may forbid something.
        """
        path = find_project(folder)
        project = Project() if path is None else read_project(path)
        return core.SessionSpec(
            id=None if named is None else SessionId(named),
            lifetime=Lifetime.ANONYMOUS if named is None else Lifetime.NAMED,
            name=named,
            browser=self._broker.chosen(project.browser, named, waits=True),
            policy=project.jar,
            allow=project.allow,
            deny=project.deny,
        )

    def _folder(self, pid: int) -> str | None:
        """Return the client's working folder, if an agent may use files below it."""
        with contextlib.suppress(BadRequest):
            said = working_directory(pid) or None
            return working_folder(said, user_folder(), self._broker.files.parent)
        return None


def _program(line: Lineage, process: Process) -> str:
    found = next((one.program for one in line.above if one.process == process), "")
    return found if found.isprintable() and found else "its client"
