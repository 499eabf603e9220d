"""The pool decides which session gets a slot, which waits, and which must make room.

Admitted tabs and reservations together never exceed the limit. Only tabs that cannot be refused
(popups, the person's own) may exceed it. This is debt, and no tab is admitted until it is paid.
``serve_queues`` runs after every event, so every freed slot goes to the queue.
``enforce_shares`` parks a tab of a session above its fair share once another has waited 10 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from typing import Any

from roost.core import groups, rules
from roost.core.addresses import checked_url, short_address, with_scheme
from roost.core.effects import CloseStray, CloseTab, Effect, Note, OpenTab, Tell
from roost.core.events import (
    TabOpenRequested,
    TabSpaceGranted,
    TabSpaceRequested,
    TabSpawned,
    TabUseRequested,
)
from roost.core.jars import jar_for
from roost.core.rows import Jar, Reservation, Session, SlotRequest, Tab, TabState
from roost.core.sessions import home_of
from roost.core.state import Pool, State
from roost.core.tabs import back_to, close_tab, make_current, used
from roost.errors import BadRequest, PoolFull, TabGone
from roost.vocabulary import (
    OPERATOR,
    RESERVATION_SECONDS,
    SHARE_RETRY_SECONDS,
    SHARE_SECONDS,
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
"""Maximum number of sessions listed in a POOL_FULL error."""


def open_tab(state: State, event: TabOpenRequested, now: float, out: list[Effect]) -> Tab:
    """Admit one more tab, or raise a refusal.

    Takes the slot here, before anything is awaited. If ``event.page`` names a tab that is already
    open, returns that tab as the agent's current one.
    """
    session = _session_to_fill(state, event, now, out)
    rules.check_not_paused(session, event.agent)
    rules.check_welcome(state, session, event.agent)
    known = None if event.page is None else state.page(session.id, event.page)
    if known is not None:
        known = used(state, _brought_back(state, session, known, out))
        make_current(state, event.agent, known)
        return known
    url = checked_url(with_scheme(event.url), session.allow, session.deny)
    named = None if event.jar is None else jar_for(state, session, event.jar)
    _take_slot(state, session, out, evict=event.evict)
    jar = named or jar_for(state, session)
    tab = Tab(
        id=TabId(f"t{state.next_number('tab')}"),
        session=session.id,
        browser=session.browser,
        jar=jar.id,
        url=short_address(url),
        used=state.next_use(),
        asked_by=event.agent,
        page=event.page,
    )
    state.put(tab)
    out.append(OpenTab(tab.id, tab.browser, jar.id))
    return tab


def _brought_back(state: State, session: Session, tab: Tab, out: list[Effect]) -> Tab:
    """Give a parked tab a slot and order its page to be opened; return any other tab unchanged.

    In a full pool, the least recently used tab of the same session is parked instead.
    """
    if tab.state is not TabState.PARKED:
        return tab
    _take_slot(state, session, out, evict=True, park=True)
    tab = replace(tab, state=TabState.LOST)
    state.put(tab)
    assert tab.jar is not None  # ``_parkable`` admits only tabs with a jar
    out.append(OpenTab(tab.id, tab.browser, tab.jar, back_to(tab)))
    return tab


def _session_to_fill(
    state: State, event: TabOpenRequested, now: float, out: list[Effect]
) -> Session:
    """Return the session for the new tab. An agent that names none gets its home session."""
    if event.session is None and event.agent in state.agents:
        return home_of(state, event.agent, now, out)
    return rules.session_for(state, event.agent, event.session)


def use_tab(state: State, event: TabUseRequested, now: float, out: list[Effect]) -> Tab:
    """Return the tab that an operation will work on. Bring a parked tab back if there is a slot."""
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
    # An agent of another session, or the operator, does not change the order of use.
    return used(state, tab) if is_owner else tab


def _take_slot(
    state: State, session: Session, out: list[Effect], *, evict: bool, park: bool = False
) -> None:
    """Take a slot: the session's reservation, free room, or the slot of its own LRU tab.

    evict: close the session's own tabs if necessary; otherwise raise ``PoolFull``.
    park: park those tabs, where they can come back, instead of closing them.
    """
    reservation = state.reservations.get(session.id)
    if reservation is not None:
        state.drop(reservation)
        return
    pool = state.pool(session.browser)
    if pool.has_room:
        return
    mine = [tab for tab in state.tabs_in(session.id) if _evictable(tab)]
    needed = 1 - pool.free  # greater than 1 when there is debt to pay
    if not evict or len(mine) < needed:
        raise pool_full(state, session, pool)
    for tab in mine[:needed]:
        if park and _parkable(tab):
            _park(state, tab, out, why="to make room for another tab of its session")
        else:
            _evict(state, tab, out, why="to make room for your next tab")


def spawned(state: State, event: TabSpawned, now: float, out: list[Effect]) -> Tab | None:
    """Record a tab that appeared in the browser although no agent asked for it.

    The tab belongs to its opener's session, else to its jar's session, else to none. In a browser
    that shows sessions as tab groups, the group decides. Returns None if the tab is known or is
    refused.
    """
    if state.tab_with(event.browser, event.handle) is not None:
        return None
    opener = state.tab_with(event.browser, event.opener)
    jar = state.jar_with(event.browser, event.jar)
    if event.group is not None:
        shown = state.session_shown_as(event.browser, event.group)
        if shown is None:  # the group's session has just ended, so the tab stays the person's
            return None
        if opener is None or opener.session != shown.id:
            place = None if jar is None else jar.id
            return groups.adopt(state, shown, event.handle, event.url, out, jar=place)
    session = _owner(opener, jar)
    if jar is not None and (session is None or jar.session is None):
        # The jar's session has ended, so the browser is about to remove the jar and its pages.
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
    """Return the tab's jar, else its opener's: a shared jar cannot be found by handle."""
    if jar is not None:
        return jar.id
    return None if opener is None else opener.jar


def _is_burst(state: State, opener: TabId, now: float) -> bool:
    """Return whether this tab has opened too many popups within ``SPAWN_BURST_SECONDS``."""
    recent = state.popups.setdefault(opener, deque(maxlen=SPAWN_BURST + 1))
    recent.append(now)
    return len(recent) > SPAWN_BURST and now - recent[0] < SPAWN_BURST_SECONDS


def _make_room_for_spawned(state: State, tab: Tab, out: list[Effect]) -> None:
    """Evict one older tab of the popup's session if the popup put the pool into debt."""
    pool = state.pool(tab.browser)
    if pool.limit == 0 or pool.free >= 0:
        return
    # Spare the opener: a sign-in popup is useless without the page it reports to.
    for old in state.tabs_in(tab.session):
        if old.id not in (tab.id, tab.opener) and _evictable(old):
            _evict(state, old, out, why=f"to make room for {tab.id}, which {tab.opener} opened")
            return


