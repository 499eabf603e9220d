"""The access rules: why a caller may use a session or tab, or why it was refused.

They are asked in this order. Each finds the thing or raises the refusal:

1. ``session_for``: the caller must have opened or joined the session. A foreign session and one
   that does not exist get the same error.
2. ``tab_for``: the tab must be in one of those sessions. Without a tab, the caller means its own
   current tab there, never another agent's. Foreign and absent tabs get the same error, unless
   reads are shared.
3. ``check_not_paused``: a session that a person has taken over serves only the person.
4. ``check_welcome``: in a browser of the person's own, the person must have allowed agents of that
   client program. The broker asks them at the first use.
5. ``check_profile``: an agent clones the profile it was started with, or one for all agents.
6. ``own_jar``: a caller reads and writes cookies and storage of its session's own jar only. A tab
   that the person moved here keeps its jar, which does not belong to this session.
7. ``check_usable``: the page must not have crashed. (A page lost with its browser is being brought
   back; the call waits for that until its deadline.)

The operator outranks agents but owns nothing, so it must name what it means in every call.
"""

from __future__ import annotations

import re

from roost.core.rows import Jar, Member, Session, Tab, TabState
from roost.core.state import State
from roost.errors import (
    BadRequest,
    JarUnavailable,
    Ownership,
    Paused,
    ProfileNotFound,
    RoostError,
    SessionGone,
    TabCrashed,
    TabGone,
    Unauthorized,
)
from roost.hints import Hint
from roost.vocabulary import (
    OPERATOR,
    PAUSED_RETRY_MS,
    SESSION_START_CHARS,
    AgentId,
    BrowserId,
    Reads,
    SessionId,
    TabId,
)

_TAB_ID = re.compile(r"t\d+")
TABS_TOLD = 8
"""Maximum number of a parent's tabs that an error lists."""


def session_for(state: State, agent: AgentId, named: str | None) -> Session:
    """Return the session that the caller means by ``named`` (None: its own)."""
    if agent == OPERATOR:
        if named is None:
            raise BadRequest(
                "session: the operator owns no session, so name one.",
                hint=Hint("Pass the session's id[; {SessionList} lists them]."),
                field="session",
            )
        session = state.sessions.get(SessionId(named)) or _session_begins(state, named)
        if session is None:
            raise no_session(named)
        return session
    check_alive(state, agent)
    session_id = _session_id(state, agent, named)
    if session_id is None or state.member(agent, session_id) is None:
        raise no_session(named) if named is not None else _no_own_session()
    return state.sessions[session_id]


def has_session(state: State, agent: AgentId, named: str) -> bool:
    """Return whether the agent itself has a session of that alias or id."""
    session = state.aliased(agent, named) or SessionId(named)
    return state.member(agent, session) is not None


def has_tab(state: State, agent: AgentId, tab: str) -> bool:
    """Return whether the agent itself has a tab of that id or label."""
    found = state.tabs.get(TabId(tab)) or _labelled(state, agent, None, tab)
    is_there = found is not None and found.session is not None
    return is_there and state.member(agent, found.session) is not None  # type: ignore[union-attr, arg-type]


def _session_begins(state: State, start: str) -> Session | None:
    """Return the only session whose id begins like that. A table on a terminal shows the beginning
    of a long id, with ``…`` after it, and the person types what the table shows."""
    start = start.removesuffix("…")
    if len(start) < SESSION_START_CHARS:
        return None
    found = [row for row in state.sessions.values() if row.id.startswith(start)]
    return found[0] if len(found) == 1 else None


def _session_id(state: State, agent: AgentId, named: str | None) -> SessionId | None:
    if named is None:
        return state.agents[agent].own_session
    # A caller's own aliases come first: they are local to it and may hide a global id.
    return state.aliased(agent, named) or SessionId(named)


def tab_for(
    state: State,
    agent: AgentId,
    session: str | None,
    tab: str | None,
    *,
    action: str,
    acts: bool,
) -> Tab:
    """Return the tab that the caller means (``tab`` None: its current one).

    action: verb for the refusal's message.
    acts: False for operations that only read.
    """
    if tab is None:
        return _current_tab(state, agent, session)
    found = state.tabs.get(TabId(tab)) or _labelled(state, agent, session, tab)
    if agent == OPERATOR:
        if found is None or (session is not None and found.session != session):
            raise no_tab(tab)
        return found
    check_alive(state, agent)
    named = session_for(state, agent, session) if session is not None else None
    if found is not None and found.session is not None:
        owned = state.member(agent, found.session) is not None
        if owned and (named is None or named.id == found.session):
            return found
        if not owned and state.settings.reads is Reads.SHARED:
            return _shared_read(state, found, action=action, acts=acts)
    for member in state.memberships(agent):
        if member.lost == tab:  # the agent had this tab, so it may know what became of it
            raise _lost(state, member)
    raise _of_subagent(state, agent, no_tab(tab))


