"""Jars: a session's own, made with its first tab, and extra ones of CDP clients."""

from __future__ import annotations

from dataclasses import replace

from roost.core import rules
from roost.core.effects import Effect, RemoveJar
from roost.core.events import JarReleased, JarRequested
from roost.core.rows import Jar, Session
from roost.core.state import State
from roost.core.tabs import close_tab, retire
from roost.errors import JarUnavailable, TabGone
from roost.vocabulary import JARS_BESIDE, JarId, JarPolicy


def jar_for(state: State, session: Session, named: JarId | None = None) -> Jar:
    """Return the session's own jar, recorded if there is none, or the extra jar ``named``."""
    jar = state.jar_of(session.id) if named is None else state.jars.get(named)
    if jar is not None and jar.session == session.id:
        return jar
    if named is not None:
        raise JarUnavailable("That jar is gone.")
    return _recorded(state, session, session.policy)


def request_jar(state: State, event: JarRequested, now: float, out: list[Effect]) -> Jar:
    """Return the session's own jar, or record an extra one for a CDP client."""
    session = rules.session_for(state, event.agent, event.session)
    rules.check_not_paused(session, event.agent)
    rules.check_welcome(state, session, event.agent)
    if not event.beside:
        return jar_for(state, session)
    if sum(jar.beside for jar in state.jars_of(session.id)) >= JARS_BESIDE:
        raise JarUnavailable(
            f"Session {session.id} has {JARS_BESIDE} browser contexts already.",
            hint="Close some that are not needed any more.",
            limit=JARS_BESIDE,
        )
    # A client that makes a context expects an isolated one.
    return _recorded(state, session, JarPolicy.FRESH, beside=True)


def release_jar(state: State, event: JarReleased, now: float, out: list[Effect]) -> None:
    jar = state.jars.get(event.jar)
    if jar is not None and jar.beside and jar.session is not None:
        end_jar(state, jar, out)


def end_jar(state: State, jar: Jar, out: list[Effect]) -> None:
    """Remove a jar that its session or CDP client no longer needs, even while it is being made.

    Tabs still in the jar close with it, even if the person moved them to another session. The
    cookies of a shared jar are the browser's own, so only its row is dropped.
    """
    for tab in state.tabs_with(jar.id):
        close_tab(state, tab, TabGone(f"Tab {tab.id} went with its jar.", tab=tab.id), out)
    if jar.policy is JarPolicy.SHARED:
        state.drop(jar)
    else:
        state.put(replace(jar, session=None))
        out.append(RemoveJar(jar.id, jar.browser, jar.handle))


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


def _recorded(state: State, session: Session, policy: JarPolicy, *, beside: bool = False) -> Jar:
    jar = Jar(
        id=JarId(f"j{state.next_number('jar')}"),
        session=session.id,
        browser=session.browser,
        policy=policy,
        beside=beside,
    )
    state.put(jar)
    return jar