# --- tab space: requests, grants, reservations ---------------------------------------------------


def request_space(state: State, event: TabSpaceRequested, now: float, out: list[Effect]) -> Session:
    """Put the session into the queue for a slot, and notify sessions that hold many tabs.

    A session that already waits keeps its place. A session with a reservation keeps it.
    """
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
        share = fair_share(state, session.browser)
        for heavy in pool.heavy:
            waiting = {"waiting": len(pool.queue), "yourTabs": pool.holders[heavy]}
            enforced = {"fairShare": share, "shareEnforcedInMs": int(SHARE_SECONDS * 1000)}
            out.append(Tell(heavy, "tab_space_wanted", waiting | enforced))
    return session


def grant_space(state: State, event: TabSpaceGranted, now: float, out: list[Effect]) -> Tab:
    """Close one of the caller's own tabs to free a slot for the head of the queue."""
    session = rules.session_for(state, event.agent, event.session)
    if not state.pool(session.browser).queue:
        raise BadRequest(
            "Nobody is waiting for a tab.", hint="There is nobody to give a tab to; keep your tabs."
        )
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
    """Give every free slot to the session that has waited longest, as a reservation."""
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
    """Hand an ended agent's request and reservation to another agent of its session, if any."""
    for session in [member.session for member in state.memberships(agent)]:
        heir = next((other for other in state.agents_in(session) if other != agent), None)
        for row in (state.requests.get(session), state.reservations.get(session)):
            if row is None or row.agent != agent:
                continue
            if heir is None:
                state.drop(row)
            else:
                state.put(replace(row, agent=heir))


def wait_anew(state: State, now: float) -> None:
    """Restart every wait for a fair share.

    After a restart, the broker does not know which tabs are in use until their agents are back.
    """
    for request in list(state.requests.values()):
        state.put(replace(request, asked_at=now))


def _park_unattended(state: State, browser: BrowserId, out: list[Effect]) -> bool:
    """Park the least recently used tab among all unattended named sessions.

    Returns False if there is no such tab.
    """
    pool = state.pool(browser)
    oldest = [
        next(filter(_parkable, state.tabs_in(session)), None)
        for session in pool.named
        if session not in pool.queue and _is_unattended(state, session)
    ]
    tab = min((tab for tab in oldest if tab is not None), key=lambda tab: tab.used, default=None)
    if tab is None:
        return False
    _park(state, tab, out, why="for a waiting agent")
    return True


def _is_unattended(state: State, session: SessionId) -> bool:
    row = state.sessions[session]  # a person works in a paused session
    named = row.lifetime is Lifetime.NAMED and not row.paused
    return named and not state.is_attended(session)


# --- fair share ----------------------------------------------------------------------------------


