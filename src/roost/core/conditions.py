"""The conditions of a session's pages: who may change them, and for which tabs they hold."""

from __future__ import annotations

from roost.conditions import ALL_BYTES, NO_CONDITIONS, SESSION_BYTES, TEXT_CHARS, Conditions
from roost.core import rules
from roost.core.rows import PageConditions, Session, Tab
from roost.core.state import State
from roost.errors import JarUnavailable, TooLarge, Unsupported
from roost.hints import Hint
from roost.vocabulary import MIB, AgentId, JarPolicy, SessionId


def conditions_of(
    state: State, agent: AgentId, named: str | None, tab: str | None, *, acts: bool = True
) -> tuple[Session, PageConditions]:
    """Return the session that the caller means, and its conditions, or those of one tab.

    acts: the caller wants to change them, which a paused session does not allow.
    """
    if tab is None:
        session = rules.session_for(state, agent, named)
        found = None
    else:
        found = rules.tab_for(state, agent, named, tab, action="set up", acts=True)
        session = rules.session_of(state, found.id)
        jar = None if found.jar is None else state.jars.get(found.jar)
        if jar is None or jar.session != session.id or jar.beside:
            raise JarUnavailable(
                f"Tab {found.id} does not use the cookies of this session, so the session's"
                " conditions do not hold there.",
                tab=found.id,
            )
    if acts:
        rules.check_not_paused(session, agent)
        rules.check_welcome(state, session, agent)
    row = PageConditions(session=session.id, tab=None if found is None else found.id)
    return session, state.page_conditions.get(row.key, row)


def put_conditions(state: State, row: PageConditions) -> None:
    """Record new conditions, if their session and tab still exist."""
    is_there = row.session in state.sessions and (row.tab is None or row.tab in state.tabs)
    if not is_there:
        return
    session = state.sessions[row.session]
    if session.policy is JarPolicy.SHARED:
        check_not_shared(row.conditions)
    _check_room(state, row)
    if row.conditions == NO_CONDITIONS and not row.routes_made:
        state.drop(row)
    else:
        state.put(row)


def _check_room(state: State, row: PageConditions) -> None:
    """Refuse conditions that grow beyond their limits. What shrinks is never refused."""
    before = state.page_conditions.get(row.key)
    held = NO_CONDITIONS if before is None else before.conditions
    if row.conditions.chars() > max(TEXT_CHARS, held.chars()):
        raise TooLarge(
            f"The headers and scripts would have more than {TEXT_CHARS} characters together.",
            hint=Hint("Remove some[; {Conditions} lists them]."),
        )
    grows = row.conditions.size() - held.size()
    if grows <= 0:
        return
    rows = state.page_conditions.values()
    mine = sum(one.conditions.size() for one in rows if one.session == row.session)
    if mine + grows > SESSION_BYTES:
        raise TooLarge(
            f"The answers of this session's route rules would have more than"
            f" {SESSION_BYTES // MIB} MiB together.",
            hint=Hint("Remove some rules[ with {Unroute}]."),
        )
    if sum(one.conditions.size() for one in rows) + grows > ALL_BYTES:
        raise TooLarge(
            f"The answers of all sessions' route rules would have more than {ALL_BYTES // MIB} MiB"
            " together.",
            hint=Hint("Remove rules that you no longer need[ with {Unroute}], or try again later."),
        )


def check_not_shared(wanted: Conditions) -> None:
    """Refuse conditions that would reach other sessions of the same jar."""
    for name, value in (
        ("permissions", wanted.grants),
        ("locale", wanted.emulation.locale),
        ("timezone", wanted.emulation.timezone),
    ):
        if value:
            raise Unsupported(
                f"{name}: this session shares its cookies and storage with others, and the browser"
                f" keeps {name} for all of them together.",
                hint="Work in a session with a jar of its own (private or clone).",
                field=name,
            )


def tab_conditions(state: State, tab: Tab) -> Conditions:
    """Return the conditions that hold in the tab: its session's, under its own."""
    jar = None if tab.jar is None else state.jars.get(tab.jar)
    if tab.session is None or jar is None or jar.session != tab.session or jar.beside:
        return NO_CONDITIONS
    under = session_conditions(state, tab.session)
    own = state.page_conditions.get(f"{tab.session} {tab.id}")
    return under if own is None else own.conditions.over(under)


def session_conditions(state: State, session: SessionId) -> Conditions:
    """Return the conditions of the whole session."""
    whole = state.page_conditions.get(session)
    return NO_CONDITIONS if whole is None else whole.conditions


def session_ended(state: State, session: SessionId) -> None:
    """Forget all conditions of the session."""
    for row in [one for one in state.page_conditions.values() if one.session == session]:
        state.drop(row)


def tab_closed(state: State, tab: Tab) -> None:
    """Forget the conditions of a tab that is gone."""
    row = state.page_conditions.get(f"{tab.session} {tab.id}")
    if row is not None:
        state.drop(row)
