"""The work behind operations on tab space and focus loops."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from roost.api import operations as ops
from roost.api import views
from roost.api.broker import Notice
from roost.broker.broker import Broker
from roost.broker.work import views as view_of
from roost.core import events as ev
from roost.core import rules
from roost.core.rows import Session, Tab
from roost.errors import BadRequest
from roost.vocabulary import AgentId


async def request(broker: Broker, agent: AgentId, op: ops.TabSpaceRequest) -> views.SpaceView:
    outcome = broker.feed(ev.TabSpaceRequested(agent, op.session))
    assert isinstance(outcome.subject, Session)
    return view_of.space(broker, agent, outcome.subject)


async def grant(broker: Broker, agent: AgentId, op: ops.TabSpaceGrant) -> views.GrantView:
    outcome = broker.feed(ev.TabSpaceGranted(agent, op.session, op.tab))
    assert isinstance(outcome.subject, Tab)
    pool = broker.state.pool(outcome.subject.browser)
    return views.GrantView(
        granted=True,
        closed=outcome.subject.id,
        tab_pool=pool.shown,
        pending_requests=len(pool.queue),
    )


async def status(broker: Broker, agent: AgentId, op: ops.TabSpaceStatus) -> views.SpaceView:
    """Return the session's place in the queue. If it is queued, first wait up to ``waitSeconds``
    for its slot."""
    session = rules.session_for(broker.state, agent, op.session)

    def is_ours(notice: Notice, to: Collection[AgentId]) -> bool:
        return notice.session == session.id and notice.kind in ("slot_reserved", "session_ended")

    with broker.watchers.listen(is_ours) as notices:
        if op.wait_seconds and session.id in broker.state.requests:
            try:
                async with asyncio.timeout(op.wait_seconds):
                    await anext(notices)
            except TimeoutError:
                pass  # still queued; the reply says so
    session = rules.session_for(broker.state, agent, op.session)
    return view_of.space(broker, agent, session)


async def loop_start(broker: Broker, agent: AgentId, op: ops.LoopStart) -> views.LoopView:
    if op.completion_phrase and op.completion_promise:
        raise BadRequest(
            "completionPromise: the same as completionPhrase; give one of them.",
            field="completionPromise",
        )
    outcome = broker.feed(
        ev.LoopStartRequested(
            agent=agent,
            session=op.session,
            prompt=op.prompt,
            max_iterations=op.max_iterations,
            phrase=op.completion_phrase or op.completion_promise,
        )
    )
    return _loop(broker, outcome.subject)


async def loop_stop(broker: Broker, agent: AgentId, op: ops.LoopStop) -> views.LoopView:
    return _loop(broker, broker.feed(ev.LoopStopRequested(agent, op.session)).subject)


async def loop_turn(broker: Broker, agent: AgentId, op: ops.LoopTurn) -> views.LoopView:
    return _loop(broker, broker.feed(ev.LoopTurnEnded(agent, op.session, op.said)).subject)


async def loop_status(broker: Broker, agent: AgentId, op: ops.LoopStatus) -> views.LoopView:
    return _loop(broker, rules.session_for(broker.state, agent, op.session))


def _loop(broker: Broker, subject: object) -> views.LoopView:
    assert isinstance(subject, Session)
    return view_of.loop(broker, subject)
