"""A browser goes and comes back: its rows held against what it really has.

A managed browser comes back empty, and its tabs are opened again. A person's own brings tabs back
by itself, under new handles: those are known again by group, address and jar, and only what is
missing is opened. Whatever else stands in a session's group is the session's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roost.core import groups
from roost.core.effects import CloseStray, Effect, ForgetTab, OpenTab, RemoveJar
from roost.core.events import BrowserDown, BrowserUp, TabVanished
from roost.core.rows import Jar, Tab, TabState
from roost.core.state import State
from roost.core.tabs import back_to, gone, retire, tab_vanished
from roost.errors import BrowserLost, TabGone
from roost.vocabulary import JarPolicy, TabHandle, TabId


def browser_down(state: State, event: BrowserDown, now: float, out: list[Effect]) -> None:
    """All its pages and jars are gone; the rows stay, to be restored from. Not those of protocol
    clients: their connections ended with it. A person's own browser keeps its jars when it ends, so
    what it still has of them, it says when it is back."""
    if event.browser not in state.rules.grouped:
        for jar in [jar for jar in state.jars.values() if jar.browser == event.browser]:
            _forget_handle(state, jar)
    for tab in [tab for tab in state.tabs.values() if tab.browser == event.browser]:
        if tab.handle is None:
            continue
        lost = BrowserLost("The browser ended.", tab=tab.id)
        if tab.session is None or (tab.jar is not None and tab.jar not in state.jars):
            retire(state, tab, lost)
        else:
            state.put(replace(tab, handle=None, former=tab.handle, state=TabState.LOST))
        out.append(ForgetTab(tab.id, lost))


def browser_up(state: State, event: BrowserUp, now: float, out: list[Effect]) -> None:
    """Hold the rows against what the browser really has, then restore what it lost. A tab whose
    opening waits for this very browser is asked for again: it may have been lost with the last."""
    _reconcile_jars(state, event, out)
    rows = [tab for tab in state.tabs.values() if tab.browser == event.browser]
    found = _found(state, event, rows)
    for tab in rows:
        handle = found.get(tab.id)
        if handle is not None:
            _take_up(state, tab, handle, event, out)
        elif tab.handle is not None:
            tab_vanished(state, TabVanished(tab.browser, tab.handle), now, out)
        elif not tab.holds_slot:
            continue
        elif tab.jar is not None:
            address = None if tab.state is TabState.OPENING else back_to(tab)
            out.append(OpenTab(tab.id, tab.browser, tab.jar, address))
        else:  # it was the person's own, and is not Roost's to open again
            gone(state, tab, TabGone(f"Tab {tab.id} did not come back.", tab=tab.id), out)
    for handle in sorted(event.handles - set(found.values())):
        session = state.session_shown_as(event.browser, event.groups.get(handle))
        if session is None:
            out.append(CloseStray(event.browser, handle))
        else:
            jar = state.jar_with(event.browser, event.jar_of.get(handle))
            place = None if jar is None else jar.id
            groups.adopt(state, session, handle, event.places.get(handle, ""), out, jar=place)


def _found(state: State, event: BrowserUp, rows: Sequence[Tab]) -> dict[TabId, TabHandle]:
    """Which page is which tab: by handle, its own or the one it had; else by group, address and
    jar."""
    found = {}
    for tab in rows:
        if tab.handle is not None and tab.handle in event.handles:
            found[tab.id] = tab.handle
        elif tab.state is TabState.LOST and tab.former is not None and tab.former in event.groups:
            found[tab.id] = tab.former
    alike: dict[tuple[str, str], list[TabHandle]] = {}
    for handle in sorted(event.groups.keys() - set(found.values()), reverse=True):
        place = event.groups[handle], event.places.get(handle, "")
        alike.setdefault(place, []).append(handle)
    for tab in rows:
        is_missing = tab.state is TabState.LOST or tab.handle is not None
        if tab.id not in found and tab.session is not None and is_missing:
            same = alike.get((state.sessions[tab.session].group, tab.url), [])
            fits = (one for one in reversed(same) if _is_in_jar(state, event, tab, one))
            page = next(fits, None)
            if page is not None:
                same.remove(page)
                found[tab.id] = page
    return found


def _is_in_jar(state: State, event: BrowserUp, tab: Tab, handle: TabHandle) -> bool:
    """Whether that page has the tab's logins, as far as anybody knows: two tabs at one address may
    be two people's there."""
    place = event.jar_of.get(handle)
    jar = None if tab.jar is None else state.jars.get(tab.jar)
    if place is None or jar is None:
        return True
    return place not in event.jars if jar.policy is JarPolicy.SHARED else place == jar.handle


def _take_up(
    state: State, tab: Tab, handle: TabHandle, event: BrowserUp, out: list[Effect]
) -> None:
    if tab.handle != handle:
        tab = replace(tab, handle=handle, former=None, state=TabState.OPEN)
        state.put(tab)
    if handle in event.groups:
        groups.place(state, tab, event.groups[handle], out)


def _reconcile_jars(state: State, event: BrowserUp, out: list[Effect]) -> None:
    known = set()
    for jar in [jar for jar in state.jars.values() if jar.browser == event.browser]:
        known.add(jar.handle)
        if jar.handle not in event.jars:
            _forget_handle(state, jar)
        elif jar.session is None and jar.handle is not None:
            out.append(RemoveJar(jar.id, jar.browser, jar.handle))
    for handle in sorted(event.jars - known):
        out.append(RemoveJar(None, event.browser, handle))


def _forget_handle(state: State, jar: Jar) -> None:
    if jar.session is None or jar.beside:
        state.drop(jar)  # whoever had it is gone, and now the jar is gone too
    else:
        state.put(replace(jar, handle=None, proxy_port=None))
