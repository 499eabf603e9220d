"""The work behind operations on tab space and focus loops."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.broker import Notice
from roost.broker.broker import Broker
from roost.broker.work import views as view_of
from roost.errors import BadRequest
from roost.vocabulary import AgentId, NoticeKind


async def request(broker: Broker, agent: AgentId, op: ops.TabSpaceRequest) -> views.SpaceView:
    session = broker.decide(core.request_space, agent, op.session)
    return view_of.space(broker, agent, session)


async def grant(broker: Broker, agent: AgentId, op: ops.TabSpaceGrant) -> views.GrantView:
    given = broker.decide(core.grant_space, agent, op.session, op.tab)
    pool = broker.state.pool(given.browser)
    return views.GrantView(
        granted=True,
        closed=given.id,
        tab_pool=pool.shown,
        pending_requests=len(pool.queue),
    )


async def status(broker: Broker, agent: AgentId, op: ops.TabSpaceStatus) -> views.SpaceView:
    """Return the session's place in the queue. If it is queued, first wait up to ``waitSeconds``
    for its slot."""
    session = broker.decide(core.session_for, agent, op.session)

    def is_ours(notice: Notice, to: Collection[AgentId]) -> bool:
        return notice.session == session.id and notice.kind in (
            NoticeKind.SLOT_RESERVED,
            NoticeKind.SESSION_ENDED,
        )

    with broker.watchers.listen(is_ours) as notices:
        if op.wait_seconds and session.id in broker.state.requests:
            try:
                async with asyncio.timeout(op.wait_seconds):
                    await anext(notices)
            except TimeoutError:
                pass  # still queued; the reply says so
    session = broker.decide(core.session_for, agent, op.session)
    return view_of.space(broker, agent, session)


async def loop_start(broker: Broker, agent: AgentId, op: ops.LoopStart) -> views.LoopView:
    if op.completion_phrase and op.completion_promise:
        raise BadRequest(
            "completionPromise: the same as completionPhrase; give one of them.",
            field="completionPromise",
        )
    session = broker.decide(
        core.start_loop,
        agent=agent,
        session=op.session,
        prompt=op.prompt,
        max_iterations=op.max_iterations,
        phrase=op.completion_phrase or op.completion_promise,
    )
    return view_of.loop(broker, session)


async def loop_stop(broker: Broker, agent: AgentId, op: ops.LoopStop) -> views.LoopView:
    return view_of.loop(broker, broker.decide(core.stop_loop, agent, op.session))


async def loop_turn(broker: Broker, agent: AgentId, op: ops.LoopTurn) -> views.LoopView:
    return view_of.loop(broker, broker.decide(core.end_turn, agent, op.session, op.said))


async def loop_status(broker: Broker, agent: AgentId, op: ops.LoopStatus) -> views.LoopView:
    return view_of.loop(broker, broker.decide(core.session_for, agent, op.session))
