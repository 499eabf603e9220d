"""Callers without a connection: their token identifies them, and their calls keep them alive.

All holders of a session's token share one agent of that session. The agent ends 120 s after its
last call ended. Its slot request, reservation and capture turns end with it; the named session
stays.
"""

from __future__ import annotations

import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

from roost import core
from roost.api.broker import Notices
from roost.api.door import SESSION_HEADER, Visit
from roost.api.operations import Answers
from roost.api.views import View
from roost.broker.broker import Broker
from roost.broker.doors.caller import Caller
from roost.core import events as ev
from roost.core.rows import Session
from roost.errors import BadRequest, Unauthorized
from roost.vocabulary import LEASE_SECONDS, OPERATOR, AgentId

R = TypeVar("R", bound=View)


class TokenCallers:
    """Turn tokens into callers. Implements ``api.door.TokenDoor``."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._calling: Counter[AgentId] = Counter()

    def visit(self, token: str) -> Visit:
        session = self._session_of(token)
        if session is None:
            return Visit(Caller(self._broker, OPERATOR), None)
        return self.visit_session(session)

    def visit_as(self, token: str, session: str | None) -> Visit:
        own = self._session_of(token)
        if own is not None:
            if session is not None:  # the token's agent is a member of no other session
                self._broker.decide(core.session_for, self._agent_of(own), session)
            return self.visit_session(own)
        if session is None:
            raise BadRequest(
                "session: the operator's token is good for every session, so name one.",
                hint=f"Send the header {SESSION_HEADER}, or that session's own token.",
                field="session",
            )
        return self.visit_session(self._broker.decide(core.session_for, OPERATOR, session))

    def guest(self, token: str) -> tuple[AgentId, Session]:
        """Return the agent and the session of a session's token, for a caller that stays connected
        and keeps the agent alive with ``calling``."""
        session = self._session_of(token)
        if session is None:
            raise Unauthorized(
                "token: the operator's is good for every session; this needs one session's own.",
                hint="Ask for it with `roost cdp-url --session ID`.",
            )
        return self._agent_of(session), session

    def sweep(self) -> None:
        """Renew the leases of all agents with a call under way, however long it takes."""
        for agent in list(self._calling):
            self._renew(agent)

    def _session_of(self, token: str) -> Session | None:
        """Return the session that the token belongs to, or None for the operator's token. Raises
        ``Unauthorized`` for any other token."""
        tokens = self._broker.tokens
        session = tokens.session_of(self._broker.state, token)
        if session is None and tokens.is_operators(token):
            return None
        if session is None:
            raise Unauthorized(
                "token: wrong, or its session has ended.",
                hint="Read the operator's from the token file in ROOST_HOME, or POST /session.",
            )
        return session

    def visit_session(self, session: Session) -> Visit:
        """Return the session's agent with a lease, as the session's token would."""
        agent = self._agent_of(session)
        return Visit(_Guest(self, Caller(self._broker, agent), agent), session.id)

    def _agent_of(self, session: Session) -> AgentId:
        """Return the session's agent with a lease, renewed, or a new one."""
        state = self._broker.state
        for agent in state.agents_in(session.id):
            row = state.agents[agent]
            if row.lease_until is not None and row.own_session == session.id and self._renew(agent):
                return agent
        agent = AgentId(f"agent_{secrets.token_hex(16)}_0")
        self._broker.decide(
            core.connect_agent,
            agent=agent,
            pid=0,  # unknown: only the token identifies the caller
            process_started="",
            name=session.name,
            program=f"whoever has the token of session {session.id}",
            secret_digest="",
            session=core.SessionSpec(id=session.id, lifetime=session.lifetime),
            lease=True,
        )
        return agent

    def _renew(self, agent: AgentId) -> bool:
        """Renew the agent's lease. Returns False if the lease has already expired."""
        if self._has_full_lease(agent):
            return True
        try:
            self._broker.decide(core.renew_lease, agent)
        except Unauthorized:
            return False
        return True

    def _has_full_lease(self, agent: AgentId) -> bool:
        """Return whether a renewal would change nothing: the core rounds leases up to seconds."""
        row = self._broker.state.agents.get(agent)
        until = None if row is None else row.lease_until
        return until is not None and until - self._broker.clock.now() >= LEASE_SECONDS

    @contextlib.contextmanager
    def calling(self, agent: AgentId) -> Iterator[None]:
        """Keep the agent alive inside the block, and start its lease anew at the end."""
        self._calling[agent] += 1
        try:
            yield
        finally:
            self._calling[agent] -= 1
            if not self._calling[agent]:
                del self._calling[agent]
            # A seat leaves this block while the broker decides that its session ends, so this is a
            # fact for the queue and not a request.
            if not self._has_full_lease(agent):
                self._broker.hear(ev.CallEnded(agent))


class _Guest:
    """The ``BrokerApi`` of a session's agent for one visit. Its calls keep the agent alive."""

    def __init__(self, visits: TokenCallers, caller: Caller, agent: AgentId) -> None:
        self._visits = visits
        self._caller = caller
        self._agent = agent

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        with self._visits.calling(self._agent):
            return await self._caller.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._caller.watch(session)