def _labelled(state: State, agent: AgentId, session: str | None, label: str) -> Tab | None:
    """Return the tab of that label in the session that the caller means, or in any of its own."""
    if session is not None:
        return state.page(session_for(state, agent, session).id, label)
    if agent == OPERATOR:
        return None
    check_alive(state, agent)
    own = state.agents[agent].own_session
    others = [member.session for member in state.memberships(agent) if member.session != own]
    found = (state.page(one, label) for one in (own, *others) if state.member(agent, one))
    return next((tab for tab in found if tab is not None), None)


def check_label(state: State, session: Session, label: str) -> None:
    """Refuse a label that looks like a tab's id, or that another tab of the session has."""
    if _TAB_ID.fullmatch(label):
        raise BadRequest(
            f"label: {label} looks like the id of a tab.",
            hint="Choose a name that says what the tab is for.",
            field="label",
        )
    taken = state.page(session.id, label)
    if taken is not None:
        raise BadRequest(
            f"label: tab {taken.id} has the label {label} already.",
            hint=Hint("Choose another label, or use that tab[: {Tabs action=select}]."),
            field="label",
            tab=taken.id,
        )


def _current_tab(state: State, agent: AgentId, named: str | None) -> Tab:
    if agent == OPERATOR:
        raise BadRequest("tab: the operator has no current tab, so name one.", field="tab")
    session = session_for(state, agent, named)
    member = state.member(agent, session.id)
    if member is not None and member.current is not None:
        return state.tabs[member.current]
    check_not_paused(session, agent)  # the agent must wait, whatever became of its tab
    if member is not None and member.lost is not None:
        raise _lost(state, member)
    yours = [tab.id for tab in state.tabs_in(session.id)]
    nothing = TabGone(
        "You have no tab open in this session.",
        hint=None if yours else Hint("Open a page[ with {Navigate}]."),
        yourTabs=yours,
    )
    raise nothing if yours else _of_subagent(state, agent, nothing)


def _of_subagent(state: State, agent: AgentId, error: RoostError) -> RoostError:
    """Return the error, which tells a sub-agent that it has a session of its own and which tabs of
    its parents it may name."""
    above = [m.session for one in state.parents(agent) for m in state.memberships(one)]
    if above:
        theirs = [tab.id for session in above for tab in state.tabs_in(session)]
        error.details["parentTabs"] = theirs[-TABS_TOLD:]
        error.hint = Hint(
            "You are a sub-agent with a session of your own. Open a page[ with {Navigate}]. Tabs"
            " of the agent that started you (parentTabs) work if you pass their ids."
        )
    return error


def _lost(state: State, member: Member) -> RoostError:
    return TabGone(
        f"Your current tab is gone: {member.lost_why or f'tab {member.lost} was closed.'}",
        hint=Hint(
            "Choose another[ with {Tabs action=select}], or open a new one"
            "[ with {Tabs action=new}]."
        ),
        tab=member.lost,
        yourTabs=[tab.id for tab in state.tabs_in(member.session)],
    )


def tab_named(state: State, agent: AgentId, session: str | None, name: str) -> Tab:
    """Return the tab that the caller's session opened under that name."""
    tab = state.page(session_for(state, agent, session).id, name)
    if tab is None:
        raise no_page(name)
    return tab


def session_of(state: State, tab: TabId) -> Session:
    """Return the session that an open tab belongs to."""
    row = state.tabs.get(tab)
    session = None if row is None or row.session is None else state.sessions.get(row.session)
    if session is None:
        raise no_tab(tab)
    return session


def _shared_read(state: State, tab: Tab, *, action: str, acts: bool) -> Tab:
    if acts:
        owner = state.owner_shown(tab)
        raise Ownership(f"Cannot {action} tab {tab.id} (owned by {owner}...)", ownerId=owner)
    return tab


def own_jar(
    state: State, agent: AgentId, named: str | None, tab: str | None, *, action: str
) -> tuple[Session, Jar]:
    """Return the caller's session and its jar, whose cookies and storage the caller may use.

    Raises ``JarUnavailable`` if the session has no jar yet, and for a tab in another jar.
    """
    session, jar = _jar_meant(state, agent, named, tab, action=action)
    check_not_paused(session, agent)
    if jar is None:
        raise JarUnavailable(
            f"Session {session.id} has no cookies or storage before its first page.",
            hint=Hint("Open one first[ with {Navigate}]; about:blank will do."),
        )
    check_welcome(state, session, agent)
    return session, jar


