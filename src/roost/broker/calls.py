"""One caller's ``BrokerApi``: every call bounded by one deadline, answered, and on the record."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from roost.api import operations as ops
from roost.api.broker import Notice, Notices
from roost.api.operations import Answers, Audience, Operation
from roost.api.views import View
from roost.broker import looks, page_work, session_work, space_work
from roost.broker.service import Broker
from roost.core import rules
from roost.errors import BadRequest, Internal, RoostError, Timeout, Unauthorized
from roost.vocabulary import (
    CALL_SECONDS,
    CALL_SECONDS_MAX,
    OPERATOR,
    AgentId,
    SessionId,
    shown,
)

R = TypeVar("R", bound=View)
Work = Callable[[Broker, AgentId, Any], Awaitable[View]]
logger = logging.getLogger(__name__)

WORK: dict[type[Operation], Work] = {
    ops.Navigate: page_work.navigate,
    ops.Evaluate: page_work.evaluate,
    ops.TakeScreenshot: page_work.take_screenshot,
    ops.Tabs: page_work.tabs,
    ops.Close: page_work.close,
    ops.SessionOpen: session_work.open_,
    ops.SessionList: session_work.list_,
    ops.SessionDispose: session_work.dispose,
    ops.SessionShow: session_work.show,
    ops.SessionPause: session_work.pause,
    ops.SessionResume: session_work.resume,
    ops.TabSpaceRequest: space_work.request,
    ops.TabSpaceGrant: space_work.grant,
    ops.TabSpaceStatus: space_work.status,
    ops.LoopStart: space_work.loop_start,
    ops.LoopStop: space_work.loop_stop,
    ops.LoopStatus: space_work.loop_status,
    ops.LoopTurn: space_work.loop_turn,
    ops.Status: session_work.status,
    ops.Ping: session_work.ping,
    ops.BrowserStart: session_work.browser_start,
    ops.BrokerStay: session_work.broker_stay,
    ops.BrokerStop: session_work.broker_stop,
}


class Caller:
    """The broker as one agent, or the operator, may use it."""

    def __init__(self, broker: Broker, agent: AgentId) -> None:
        self._broker = broker
        self._agent = agent

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        assert isinstance(operation, Operation)
        broker, agent = self._broker, self._agent
        broker.seen_at[agent] = broker.clock.now()
        try:
            view = await self._answered(operation, _checked(timeout))
        except RoostError as error:
            self._audit(operation, error.code)
            raise
        self._audit(operation, "ok")
        notes = broker.watchers.take_notes(looks.home_session(broker, agent))
        return cast(R, view.model_copy(update={"notes": notes}) if notes else view)

    def watch(self, session: str | None = None) -> Notices:
        state, agent = self._broker.state, self._agent
        only = None if session is None else rules.session_for(state, agent, session).id

        def sees(notice: Notice) -> bool:
            if only is not None and notice.session != only:
                return False
            return agent == OPERATOR or state.member(agent, SessionId(notice.session)) is not None

        return self._broker.watchers.listen(sees)

    async def _answered(self, operation: Operation, seconds: float) -> View:
        if operation.audience is Audience.OPERATOR and self._agent != OPERATOR:
            raise Unauthorized(
                f"{operation.op} is the person's alone.",
                hint="Ask the person to run it from their own terminal.",
            )
        try:
            async with asyncio.timeout(seconds) as deadline:
                return await WORK[type(operation)](self._broker, self._agent, operation)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise Timeout(
                f"{operation.op} did not finish within {seconds:g} s.", timeoutMs=seconds * 1000
            ) from None
        except RoostError:
            raise
        except Exception:  # the boundary: a bug is answered like anything else, and logged whole
            reference = secrets.token_hex(4)
            logger.exception("%s failed [%s]", operation.op, reference)
            raise Internal(f"{operation.op} failed inside Roost.", reference=reference) from None

    def _audit(self, operation: Operation, outcome: str) -> None:
        if operation.only_reads() and outcome == "ok":
            return
        broker, agent = self._broker, self._agent
        home = looks.home_session(broker, agent)
        entry = {
            "agent": shown(agent),
            "session": getattr(operation, "session", None) or home,
            "op": operation.op,
            "outcome": outcome,
            "tab": getattr(operation, "tab", None),
        }
        entry.update((name, getattr(operation, name)) for name in operation.audited)
        broker.audit.write(broker.clock.now(), "call", entry)


def _checked(timeout: float | None) -> float:
    if timeout is None:
        return CALL_SECONDS
    if not 0 < timeout <= CALL_SECONDS_MAX:
        raise BadRequest(
            f"timeout: expected more than 0 and at most {CALL_SECONDS_MAX:g} seconds.",
            field="timeout",
        )
    return timeout
