"""Views of the core's rows. Each view shows only what its caller may see."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

from roost.api import views
from roost.api.broker import Notice
from roost.broker.broker import Broker
from roost.core.pool import claims_share, fair_share
from roost.core.redaction import redacted_url
from roost.core.rows import Agent, Session, Tab, TabState
from roost.vocabulary import (
    LOOP_SECONDS,
    OPERATOR,
    SHARE_SECONDS,
    TAB_HEAVY_ABOVE,
    AgentId,
    Lifetime,
    Reads,
    SessionId,
    browser_kind,
    shown,
)


def tab(broker: Broker, agent: AgentId, row: Tab) -> views.TabView:
    """Return the view of one tab. Only its owner sees the full address; others see it redacted."""
    state = broker.state
    member = None if row.session is None else state.member(agent, row.session)
    current = member is not None and member.current == row.id
    if agent == OPERATOR and row.session is not None:
        current = any(each.current == row.id for each in state.members_in(row.session))
    return views.TabView(
        tab=row.id,
        url=row.url if member is not None else redacted_url(row.url),
        title=row.title,
        current=current,
        state=None if row.state is TabState.OPEN else row.state.value,
        label=row.page if member is not None or agent == OPERATOR else None,
        owner_id=state.owner_shown(row) if state.settings.reads is Reads.SHARED else None,
    )


def notice(told: Notice) -> Notice:
    """Return the notice with its address redacted, for somebody outside the session."""
    url = told.data.get("url")
    if not isinstance(url, str):
        return told
    return replace(told, data={**told.data, "url": redacted_url(url)})


def tabs(
    broker: Broker, agent: AgentId, session: Session, **done: str | list[str] | None
) -> views.TabsView:
    """Return the session's tabs in the order they were opened. ``done``: what the call did."""
    state = broker.state
    rows = list(state.tabs_in(session.id))
    if state.settings.reads is Reads.SHARED:
        rows = [row for row in state.tabs.values() if row.browser == session.browser]
    member = state.member(agent, session.id)
    return views.TabsView(
        tabs=[tab(broker, agent, row) for row in sorted(rows, key=opened_order)],
        current=None if member is None else member.current,
        tab_pool=state.pool(session.browser).shown,
        **done,  # type: ignore[arg-type]
    )


def opened_order(row: Tab) -> int:
    return int(row.id[1:])


def session(broker: Broker, agent: AgentId, row: Session) -> views.SessionView:
    member = broker.state.member(agent, row.id)
    rows = sorted(broker.state.tabs_in(row.id), key=opened_order)
    return views.SessionView(
        id=row.id,
        name=row.name,
        color=row.color,
        jar=row.policy,
        named=row.lifetime is Lifetime.NAMED,
        lifetime=row.lifetime,
        paused=row.paused,
        created_at=datetime.fromtimestamp(int(row.created_at), UTC),
        browser=row.browser,
        tabs=[tab(broker, agent, tab_row) for tab_row in rows],
        alias=None if member is None else member.alias,
        group=row.group if rows and row.browser in broker.state.settings.grouped else None,
        kept_seconds=None
        if row.kept_until is None
        else max(0, int(row.kept_until - broker.clock.now())),
        parent=row.parent,
    )


def visible_sessions(broker: Broker, agent: AgentId) -> list[Session]:
    """Return the caller's own sessions, or all sessions for the operator."""
    state = broker.state
    if agent == OPERATOR:
        return list(state.sessions.values())
    return [state.sessions[member.session] for member in state.memberships(agent)]


