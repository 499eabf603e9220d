"""Make, join, pause and end sessions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from roost.core import approvals, conditions, jars, policy, rules, tabs
from roost.core.addresses import checked_domain
from roost.core.effects import ForgetGroup, RemoveFiles, Tell, WriteAudit
from roost.core.policy_layers import PolicyLayer
from roost.core.rows import Agent, Member, Session, Tab, TabState
from roost.core.state import State
from roost.errors import BadRequest, SessionGone, SessionLimit, TabGone, Unauthorized
from roost.vocabulary import (
    OPERATOR,
    RESUMABLE_SECONDS,
    AgentId,
    BrowserId,
    Color,
    JarPolicy,
    Lifetime,
    NoticeKind,
    SessionId,
    TabId,
    is_session_id,
    shown,
)

NAME_CHARS = 80
"""Maximum length of a session's name; longer names are cut."""
_COUNTED = re.compile(r"s\d+")
"""Pattern of the ids that the core counts (``s7``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """The properties of a session that may have to be made. No id: it gets the next ``s<n>``."""

    lifetime: Lifetime
    id: SessionId | None = None
    name: str | None = None
    browser: BrowserId | None = None
    policy: JarPolicy | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    layers: tuple[PolicyLayer, ...] = ()
    parent: SessionId | None = None


@dataclass(frozen=True, slots=True)
class DisposeAnswer:
    """The answer to ``dispose_session``: the session's last row, and how many tabs it had."""

    session: Session
    tabs_closed: int


def open_session(
    state: State,
    *,
    agent: AgentId,
    alias: str | None,
    spec: SessionSpec,
    profile_exists: bool = True,
    profile_for_any_agent: bool = False,
) -> Session:
    """Return the caller's session of that name, made if there is none.

    alias: the id the caller sent. An agent's names are its own aliases. The operator's names are
        global ids.
    profile_for_any_agent: the person lets every agent clone the profile.
    """
    is_for_any = profile_for_any_agent
    if agent == OPERATOR:
        if spec.id not in state.sessions:
            rules.check_profile(
                state, agent, spec.profile, exists=profile_exists, is_for_any=is_for_any
            )
        return found_or_made(state, spec)
    rules.check_alive(state, agent)
    row = state.agents[agent]
    if row.lease_until is not None:
        return _unchanged(_of_token(state, agent, alias), spec)
    if alias is not None:
        _check_id(alias)
        _check_not_counted(alias)
        known = state.aliased(agent, alias)
        if known is None and state.member(agent, SessionId(alias)) is not None:
            known = SessionId(alias)
        if known is not None:
            return _unchanged(state.sessions[known], spec)
    rules.check_profile(state, agent, spec.profile, exists=profile_exists, is_for_any=is_for_any)
    # The id an agent asks for becomes its own alias, never a global id. The domain lists that the
    # agent was started with hold for every session it makes.
    browser = spec.browser or row.browser
    policy.check_profile(policy.starting_layers(state, row.layers), spec.profile)
    inherited = replace(
        spec, id=None, browser=browser, allow=row.allow, deny=row.deny, layers=row.layers
    )
    session = made(state, inherited)
    state.put(Member(agent=agent, session=session.id, alias=alias))
    return session


def _of_token(state: State, agent: AgentId, alias: str | None) -> Session:
    """Return the token's own session. A token gives access to one session, so it opens no other."""
    if alias is None:
        raise Unauthorized(
            "A session's token opens no further sessions.",
            hint="Work in the session it was given for; the person opens others.",
        )
    return rules.session_for(state, agent, alias)


def found_or_made(state: State, spec: SessionSpec) -> Session:
    """Return the session with that global id, made if there is none."""
    if spec.id is None:
        return made(state, spec)
    _check_id(spec.id)
    session = state.sessions.get(spec.id)
    return made(state, spec) if session is None else _unchanged(session, spec)


def joinable(state: State, spec: SessionSpec) -> Session:
    """Like ``found_or_made``, for an id that an agent supplied.

    Refuses counted ids (``s7``): they belong to sessions of other agents.
    """
    if spec.id is not None:
        _check_not_counted(spec.id)
    policy.check_profile(policy.starting_layers(state, spec.layers), spec.profile)
    return found_or_made(state, spec)


def own_session_of(state: State, agent: AgentId) -> Session:
    """Return the agent's own session, or make a new one if somebody disposed it."""
    row = state.agents[agent]
    if state.member(agent, row.own_session) is not None:
        return state.sessions[row.own_session]
    # A leased agent came with that session's token, which ended with the session.
    if row.lease_until is not None:
        raise rules.no_session(row.own_session)
    spec = SessionSpec(
        lifetime=Lifetime.ANONYMOUS,
        name=row.name,
        browser=row.browser,
        policy=row.policy,
        profile=row.profile,
        allow=row.allow,
        deny=row.deny,
        layers=row.layers,
        parent=_parent_session(state, row),
    )
    session = made(state, spec)
    state.put(replace(row, own_session=session.id))
    state.put(Member(agent=agent, session=session.id))
    return session


def _parent_session(state: State, row: Agent) -> SessionId | None:
    """Return the session below which a sub-agent's session stands, if its parent has one now."""
    above = state.agents.get(row.parent) if row.is_child and row.parent is not None else None
    has_one = above is not None and state.member(above.id, above.own_session) is not None
    return above.own_session if above is not None and has_one else None


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


def leave(state: State, member: Member) -> None:
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
        end_session(state, session, why="its agent ended")
        return
    for tab in state.tabs_in(session.id):
        tabs.close_tab(state, tab, TabGone("The agent that owned this tab ended.", tab=tab.id))
    state.put(replace(session, kept_until=state.now + RESUMABLE_SECONDS))


