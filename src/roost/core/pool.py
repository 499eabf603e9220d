"""The pool: who gets a slot, who waits, who must make room.

Admitted tabs and reservations together never exceed the limit; only tabs that cannot be refused
(popups, the person's own) may, and then nothing is admitted until that debt is paid.
``serve_queues`` runs after every event, so every way a slot is freed serves the queue.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice

from roost.core import groups, rules
from roost.core.addresses import checked_url
from roost.core.effects import CloseStray, CloseTab, Effect, Note, OpenTab, Tell
from roost.core.events import (
    TabOpenRequested,
    TabSpaceGranted,
    TabSpaceRequested,
    TabSpawned,
    TabUseRequested,
)
from roost.core.jars import jar_for
from roost.core.model import Jar, Reservation, Session, SlotRequest, Tab, TabState
from roost.core.sessions import home_of
from roost.core.state import Pool, State
from roost.core.tabs import close_tab, make_current, used
from roost.errors import BadRequest, PoolFull, TabGone
from roost.vocabulary import (
    OPERATOR,
    RESERVATION_SECONDS,
    SPAWN_BURST,
    SPAWN_BURST_SECONDS,
    AgentId,
    BrowserId,
    JarId,
    Lifetime,
    SessionId,
    TabId,
)

OWNERS_SHOWN = 20


def open_tab(state: State, event: TabOpenRequested, now: float, out: list[Effect]) -> Tab:
    """Admit one more tab, or refuse. The slot is taken here, before anything is awaited."""
    session = _session_to_fill(state, event, now, out)
    rules.check_not_paused(session, event.agent)
    rules.check_welcome(state, session, event.agent)
    known = None if event.page is None else state.page(session.id, event.page)
    if known is not None:
        known = used(state, _brought_back(state, session, known, out))
        make_current(state, event.agent, known)
        return known
    url = checked_url(event.url, session.allow, session.deny)
    named = None if event.jar is None else jar_for(state, session, event.jar)
    _take_slot(state, session, out, evict=event.evict)
    jar = named or jar_for(state, session)
    tab = Tab(
        id=TabId(f"t{state.next_number('tab')}"),
        session=session.id,
        browser=session.browser,
        jar=jar.id,
        url=url,
        used=state.next_use(),
        asked_by=event.agent,
        page=event.page,
    )
    state.put(tab)
    out.append(OpenTab(tab.id, tab.browser, jar.id))
    return tab


def _brought_back(state: State, session: Session, tab: Tab, out: list[Effect]) -> Tab:
    """The tab with a slot and a page, or on its way there: a parked one gets both again."""
    if tab.state is not TabState.PARKED:
        return tab
    _take_slot(state, session, out, evict=True)
    tab = replace(tab, state=TabState.LOST)
    state.put(tab)
    assert tab.jar is not None  # only such are parked
    out.append(OpenTab(tab.id, tab.browser, tab.jar, tab.url))
    return tab


def _session_to_fill(
    state: State, event: TabOpenRequested, now: float, out: list[Effect]
) -> Session:
    if event.session is None and event.agent in state.agents:
        return home_of(state, event.agent, now, out)
    return rules.session_for(state, event.agent, event.session)


def use_tab(state: State, event: TabUseRequested, now: float, out: list[Effect]) -> Tab:
    """The tab an operation will work on. A parked tab comes back, if there is a slot for it."""
    tab = rules.tab_for(
        state, event.agent, event.session, event.tab, action=event.action, acts=event.acts
    )
    if tab.session is None:
        return tab
    session = state.sessions[tab.session]
    rules.check_not_paused(session, event.agent)
    rules.check_welcome(state, session, event.agent)
    is_owner = state.member(event.agent, session.id) is not None
    if tab.state is TabState.PARKED and (is_owner or event.agent == OPERATOR):
        tab = _brought_back(state, session, tab, out)
    else:
        rules.check_usable(tab, revives=event.revives)
    return used(state, tab) if is_owner else tab  # a look from outside is not a use


def _take_slot(state: State, session: Session, out: list[Effect], *, evict: bool) -> None:
    """Turn the session's reservation, free room, or its own least recently used tab into a slot."""
    reservation = state.reservations.get(session.id)
    if reservation is not None:
        state.drop(reservation)
        return
    pool = state.pool(session.browser)
    if pool.has_room:
        return
    mine = [tab for tab in state.tabs_in(session.id) if _evictable(tab)]
    needed = 1 - pool.free  # more than one where debt has to be paid as well
    if not evict or len(mine) < needed:
        raise pool_full(state, session, pool)
    for tab in mine[:needed]:
        _evict(state, tab, out, why="to make room for your next tab")


