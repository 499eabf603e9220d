"""The callers of ``roost`` commands. ``identity.py`` decides who runs the command.

Most classes here choose a ``Caller`` for each operation: the agent that the command belongs to, the
operator, or the agent of a session that the command names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from roost import core
from roost.api import operations as ops
from roost.api.broker import BrokerApi, Notices
from roost.api.operation import SessionOperation
from roost.api.operations import Answers
from roost.api.views import SessionView, TokenView, View
from roost.broker.broker import Broker
from roost.broker.doors.caller import Caller
from roost.broker.doors.identity import Unproven
from roost.broker.doors.subagents import caller_for
from roost.broker.doors.token_callers import TokenCallers
from roost.core.rules import no_session
from roost.core.sessions import is_counted
from roost.errors import BadRequest, RoostError, SessionGone, Unauthorized
from roost.vocabulary import OPERATOR, AgentId, Lifetime, SessionId

R = TypeVar("R", bound=View)

SAY_OPERATOR: Final = (
    "If you are the person, say --operator: `roost --operator …`. It is written to the audit trail."
)

HOUSE_KEEPING: Final[frozenset[type]] = frozenset(
    {ops.Ping, ops.Status, ops.BrowserStart, ops.BrokerStay, ops.BrokerStop}
)
"""The operations that ``roost up``, ``stop``, ``status`` and ``doctor`` call."""


class UnprovenCaller:
    """The broker for an unproven command, which may only start, stop and inspect the broker."""

    def __init__(self, operator: BrokerApi, verdict: Unproven) -> None:
        self._operator = operator
        self._verdict = verdict
        self._allowed = HOUSE_KEEPING if verdict.may_keep_house else frozenset({ops.Ping})

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        if type(operation) not in self._allowed:
            raise self._refusal()
        return await self._operator.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        raise self._refusal()

    def _refusal(self) -> RoostError:
        return Unauthorized(
            f"This command is neither an agent's nor, for certain, the person's."
            f" {self._verdict.because}",
            hint=SAY_OPERATOR,
        )


class SiblingsCaller:
    """The broker for a command whose client has several agents. Each call must name a session,
    and runs as the agent that has that session."""

    def __init__(
        self,
        callers: Mapping[AgentId, BrokerApi],
        owner: Callable[[str], AgentId | None],
    ) -> None:
        """``owner`` returns the agent that has the session of that name."""
        self._callers = callers
        self._owner = owner

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        if isinstance(operation, ops.Ping):  # concerns no session
            api = next(iter(self._callers.values()))
        else:
            api = self._meant(getattr(operation, "session", None))
        return await api.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._meant(session).watch(session)

    def _meant(self, session: str | None) -> BrokerApi:
        owner = None if session is None else self._owner(session)
        if owner is None:
            raise BadRequest(
                "session: this command's client has several agents, so name a session of one.",
                hint="Pass --session ID with the id of the agent's own session.",
                field="session",
            )
        return self._callers[owner]


class SeveralSubagents:
    """The broker for a command while several sub-agents of its client run commands that cannot be
    told apart. Each call must name a session of the main conversation, or one to open there."""

    def __init__(self, main: BrokerApi) -> None:
        self._main = main

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        if isinstance(operation, SessionOperation) and operation.session is None:
            raise BadRequest(
                "session: several sub-agents run commands now, and Roost cannot tell which of them"
                " runs this one.",
                hint="Pass -s NAME, with a name that only this sub-agent uses.",
                field="session",
            )
        return await self._main.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._main.watch(session)


class GivingCaller:
    """The broker for a command with ``--operator``. ``gives`` is called with each session that the
    command opens or requests the token of."""

    def __init__(self, operator: BrokerApi, gives: Callable[[SessionId], None]) -> None:
        self._operator = operator
        self._gives = gives

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        view = await self._operator.call(operation, timeout=timeout)
        if isinstance(view, SessionView) and isinstance(operation, ops.SessionOpen):
            self._gives(SessionId(view.id))
        elif isinstance(view, TokenView):
            self._gives(SessionId(view.session))
        return view

    def watch(self, session: str | None = None) -> Notices:
        return self._operator.watch(session)


# --- page verbs ----------------------------------------------------------------------------------


class AgentVerbs:
    """The broker for a page verb that an agent runs. ``-s NAME`` means a session of the agent's
    own, which is opened if there is none of that name, as ``SessionOpen`` does."""

    def __init__(self, broker: Broker, agent: AgentId) -> None:
        self._broker = broker
        self._agent = agent
        self._caller = caller_for(broker, agent)

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        session = operation.session if isinstance(operation, SessionOperation) else None
        if session is not None and not self._has(session):
            if is_counted(session) or SessionId(session) in self._broker.state.sessions:
                raise no_session(session)
            await self._caller.call(ops.SessionOpen(session=session))
        return await self._caller.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._caller.watch(session)

    def _has(self, session: str) -> bool:
        try:
            acting = self._broker.decide(core.acting_agent, self._agent, session, None)
            self._broker.decide(core.session_for, acting, session)
        except SessionGone:
            return False
        return True


class PersonVerbs:
    """The broker for a page verb that the person runs, or a service of the person's.

    terminal: returns the agent of the person's terminal, which is made at first use. None if the
        command has no terminal: then it must name a session.
    spec: returns the properties of a session of that name, which does not exist yet.
    is_proven: the person runs the command. Otherwise it may only use named sessions.
    """

    def __init__(
        self,
        broker: Broker,
        token_callers: TokenCallers,
        terminal: Callable[[], AgentId] | None,
        spec: Callable[[str], core.SessionSpec],
        *,
        is_proven: bool,
    ) -> None:
        self._broker = broker
        self._operator = Caller(broker, OPERATOR)
        self._token_callers = token_callers
        self._terminal = terminal
        self._spec = spec
        self._is_proven = is_proven

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        if isinstance(operation, SessionOperation):
            api = self._in_session(operation.session)
        elif self._is_proven or type(operation) in HOUSE_KEEPING:
            api = self._operator
        else:
            raise Unauthorized(
                "This command was run from no terminal, so it is not, for certain, the person's.",
                hint=SAY_OPERATOR,
            )
        return await api.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._operator.watch(session)

    def _in_session(self, named: str | None) -> BrokerApi:
        """Return the caller for operations in the session of that name.

        None means the terminal's own session. A named session works by the agent that its token
        would be. A session that does not exist becomes a named one. In the session of another agent
        the person is the operator, who outranks the agent.
        """
        if named is None:
            if self._terminal is None:
                raise BadRequest(
                    "session: a command without a terminal has no session of its own, so name one.",
                    hint="Pass -s NAME; a session that does not exist is opened.",
                    field="session",
                )
            return Caller(self._broker, self._terminal())
        row = self._broker.state.sessions.get(SessionId(named))
        if row is None and not is_counted(named):
            spec = self._spec(named)
            row = self._broker.decide(core.open_session, agent=OPERATOR, alias=None, spec=spec)
        if row is not None and row.lifetime is Lifetime.NAMED:
            return self._token_callers.visit_session(row).api
        if row is None or not self._is_proven:
            raise no_session(named)
        agent = None if self._terminal is None else self._terminal()
        if agent is not None and self._broker.state.member(agent, row.id) is not None:
            return Caller(self._broker, agent)
        return self._operator
