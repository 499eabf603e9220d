"""Sessions as tab groups in the person's own browser.

The tab strip is the truth about whose a tab is: when the person moves a tab, the rows follow.
A tab that changes its session gets a new id, so an agent's call with the old id cannot reach it.
The previous session's agents get an error that says why, and no replacement.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import sessions
from roost.core.effects import ForgetTab, Tell, WriteAudit
from roost.core.events import GroupClosed, TabMoved
from roost.core.jars import jar_for
from roost.core.rows import Session, Tab, TabState
from roost.core.state import State
from roost.core.tabs import retire
from roost.errors import TabGone
from roost.vocabulary import JarId, JarPolicy, NoticeKind, TabHandle, TabId


def tab_moved(state: State, event: TabMoved) -> None:
    tab = state.tab_with(event.browser, event.handle)
    if tab is not None:
        place(state, tab, event.group)


def group_closed(state: State, event: GroupClosed) -> None:
    """End the session of a group that the person closed.

    An agent that is still there gets a new session, in a new group, with its next tab.
    """
    session = state.session_shown_as(event.browser, event.group)
    if session is not None:
        sessions.end_session(state, session, why="the person closed its tab group")


def place(state: State, tab: Tab, group: str | None) -> None:
    """Move the tab to the session of its group, or drop it if no session has that group."""
    session = state.session_shown_as(tab.browser, group)
    if session is not None and session.id == tab.session:
        return
    where = "out of this session" if session is None else "to another session"
    error = TabGone(f"The person moved tab {tab.id} {where}.", tab=tab.id)
    retire(state, tab, error)
    state.emit(ForgetTab(tab.id, error))
    if tab.session is not None:
        moved = {"tab": tab.id, "url": tab.url, "why": error.message}
        state.emit(Tell(tab.session, NoticeKind.TAB_MOVED, moved))
    if session is not None:
        _hand_over(state, tab, session)


def adopt(
    state: State,
    session: Session,
    handle: TabHandle,
    url: str,
    *,
    jar: JarId | None = None,
) -> Tab:
    """Give the session a tab that the person opened in its group or moved there.

    The tab becomes no agent's current tab until an agent selects it.
    """
    tab = Tab(
        id=_next_id(state),
        session=session.id,
        browser=session.browser,
        jar=_jar_in(state, session, jar),
        url=url,
        used=state.next_use(),
        handle=handle,
        state=TabState.OPEN,
    )
    _put(state, tab, session)
    state.emit(Tell(session.id, NoticeKind.TAB_OPENED, {"tab": tab.id, "url": url, "opener": None}))
    state.emit(WriteAudit("tab brought by the person", {"tab": tab.id, "session": session.id}))
    return tab


def _hand_over(state: State, tab: Tab, session: Session) -> None:
    """Record the moved tab in its new session, under a new id and with its jar.

    The old session's name for the tab, its opener and its agent stay behind.
    """
    new = replace(
        tab,
        id=_next_id(state),
        session=session.id,
        jar=_jar_in(state, session, tab.jar),
        used=state.next_use(),
        asked_by=None,
        opener=None,
        page=None,
    )
    _put(state, new, session)
    moved = {"tab": new.id, "url": new.url, "why": "The person moved this tab to your session."}
    state.emit(Tell(session.id, NoticeKind.TAB_MOVED, moved))
    state.emit(WriteAudit("tab moved", {"tab": tab.id, "session": tab.session, "to": session.id}))


def _jar_in(state: State, session: Session, jar: JarId | None) -> JarId | None:
    """Return the jar that a tab has in this session.

    A tab keeps its jar, even another session's. The browser's own cookies are the jar of every
    session with a shared jar. None: no jar row stands for the tab's cookies.
    """
    row = None if jar is None else state.jars.get(jar)
    if row is None or row.policy is JarPolicy.SHARED:
        return jar_for(state, session).id if session.policy is JarPolicy.SHARED else None
    # A jar without a session is being removed, and the tab with it.
    return None if row.session is None else row.id


def _put(state: State, tab: Tab, session: Session) -> None:
    if not session.has_opened:
        state.put(replace(session, has_opened=True))
    state.put(tab)


def _next_id(state: State) -> TabId:
    return TabId(f"t{state.next_number('tab')}")
