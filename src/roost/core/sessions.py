"""Make, join, pause and end sessions."""

from __future__ import annotations

import re
from dataclasses import replace

from roost.core import jars, rules, tabs
from roost.core.addresses import checked_domain
from roost.core.effects import Effect, ForgetGroup, Note, RemoveFiles, Tell
from roost.core.events import (
    SessionDisposeRequested,
    SessionOpenRequested,
    SessionPauseRequested,
    SessionSpec,
    SessionTokenIssued,
    TabOpenAbandoned,
    TabOpenFailed,
)
from roost.core.rows import Member, Session, Tab, TabState
from roost.core.state import State
from roost.errors import BadRequest, SessionGone, SessionLimit, TabGone, Unauthorized
from roost.vocabulary import (
    OPERATOR,
    RESUMABLE_SECONDS,
    AgentId,
    Color,
    JarPolicy,
    Lifetime,
    SessionId,
    TabId,
    is_session_id,
    shown,
)

NAME_CHARS = 80
"""Maximum length of a session's name; longer names are cut."""
_COUNTED = re.compile(r"s\d+")
"""Pattern of the ids that the core counts (``s7``)."""


def open_session(
    state: State, event: SessionOpenRequested, now: float, out: list[Effect]
) -> Session:
    """Return the caller's session of that name, made if there is none.

    An agent's names are its own aliases. The operator's names are global ids.
    """
    if event.agent == OPERATOR:
        if event.spec.id not in state.sessions:
            rules.check_profile(state, event)
        return found_or_made(state, event.spec, now, out)
    rules.check_alive(state, event.agent)
    if state.agents[event.agent].lease_until is not None:
        return _unchanged(_of_token(state, event), event.spec)
    if event.alias is not None:
        _check_id(event.alias)
        _check_not_counted(event.alias)
        known = state.aliased(event.agent, event.alias)
        if known is None and state.member(event.agent, SessionId(event.alias)) is not None:
            known = SessionId(event.alias)
        if known is not None:
            return _unchanged(state.sessions[known], event.spec)
    rules.check_profile(state, event)
    # The id an agent asks for becomes its own alias, never a global id. The domain lists that the
    # agent was started with hold for every session it makes.
    row = state.agents[event.agent]
    browser = event.spec.browser or row.browser
    spec = replace(event.spec, id=None, browser=browser, allow=row.allow, deny=row.deny)
    session = made(state, spec, now, out)
    state.put(Member(agent=event.agent, session=session.id, alias=event.alias))
    return session


def _of_token(state: State, event: SessionOpenRequested) -> Session:
    """Return the token's own session. A token gives access to one session, so it opens no other."""
    if event.alias is None:
        raise Unauthorized(
            "A session's token opens no further sessions.",
            hint="Work in the session it was given for; the person opens others.",
        )
    return rules.session_for(state, event.agent, event.alias)


