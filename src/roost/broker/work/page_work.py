"""The work behind operations that open, navigate and close tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.broker.broker import Broker
from roost.broker.browser.proxy import FilteringProxy
from roost.broker.work import local_files, page_use, policy, shown_page
from roost.broker.work import views as view_of
from roost.broker.work.running_call import running_call
from roost.core import events as ev
from roost.core.addresses import BLANK, checked_url, host_of, with_scheme
from roost.core.rows import Session, Tab
from roost.drivers.base import NO_TUNNEL, Arrival, PageDriver
from roost.errors import (
    ApprovalPending,
    BadRequest,
    DialogOpen,
    NotFound,
    PolicyDenied,
    RoostError,
    UrlBlocked,
)
from roost.vocabulary import OPERATOR, AgentId, JarId, SessionId

REFUSED = 403
Move = Callable[[PageDriver], Awaitable[Arrival]]


async def navigate(broker: Broker, agent: AgentId, op: ops.Navigate) -> views.PageView:
    opened: core.OpenTabAnswer | None = None
    url = await local_files.address_of(broker, agent, op.session, op.url)
    if _needs_first_tab(broker, agent, op):
        opened = await open_tab(broker, agent, op.session, url)
        row = opened.tab
    else:
        row = await page_use.located(broker, agent, op, "navigate", acts=True, revives=True)
    if opened is not None:
        running_call().opened = row.id
    try:
        arrival = await go(broker, agent, row, url)
    except RoostError as error:
        if opened is not None:
            error.details.setdefault("tab", row.id)
        raise
    return views.PageView(
        tab=row.id,
        url=arrival.url,
        title=arrival.title,
        status=arrival.status,
        opened=True if opened is not None else None,
        evicted=None if opened is None else _evicted(opened),
        downloads=await page_use.new_downloads(broker, row) if arrival.stayed else None,
        **await shown_page.shown_tab(broker, agent, op.session, row.id, op.snapshot),
    )


async def reload(broker: Broker, agent: AgentId, op: ops.Reload) -> views.PageView:
    return await _moved(broker, agent, op, "reload", lambda page: page.reload())


async def back(broker: Broker, agent: AgentId, op: ops.NavigateBack) -> views.PageView:
    return await _moved(broker, agent, op, "navigate", lambda page: page.travel(-1))


async def forward(broker: Broker, agent: AgentId, op: ops.NavigateForward) -> views.PageView:
    return await _moved(broker, agent, op, "navigate", lambda page: page.travel(1))


async def tabs(broker: Broker, agent: AgentId, op: ops.Tabs) -> views.TabsView:
    if op.action == "new":
        url = await local_files.address_of(broker, agent, op.session, op.url or BLANK)
        opened = await open_tab(broker, agent, op.session, url, evict=op.evict, label=op.label)
        row, shown = opened.tab, dict[str, Any]()
        if op.url is not None:
            await _go_in_new(broker, agent, op.session, row, url)
            shown = await shown_page.shown_tab(broker, agent, op.session, row.id, op.snapshot)
        listed = view_of.tabs(
            broker, agent, _session_of(broker, row), opened=row.id, evicted=_evicted(opened)
        )
        return listed.model_copy(update=shown)
    session = broker.decide(core.session_for, agent, op.session)
    if op.action == "list":
        return view_of.tabs(broker, agent, session)
    tab = _named_tab(broker, session, op)
    if op.action == "select":
        if tab is None:
            raise BadRequest("tab: name the tab to select.", field="tab")
        row = broker.decide(core.select_tab, agent, op.session, tab)
        shown = await shown_page.shown_tab(broker, agent, op.session, row.id, op.snapshot)
        return view_of.tabs(broker, agent, session).model_copy(update=shown)
    return _closed(broker, agent, op.session, tab, session)


async def close(broker: Broker, agent: AgentId, op: ops.Close) -> views.TabsView:
    session = broker.decide(core.session_for, agent, op.session)
    return _closed(broker, agent, op.session, op.tab, session)


async def page_open(broker: Broker, agent: AgentId, op: ops.PageOpen) -> views.NamedPageView:
    opened = await open_tab(broker, agent, op.session, op.url or BLANK, page=op.name)
    row = opened.tab
    if op.url is not None and opened.is_new:
        await _go_in_new(broker, agent, op.session, row, op.url)
    handle, session = broker.handle(row.id), _session_of(broker, row)
    shown = view_of.tab(broker, agent, broker.state.tabs[row.id])
    return views.NamedPageView(
        tab_id=row.id, target_id=handle, session_id=session.id, url=shown.url
    )


async def page_close(broker: Broker, agent: AgentId, op: ops.PageClose) -> views.TabsView:
    session = broker.decide(core.session_for, agent, op.session)
    tab = broker.decide(core.tab_named, agent, op.session, op.name)
    return _closed(broker, agent, op.session, tab.id, session)


async def open_tab(
    broker: Broker,
    agent: AgentId,
    session: str | None,
    url: str,
    *,
    evict: bool = True,
    page: str | None = None,
    label: str | None = None,
    jar: JarId | None = None,
) -> core.OpenTabAnswer:
    """Open a tab, if the core admits it, and wait for its page.

    If the caller is cancelled before, close the tab again, unless it is an existing one.

    evict: if the pool is full, close the session's own least recently used tab.
    page: the session's own name for the tab. An existing tab of that name is returned instead.
    label: like ``page``, but an existing tab of that name is refused.
    jar: a jar of a CDP client, other than the session's.
    """
    broker.check_not_own(url)
    policy.check_address(broker, agent, _session_meant(broker, agent, session), url)
    opened = broker.decide(
        core.open_tab, agent, session, url, evict=evict, page=page, label=label, jar=jar
    )
    try:
        await broker.opened(opened.tab.id)
    except asyncio.CancelledError:
        if opened.is_new:
            broker.hear(ev.TabOpenAbandoned(opened.tab.id))
        raise
    return opened


async def open_at(broker: Broker, agent: AgentId, session: Session, url: str) -> None:
    """Open a tab of that session at the address."""
    opened = await open_tab(broker, agent, session.id, url)
    await go(broker, agent, opened.tab, url)


def _closed(
    broker: Broker, agent: AgentId, session: str | None, tab: str | None, shown: Session
) -> views.TabsView:
    row = broker.decide(core.request_close, agent, session, tab)
    return view_of.tabs(broker, agent, shown, closed=row.id)


async def _moved(
    broker: Broker,
    agent: AgentId,
    op: ops.NavigateBack | ops.NavigateForward | ops.Reload,
    action: str,
    move: Move,
) -> views.PageView:
    row = await page_use.located(broker, agent, op, action, acts=True, revives=True)
    policy.check_address(broker, agent, row.session, BLANK)
    arrival = await _arrived(broker, agent, row, move)
    return views.PageView(
        tab=row.id,
        url=arrival.url,
        title=arrival.title,
        status=arrival.status,
        **await shown_page.shown_tab(broker, agent, op.session, row.id, op.snapshot),
    )


async def go(broker: Broker, agent: AgentId, row: Tab, url: str) -> Arrival:
    session = _session_of(broker, row)
    broker.check_not_own(url)
    policy.check_address(broker, agent, session.id, url)
    address = checked_url(with_scheme(url), session.allow, session.deny)
    if row.jar is not None:
        await broker.browser(row.browser).jars.put_back(row.jar, address)
    return await _arrived(broker, agent, row, lambda page: page.navigate(address))


async def _go_in_new(
    broker: Broker, agent: AgentId, session: str | None, row: Tab, url: str
) -> None:
    """Navigate a tab that this call opened. If that fails, close the tab, because the caller does
    not know its id. If the page shows a dialog, keep the tab and name it in the error."""
    try:
        await go(broker, agent, row, url)
    except DialogOpen as error:
        error.details.setdefault("tab", row.id)
        raise
    except BaseException:  # also when the call is cancelled, its tab must close
        try:
            broker.decide(core.request_close, agent, session, row.id)
        except RoostError:  # the session was paused, or the tab closed, meanwhile
            broker.hear(ev.TabOpenAbandoned(row.id))
        raise


async def _arrived(broker: Broker, agent: AgentId, row: Tab, move: Move) -> Arrival:
    """Navigate in the tab's turn. The driver dismisses open dialogs of the old page. Only if the
    page asks whether it may be left (``beforeunload``), the caller must answer."""
    browser, record = broker.browser(row.browser), broker.record(row.id)
    async with broker.lanes.turn(row.id):
        with (
            record.while_acting(broker.clock),
            _telling_refusals(browser.jars.proxy(row.jar)) as check,
        ):
            async with page_use.UnlessDialog(record, leaves=True):
                arrival = await move(broker.page(row))
            check(arrival)
            try:
                # A redirect or the history may lead elsewhere than the call said.
                policy.check_address(broker, agent, row.session, arrival.url)
            except (PolicyDenied, ApprovalPending):
                await broker.page(row).navigate(BLANK)
                raise
    if row.jar is not None:
        broker.jar_backups.may_have_changed(row.jar)
    limits = broker.limits
    return replace(arrival, url=limits.url(arrival.url), title=limits.title(arrival.title))


@contextmanager
def _telling_refusals(proxy: FilteringProxy | None) -> Iterator[Callable[[Arrival], None]]:
    """Raise ``UrlBlocked`` for a navigation that the filtering proxy refused. The browser itself
    only shows the proxy's 403 page (http), or reports that there was no tunnel (https)."""
    before = 0 if proxy is None else proxy.refused

    def refused() -> list[UrlBlocked]:
        return [] if proxy is None else proxy.refused_since(before)

    def check(arrival: Arrival) -> None:
        if arrival.status == REFUSED:
            host = host_of(arrival.url)
            for error in refused():
                if error.details["host"] == host:
                    raise error

    try:
        yield check
    except NotFound as error:
        if error.details.get("reason") in NO_TUNNEL and refused():
            raise refused()[-1] from None
        raise


