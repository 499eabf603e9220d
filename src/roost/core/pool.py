"""The pool admits tabs: who gets a slot, who waits, who makes room, and whose a popup is.

Admitted tabs and reservations together never exceed the limit. Only tabs that cannot be refused
(popups, the person's own) may exceed it. This is debt, and no tab is admitted until it is paid.
``serve_queues`` runs after every event, so every freed slot goes to the queue.
``enforce_shares`` parks a tab of a session above its fair share once another has waited 10 s.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from roost.core import groups, policy, rules
from roost.core.addresses import checked_url, short_address, with_scheme
from roost.core.effects import CloseStray, CloseTab, OpenTab, Tell, WriteAudit
from roost.core.events import TabOpened
from roost.core.jars import jar_for
from roost.core.rows import Jar, Reservation, Session, SlotRequest, Tab, TabState
from roost.core.sessions import own_session_of
from roost.core.slots import Pool
from roost.core.state import State
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
    NoticeKind,
    SessionId,
    TabId,
)

OWNERS_SHOWN = 20
"""Maximum number of sessions listed in a POOL_FULL error."""


class OpenTabAnswer(NamedTuple):
    """The answer to ``open_tab``.

    is_new: False for a tab that was found by its name.
    evicted: the tabs that were closed to make room.
    """

    tab: Tab
    is_new: bool = True
    evicted: tuple[TabId, ...] = ()


def open_tab(
    state: State,
    agent: AgentId,
    session: str | None,
    url: str,
    *,
    evict: bool = True,
    page: str | None = None,
    label: str | None = None,
    jar: JarId | None = None,
) -> OpenTabAnswer:
    """Admit one more tab, or raise a refusal.

    Takes the slot here, before anything is awaited.

    evict: if the pool is full, close the session's own LRU tab instead of refusing.
    page: the session's own name for the tab. If a tab of that name is already open, it becomes the
        agent's current one and is returned.
    label: like ``page``, but a name that another tab has is refused.
    jar: extra jar of the session to open the tab in, instead of the session's own.
    """
    into = _session_to_fill(state, agent, session)
    rules.check_not_paused(into, agent)
    rules.check_welcome(state, into, agent)
    if label is not None:
        rules.check_label(state, into, label)
        page = label
    known = None if page is None else state.page(into.id, page)
    if known is not None:
        known = used(state, _brought_back(state, into, known))
        make_current(state, agent, known)
        return OpenTabAnswer(known, is_new=False)
    policy.check_tabs(state, agent, into)
    url = checked_url(with_scheme(url), into.allow, into.deny)
    extra = None if jar is None else jar_for(state, into, jar)
    evicted = _take_slot(state, into, evict=evict)
    place = extra or jar_for(state, into)
    tab = Tab(
        id=TabId(f"t{state.next_number('tab')}"),
        session=into.id,
        browser=into.browser,
        jar=place.id,
        url=short_address(url),
        used=state.next_use(),
        asked_by=agent,
        page=page,
    )
    state.put(tab)
    state.emit(OpenTab(tab.id, tab.browser, place.id))
    return OpenTabAnswer(tab, evicted=evicted)


def _brought_back(state: State, session: Session, tab: Tab) -> Tab:
    """Give a parked tab a slot and order its page to be opened; return any other tab unchanged.

    In a full pool, the least recently used tab of the same session is parked instead.
    """
    if tab.state is not TabState.PARKED:
        return tab
    _take_slot(state, session, evict=True, park=True)
    tab = replace(tab, state=TabState.LOST)
    state.put(tab)
    assert tab.jar is not None  # ``_parkable`` admits only tabs with a jar
    state.emit(OpenTab(tab.id, tab.browser, tab.jar, back_to(tab)))
    return tab


def _session_to_fill(state: State, agent: AgentId, session: str | None) -> Session:
    """Return the session for the new tab. An agent that names none gets its own session."""
    if session is None and agent in state.agents:
        return own_session_of(state, agent)
    return rules.session_for(state, agent, session)


def use_tab(
    state: State,
    agent: AgentId,
    session: str | None,
    tab: str | None,
    *,
    action: str,
    acts: bool,
    revives: bool = False,
) -> Tab:
    """Return the tab that an operation will work on. Bring a parked tab back if there is a slot.

    action: verb for the refusal's message.
    acts: False for operations that only read.
    revives: the operation works on a crashed page (navigate, reload).
    """
    row = rules.tab_for(state, agent, session, tab, action=action, acts=acts)
    if row.session is None:
        return row
    owner = state.sessions[row.session]
    rules.check_not_paused(owner, agent)
    rules.check_welcome(state, owner, agent)
    is_owner = state.member(agent, owner.id) is not None
    if row.state is TabState.PARKED and (is_owner or agent == OPERATOR):
        row = _brought_back(state, owner, row)
    else:
        rules.check_usable(row, revives=revives)
    # An agent of another session, or the operator, does not change the order of use.
    return used(state, row) if is_owner else row


def _take_slot(
    state: State, session: Session, *, evict: bool, park: bool = False
) -> tuple[TabId, ...]:
    """Take a slot: the session's reservation, free room, or the slot of its own LRU tab.

    evict: close the session's own tabs if necessary; otherwise raise ``PoolFull``.
    park: park those tabs, where they can come back, instead of closing them.
    Returns the tabs that made room.
    """
    reservation = state.reservations.get(session.id)
    if reservation is not None:
        state.drop(reservation)
        return ()
    pool = state.pool(session.browser)
    if pool.has_room:
        return ()
    mine = [tab for tab in state.tabs_in(session.id) if _evictable(tab)]
    needed = 1 - pool.free  # greater than 1 when there is debt to pay
    if not evict or len(mine) < needed:
        raise pool_full(state, session, pool)
    for tab in mine[:needed]:
        if park and _parkable(tab):
            _park(state, tab, why="to make room for another tab of its session")
        else:
            _evict(state, tab, why="to make room for your next tab")
    return tuple(tab.id for tab in mine[:needed])


def tab_opened(state: State, event: TabOpened) -> Tab | None:
    """Record a tab that the browser opened although no agent asked for it.

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
            return groups.adopt(state, shown, event.handle, event.url, jar=place)
    session = _owner(opener, jar)
    if jar is not None and (session is None or jar.session is None):
        # The jar's session has ended, so the browser is about to remove the jar and its pages.
        state.emit(CloseStray(event.browser, event.handle))
        return None
    if opener is not None and session is not None and _is_burst(state, opener.id):
        state.emit(CloseStray(event.browser, event.handle))
        state.emit(Tell(session, NoticeKind.POPUPS_BLOCKED, {"tab": opener.id, "url": event.url}))
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
        state.emit(Tell(session, NoticeKind.TAB_OPENED, opened))
        _make_room_for_spawned(state, tab)
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


