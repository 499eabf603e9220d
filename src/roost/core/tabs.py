"""Tabs: select, navigate, crash and close them. ``pool.py`` admits them.

``retire`` is the one place where a tab's row is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import conditions, rules
from roost.core.addresses import BLANK, can_be_opened_again
from roost.core.effects import CloseStray, CloseTab, ForgetTab, Tell
from roost.core.events import (
    SecretFilled,
    TabClosed,
    TabCrashed,
    TabNavigated,
    TabRead,
    TabReady,
)
from roost.core.rows import Tab, TabState
from roost.core.state import State
from roost.errors import RoostError, TabGone
from roost.vocabulary import AgentId, NoticeKind, TabId

SECRET_DOCUMENTS = 8
"""Documents of one tab that are remembered because a secret was filled into them."""


def close_tab(state: State, tab: Tab, error: RoostError) -> None:
    """Close a tab: drop its row first, then order its page to be closed."""
    retire(state, tab, error)
    state.emit(CloseTab(tab.id, tab.browser, tab.handle, error))
    _tell_closed(state, tab, why=error.message)


def request_close(state: State, agent: AgentId, session: str | None, tab: str | None) -> Tab:
    """Close the caller's tab and make its most recently used remaining tab the current one.

    This replacement is not silent: the caller closed the tab itself, and the reply names the next
    one.
    """
    row = rules.tab_for(state, agent, session, tab, action="close", acts=True)
    rules.check_tab_not_paused(state, row, agent)
    close_tab(state, row, TabGone(f"Tab {row.id} was closed.", tab=row.id))
    if row.session is not None:
        _choose_next(state, agent, row)
    return row


def _choose_next(state: State, agent: AgentId, closed: Tab) -> None:
    assert closed.session is not None
    member = state.member(agent, closed.session)
    if member is not None and member.lost == closed.id:
        left = state.tabs_in(closed.session)
        state.put(replace(member, current=left[-1].id if left else None, lost=None, lost_why=""))


def select_tab(state: State, agent: AgentId, session: str | None, tab: str) -> Tab:
    """Make the caller's tab its current one."""
    row = rules.tab_for(state, agent, session, tab, action="select", acts=True)
    rules.check_tab_not_paused(state, row, agent)
    row = used(state, row)
    make_current(state, agent, row)
    return row


def make_current(state: State, agent: AgentId, tab: Tab) -> None:
    """Make the tab the agent's current one, if the agent is a member of the tab's session."""
    if tab.session is None:
        return
    member = state.member(agent, tab.session)
    if member is not None:
        state.put(replace(member, current=tab.id, lost=None, lost_why=""))


def back_to(tab: Tab) -> str:
    """Return the address at which to open a tab again.

    A shortened address would lead somewhere else, so such a tab comes back blank.
    """
    return tab.url if can_be_opened_again(tab.url) else BLANK


def used(state: State, tab: Tab) -> Tab:
    """Mark the tab as most recently used in its session.

    Write nothing if the order stays the same.
    """
    if state.is_latest(tab):
        return tab
    tab = replace(tab, used=state.next_use())
    state.put(tab)
    return tab


# --- what the browser says ------------------------------------------------------------------------


def tab_ready(state: State, event: TabReady) -> None:
    """Record that the page of a tab that the core admitted is open.

    If the tab no longer waits for a page (it was parked, or already has one), close the page as a
    stray. A late report of a page that belongs to another tab by now changes nothing.
    """
    tab = state.tabs.get(event.tab)
    if tab is None or state.tab_with(tab.browser, event.handle) is not None:
        return
    if tab.handle is not None or not tab.holds_slot:
        state.emit(CloseStray(tab.browser, event.handle))
        return
    is_new = tab.state is TabState.OPENING
    tab = replace(tab, handle=event.handle, former=None, state=TabState.OPEN)
    state.put(tab)
    if is_new and tab.asked_by is not None:
        # Only now: a tab that fails to open must never be anybody's current tab.
        make_current(state, tab.asked_by, tab)
    assert tab.session is not None  # the broker only opens tabs of sessions
    session = state.sessions[tab.session]
    if not session.has_opened:
        state.put(replace(session, has_opened=True))
    state.emit(Tell(tab.session, NoticeKind.TAB_OPENED, {"tab": tab.id, "url": tab.url}))