def fair_share(state: State, browser: BrowserId, asking: SessionId | None = None) -> int:
    """Return how many slots each session of that browser may keep while others wait.

    ``asking``: a session to count although it neither holds nor waits for a slot yet.
    """
    pool = state.pool(browser)
    is_new = asking is not None and asking not in pool.stakes
    return max(1, pool.limit // max(1, len(pool.stakes) + is_new))


def claims_share(state: State, session: Session) -> bool:
    """Return whether this session, if it waits, gets a slot from a session above its fair share."""
    pool = state.pool(session.browser)
    share = fair_share(state, session.browser, session.id)
    # A waiter at its fair share gets none: the two sessions would only take the slot in turns.
    has_share = pool.holders.get(session.id, 0) >= share
    is_above = max(pool.levels, default=0) > share
    return is_above and not has_share and not session.paused


def enforce_shares(
    state: State,
    due: Collection[SlotRequest],
    busy: Collection[TabId],
    now: float,
    out: list[Effect],
) -> None:
    """Give slots to sessions that have waited ``SHARE_SECONDS`` and are below their fair share.

    due: the requests whose alarm has rung. Those that get no slot are tried again after
        ``SHARE_RETRY_SECONDS``, when a busy tab may be idle.
    busy: tabs that must not be parked now.
    """
    for pool in state.pools.values():
        for request in list(pool.queue.values()):
            if now - request.asked_at < SHARE_SECONDS:
                continue
            while not pool.has_room:  # debt may require parking more than one tab
                tab = _surplus(state, request, busy)
                if tab is None:
                    break
                _park(state, tab, out, why="because another agent had waited for its fair share")
            if pool.has_room:
                # Skip earlier waiters: they have no claim to this slot.
                _reserve(state, request, now, out)
    for request in due:
        if request.session in state.requests:
            state.remind(request, now + SHARE_RETRY_SECONDS)


def _surplus(state: State, request: SlotRequest, busy: Collection[TabId]) -> Tab | None:
    """Choose the tab to park for that waiter, or None.

    Takes the least recently used idle tab of the session furthest above its fair share.
    """
    if not claims_share(state, state.sessions[request.session]):
        return None
    pool, share = state.pool(request.browser), fair_share(state, request.browser)
    above = [one for one, held in pool.holders.items() if one is not None and held > share]
    for session in sorted(above, key=lambda one: -pool.holders[one]):
        if state.sessions[session].paused:
            continue  # a person works there
        current = {member.current for member in state.members_in(session)}
        for tab in state.tabs_in(session):
            is_in_use = tab.id in current or tab.id in busy
            if _parkable(tab) and tab.browser == request.browser and not is_in_use:
                return tab
    return None


# --- the refusal, and how tabs make room ----------------------------------------------------------


def pool_full(state: State, session: Session, pool: Pool) -> PoolFull:
    """Build the POOL_FULL error, with how many slots each session holds."""
    # Other sessions' names are private, so only number those sessions. List at most
    # ``OWNERS_SHOWN``, because a refusal must not cost more than an admission.
    holders = islice(pool.holders.items(), OWNERS_SHOWN)
    breakdown = {
        session.id if holder == session.id else f"session {number}": count
        for number, (holder, count) in enumerate(holders, 1)
    }
    is_enforced = claims_share(state, session)
    enforced: dict[str, Any] = (
        {"shareEnforcedAfterMs": int(SHARE_SECONDS * 1000)} if is_enforced else {}
    )
    return PoolFull(
        f"All {pool.limit} slots are taken and none of them is yours to give up.",
        tabPool=pool.shown,
        ownerBreakdown=breakdown,
        waiting=len(pool.queue),
        fairShare=fair_share(state, session.browser, session.id),
        **enforced,
    )


def _evictable(tab: Tab) -> bool:
    return tab.state in (TabState.OPEN, TabState.CRASHED, TabState.LOST)


def _parkable(tab: Tab) -> bool:
    """Return whether the tab may be parked. A tab without a jar row could not be opened again."""
    return _evictable(tab) and tab.jar is not None


def _park(state: State, tab: Tab, out: list[Effect], *, why: str) -> None:
    state.put(replace(tab, state=TabState.PARKED, handle=None))
    error = TabGone(
        f"Tab {tab.id} was parked {why}.",
        hint="Use the tab again: it is opened at its address.",
        tab=tab.id,
    )
    out.append(CloseTab(tab.id, tab.browser, tab.handle, error))
    if tab.session is not None:
        out.append(Tell(tab.session, "tab_parked", {"tab": tab.id, "url": tab.url, "why": why}))
    out.append(Note("tab parked", {"tab": tab.id, "session": tab.session, "why": why}))


def _evict(state: State, tab: Tab, out: list[Effect], *, why: str) -> None:
    close_tab(state, tab, TabGone(f"Tab {tab.id} was closed {why}.", tab=tab.id), out)
    out.append(Note("tab evicted", {"tab": tab.id, "session": tab.session, "why": why}))
