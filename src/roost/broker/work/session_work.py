"""The work behind operations on sessions, and on the broker itself: status, start and stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.broker import Notice
from roost.broker.broker import Broker
from roost.broker.work import page_work
from roost.broker.work import views as view_of
from roost.core.rows import Session, TabState
from roost.errors import JarUnavailable, RoostError, TabGone, Unsupported
from roost.vocabulary import (
    OPERATOR,
    AgentId,
    BrowserId,
    JarPolicy,
    Lifetime,
    NoticeKind,
    SessionId,
)


async def open_(broker: Broker, agent: AgentId, op: ops.SessionOpen) -> views.SessionView:
    row = broker.state.agents.get(agent)
    started_with = None if row is None else row.browser
    browser = None
    if op.browser is not None or started_with is None:
        browser = broker.chosen(op.browser, op.session if agent == OPERATOR else None)
    _check_jar(broker, browser or started_with, op.jar)
    known = set(broker.state.sessions)
    session = broker.decide(
        core.open_session,
        agent=agent,
        alias=None if agent == OPERATOR else op.session,
        spec=core.SessionSpec(
            id=SessionId(op.session) if op.session and agent == OPERATOR else None,
            lifetime=_lifetime(broker, agent, op),
            name=op.name or op.session,
            browser=browser,
            policy=op.jar,
            profile=op.profile,
        ),
        profile_exists=op.profile is None or broker.profiles.has(op.profile),
        profile_for_any_agent=op.profile is not None
        and broker.profiles.is_for_any_agent(op.profile),
    )
    try:
        if op.url is not None:
            await page_work.open_at(broker, agent, session, op.url)
    except (RoostError, asyncio.CancelledError):
        if session.id not in known and session.id in broker.state.sessions:
            # The caller wanted a session with a page, so do not leave an empty one.
            broker.decide(core.dispose_session, agent, session.id)
        raise
    return view_of.session(broker, agent, broker.state.sessions[session.id])


async def list_(broker: Broker, agent: AgentId, op: ops.SessionList) -> views.SessionsView:
    """List the caller's sessions. With ``waitSeconds``, first wait up to that long while a person
    has one of them or has not answered the consent question about this agent."""
    if op.wait_seconds:
        with contextlib.suppress(TimeoutError):  # still paused, as the reply shows
            async with asyncio.timeout(op.wait_seconds):
                await _handed_back(broker, agent)
    rows = view_of.visible_sessions(broker, agent)
    return views.SessionsView(sessions=[view_of.session(broker, agent, row) for row in rows])


async def dispose(broker: Broker, agent: AgentId, op: ops.SessionDispose) -> views.DisposedView:
    done = broker.decide(core.dispose_session, agent, op.session)
    return views.DisposedView(disposed=done.session.id, tabs_closed=done.tabs_closed)


async def show(broker: Broker, agent: AgentId, op: ops.SessionShow) -> views.SessionView:
    return view_of.session(broker, agent, broker.decide(core.session_for, agent, op.session))


async def token(broker: Broker, agent: AgentId, op: ops.SessionToken) -> views.TokenView:
    session = broker.decide(core.session_for, agent, op.session)
    return views.TokenView(session=session.id, token=token_of(broker, session))


def token_of(broker: Broker, session: Session) -> str:
    """Return the session's token, and record it if it is new."""
    token, new = broker.tokens.issue(session)
    if new is not None:
        broker.decide(core.record_token, session.id, new.salt, new.digest)
    return token


async def heartbeat(broker: Broker, agent: AgentId, op: ops.SessionHeartbeat) -> views.LeaseView:
    session = broker.decide(core.session_for, agent, op.session)
    rows = map(broker.state.agents.__getitem__, list(broker.state.agents_in(session.id)))
    for guest in [row for row in rows if row.lease_until is not None]:
        until = broker.decide(core.renew_lease, guest.id).lease_until
        if until is not None:
            left = int((until - broker.clock.now()) * 1000)
            return views.LeaseView(session=session.id, expires_in_ms=left)
    return views.LeaseView(session=session.id)


async def pause(broker: Broker, agent: AgentId, op: ops.SessionPause) -> views.SessionView:
    return _set_paused(broker, agent, op.session, paused=True)