def tab_open_failed(state: State, id: TabId) -> None:
    """Drop a new tab that failed to open. Park a tab that failed to open again.

    An agent already knows the id of a tab that was open before, and its next use of the tab tries
    again.
    """
    tab = state.tabs.get(id)
    if tab is None or tab.handle is not None or not tab.holds_slot:
        return
    error = TabGone(f"Tab {tab.id} could not be opened.", tab=tab.id)
    state.emit(ForgetTab(tab.id, error))
    if tab.state is TabState.LOST and tab.session is not None:
        state.put(replace(tab, state=TabState.PARKED))
        why = "because it could not be opened again"
        state.emit(
            Tell(tab.session, NoticeKind.TAB_PARKED, {"tab": tab.id, "url": tab.url, "why": why})
        )
    else:
        retire(state, tab, error)


def tab_open_abandoned(state: State, id: TabId) -> None:
    tab = state.tabs.get(id)
    if tab is not None:
        close_tab(state, tab, TabGone(f"Tab {tab.id} was given up.", tab=tab.id))


def tab_closed(state: State, event: TabClosed) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is not None:
        gone(state, tab, TabGone(f"Tab {tab.id} was closed in the browser.", tab=tab.id))


def tab_navigated(state: State, event: TabNavigated) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is None:
        return
    state.put(replace(tab, url=event.url, title=event.title, state=TabState.OPEN))
    if tab.session is not None and event.url != tab.url:
        state.emit(Tell(tab.session, NoticeKind.TAB_NAVIGATED, {"tab": tab.id, "url": event.url}))


def tab_read(state: State, event: TabRead) -> None:
    """Store what an operation read from the page.

    Reports may arrive late, so numbers never decrease.
    """
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


def secret_filled(state: State, event: SecretFilled) -> None:
    """Remember the document, which may not be read by scripts until it is left, and the secret,
    whose value the next broker must know before it shows a page of the session.

    A tab may return to an earlier document through its history, so the last ones are remembered.
    """
    tab = state.tabs.get(event.tab)
    if tab is None:
        return
    if event.document not in tab.secret_documents:
        documents = (*tab.secret_documents, event.document)[-SECRET_DOCUMENTS:]
        state.put(replace(tab, secret_documents=documents))
    session = None if tab.session is None else state.sessions.get(tab.session)
    if session is not None and event.secret not in session.secrets:
        state.put(replace(session, secrets=(*session.secrets, event.secret)))


def tab_crashed(state: State, event: TabCrashed) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is None or tab.state is not TabState.OPEN:
        return
    state.put(replace(tab, state=TabState.CRASHED))
    if tab.session is not None:
        state.emit(Tell(tab.session, NoticeKind.TAB_CRASHED, {"tab": tab.id, "url": tab.url}))


def gone(state: State, tab: Tab, error: RoostError) -> None:
    """Drop a tab whose page closed by itself."""
    retire(state, tab, error)
    state.emit(ForgetTab(tab.id, error))
    _tell_closed(state, tab, why=error.message)


def retire(state: State, tab: Tab, error: RoostError) -> None:
    """Drop the tab's row and leave its agents without a current tab there.

    The next call of such an agent gets ``error``'s message; the core never chooses another tab
    silently.
    """
    conditions.tab_closed(state, tab)
    state.drop(tab)
    if tab.session is None:
        return
    for member in state.members_in(tab.session):
        if member.current == tab.id:
            state.put(replace(member, current=None, lost=tab.id, lost_why=error.message))


def _tell_closed(state: State, tab: Tab, *, why: str) -> None:
    if tab.session is not None:
        state.emit(
            Tell(tab.session, NoticeKind.TAB_CLOSED, {"tab": tab.id, "url": tab.url, "why": why})
        )