def spawned(state: State, event: TabSpawned, now: float, out: list[Effect]) -> Tab | None:
    """A tab nobody asked for: its opener's session owns it, else its jar's, else nobody. Where tabs
    are shown in groups, the group says whose it is."""
    if state.tab_with(event.browser, event.handle) is not None:
        return None
    opener = state.tab_with(event.browser, event.opener)
    jar = state.jar_with(event.browser, event.jar)
    if event.group is not None:
        shown = state.session_shown_as(event.browser, event.group)
        if shown is None:  # a session that has just ended; what the person put there stays theirs
            return None
        if opener is None or opener.session != shown.id:
            place = None if jar is None else jar.id
            return groups.adopt(state, shown, event.handle, event.url, out, jar=place)
    session = _owner(opener, jar)
    if session is None and jar is not None:  # its session has ended, and the jar ends with it
        out.append(CloseStray(event.browser, event.handle))
        return None
    if opener is not None and session is not None and _is_burst(state, opener.id, now):
        out.append(CloseStray(event.browser, event.handle))
        out.append(Tell(session, "popups_blocked", {"tab": opener.id, "url": event.url}))
        return None
    tab = Tab(
        id=TabId(f"t{state.next_number('tab')}"),
        session=session,
        browser=event.browser,
        jar=_jar_of_spawned(opener, jar),
        handle=event.handle,
        url=event.url,
        used=state.next_use(),
        state=TabState.OPEN,
        opener=None if opener is None else opener.id,
    )
    state.put(tab)
    if session is not None:
        opened = {"tab": tab.id, "url": tab.url, "opener": tab.opener}
        out.append(Tell(session, "tab_opened", opened))
        _make_room_for_spawned(state, tab, out)
    return tab


def _owner(opener: Tab | None, jar: Jar | None) -> SessionId | None:
    if opener is not None:
        return opener.session
    return None if jar is None else jar.session


def _jar_of_spawned(opener: Tab | None, jar: Jar | None) -> JarId | None:
    """A popup lives in its opener's jar, also in the shared one, which no handle leads to."""
    if jar is not None:
        return jar.id
    return None if opener is None else opener.jar


def _is_burst(state: State, opener: TabId, now: float) -> bool:
    """Whether this popup is one too many for one tab in one second."""
    recent = state.popups.setdefault(opener, deque(maxlen=SPAWN_BURST + 1))
    recent.append(now)
    return len(recent) > SPAWN_BURST and now - recent[0] < SPAWN_BURST_SECONDS


def _make_room_for_spawned(state: State, tab: Tab, out: list[Effect]) -> None:
    pool = state.pool(tab.browser)
    if pool.limit == 0 or pool.free >= 0:
        return
    # Never the opener: a sign-in popup without the page it reports to is worth nothing.
    for old in state.tabs_in(tab.session):
        if old.id not in (tab.id, tab.opener) and _evictable(old):
            _evict(state, old, out, why=f"to make room for {tab.id}, which {tab.opener} opened")
            return


# --- tab space: requests, grants, reservations ---------------------------------------------------


def request_space(state: State, event: TabSpaceRequested, now: float, out: list[Effect]) -> Session:
    """Join the queue. Asking again keeps the place; a reservation already held stays."""
    session = rules.session_for(state, event.agent, event.session)
    if event.agent == OPERATOR:
        raise BadRequest("The operator opens no tabs of its own.", hint="Ask as an agent.")
    if session.id in state.requests or session.id in state.reservations:
        return session
    state.put(
        SlotRequest(
            session=session.id,
            browser=session.browser,
            agent=event.agent,
            asked_at=now,
            turn=state.next_turn(),
        )
    )
    pool = state.pool(session.browser)
    if not pool.has_room:
        for heavy in pool.heavy:
            waiting = {"waiting": len(pool.queue), "yourTabs": pool.holders[heavy]}
            out.append(Tell(heavy, "tab_space_wanted", waiting))
    return session