def space(broker: Broker, agent: AgentId, row: Session) -> views.SpaceView:
    state, now = broker.state, broker.clock.now()
    pool = state.pool(row.browser)
    reservation = state.reservations.get(row.id)
    queue = list(pool.queue)
    mine = pool.holders.get(row.id, 0)
    left = None if reservation is None else int((reservation.until - now) * 1000)
    request = state.requests.get(row.id)
    enforced = None
    if request is not None and claims_share(state, row):
        enforced = max(0, int((request.asked_at + SHARE_SECONDS - now) * 1000))
    return views.SpaceView(
        tab_pool=pool.shown,
        your_tabs=mine,
        queued=row.id in pool.queue,
        position=queue.index(row.id) + 1 if row.id in pool.queue else None,
        you_have_reservation=reservation is not None,
        reservation_expires_in_ms=left,
        pending_requests=len(queue),
        fair_share=fair_share(state, row.browser) if pool.limit else None,
        share_enforced_in_ms=enforced,
        should_grant=bool(queue) and row.id not in pool.queue and mine > TAB_HEAVY_ABOVE,
    )


def loop(broker: Broker, row: Session) -> views.LoopView:
    found = broker.state.loops.get(row.id)
    left = 0.0 if found is None else found.started_at + LOOP_SECONDS - broker.clock.now()
    if found is None or left <= 0:  # it has expired, even if the core's timer has not run yet
        return views.LoopView(active=False)
    return views.LoopView(
        active=True,
        prompt=found.prompt,
        iteration=found.iteration,
        max_iterations=found.max_iterations,
        completion_phrase=found.phrase,
        seconds_left=max(0, int(left)),
    )


def status(broker: Broker, agent: AgentId) -> views.StatusView:
    """Return the status of broker, browsers, agents, sessions and queues. The operator sees all of
    it, an agent only its own part."""
    state, now = broker.state, broker.clock.now()
    sessions = visible_sessions(broker, agent)
    ids = {row.id for row in sessions}
    agents = [
        row for row in state.agents.values() if agent in (OPERATOR, row.id) and not _rests(row)
    ]
    return views.StatusView(
        broker=views.BrokerView(
            pid=os.getpid(),
            version=broker.version,
            uptime_seconds=int(now - broker.started_at),
            http=broker.http,
            key_problem=broker.sealer.key_problem if agent == OPERATOR else None,
        ),
        browsers=browsers(broker),
        agents=[
            views.AgentView(
                id=shown(row.id),
                pid=_pid(broker, row),
                session=row.own_session,
                idle_seconds=int(now - broker.seen_at.get(row.id, broker.started_at)),
                connected=row.connected,
                name=row.name,
                leased=row.lease_until is not None,
            )
            for row in agents
        ],
        sessions=[session(broker, agent, row) for row in sessions],
        requests=[
            views.RequestView(
                session=row.session,
                browser=row.browser,
                agent=shown(row.agent),
                waiting_seconds=int(now - row.asked_at),
            )
            for row in state.requests.values()
            if row.session in ids
        ],
        reservations=[
            views.ReservationView(
                session=row.session,
                browser=row.browser,
                agent=shown(row.agent),
                expires_in_ms=int((row.until - now) * 1000),
            )
            for row in state.reservations.values()
            if row.session in ids
        ],
    )


def _rests(row: Agent) -> bool:
    """Return whether a sub-agent has ended. Its session is kept in case it is continued."""
    return row.shares_connection and row.idle_until is None


def _pid(broker: Broker, row: Agent) -> int:
    """Return the agent's process, or that of the connection which a sub-agent shares."""
    parent = broker.state.agents.get(row.parent) if row.parent is not None else None
    return row.pid if row.pid or parent is None else parent.pid


def browsers(broker: Broker) -> list[views.BrowserView]:
    """Return the browsers that run now."""
    return [
        views.BrowserView(
            id=browser.id,
            kind=browser_kind(browser.id),
            version=browser.started.version,
            pid=browser.started.pid,
            headless=browser.started.headless,
            tabs=broker.state.pool(browser.id).held,
            capacity=broker.state.pool(browser.id).limit,
        )
        for browser in broker.browsers.values()
        if browser.started is not None
    ]


def own_session(broker: Broker, agent: AgentId) -> SessionId | None:
    row = broker.state.agents.get(agent)
    return None if row is None else row.own_session