def _is_burst(state: State, opener: TabId) -> bool:
    """Return whether this tab has opened too many popups within ``SPAWN_BURST_SECONDS``."""
    recent = (*state.popups.get(opener, ()), state.now)[-SPAWN_BURST - 1 :]
    state.put_popups(opener, recent)
    return len(recent) > SPAWN_BURST and state.now - recent[0] < SPAWN_BURST_SECONDS


def _make_room_for_spawned(state: State, tab: Tab) -> None:
    """Evict one older tab of the popup's session if the popup put the pool into debt."""
    pool = state.pool(tab.browser)
    if pool.limit == 0 or pool.free >= 0:
        return
    # Spare the opener: a sign-in popup is useless without the page it reports to.
    for old in state.tabs_in(tab.session):
        if old.id not in (tab.id, tab.opener) and _evictable(old):
            _evict(state, old, why=f"to make room for {tab.id}, which {tab.opener} opened")
            return


# --- tab space: requests, grants, reservations ---------------------------------------------------


def request_space(state: State, agent: AgentId, session: str | None) -> Session:
    """Put the session into the queue for a slot, and notify sessions that hold many tabs.

    A session that already waits keeps its place. A session with a reservation keeps it.
    """
    row = rules.session_for(state, agent, session)
    if agent == OPERATOR:
        raise BadRequest("The operator opens no tabs of its own.", hint="Ask as an agent.")
    if row.id in state.requests or row.id in state.reservations:
        return row
    state.put(
        SlotRequest(
            session=row.id,
            browser=row.browser,
            agent=agent,
            asked_at=state.now,
            turn=state.next_turn(),
        )
    )
    pool = state.pool(row.browser)
    if not pool.has_room:
        share = fair_share(state, row.browser)
        for heavy in pool.heavy:
            waiting = {"waiting": len(pool.queue), "yourTabs": pool.holders[heavy]}
            enforced = {"fairShare": share, "shareEnforcedInMs": int(SHARE_SECONDS * 1000)}
            state.emit(Tell(heavy, NoticeKind.TAB_SPACE_WANTED, waiting | enforced))
    return row


