"""Handle a browser's end and its return by comparing the rows with what the browser has.

A managed browser comes back empty, so the broker opens its tabs again. A person's own browser
restores tabs itself, under new handles. The core recognises those by group, address and jar, and
only opens what is missing. All other tabs in a session's group become the session's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roost.core import groups
from roost.core.effects import CloseStray, ForgetTab, OpenTab, RemoveJar
from roost.core.events import BrowserDown, BrowserUp, TabClosed
from roost.core.rows import Jar, Tab, TabState
from roost.core.state import State
from roost.core.tabs import back_to, gone, retire, tab_closed
from roost.errors import BrowserLost, TabGone
from roost.vocabulary import JarPolicy, TabHandle, TabId


def browser_down(state: State, event: BrowserDown) -> None:
    """Mark the browser's tabs as lost and its jars as not made, so that they can be restored.

    Extra jars of CDP clients are dropped, because those clients lost their connections with the
    browser. A person's own browser keeps its jars when it ends, so their handles stay until it
    reports which it has.
    """
    if event.browser not in state.settings.grouped:
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
        state.emit(ForgetTab(tab.id, lost))


def browser_up(state: State, event: BrowserUp) -> None:
    """Compare the rows with what the browser has, then restore what is missing.

    A tab that is still opening is ordered again, because the first order may have been lost with
    the previous browser.
    """
    _reconcile_jars(state, event)
    rows = [tab for tab in state.tabs.values() if tab.browser == event.browser]
    found = _found(state, event, rows)
    for tab in rows:
        handle = found.get(tab.id)
        if handle is not None:
            _take_up(state, tab, handle, event)
        elif tab.handle is not None:
            tab_closed(state, TabClosed(tab.browser, tab.handle))
        elif not tab.holds_slot:
            continue
        elif tab.jar is not None:
            address = None if tab.state is TabState.OPENING else back_to(tab)
            state.emit(OpenTab(tab.id, tab.browser, tab.jar, address))
        else:
            # The person opened this page in their own cookies, so the broker cannot open it again.
            gone(state, tab, TabGone(f"Tab {tab.id} did not come back.", tab=tab.id))
    for handle in sorted(event.handles - set(found.values())):
        session = state.session_shown_as(event.browser, event.groups.get(handle))
        if session is None:
            state.emit(CloseStray(event.browser, handle))
        else:
            jar = state.jar_with(event.browser, event.jar_of.get(handle))
            place = None if jar is None else jar.id
            groups.adopt(state, session, handle, event.places.get(handle, ""), jar=place)


def _found(state: State, event: BrowserUp, rows: Sequence[Tab]) -> dict[TabId, TabHandle]:
    """Match rows with pages: by current or former handle, else by group, address and jar."""
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
    """Return whether that page may be in the tab's jar (True if unknown).

    Two tabs at one address may use two different logins, so the jar has to fit.
    """
    place = event.jar_of.get(handle)
    jar = None if tab.jar is None else state.jars.get(tab.jar)
    if place is None or jar is None:
        return True
    return place not in event.jars if jar.policy is JarPolicy.SHARED else place == jar.handle


def _take_up(state: State, tab: Tab, handle: TabHandle, event: BrowserUp) -> None:
    """Give the tab this handle and mark it open. Move it if it stands in another group now."""
    if tab.handle != handle:
        tab = replace(tab, handle=handle, former=None, state=TabState.OPEN)
        state.put(tab)
    if handle in event.groups:
        groups.place(state, tab, event.groups[handle])


def _reconcile_jars(state: State, event: BrowserUp) -> None:
    """Forget handles of jars that the browser lost, and remove jars that no session has."""
    known = set()
    for jar in [jar for jar in state.jars.values() if jar.browser == event.browser]:
        known.add(jar.handle)
        if jar.handle not in event.jars:
            _forget_handle(state, jar)
        elif jar.session is None and jar.handle is not None:
            state.emit(RemoveJar(jar.id, jar.browser, jar.handle))
    for handle in sorted(event.jars - known):
        state.emit(RemoveJar(None, event.browser, handle))


def _forget_handle(state: State, jar: Jar) -> None:
    """Mark the jar as not made. Drop it if its session or CDP client is gone."""
    if jar.session is None or jar.beside:
        state.drop(jar)  # nobody uses the jar, and the browser no longer has it
    else:
        state.put(replace(jar, handle=None, proxy_port=None))
