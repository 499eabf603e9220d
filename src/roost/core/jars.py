"""Jars: a session's own, made with its first tab, and extra ones of CDP clients."""

from __future__ import annotations

from dataclasses import replace

from roost.core import rules
from roost.core.effects import RemoveJar
from roost.core.events import JarMade, JarReleased, JarRemoved
from roost.core.rows import Jar, Session
from roost.core.state import State
from roost.core.tabs import close_tab, retire
from roost.errors import JarUnavailable, TabGone
from roost.vocabulary import JARS_BESIDE, AgentId, JarId, JarPolicy


def jar_for(state: State, session: Session, named: JarId | None = None) -> Jar:
    """Return the session's own jar, recorded if there is none, or the extra jar ``named``."""
    jar = state.jar_of(session.id) if named is None else state.jars.get(named)
    if jar is not None and jar.session == session.id:
        return jar
    if named is not None:
        raise JarUnavailable("That jar is gone.")
    return _recorded(state, session, session.policy)


def request_jar(state: State, *, agent: AgentId, session: str | None, beside: bool = False) -> Jar:
    """Return the session's own jar, or (``beside``) record an extra one for a CDP client."""
    row = rules.session_for(state, agent, session)
    rules.check_not_paused(row, agent)
    rules.check_welcome(state, row, agent)
    if not beside:
        return jar_for(state, row)
    if sum(jar.beside for jar in state.jars_of(row.id)) >= JARS_BESIDE:
        raise JarUnavailable(
            f"Session {row.id} has {JARS_BESIDE} browser contexts already.",
            hint="Close some that are not needed any more.",
            limit=JARS_BESIDE,
        )
    # A client that makes a context expects an isolated one.
    return _recorded(state, row, JarPolicy.FRESH, beside=True)


def release_jar(state: State, event: JarReleased) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None and jar.beside and jar.session is not None:
        end_jar(state, jar)


def jar_made(state: State, event: JarMade) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None:
        state.put(replace(jar, handle=event.handle, proxy_port=event.proxy_port))


def jar_removed(state: State, event: JarRemoved) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None and jar.session is None:
        state.drop(jar)


def end_jar(state: State, jar: Jar) -> None:
    """Remove a jar that its session or CDP client no longer needs, even while it is being made.

    Tabs still in the jar close with it, even if the person moved them to another session. The
    cookies of a shared jar are the browser's own, so only its row is dropped.
    """
    for tab in state.tabs_with(jar.id):
        close_tab(state, tab, TabGone(f"Tab {tab.id} went with its jar.", tab=tab.id))
    if jar.policy is JarPolicy.SHARED:
        state.drop(jar)
    else:
        state.put(replace(jar, session=None))
        state.emit(RemoveJar(jar.id, jar.browser, jar.handle))


def forget_extra_jars(state: State) -> None:
    """Orphan the extra jars after a broker restart, because their CDP clients are disconnected.

    ``browser_up`` removes the orphaned jars once the browser is found again.
    """
    for jar in [jar for jar in state.jars.values() if jar.beside]:
        for tab in state.tabs_with(jar.id):
            retire(state, tab, TabGone(f"Tab {tab.id} went with its jar.", tab=tab.id))
        if jar.handle is None:
            state.drop(jar)
        else:
            state.put(replace(jar, session=None))


def _copied(state: State, session: Session) -> JarId | None:
    """Return the jar of the parent session, which the new jar of a sub-agent's session copies."""
    if session.parent is None or session.policy is not JarPolicy.FRESH:
        return None
    jar = state.jar_of(session.parent)
    is_own = jar is not None and jar.policy is not JarPolicy.SHARED
    return jar.id if jar is not None and is_own and jar.browser == session.browser else None


def _recorded(state: State, session: Session, policy: JarPolicy, *, beside: bool = False) -> Jar:
    jar = Jar(
        id=JarId(f"j{state.next_number('jar')}"),
        session=session.id,
        browser=session.browser,
        policy=policy,
        beside=beside,
        copy_of=None if beside else _copied(state, session),
    )
    state.put(jar)
    return jar