def grant_space(state: State, event: TabSpaceGranted, now: float, out: list[Effect]) -> Tab:
    """Close one of the granter's own tabs for the head of the queue."""
    session = rules.session_for(state, event.agent, event.session)
    if not state.pool(session.browser).queue:
        raise BadRequest("Nobody is waiting for a tab.", hint="Keep your tabs.")
    if event.tab is not None:
        tab = rules.tab_for(state, event.agent, event.session, event.tab, action="grant", acts=True)
    else:
        mine = [tab for tab in state.tabs_in(session.id) if _evictable(tab)]
        if not mine:
            raise TabGone("You have no tab to give.")
        tab = mine[0]
    rules.check_tab_not_paused(state, tab, event.agent)
    if not _evictable(tab) or tab.browser != session.browser:
        raise TabGone(f"Tab {tab.id} holds no slot to give.", tab=tab.id)
    close_tab(state, tab, TabGone(f"Tab {tab.id} was given to a waiting agent.", tab=tab.id), out)
    return tab


def serve_queues(state: State, now: float, out: list[Effect]) -> None:
    """Give every free slot to the longest waiting session: one reservation per slot."""
    while state.freed:
        browser = min(state.freed)
        pool = state.pool(browser)
        while pool.queue:
            if not pool.has_room and not _park_unattended(state, browser, out):
                break
            if pool.has_room:
                _reserve(state, next(iter(pool.queue.values())), now, out)
        state.freed.discard(browser)


def _reserve(state: State, request: SlotRequest, now: float, out: list[Effect]) -> None:
    state.drop(request)
    until = now + RESERVATION_SECONDS
    state.put(
        Reservation(
            session=request.session, browser=request.browser, agent=request.agent, until=until
        )
    )
    told = {"browser": request.browser, "expiresInMs": int(RESERVATION_SECONDS * 1000)}
    out.append(Tell(request.session, "slot_reserved", told))


def reservation_expired(state: State, reservation: Reservation, out: list[Effect]) -> None:
    state.drop(reservation)
    out.append(Tell(reservation.session, "slot_lapsed", {"browser": reservation.browser}))


def withdraw(state: State, agent: AgentId) -> None:
    """A dead agent neither waits nor holds; a fellow in its session takes over, if there is one."""
    for session in [member.session for member in state.memberships(agent)]:
        heir = next((other for other in state.agents_in(session) if other != agent), None)
        for row in (state.requests.get(session), state.reservations.get(session)):
            if row is None or row.agent != agent:
                continue
            if heir is None:
                state.drop(row)
            else:
                state.put(replace(row, agent=heir))


def _park_unattended(state: State, browser: BrowserId, out: list[Effect]) -> bool:
    """Take the slot used longest ago from the named sessions nobody attends; the tab comes back
    when it is asked for."""
    pool = state.pool(browser)
    oldest = [
        next(filter(_parkable, state.tabs_in(session)), None)
        for session in pool.named
        if session not in pool.queue and _is_unattended(state, session)
    ]
    tab = min((tab for tab in oldest if tab is not None), key=lambda tab: tab.used, default=None)
    if tab is None:
        return False
    state.put(replace(tab, state=TabState.PARKED, handle=None))
    error = TabGone(f"Tab {tab.id} was parked for a waiting agent.", tab=tab.id)
    out.append(CloseTab(tab.id, tab.browser, tab.handle, error))
    out.append(Note("tab parked", {"tab": tab.id, "session": tab.session}))
    return True


def _is_unattended(state: State, session: SessionId) -> bool:
    row = state.sessions[session]  # paused: a person attends it
    named = row.lifetime is Lifetime.NAMED and not row.paused
    return named and not state.is_attended(session)


# --- what the caller is told ---------------------------------------------------------------------


def pool_full(state: State, session: Session, pool: Pool) -> PoolFull:
    # Other sessions' names are theirs: here they are only numbered. And not all of them, where
    # there are very many: a refusal must not cost more than an admission.
    holders = islice(pool.holders.items(), OWNERS_SHOWN)
    breakdown = {
        session.name if holder == session.id else f"session {number}": count
        for number, (holder, count) in enumerate(holders, 1)
    }
    return PoolFull(
        f"All {pool.limit} slots are taken and none of them is yours to give up.",
        tabPool=pool.shown,
        ownerBreakdown=breakdown,
        waiting=len(pool.queue),
    )


def _evictable(tab: Tab) -> bool:
    return tab.state in (TabState.OPEN, TabState.CRASHED, TabState.LOST)


def _parkable(tab: Tab) -> bool:
    """A tab in no jar of ours could not be opened again as it was."""
    return _evictable(tab) and tab.jar is not None


def _evict(state: State, tab: Tab, out: list[Effect], *, why: str) -> None:
    close_tab(state, tab, TabGone(f"Tab {tab.id} was closed {why}.", tab=tab.id), out)
    out.append(Note("tab evicted", {"tab": tab.id, "session": tab.session, "why": why}))
