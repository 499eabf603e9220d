"""Who is this connection? Only this file decides that, once per connection.

1. The peer process must run as this user, as the kernel reports, and know the operator's token.
2. A peer with a resume secret is the agent it was before. A command is an agent, the operator or
   neither (``identity.py`` decides). A client's hook may only end a turn of that client's agent
   (``hooks.py``). Every other peer is a new agent.
3. An HTTP caller has no lasting connection, so its token says who it is (``token_callers.py``). At
   ``/json`` a process needs no token if it was started with ``ROOST_SESSION`` and that session was
   given out to the place where the process runs (``BrokerDoor._is_given``).

Every connection that acts as the operator is written to the audit trail.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from roost import core
from roost.api.broker import BrokerApi
from roost.api.dashboard import ViewerEar
from roost.api.door import Admission, LinkEnd, Visit
from roost.api.protocol import Look, Seat, SeatEar
from roost.broker.broker import Broker
from roost.broker.browser.files import working_folder
from roost.broker.doors.caller import Caller
from roost.broker.doors.cdp_seats import Seats
from roost.broker.doors.commands import Commands
from roost.broker.doors.hooks import HookCaller, agent_of_hook
from roost.broker.doors.identity import (
    ActsAs,
    IsOperator,
    OfClient,
    Place,
    Shim,
    Unproven,
    Verdict,
    caller_of,
    client_of,
)
from roost.broker.doors.subagents import SharedConnection
from roost.broker.doors.token_callers import TokenCallers
from roost.broker.doors.viewers import BrokerViewer, Viewers
from roost.broker.policy_text import read_policy
from roost.broker.work import session_work
from roost.core import events as ev
from roost.core.policy_layers import PolicyLayer
from roost.core.rows import Session
from roost.core.sessions import NAME_CHARS
from roost.errors import BadRequest, SessionGone, Unauthorized
from roost.local.home import user_folder
from roost.local.lineage import Lineage, description, lineage
from roost.local.processes import Peer, Process, identify, is_alive
from roost.local.tcp_peers import Address, started_with, tcp_peer
from roost.vocabulary import OPERATOR, AgentId, BrowserId, Lifetime, SessionId, shown
from roost.wire.hello import ClientKind, Hello, Welcome, agree

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class _AgentConnection:
    """The connection that keeps an agent alive, with what is known of the process behind it.

    client: the program that the agent runs in.
    above: all ancestors of the agent's process.
    """

    admission: Admission
    kind: ClientKind
    on_end: Callable[[], None]
    client: Process | None
    above: frozenset[Process]
    control_group: str


class BrokerDoor:
    """Turn connections and tokens into callers. Implements ``api.door.Door``, ``TokenDoor``,
    ``api.protocol.ProtocolDoor`` and ``api.dashboard.DashboardDoor``."""

    def __init__(self, broker: Broker, *, own_subagents: bool = True) -> None:
        """``own_subagents``: sub-agents of one client get sessions of their own."""
        self._broker = broker
        self._own_subagents = own_subagents
        self._token_callers = TokenCallers(broker)
        self._seats = Seats(broker, self._token_callers)
        self._viewers = Viewers(broker)
        self._lives: dict[AgentId, _AgentConnection] = {}
        self._commands = Commands(
            broker,
            self._token_callers,
            self._whose,
            self._audit,
            own_subagents=own_subagents,
        )

    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        version = self._checked(hello, peer)
        if hello.resume is not None:
            return self._resume(hello, peer, version, on_end)
        if hello.kind in (ClientKind.CLI, ClientKind.VERB):
            return self._commands.admit(hello, peer, version)
        if hello.kind is ClientKind.HOOK:
            return self._hook(hello, peer, version)
        return self._newcomer(hello, peer, version, on_end)

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        version = self._checked(hello, peer)
        self._broker.linked(BrowserId(hello.browser or ""), link)
        return Welcome(version=version, agent=OPERATOR, software=self._broker.version)

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        life = self._lives.get(admission.agent)
        # Ignore an old connection of an agent that has resumed on another one: the old one may
        # close long after.
        if life is None or life.admission is not admission:
            return
        del self._lives[admission.agent]
        event = ev.AgentLeft if goodbye else ev.AgentDisconnected
        self._broker.hear(event(admission.agent))

    def visit(self, token: str) -> Visit:
        return self._token_callers.visit(token)

    def visit_as(self, token: str, session: str | None) -> Visit:
        return self._token_callers.visit_as(token, session)

    async def check_viewer(self, here: Address, there: Address) -> None:
        # The person may open the dashboard in their own browser, so that one is not refused.
        ours = {
            browser.started.pid
            for browser in self._broker.browsers.values()
            if browser.started is not None and not browser.driver.capabilities.asks_person
        }
        peer = await asyncio.to_thread(tcp_peer, here, there)
        line = None if peer is None else await asyncio.to_thread(lineage, peer.pid)
        above = () if line is None else (one.process.pid for one in line.above)
        if peer is not None and not ours.isdisjoint({peer.pid, *above}):
            raise Unauthorized("The dashboard is not shown in a browser that agents use.")

    async def enter(self, *, code: str | None, token: str | None, ear: ViewerEar) -> BrokerViewer:
        return await self._viewers.enter(code=code, token=token, ear=ear)

    async def note_operator(self, here: Address, there: Address) -> None:
        peer = await asyncio.to_thread(tcp_peer, here, there) or Peer(uid=os.getuid(), pid=0)
        line = await asyncio.to_thread(lineage, peer.pid)
        self._audit("acts as operator", peer, line, why="operator's token over HTTP")

    async def token_beside(self, here: Address, there: Address) -> str:
        peer = await asyncio.to_thread(tcp_peer, here, there)
        # Not this process: the filtering proxy, which connects on behalf of pages, runs in it.
        if peer is not None and peer.uid == os.getuid() and peer.pid not in (0, os.getpid()):
            name = await asyncio.to_thread(started_with, peer.pid, "ROOST_SESSION")
            line = await asyncio.to_thread(lineage, peer.pid)
            row = self._broker.state.sessions.get(SessionId(name or ""))
            is_named = row is not None and row.lifetime is Lifetime.NAMED
            if row is not None and is_named and self._is_given(row, peer.pid, line):
                self._audit("session given out", peer, line, session=row.id, to="ROOST_SESSION")
                return session_work.token_of(self._broker, row)
        # Give the same answer for a missing session and for another agent's, so that a process
        # cannot find out which sessions exist.
        raise Unauthorized(
            "No token, and no session was given out to the process that asks.",
            hint="Set ROOST_SESSION to the session's id where that program is started. An agent"
            " reaches only its own sessions so. Everywhere else (macOS, too) use the address that"
            " `roost cdp-url` prints.",
        )

    def _is_given(self, session: Session, pid: int, line: Lineage) -> bool:
        """Return True if a process that was started with the session's name may use the session.

        A process can set its environment itself, so its ancestors decide. A process in the person's
        terminal, or outside any client, acts for the person and may use every session. A process
        that an agent runs may use that agent's sessions. Below a client or editor without a
        connected agent, one of two things must hold: the client was started with the same
        ``ROOST_SESSION``, or the person opened the session or asked for its address there.
        """
        process = identify(pid)
        own = None if process is None else self._agents().get(process)
        verdict = self._whose(line, None) if own is None else ActsAs((own,))
        match verdict:
            case ActsAs(agents):
                return any(self._broker.state.member(agent, session.id) for agent in agents)
            case IsOperator():
                return True
            case Unproven(below=()):
                return verdict.may_keep_house
            case OfClient(below=below) | Unproven(below=below):
                given = self._commands.given.get(session.id, set())
                return not given.isdisjoint(below) or any(
                    started_with(one.pid, "ROOST_SESSION") == session.id for one in below
                )

    async def look(self, token: str) -> Look:
        agent, session = self._token_callers.guest(token)
        return await self._seats.look(agent, session)

    async def take_seat(self, token: str, ear: SeatEar) -> Seat:
        agent, session = self._token_callers.guest(token)
        return await self._seats.take(agent, session, ear)

    def sweep(self) -> None:
        """Disconnect agents whose process is gone although another process holds their connection.

        Also put back a lost token file, and renew the leases of callers that wait for an answer.
        """
        for agent in list(self._broker.state.agents.values()):
            if agent.by_process or not agent.connected or not agent.process_started:
                continue  # its process could never be identified, so it cannot be checked
            if not is_alive(Process(agent.pid, agent.process_started)):
                self._end_life(agent.id)
                self._broker.hear(ev.AgentDisconnected(agent.id))
        self._broker.tokens.put_back()
        self._commands.sweep()
        self._token_callers.sweep()

    def _checked(self, hello: Hello, peer: Peer) -> int:
        """Check rule 1 and return the wire version that both sides speak."""
        version = agree(hello.versions)
        if peer.uid != os.getuid():
            raise Unauthorized("This broker serves another user.")
        if not self._broker.tokens.is_operators(hello.token):
            raise Unauthorized(
                "token: wrong.",
                hint="Read it from the token file in ROOST_HOME. If you did, see `roost doctor`.",
            )
        return version

    def _newcomer(
        self, hello: Hello, peer: Peer, version: int, on_end: Callable[[], None]
    ) -> Admission:
        agent = AgentId(f"agent_{secrets.token_hex(16)}_{peer.pid}")
        secret = secrets.token_hex(SECRET_BYTES)
        process, line = identify(peer.pid), lineage(peer.pid)
        client = _client(hello.kind, line)
        # An agent connects only once, perhaps before the person's browser runs. So accept it now;
        # its calls then report that the browser is missing.
        browser = self._broker.chosen(hello.browser, hello.session, waits=True)
        if hello.profile is not None and hello.session not in self._broker.state.sessions:
            self._broker.profiles.check(hello.profile)
        name = (hello.name or hello.kind.value)[:NAME_CHARS]
        self._broker.decide(
            core.connect_agent,
            agent=agent,
            pid=peer.pid,
            process_started="" if process is None else process.started,
            name=name,
            program=description(peer.pid if client is None else client.pid)
            or f"a process that cannot be seen, {name}",
            secret_digest=_digest(secret),
            session=_session_spec(hello, browser, _layers(hello)),
            folders=(*filter(None, [self._working_folder(hello)]), *hello.files),
        )
        self._broker.when_agent_ends(agent, lambda: self._end_life(agent))
        return self._alive(agent, hello.kind, line, version, on_end, secret=f"{agent}.{secret}")

    def _resume(
        self, hello: Hello, peer: Peer, version: int, on_end: Callable[[], None]
    ) -> Admission:
        resume = hello.resume or ""
        name, _, secret = resume.partition(".")
        agent = self._broker.state.agents.get(AgentId(name))
        if agent is None or not hmac.compare_digest(_digest(secret), agent.secret_digest):
            raise Unauthorized(
                "resume: that agent has ended.", hint="Say hello without a resume secret."
            )
        self._end_life(agent.id)  # close a half-open old connection of the agent, if there is one
        process = identify(peer.pid)
        started = "" if process is None else process.started
        self._broker.decide(core.resume_agent, agent.id, peer.pid, started)
        self._broker.when_agent_ends(agent.id, lambda: self._end_life(agent.id))
        line = lineage(peer.pid)
        return self._alive(agent.id, hello.kind, line, version, on_end, secret=resume)

    def _whose(self, line: Lineage, conversation: str | None) -> Verdict:
        places = [Place(life.control_group, life.above) for life in self._lives.values()]
        places += self._commands.places()
        return caller_of(
            line,
            self._agents(),
            self._shims(),
            conversation=conversation,
            places=places,
        )

    def _agents(self) -> dict[Process, AgentId]:
        """Return the agents by their own processes."""
        rows = self._broker.state.agents.values()
        return {
            Process(row.pid, row.process_started): row.id
            for row in rows
            if row.pid and not row.by_process
        }

    def _shims(self) -> list[Shim]:
        agents = self._broker.state.agents
        lives = [(id, life) for id, life in self._lives.items() if life.kind is ClientKind.MCP]
        return [
            Shim(id, agents[id].own_session, life.client, life.above, agents[id].conversation)
            for id, life in lives
        ]

    def _working_folder(self, hello: Hello) -> str | None:
        with contextlib.suppress(BadRequest):  # this user is not in the password database
            return working_folder(hello.cwd, user_folder(), self._broker.files.parent)
        return None

    def _audit(self, kind: str, peer: Peer, line: Lineage, **more: str | None) -> None:
        if (below := more.pop("below", None)) is not None:
            more["below"] = shown(AgentId(below))
        entry = {"pid": peer.pid, "line": str(line), **more}
        self._broker.audit.write(self._broker.clock.now(), kind, entry)

    def _hook(self, hello: Hello, peer: Peer, version: int) -> Admission:
        """Admit a client's hook for the agent of that client."""
        shims = self._shims()
        connected = {shim.agent for shim in shims}
        own = {process: id for process, id in self._agents().items() if id in connected}
        # Only ids that a client generated prove anything: ids that people choose, such as
        # `--session work`, can be guessed.
        row = self._broker.state.sessions.get(hello.session) if hello.session else None
        session = row.id if row and row.lifetime is Lifetime.RESUMABLE else None
        line = lineage(peer.pid)
        agent = agent_of_hook(line, own, shims, session)
        if agent is None:
            admission = self._commands.admit_hook(hello, line, version)
            if admission is not None:
                return admission
            raise SessionGone("No agent of this hook's client is connected.")
        api = HookCaller(Caller(self._broker, agent, is_told=False))
        welcome = Welcome(version=version, agent=agent, software=self._broker.version)
        return Admission(api=api, agent=agent, welcome=welcome, is_life=False)

    def _alive(
        self,
        agent: AgentId,
        kind: ClientKind,
        line: Lineage,
        version: int,
        on_end: Callable[[], None],
        *,
        secret: str,
    ) -> Admission:
        api: BrokerApi = Caller(self._broker, agent)
        client = _client(kind, line)
        if kind is ClientKind.MCP and self._own_subagents:
            api = SharedConnection(self._broker, agent, lambda: self._siblings(agent))
        admission = Admission(
            api=api,
            agent=agent,
            welcome=Welcome(
                version=version,
                agent=agent,
                software=self._broker.version,
                secret=secret,
                session=self._broker.state.agents[agent].own_session,
                pings=kind is ClientKind.MCP,
            ),
            is_life=True,
        )
        # An agent that has not called yet is idle since it connected.
        self._broker.seen_at.setdefault(agent, self._broker.clock.now())
        above = frozenset(one.process for one in line.above)
        self._lives[agent] = _AgentConnection(
            admission, kind, on_end, client, above, line.control_group
        )
        return admission

    def _siblings(self, agent: AgentId) -> list[AgentId]:
        """Return the other agents whose shims the same client process runs."""
        own = self._lives.get(agent)
        if own is None or own.client is None:
            return []
        lives = self._lives.items()
        return [id for id, life in lives if life.client == own.client and id != agent]

    def _end_life(self, agent: AgentId) -> None:
        life = self._lives.pop(agent, None)
        if life is not None:
            life.on_end()


def _client(kind: ClientKind, line: Lineage) -> Process | None:
    """Return the client of a shim. None for an agent in Python, which is its own client."""
    client = client_of(line.above) if kind is ClientKind.MCP else None
    return None if client is None else client.process


def _layers(hello: Hello) -> tuple[PolicyLayer, ...]:
    """Return the policies that the agent was started with. Raises ``BadRequest`` for a wrong one:
    an agent must not run without the policy that it was given."""
    given = ((".roost.toml", hello.project_policy), ("--policy", hello.policy))
    return tuple(read_policy(text, source) for source, text in given if text is not None)


def _session_spec(
    hello: Hello, browser: BrowserId | None, layers: tuple[PolicyLayer, ...]
) -> core.SessionSpec:
    if hello.session is None:
        lifetime = Lifetime.ANONYMOUS
    else:
        lifetime = Lifetime.RESUMABLE if hello.resumable else Lifetime.NAMED
    return core.SessionSpec(
        id=None if hello.session is None else SessionId(hello.session),
        lifetime=lifetime,
        name=hello.name,
        browser=browser,
        policy=hello.jar,
        profile=hello.profile,
        allow=hello.allow,
        deny=hello.deny,
        layers=layers,
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