def found_or_made(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """Return the session with that global id, made if there is none."""
    if spec.id is None:
        return made(state, spec, now, out)
    _check_id(spec.id)
    session = state.sessions.get(spec.id)
    return made(state, spec, now, out) if session is None else _unchanged(session, spec)


def joinable(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """Like ``found_or_made``, for an id that an agent supplied.

    Refuses counted ids (``s7``): they belong to sessions of other agents.
    """
    if spec.id is not None:
        _check_not_counted(spec.id)
    return found_or_made(state, spec, now, out)


def home_of(state: State, agent: AgentId, now: float, out: list[Effect]) -> Session:
    """Return the agent's own session, or make a new one if somebody disposed it."""
    row = state.agents[agent]
    if state.member(agent, row.home) is not None:
        return state.sessions[row.home]
    # A leased agent came with that session's token, which ended with the session.
    if row.lease_until is not None:
        raise rules.no_session(row.home)
    spec = SessionSpec(
        lifetime=Lifetime.ANONYMOUS,
        name=row.name,
        browser=row.browser,
        policy=row.policy,
        profile=row.profile,
        allow=row.allow,
        deny=row.deny,
    )
    session = made(state, spec, now, out)
    state.put(replace(row, home=session.id))
    state.put(Member(agent=agent, session=session.id))
    return session


def join(state: State, agent: AgentId, session: Session) -> None:
    """Make the agent a member. If the session was only kept for a return, it is in use again."""
    if session.kept_until is not None:
        session = replace(session, kept_until=None)
        state.put(session)
    if state.member(agent, session.id) is None:
        current = _tab_to_continue_in(state, session)
        state.put(Member(agent=agent, session=session.id, current=current))
        if current in session.left:
            state.put(replace(session, left=tuple(tab for tab in session.left if tab != current)))


def _tab_to_continue_in(state: State, session: Session) -> TabId | None:
    """Return the tab that becomes the current one of an agent that joins, if there is one.

    Without it, an agent that comes back to a named session would open one more tab each time. The
    agent gets a tab that an agent left, never one that another agent may be using.
    """
    members = state.members_in(session.id)
    taken = {member.current for member in members}
    is_open = {tab.id for tab in state.tabs_in(session.id) if tab.state is not TabState.OPENING}
    left = [tab for tab in session.left if tab in is_open and tab not in taken]
    if not left and not members:
        left = [tab.id for tab in state.tabs_in(session.id) if tab.id in is_open]
    return left[-1] if left else None


def leave(state: State, member: Member, now: float, out: list[Effect]) -> None:
    """End a membership, and end or keep the session as its lifetime says."""
    state.drop(member)
    session = state.sessions[member.session]
    if state.members_in(session.id) or session.lifetime is Lifetime.NAMED:
        if member.current is not None:
            open_tabs = {tab.id for tab in state.tabs_in(session.id)} - {member.current}
            others = tuple(tab for tab in session.left if tab in open_tabs)
            state.put(replace(session, left=(*others, member.current)))
        # The session may be unattended now, so its tabs may be parked.
        state.freed.add(session.browser)
        return
    is_unused = not session.has_opened and session.id not in state.loops
    if session.lifetime is Lifetime.ANONYMOUS or is_unused:
        end_session(state, session, out, why="its agent ended")
        return
    for tab in state.tabs_in(session.id):
        tabs.close_tab(state, tab, TabGone("The agent that owned this tab ended.", tab=tab.id), out)
    state.put(replace(session, kept_until=now + RESUMABLE_SECONDS))


def dispose_session(
    state: State, event: SessionDisposeRequested, now: float, out: list[Effect]
) -> Session:
    session = rules.session_for(state, event.agent, event.session)
    rules.check_not_paused(session, event.agent)
    end_session(state, session, out, why=f"disposed by {shown(event.agent)}")
    return session


def end_session(state: State, session: Session, out: list[Effect], *, why: str) -> None:
    """End the session: close its tabs and drop its jars, loop, queue place and members.

    An agent whose home session this was gets a new one when it next opens a tab.
    """
    ended = {"session": session.id, "why": why}
    out.append(Tell(session.id, "session_ended", ended, tuple(state.agents_in(session.id))))
    out.append(Note("session ended", {"session": session.id, "name": session.name, "why": why}))
    gone = SessionGone(f"Session {session.id} ended: {why}.", session=session.id)
    for tab in state.tabs_in(session.id):
        tabs.close_tab(state, tab, gone, out)
    for jar in state.jars_of(session.id):
        jars.end_jar(state, jar, out)
    for table in (state.requests, state.reservations, state.loops):
        row = table.get(session.id)
        if row is not None:
            state.drop(row)
    for member in state.members_in(session.id):
        state.drop(member)
    state.drop(session)
    out.append(RemoveFiles(session.id))
    if session.browser in state.rules.grouped:
        out.append(ForgetGroup(session.browser, session.group))


def token_issued(state: State, event: SessionTokenIssued, now: float, out: list[Effect]) -> None:
    session = state.sessions.get(event.session)
    if session is not None:
        state.put(replace(session, token_salt=event.salt, token_digest=event.digest))
        out.append(Note("session token issued", {"session": session.id}))


def tab_open_failed(state: State, event: TabOpenFailed, now: float, out: list[Effect]) -> None:
    tab = state.tabs.get(event.tab)
    tabs.tab_open_failed(state, event, now, out)
    _end_if_stillborn(state, tab, out)


def tab_open_abandoned(
    state: State, event: TabOpenAbandoned, now: float, out: list[Effect]
) -> None:
    tab = state.tabs.get(event.tab)
    tabs.tab_open_abandoned(state, event, now, out)
    _end_if_stillborn(state, tab, out)


def _end_if_stillborn(state: State, tab: Tab | None, out: list[Effect]) -> None:
    """End a session whose first tab failed to open: it is useless, and its jar counts to the limit.

    Keep an agent's home session, because the agent may try again. A token's agent does not count:
    its session was opened on purpose by somebody else.
    """
    if tab is None or tab.session is None or tab.id in state.tabs:
        return
    session = state.sessions[tab.session]
    agents = (state.agents[agent] for agent in state.agents_in(session.id))
    is_home = any(agent.home == session.id and agent.lease_until is None for agent in agents)
    if not session.has_opened and not is_home and not state.tab_count(session.id):
        end_session(state, session, out, why="its first tab could not be opened")


def pause_session(
    state: State, event: SessionPauseRequested, now: float, out: list[Effect]
) -> Session:
    """Pause the session for the person, or resume it. Only the operator may resume a session."""
    session = rules.session_for(state, event.agent, event.session)
    if not event.paused and session.paused and event.agent != OPERATOR:
        raise Unauthorized(
            "Only the person can hand a paused session back.",
            hint="Wait: your calls answer again once they run `roost session resume`.",
        )
    return set_paused(state, session, out, paused=event.paused)


def set_paused(state: State, session: Session, out: list[Effect], *, paused: bool) -> Session:
    if session.paused != paused:
        session = replace(session, paused=paused)
        state.put(session)
        # A resumed session may be unattended, so its tabs may be parked.
        state.freed.add(session.browser)
        kind = "session_paused" if paused else "session_resumed"
        out.append(Tell(session.id, kind, {"session": session.id}))
    return session


def made(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """Make a session, in the colour that the fewest sessions have.

    Raises ``BadRequest`` for a clone without a profile (or the reverse), ``SessionLimit`` if there
    are too many clones.
    """
    if (spec.policy is JarPolicy.CLONE) != (spec.profile is not None):
        raise BadRequest(
            "jar: clone needs a profile, and only clone takes one.",
            hint="Pass jar clone together with profile NAME, or neither.",
            field="jar",
        )
    limit = state.rules.clones
    if spec.policy is JarPolicy.CLONE and state.clones >= limit:
        raise SessionLimit(f"There are {limit} cloned jars already.", limit=limit)
    browser = spec.browser or state.rules.default_browser
    allow, deny = tuple(map(checked_domain, spec.allow)), tuple(map(checked_domain, spec.deny))
    number = state.next_number("session")
    while spec.id is None and SessionId(f"s{number}") in state.sessions:
        number = state.next_number("session")  # the operator chose that id for a named session
    session = Session(
        id=spec.id or SessionId(f"s{number}"),
        name=(spec.name or f"Session {number}")[:NAME_CHARS],
        color=min(Color, key=lambda color: state.colors[color]),
        lifetime=spec.lifetime,
        browser=browser,
        policy=spec.policy or state.rules.policy(browser),
        profile=spec.profile,
        allow=allow,
        deny=deny,
        created_at=now,
    )
    state.put(session)
    out.append(Note("session opened", {"session": session.id, "name": session.name}))
    return session


def _unchanged(session: Session, spec: SessionSpec) -> Session:
    """Return the session, or raise ``BadRequest`` if ``spec`` contradicts what the session has."""
    for field, asked, has in (
        ("browser", spec.browser, session.browser),
        ("jar", spec.policy, session.policy),
        ("profile", spec.profile, session.profile),
        ("allow", spec.allow or None, session.allow),
        ("deny", spec.deny or None, session.deny),
    ):
        if asked is not None and asked != has:
            raise BadRequest(
                f"{field}: session {session.id} already exists with {has}, not {asked}.",
                hint=f"Leave {field} out to use it as it is, or dispose it first.",
                field=field,
            )
    return session


def _check_not_counted(session: str) -> None:
    """Refuse ids like ``s7``: a caller's alias must not look like another session's counted id."""
    if _COUNTED.fullmatch(session):
        raise BadRequest(
            f"session: ids like {session} are Roost's own.",
            hint="Choose a name that says what the session is for.",
            field="session",
        )


def _check_id(session: str) -> None:
    if not is_session_id(session):
        raise BadRequest(
            f"session: {session[:64]!r} is not a session id.",
            hint="Use 1 to 64 letters, digits, '.', '_', ':' or '-', beginning with one of the"
            " first two.",
            field="session",
        )