def grant_space(state: State, agent: AgentId, session: str | None, tab: str | None) -> Tab:
    """Close one of the caller's own tabs to free a slot for the head of the queue."""
    giver = rules.session_for(state, agent, session)
    if not state.pool(giver.browser).queue:
        raise BadRequest(
            "Nobody is waiting for a tab.", hint="There is nobody to give a tab to; keep your tabs."
        )
    if tab is not None:
        given = rules.tab_for(state, agent, session, tab, action="grant", acts=True)
    else:
        mine = [one for one in state.tabs_in(giver.id) if _evictable(one)]
        if not mine:
            raise TabGone("You have no tab to give.")
        given = mine[0]
    rules.check_tab_not_paused(state, given, agent)
    if not _evictable(given) or given.browser != giver.browser:
        raise TabGone(f"Tab {given.id} holds no slot to give.", tab=given.id)
    error = TabGone(f"Tab {given.id} was given to a waiting agent.", tab=given.id)
    close_tab(state, given, error)
    return given


def serve_queues(state: State) -> None:
    """Give every free slot to the session that has waited longest, as a reservation."""
    while state.freed:
        browser = min(state.freed)
        pool = state.pool(browser)
        while pool.queue:
            if not pool.has_room and not _park_unattended(state, browser):
                break
            if pool.has_room:
                _reserve(state, next(iter(pool.queue.values())))
        state.freed.discard(browser)


def _reserve(state: State, request: SlotRequest) -> None:
    state.drop(request)
    until = state.now + RESERVATION_SECONDS
    state.put(
        Reservation(
            session=request.session, browser=request.browser, agent=request.agent, until=until
        )
    )
    told = {"browser": request.browser, "expiresInMs": int(RESERVATION_SECONDS * 1000)}
    state.emit(Tell(request.session, NoticeKind.SLOT_RESERVED, told))


def reservation_expired(state: State, reservation: Reservation) -> None:
    state.drop(reservation)
    state.emit(Tell(reservation.session, NoticeKind.SLOT_LAPSED, {"browser": reservation.browser}))


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


def wait_anew(state: State) -> None:
    """Restart every wait for a fair share.

    After a restart, the broker does not know which tabs are in use until their agents are back.
    """
    for request in list(state.requests.values()):
        state.put(replace(request, asked_at=state.now))


def _park_unattended(state: State, browser: BrowserId) -> bool:
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
    _park(state, tab, why="for a waiting agent")
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
) -> None:
    """Give slots to sessions that have waited ``SHARE_SECONDS`` and are below their fair share.

    due: the requests whose alarm has rung. Those that get no slot are tried again after
        ``SHARE_RETRY_SECONDS``, when a busy tab may be idle.
    busy: tabs that must not be parked now.
    """
    for pool in state.pools.values():
        for request in list(pool.queue.values()):
            if state.now - request.asked_at < SHARE_SECONDS:
                continue
            while not pool.has_room:  # debt may require parking more than one tab
                tab = _surplus(state, request, busy)
                if tab is None:
                    break
                _park(state, tab, why="because another agent had waited for its fair share")
            if pool.has_room:
                # Skip earlier waiters: they have no claim to this slot.
                _reserve(state, request)
    for request in due:
        if request.session in state.requests:
            state.remind(request, state.now + SHARE_RETRY_SECONDS)


def _surplus(state: State, request: SlotRequest, busy: Collection[TabId]) -> Tab | None:
    """Choose the tab to park for that waiter, or None.

    Takes the least recently used idle tab of the session furthest above its fair share. Sessions of
    sub-agents come first.
    """
    if not claims_share(state, state.sessions[request.session]):
        return None
    pool, share = state.pool(request.browser), fair_share(state, request.browser)
    above = [one for one, held in pool.holders.items() if one is not None and held > share]
    is_main = {one: state.sessions[one].parent is None for one in above}
    for session in sorted(above, key=lambda one: (is_main[one], -pool.holders[one])):
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


def _park(state: State, tab: Tab, *, why: str) -> None:
    state.put(replace(tab, state=TabState.PARKED, handle=None))
    error = TabGone(
        f"Tab {tab.id} was parked {why}.",
        hint="Use the tab again: it is opened at its address.",
        tab=tab.id,
    )
    state.emit(CloseTab(tab.id, tab.browser, tab.handle, error))
    if tab.session is not None:
        state.emit(
            Tell(tab.session, NoticeKind.TAB_PARKED, {"tab": tab.id, "url": tab.url, "why": why})
        )
    state.emit(WriteAudit("tab parked", {"tab": tab.id, "session": tab.session, "why": why}))


def _evict(state: State, tab: Tab, *, why: str) -> None:
    close_tab(state, tab, TabGone(f"Tab {tab.id} was closed {why}.", tab=tab.id))
    state.emit(WriteAudit("tab evicted", {"tab": tab.id, "session": tab.session, "why": why}))