async def resume(broker: Broker, agent: AgentId, op: ops.SessionResume) -> views.SessionView:
    view = _set_paused(broker, agent, op.session, paused=False)
    if agent == OPERATOR and op.note.strip():
        said = " ".join(op.note.split())
        broker.watchers.note(SessionId(view.id), f"The person gave the session back: {said}")
    return view


async def front(broker: Broker, agent: AgentId, op: ops.SessionFront) -> views.FrontView:
    session = broker.decide(core.session_for, agent, op.session)
    tabs = [tab for tab in broker.state.tabs_in(session.id) if tab.state is TabState.OPEN]
    if not tabs or (handle := tabs[-1].handle) is None:
        raise TabGone("The session has no open tab, so there is no window to show.", hint="")
    driver = await broker.browser(session.browser).ready()
    await driver.bring_to_front(handle)
    return views.FrontView(session=session.id, tab=tabs[-1].id)


async def status(broker: Broker, agent: AgentId, op: ops.Status) -> views.StatusView:
    return view_of.status(broker, agent)


async def ping(broker: Broker, agent: AgentId, op: ops.Ping) -> views.Pong:
    return views.Pong()


async def browser_start(broker: Broker, agent: AgentId, op: ops.BrowserStart) -> views.BrowserView:
    wanted = broker.chosen(op.browser) or broker.state.settings.default_browser
    await broker.browser(wanted).ready()
    return next(view for view in view_of.browsers(broker) if view.id == wanted)


async def dashboard_open(
    broker: Broker, agent: AgentId, op: ops.DashboardOpen
) -> views.DashboardView:
    if broker.http is None:
        raise Unsupported("This broker serves no HTTP, so it has no dashboard.")
    return views.DashboardView(address=f"{broker.http}/dashboard/", code=broker.logins.code())


async def broker_stay(broker: Broker, agent: AgentId, op: ops.BrokerStay) -> views.Pong:
    broker.lingers = False
    return views.Pong()


async def broker_stop(broker: Broker, agent: AgentId, op: ops.BrokerStop) -> views.Pong:
    broker.stop_requested.set()
    return views.Pong()


async def _handed_back(broker: Broker, agent: AgentId) -> None:
    """Wait until no session of the agent is paused or waits for the person's consent."""

    def is_news(notice: Notice, to: Collection[AgentId]) -> bool:
        return notice.kind in (
            NoticeKind.SESSION_RESUMED,
            NoticeKind.SESSION_ENDED,
            NoticeKind.PERSON_ANSWERED,
        )

    def visible() -> list[Session]:
        return view_of.visible_sessions(broker, agent)

    with broker.watchers.listen(is_news) as notices:
        while any(_is_with_person(broker, agent, row) for row in visible()):
            await anext(notices)


def _is_with_person(broker: Broker, agent: AgentId, session: Session) -> bool:
    row = broker.state.agents.get(agent)
    consent = None if row is None else broker.state.consent(session.browser, row.known_as)
    return session.paused or (consent is not None and consent.allow is None)


def _set_paused(
    broker: Broker, agent: AgentId, session: str | None, *, paused: bool
) -> views.SessionView:
    row = broker.decide(core.pause_session, agent, session, paused)
    return view_of.session(broker, agent, row)


def _lifetime(broker: Broker, agent: AgentId, op: ops.SessionOpen) -> Lifetime:
    """Return the lifetime of a new session: named for the operator or if ``named`` is set, else
    resumable if the agent's own session is, else anonymous."""
    if agent == OPERATOR or op.named:
        return Lifetime.NAMED
    own = view_of.own_session(broker, agent)
    row = None if own is None else broker.state.sessions.get(own)
    return Lifetime.RESUMABLE if row and row.lifetime is Lifetime.RESUMABLE else Lifetime.ANONYMOUS


def _check_jar(broker: Broker, browser: BrowserId | None, policy: JarPolicy | None) -> None:
    browser = browser or broker.state.settings.default_browser
    jars = broker.browser(browser).driver.capabilities.jars
    if policy is not None and policy not in jars:
        raise JarUnavailable(
            f"{browser} has no {policy} jars.",
            hint=f"Use one of: {', '.join(sorted(jars))}.",
            jar=policy,
        )
