"""A tab's life as the browser tells it, and the one way a tab ends."""

from __future__ import annotations

from dataclasses import replace

from roost.core import rules
from roost.core.addresses import BLANK, is_whole
from roost.core.effects import (
    CloseStray,
    CloseTab,
    Effect,
    ForgetTab,
    Tell,
)
from roost.core.events import (
    JarMade,
    JarRemoved,
    TabBroke,
    TabCloseRequested,
    TabMovedOn,
    TabOpenAbandoned,
    TabOpened,
    TabOpenFailed,
    TabRead,
    TabSelectRequested,
    TabVanished,
)
from roost.core.rows import Tab, TabState
from roost.core.state import State
from roost.errors import RoostError, TabGone
from roost.vocabulary import AgentId


def close_tab(state: State, tab: Tab, error: RoostError, out: list[Effect]) -> None:
    """End a tab from our side: the row first, then the page."""
    retire(state, tab, error)
    out.append(CloseTab(tab.id, tab.browser, tab.handle, error))
    _tell_closed(tab, out, why=error.message)


def request_close(state: State, event: TabCloseRequested, now: float, out: list[Effect]) -> Tab:
    """Close the caller's tab. Its next current tab is its most recently used one left, and the
    reply says so: that is not a silent replacement, the caller closed this one itself."""
    tab = rules.tab_for(state, event.agent, event.session, event.tab, action="close", acts=True)
    rules.check_tab_not_paused(state, tab, event.agent)
    close_tab(state, tab, TabGone(f"Tab {tab.id} was closed.", tab=tab.id), out)
    if tab.session is not None:
        _choose_next(state, event.agent, tab)
    return tab


def _choose_next(state: State, agent: AgentId, closed: Tab) -> None:
    assert closed.session is not None
    member = state.member(agent, closed.session)
    if member is not None and member.lost == closed.id:
        left = state.tabs_in(closed.session)
        state.put(replace(member, current=left[-1].id if left else None, lost=None, lost_why=""))


def select_tab(state: State, event: TabSelectRequested, now: float, out: list[Effect]) -> Tab:
    tab = rules.tab_for(state, event.agent, event.session, event.tab, action="select", acts=True)
    rules.check_tab_not_paused(state, tab, event.agent)
    tab = used(state, tab)
    make_current(state, event.agent, tab)
    return tab


def make_current(state: State, agent: AgentId, tab: Tab) -> None:
    if tab.session is None:
        return
    member = state.member(agent, tab.session)
    if member is not None:
        state.put(replace(member, current=tab.id, lost=None, lost_why=""))


def back_to(tab: Tab) -> str:
    """Where a tab is opened again. An address that was cut leads somewhere else than it did, so
    such a tab comes back blank."""
    return tab.url if is_whole(tab.url) else BLANK


def used(state: State, tab: Tab) -> Tab:
    """The tab as its session's most recently used one. Where it is that already, and nobody could
    tell a later use from this one, nothing changes, and nothing has to be recorded."""
    if state.is_latest(tab):
        return tab
    tab = replace(tab, used=state.next_use())
    state.put(tab)
    return tab


# --- what the browser says ------------------------------------------------------------------------


def jar_made(state: State, event: JarMade, now: float, out: list[Effect]) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None:
        state.put(replace(jar, handle=event.handle, proxy_port=event.proxy_port))


def jar_removed(state: State, event: JarRemoved, now: float, out: list[Effect]) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None and jar.session is None:
        state.drop(jar)


