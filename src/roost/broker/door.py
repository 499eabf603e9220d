"""Who is at the door? Identity is decided here, once per connection, and nowhere else.

1. The peer must be this user, by the kernel's word, and know the operator token.
2. With a resume secret it is the agent it was. Otherwise a command run below a connected agent's
   process acts as that agent; any other command is the operator; a client's hook may end a turn of
   the agent beside it (``hooks.py``); everything else is a new agent.
3. Who has no connection is whose token it shows (``visits.py``).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from roost.api.door import Admission, LinkEnd, Visit
from roost.api.protocol import Look, Seat, SeatEar
from roost.broker import session_work
from roost.broker.calls import Caller
from roost.broker.hooks import HookCaller, agent_beside
from roost.broker.seats import Seats
from roost.broker.service import Broker
from roost.broker.visits import Visits
from roost.core import events as ev
from roost.core.model import Agent
from roost.core.sessions import NAME_CHARS
from roost.errors import SessionGone, Unauthorized
from roost.local.processes import Peer, ancestors, identify
from roost.local.tcp_peers import Address, started_with, tcp_peer
from roost.vocabulary import OPERATOR, AgentId, BrowserId, Lifetime, SessionId, shown
from roost.wire.hello import ClientKind, Hello, Welcome, agree

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class _Life:
    """The connection an agent lives by."""

    admission: Admission
    kind: ClientKind
    on_end: Callable[[], None]


class BrokerDoor:
    """Implements ``api.door.Door`` and ``TokenDoor``, and ``api.protocol.ProtocolDoor``."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._visits = Visits(broker)
        self._seats = Seats(broker, self._visits)
        self._lives: dict[AgentId, _Life] = {}

    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        version = self._checked(hello, peer)
        if hello.resume is not None:
            return self._resume(hello, peer, version, on_end)
        if hello.kind is ClientKind.CLI:
            return self._command(hello, peer, version)
        if hello.kind is ClientKind.HOOK:
            return self._hook(hello, peer, version)
        return self._newcomer(hello, peer, version, on_end)

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        version = self._checked(hello, peer)
        self._broker.linked(BrowserId(hello.browser or ""), link)
        return Welcome(version=version, agent=OPERATOR, software=self._broker.version)

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        life = self._lives.get(admission.agent)
        # Only the connection the agent lives by now: one it gave up may be lost long after.
        if life is None or life.admission is not admission:
            return
        del self._lives[admission.agent]
        event = ev.AgentLeft if goodbye else ev.AgentDisconnected
        self._broker.feed(event(admission.agent))

    def visit(self, token: str) -> Visit:
        return self._visits.visit(token)

    def visit_as(self, token: str, session: str | None) -> Visit:
        return self._visits.visit_as(token, session)

    async def token_beside(self, here: Address, there: Address) -> str:
        peer = await asyncio.to_thread(tcp_peer, here, there)
        # Not ourselves: the proxy of a session with domain lists connects for its pages.
        if peer is not None and peer.uid == os.getuid() and peer.pid not in (0, os.getpid()):
            name = await asyncio.to_thread(started_with, peer.pid, "ROOST_SESSION")
            row = self._broker.state.sessions.get(SessionId(name or ""))
            if row is not None and row.lifetime is Lifetime.NAMED:
                return session_work.token_of(self._broker, row)
        raise Unauthorized(
            "No token, and the process that asks was not started for a session.",
            hint="Set ROOST_SESSION to the session's id where that program is started; where the"
            " system does not say who asks (macOS), use the address `roost cdp-url` prints.",
        )

    async def look(self, token: str) -> Look:
        _, session = self._visits.guest(token)
        return await self._seats.look(session)

    async def take_seat(self, token: str, ear: SeatEar) -> Seat:
        agent, session = self._visits.guest(token)
        return await self._seats.take(agent, session, ear)

    def sweep(self) -> None:
        """Part with agents whose process is gone though something still holds their connection."""
        for agent in list(self._broker.state.agents.values()):
            if not agent.connected or not agent.process_started:
                continue  # one whose process could never be seen is not dead for that
            process = identify(agent.pid)
            if process is None or process.started != agent.process_started:
                self._end_life(agent.id)
                self._broker.feed(ev.AgentDisconnected(agent.id))
        self._visits.sweep()

    def _checked(self, hello: Hello, peer: Peer) -> int:
        """Rule 1; the wire version both sides speak."""
        version = agree(hello.versions)
        if peer.uid != os.getuid():
            raise Unauthorized("This broker serves another user.")
        if not self._broker.tokens.is_operators(hello.token):
            raise Unauthorized("token: wrong.", hint="Read it from the token file in ROOST_HOME.")
        return version

    def _newcomer(
        self, hello: Hello, peer: Peer, version: int, on_end: Callable[[], None]
    ) -> Admission:
        agent = AgentId(f"agent_{secrets.token_hex(16)}_{peer.pid}")
        secret = secrets.token_hex(SECRET_BYTES)
        process = identify(peer.pid)
        # An agent comes once, perhaps before the browser does: its calls say what is missing.
        browser = self._broker.chosen(hello.browser, hello.session, waits=True)
        if hello.profile is not None and hello.session not in self._broker.state.sessions:
            self._broker.profiles.check(hello.profile)
        self._broker.feed(
            ev.AgentConnected(
                agent=agent,
                pid=peer.pid,
                process_started="" if process is None else process.started,
                name=(hello.name or hello.kind.value)[:NAME_CHARS],
                secret_digest=_digest(secret),
                session=_session_spec(hello, browser),
                folders=(*filter(None, [hello.cwd]), *hello.files),
            )
        )
        self._broker.when_agent_ends(agent, lambda: self._end_life(agent))
        return self._alive(agent, hello.kind, version, on_end, secret=f"{agent}.{secret}")

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
        self._end_life(agent.id)  # a half-open connection of the same client, if there is one
        process = identify(peer.pid)
        started = "" if process is None else process.started
        self._broker.feed(ev.AgentResumed(agent.id, peer.pid, started))
        self._broker.when_agent_ends(agent.id, lambda: self._end_life(agent.id))
        return self._alive(agent.id, hello.kind, version, on_end, secret=resume)

    def _command(self, hello: Hello, peer: Peer, version: int) -> Admission:
        agent = self._agent_above(peer.pid)
        if hello.operator and agent is not None:
            data = {"pid": peer.pid, "below": shown(agent.id)}
            self._broker.audit.write(self._broker.clock.now(), "acts as operator", data)
            agent = None
        identity = OPERATOR if agent is None else agent.id
        return Admission(
            api=Caller(self._broker, identity),
            agent=identity,
            welcome=Welcome(
                version=version,
                agent=identity,
                software=self._broker.version,
                session=None if agent is None else agent.home,
            ),
            is_life=False,
        )

    def _hook(self, hello: Hello, peer: Peer, version: int) -> Admission:
        agents = self._broker.state.agents
        shims = [agents[id] for id, life in self._lives.items() if life.kind is ClientKind.MCP]
        # Ids that people give (`--session work`) can be guessed: they prove nothing here.
        row = self._broker.state.sessions.get(hello.session) if hello.session else None
        own = row.id if row and row.lifetime is Lifetime.RESUMABLE else None
        agent = agent_beside(peer.pid, shims, own)
        if agent is None:
            raise SessionGone("No agent of this hook's client is connected.")
        return Admission(
            api=HookCaller(Caller(self._broker, agent.id, is_told=False)),
            agent=agent.id,
            welcome=Welcome(version=version, agent=agent.id, software=self._broker.version),
            is_life=False,
        )

    def _agent_above(self, pid: int) -> Agent | None:
        """The connected agent whose process the peer runs below: the nearest one."""
        agents = {(a.pid, a.process_started): a for a in self._broker.state.agents.values()}
        lineage = ((process.pid, process.started) for process in ancestors(pid))
        return next((agents[process] for process in lineage if process in agents), None)

    def _alive(
        self,
        agent: AgentId,
        kind: ClientKind,
        version: int,
        on_end: Callable[[], None],
        *,
        secret: str,
    ) -> Admission:
        admission = Admission(
            api=Caller(self._broker, agent),
            agent=agent,
            welcome=Welcome(
                version=version,
                agent=agent,
                software=self._broker.version,
                secret=secret,
                session=self._broker.state.agents[agent].home,
            ),
            is_life=True,
        )
        self._lives[agent] = _Life(admission, kind, on_end)
        return admission

    def _end_life(self, agent: AgentId) -> None:
        life = self._lives.pop(agent, None)
        if life is not None:
            life.on_end()


def _session_spec(hello: Hello, browser: BrowserId | None) -> ev.SessionSpec:
    if hello.session is None:
        lifetime = Lifetime.ANONYMOUS
    else:
        lifetime = Lifetime.RESUMABLE if hello.resumable else Lifetime.NAMED
    return ev.SessionSpec(
        id=None if hello.session is None else SessionId(hello.session),
        lifetime=lifetime,
        name=hello.name,
        browser=browser,
        policy=hello.jar,
        profile=hello.profile,
        allow=hello.allow,
        deny=hello.deny,
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
