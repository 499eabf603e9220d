"""Sessions: how they are made, joined, paused and ended."""

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
from roost.core.rows import Member, Session, Tab
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
    is_session_id,
    shown,
)

NAME_CHARS = 80
_COUNTED = re.compile(r"s\d+")


def open_session(
    state: State, event: SessionOpenRequested, now: float, out: list[Effect]
) -> Session:
    """Find the caller's session of that name, or make it. The operator's names are global."""
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
    # Whatever id an agent asks for is its own name for the session, never a global one; and the
    # domain lists it was started with hold for every session it makes.
    row = state.agents[event.agent]
    browser = event.spec.browser or row.browser
    spec = replace(event.spec, id=None, browser=browser, allow=row.allow, deny=row.deny)
    session = made(state, spec, now, out)
    state.put(Member(agent=event.agent, session=session.id, alias=event.alias))
    return session


def _of_token(state: State, event: SessionOpenRequested) -> Session:
    """A session's token is that session and nothing else, so it opens no other."""
    if event.alias is None:
        raise Unauthorized(
            "A session's token opens no further sessions.",
            hint="Work in the session it was given for; the person opens others.",
        )
    return rules.session_for(state, event.agent, event.alias)


def found_or_made(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """The session with that global id, made if there is none."""
    if spec.id is None:
        return made(state, spec, now, out)
    _check_id(spec.id)
    session = state.sessions.get(spec.id)
    return made(state, spec, now, out) if session is None else _unchanged(session, spec)


def joinable(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """The same for an agent that names it: the ids that sessions of single agents have are nobody's
    to name."""
    if spec.id is not None:
        _check_not_counted(spec.id)
    return found_or_made(state, spec, now, out)


def home_of(state: State, agent: AgentId, now: float, out: list[Effect]) -> Session:
    """The agent's own session; a new one if it was disposed under the agent's feet."""
    row = state.agents[agent]
    if state.member(agent, row.home) is not None:
        return state.sessions[row.home]
    if row.lease_until is not None:  # it came by that session's token, which ended with it
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
    """Make the agent a member. A kept session is in use again from here on."""
    if session.kept_until is not None:
        state.put(replace(session, kept_until=None))
    if state.member(agent, session.id) is None:
        state.put(Member(agent=agent, session=session.id))


def leave(state: State, member: Member, now: float, out: list[Effect]) -> None:
    """End a membership, and the session with it where its lifetime says so."""
    state.drop(member)
    session = state.sessions[member.session]
    if state.members_in(session.id) or session.lifetime is Lifetime.NAMED:
        state.freed.add(session.browser)  # unattended now, perhaps: a tab of it may be parked
        return
    if session.lifetime is Lifetime.ANONYMOUS:
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
    """Close its tabs, forget its jar, loop, queue place and members; its agents get a new one when
    they next need it."""
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
    """A session whose first tab fails to open is of no use to anybody, and its jar would count
    against the limit. An agent's own is: the agent may try again. (Who only has its token did not
    bring it along: somebody opened it on purpose.)"""
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
    """Hand the session to the person, or back. Only the person hands it back."""
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
        state.freed.add(session.browser)  # handed back to nobody, perhaps
        kind = "session_paused" if paused else "session_resumed"
        out.append(Tell(session.id, kind, {"session": session.id}))
    return session


def made(state: State, spec: SessionSpec, now: float, out: list[Effect]) -> Session:
    """A new session, in the colour the fewest others have."""
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
        number = state.next_number("session")  # somebody named a session like that
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
    """Opening an existing session never changes what it is made of."""
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
    """A caller's own name must never be read as another session's counted id."""
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