def tab_opened(state: State, event: TabOpened, now: float, out: list[Effect]) -> Tab | None:
    """The page is there. One that a tab no longer waits for (it was parked, or has its page
    already) belongs to nobody."""
    tab = state.tabs.get(event.tab)
    if tab is None or tab.handle == event.handle:
        return tab
    if tab.handle is not None or not tab.holds_slot:
        out.append(CloseStray(tab.browser, event.handle))
        return tab
    is_new = tab.state is TabState.OPENING
    tab = replace(tab, handle=event.handle, former=None, state=TabState.OPEN)
    state.put(tab)
    if is_new and tab.asked_by is not None:
        # Not before: a tab that could not be opened was never anybody's current one.
        make_current(state, tab.asked_by, tab)
    assert tab.session is not None  # nobody's tabs were never ours to open
    session = state.sessions[tab.session]
    if not session.has_opened:
        state.put(replace(session, has_opened=True))
    out.append(Tell(tab.session, "tab_opened", {"tab": tab.id, "url": tab.url}))
    return tab


def tab_open_failed(state: State, event: TabOpenFailed, now: float, out: list[Effect]) -> None:
    """Drop a tab that no agent had yet. A tab that was being opened again is parked instead: its
    agent has its id, and the next use of the tab tries again."""
    tab = state.tabs.get(event.tab)
    if tab is None or tab.handle is not None or not tab.holds_slot:
        return
    error = TabGone(f"Tab {tab.id} could not be opened.", tab=tab.id)
    out.append(ForgetTab(tab.id, error))
    if tab.state is TabState.LOST and tab.session is not None:
        state.put(replace(tab, state=TabState.PARKED))
        why = "because it could not be opened again"
        out.append(Tell(tab.session, "tab_parked", {"tab": tab.id, "url": tab.url, "why": why}))
    else:
        retire(state, tab, error)


def tab_open_abandoned(
    state: State, event: TabOpenAbandoned, now: float, out: list[Effect]
) -> None:
    tab = state.tabs.get(event.tab)
    if tab is not None:
        close_tab(state, tab, TabGone(f"Tab {tab.id} was given up.", tab=tab.id), out)


def tab_vanished(state: State, event: TabVanished, now: float, out: list[Effect]) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is not None:
        gone(state, tab, TabGone(f"Tab {tab.id} was closed in the browser.", tab=tab.id), out)


def tab_moved_on(state: State, event: TabMovedOn, now: float, out: list[Effect]) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is None:
        return
    state.put(replace(tab, url=event.url, title=event.title, state=TabState.OPEN))
    if tab.session is not None and event.url != tab.url:
        out.append(Tell(tab.session, "tab_navigated", {"tab": tab.id, "url": event.url}))


def tab_read(state: State, event: TabRead, now: float, out: list[Effect]) -> None:
    """Numbers only grow: a reading may be told of late."""
    tab = state.tabs.get(event.tab)
    if tab is None:
        return
    read = replace(
        tab,
        title=event.title,
        next_ref=max(tab.next_ref, event.next_ref),
        next_frame=max(tab.next_frame, event.next_frame),
        frames=event.frames if event.next_frame >= tab.next_frame else tab.frames,
    )
    if read != tab:
        state.put(read)


def tab_broke(state: State, event: TabBroke, now: float, out: list[Effect]) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is None or tab.state is not TabState.OPEN:
        return
    state.put(replace(tab, state=TabState.CRASHED))
    if tab.session is not None:
        out.append(Tell(tab.session, "tab_crashed", {"tab": tab.id, "url": tab.url}))


def gone(state: State, tab: Tab, error: RoostError, out: list[Effect]) -> None:
    """End a tab whose page went by itself."""
    retire(state, tab, error)
    out.append(ForgetTab(tab.id, error))
    _tell_closed(tab, out, why=error.message)


def retire(state: State, tab: Tab, error: RoostError) -> None:
    """Drop the row; whoever had it as current tab is told when it next asks, not given another."""
    state.drop(tab)
    if tab.session is None:
        return
    for member in state.members_in(tab.session):
        if member.current == tab.id:
            state.put(replace(member, current=None, lost=tab.id, lost_why=error.message))


def _tell_closed(tab: Tab, out: list[Effect], *, why: str) -> None:
    if tab.session is not None:
        out.append(Tell(tab.session, "tab_closed", {"tab": tab.id, "url": tab.url, "why": why}))