def _jar_meant(
    state: State, agent: AgentId, named: str | None, tab: str | None, *, action: str
) -> tuple[Session, Jar | None]:
    if tab is None:
        session = session_for(state, agent, named)
        return session, state.jar_of(session.id)
    found = tab_for(state, agent, named, tab, action=action, acts=True)
    jar = None if found.jar is None else state.jars.get(found.jar)
    if found.session is None or jar is None or jar.session != found.session:
        raise JarUnavailable(
            f"Tab {found.id} was moved here and still uses the cookies of its earlier session.",
            hint="Open the page in a tab of this session to work with its cookies and storage.",
            tab=found.id,
        )
    return state.sessions[found.session], jar


def check_alive(state: State, agent: AgentId) -> None:
    if agent != OPERATOR and agent not in state.agents:
        raise SessionGone("Your agent has ended, and its session with it.", hint="Reconnect.")


def check_not_paused(session: Session, agent: AgentId) -> None:
    if session.paused and agent != OPERATOR:
        raise Paused(
            f"A person has taken over session {session.id}.",
            retry_after_ms=PAUSED_RETRY_MS,
            session=session.id,
        )


class ConsentNeeded(Paused):
    """The person has not answered yet whether this agent may use their browser.

    The broker has the person asked (``ask_person``) and gives the caller ``shown()``.
    """

    def __init__(self, agent: AgentId, name: str, browser: BrowserId) -> None:
        super().__init__(
            f"The person is being asked whether {name} may use their browser.",
            hint=Hint(
                "They answer in Roost's popup page there. Wait[ with {SessionList waitSeconds=60}],"
                " then try again."
            ),
            retry_after_ms=PAUSED_RETRY_MS,
            browser=browser,
        )
        self.agent = agent
        self.browser = browser

    def shown(self) -> Paused:
        return Paused(
            self.message, hint=self.hint, retry_after_ms=self.retry_after_ms, browser=self.browser
        )


def check_welcome(state: State, session: Session, agent: AgentId) -> None:
    """Refuse the agent unless the person lets it use their browser."""
    if agent == OPERATOR or session.browser not in state.settings.personal:
        return
    row = state.agents[agent]
    consent = state.consent(session.browser, row.known_as)
    if consent is None or consent.allow is None:
        raise ConsentNeeded(agent, row.name, session.browser)
    if not consent.allow:
        raise Unauthorized(
            f"The person does not let {row.name} use their browser.",
            hint="Only they can change that, in Roost's popup page there. Work in another browser.",
            browser=session.browser,
        )


def check_profile(
    state: State, agent: AgentId, profile: str | None, *, exists: bool, is_for_any: bool
) -> None:
    """Refuse a profile unless the agent was started with it or the person gave it to all agents.

    A refused profile gets the same error as one that does not exist.
    """
    if profile is None:
        return
    is_own = agent == OPERATOR or state.agents[agent].profile == profile
    if not exists or not (is_own or is_for_any):
        raise no_profile(profile)


def check_tab_not_paused(state: State, tab: Tab, agent: AgentId) -> None:
    if tab.session is not None:
        check_not_paused(state.sessions[tab.session], agent)


def check_usable(tab: Tab, *, revives: bool) -> None:
    """Refuse a crashed page, unless the operation ``revives`` it (navigate, reload)."""
    if tab.state is TabState.CRASHED and not revives:
        raise TabCrashed(f"The page in tab {tab.id} crashed.", tab=tab.id)


def no_tab(tab: str) -> RoostError:
    """Build the one error for tabs that are foreign, closed or never existed."""
    return TabGone(f"There is no tab {tab[:32]} here.", tab=tab[:32])


def no_page(name: str) -> RoostError:
    """Build the one error for named pages that are foreign, closed or never existed."""
    return TabGone(f"There is no page {name[:64]} here.", page=name[:64])


def _no_own_session() -> RoostError:
    return SessionGone(
        "Your session has ended, and its tabs with it.",
        hint=Hint("Open a page[ with {Navigate} or {Tabs action=new}]: that opens a new session."),
    )


def no_profile(profile: str) -> RoostError:
    """Build the one error for profiles that are foreign or never existed."""
    return ProfileNotFound(f"There is no profile {profile}.", profile=profile)


def no_session(session: str) -> RoostError:
    """Build the one error for sessions that are foreign, ended or never existed."""
    return SessionGone(f"There is no session {session[:64]} here.", session=session[:64])