def dispose_session(state: State, agent: AgentId, session: str) -> DisposeAnswer:
    """End the caller's session. Returns the session, and how many tabs closed with it."""
    row = rules.session_for(state, agent, session)
    rules.check_not_paused(row, agent)
    tabs_closed = state.tab_count(row.id)
    end_session(state, row, why=f"disposed by {shown(agent)}")
    return DisposeAnswer(row, tabs_closed)


def end_session(state: State, session: Session, *, why: str) -> None:
    """End the session: close its tabs and drop its jars, loop, queue place and members.

    The sessions of sub-agents end with their parent session. An agent whose own session this was
    gets a new one when it next opens a tab.
    """
    for child in state.children(session.id):
        end_session(state, child, why="the session of its parent ended")
    ended = {"session": session.id, "why": why}
    state.emit(
        Tell(session.id, NoticeKind.SESSION_ENDED, ended, tuple(state.agents_in(session.id)))
    )
    state.emit(
        WriteAudit("session ended", {"session": session.id, "name": session.name, "why": why})
    )
    gone = SessionGone(f"Session {session.id} ended: {why}.", session=session.id)
    for tab in state.tabs_in(session.id):
        tabs.close_tab(state, tab, gone)
    for jar in state.jars_of(session.id):
        jars.end_jar(state, jar)
    for table in (state.requests, state.reservations, state.loops, state.questions):
        row = table.get(session.id)
        if row is not None:
            state.drop(row)
    conditions.session_ended(state, session.id)
    approvals.forget(state, session)
    policy.forget(state, session.id)
    for member in state.members_in(session.id):
        state.drop(member)
    state.drop(session)
    state.emit(RemoveFiles(session.id))
    if session.browser in state.settings.grouped:
        state.emit(ForgetGroup(session.browser, session.group))


def record_token(state: State, session: SessionId, salt: str, digest: str) -> None:
    """Record the session's new token. Callers that show it act as the session until it ends."""
    row = state.sessions.get(session)
    if row is not None:
        state.put(replace(row, token_salt=salt, token_digest=digest))
        state.emit(WriteAudit("session token issued", {"session": row.id}))


def tab_open_failed(state: State, tab: TabId) -> None:
    row = state.tabs.get(tab)
    tabs.tab_open_failed(state, tab)
    _end_if_stillborn(state, row)


def tab_open_abandoned(state: State, tab: TabId) -> None:
    row = state.tabs.get(tab)
    tabs.tab_open_abandoned(state, tab)
    _end_if_stillborn(state, row)


def _end_if_stillborn(state: State, tab: Tab | None) -> None:
    """End a session whose first tab failed to open: it is useless, and its jar counts to the limit.

    Keep an agent's own session, because the agent may try again. A token's agent does not count:
    its session was opened on purpose by somebody else.
    """
    if tab is None or tab.session is None or tab.id in state.tabs:
        return
    session = state.sessions[tab.session]
    agents = (state.agents[agent] for agent in state.agents_in(session.id))
    is_own = any(agent.own_session == session.id and agent.lease_until is None for agent in agents)
    if not session.has_opened and not is_own and not state.tab_count(session.id):
        end_session(state, session, why="its first tab could not be opened")


def pause_session(state: State, agent: AgentId, session: str | None, paused: bool) -> Session:
    """Pause the session for the person, or resume it. Only the operator may resume a session."""
    row = rules.session_for(state, agent, session)
    if not paused and row.paused and agent != OPERATOR:
        raise Unauthorized(
            "Only the person can hand a paused session back.",
            hint="Wait: your calls answer again once they run `roost session resume`.",
        )
    return set_paused(state, row, paused=paused)


def set_paused(state: State, session: Session, *, paused: bool) -> Session:
    if session.paused != paused:
        session = replace(session, paused=paused)
        state.put(session)
        # A resumed session may be unattended, so its tabs may be parked.
        state.freed.add(session.browser)
        kind = NoticeKind.SESSION_PAUSED if paused else NoticeKind.SESSION_RESUMED
        state.emit(Tell(session.id, kind, {"session": session.id}))
    return session


def made(state: State, spec: SessionSpec) -> Session:
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
    limit = state.settings.clones
    if spec.policy is JarPolicy.CLONE and state.clones >= limit:
        raise SessionLimit(f"There are {limit} cloned jars already.", limit=limit)
    browser = spec.browser or state.settings.default_browser
    allow, deny = tuple(map(checked_domain, spec.allow)), tuple(map(checked_domain, spec.deny))
    if not allow and browser not in state.settings.personal:
        allow = policy.hosts_to_reach(state, spec.layers)
    number = state.next_number("session")
    while spec.id is None and SessionId(f"s{number}") in state.sessions:
        number = state.next_number("session")  # the operator chose that id for a named session
    session = Session(
        id=spec.id or SessionId(f"s{number}"),
        name=(spec.name or f"Session {number}")[:NAME_CHARS],
        color=min(Color, key=lambda color: state.colors[color]),
        lifetime=spec.lifetime,
        browser=browser,
        policy=spec.policy or state.settings.policy(browser),
        profile=spec.profile,
        allow=allow,
        deny=deny,
        layers=spec.layers,
        created_at=state.now,
        parent=spec.parent,
    )
    state.put(session)
    state.emit(WriteAudit("session opened", {"session": session.id, "name": session.name}))
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


def is_counted(session: str) -> bool:
    """Return whether the id looks like one that the core counts (``s7``)."""
    return _COUNTED.fullmatch(session) is not None


def _check_not_counted(session: str) -> None:
    """Refuse ids like ``s7``: a caller's alias must not look like another session's counted id."""
    if is_counted(session):
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