def _needs_first_tab(broker: Broker, agent: AgentId, op: ops.Navigate) -> bool:
    """Return True if the agent has no tab yet, so ``navigate`` opens one. False if the agent lost
    its tab: a lost tab is never silently replaced."""
    if op.tab is not None or agent == OPERATOR:
        return False
    own = view_of.own_session(broker, agent)
    if own is not None and op.session is None and broker.state.member(agent, own) is None:
        return True
    session = broker.decide(core.session_for, agent, op.session)
    member = broker.state.member(agent, session.id)
    return member is not None and member.current is None and member.lost is None


def _named_tab(broker: Broker, session: Session, op: ops.Tabs) -> str | None:
    if op.tab is not None or op.index is None:
        return op.tab
    rows = sorted(broker.state.tabs_in(session.id), key=view_of.opened_order)
    if op.index >= len(rows):
        raise BadRequest(f"index: there are {len(rows)} tabs, numbered from 0.", field="index")
    return rows[op.index].id


def _session_meant(broker: Broker, agent: AgentId, session: str | None) -> SessionId | None:
    """Return the session that a new tab goes to. None: one that is made with the tab."""
    own = view_of.own_session(broker, agent)
    if session is None and own is not None and broker.state.member(agent, own) is None:
        return None
    return broker.decide(core.session_for, agent, session).id


def _session_of(broker: Broker, row: Tab) -> Session:
    return broker.decide(core.session_of, row.id)


def _evicted(opened: core.OpenTabAnswer) -> list[str] | None:
    return list(opened.evicted) or None
