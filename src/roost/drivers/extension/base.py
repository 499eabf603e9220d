"""The base class of the drivers for a person's own browser.

The extension reports only the tabs of managed groups and gives each a handle. The browser belongs
to the person, so a driver never starts it, and ``stop`` leaves the browser and its tabs open.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from roost.drivers.base import SHARED_JAR, Group, Lack, Report, RunningBrowser
from roost.drivers.connection import (
    BROWSER,
    Json,
    Pending,
    ProtocolError,
    SessionConnection,
    log_failure,
)
from roost.drivers.events import (
    BrowserEnded,
    DriverEvent,
    GroupClosed,
    PersonAnswered,
    PersonSaid,
    TabClosed,
    TabMoved,
    TabNavigated,
    TabOpened,
)
from roost.drivers.extension.connection import no_tab
from roost.drivers.extension.host_link import HostLink
from roost.drivers.link import Link
from roost.drivers.panel import Panel
from roost.errors import BadRequest, BrowserLost, Internal, RoostError, TabGone, Unsupported
from roost.hints import Hint
from roost.vocabulary import TabHandle

CLOSE_SECONDS = 5.0
HELD_BUTTONS = Lack(
    "held mouse buttons",
    "A mouse button that would stay down after the call gets `UNSUPPORTED`. Drags work, and so do "
    "keys that are held for a time.",
    "The person may take the tab between two calls, and would find a button pressed there.",
)
C = TypeVar("C", bound=SessionConnection)


class OwnBrowser(ABC, Generic[C]):
    """A driver's side of the tab strip, the panel and the link. Subclasses drive the pages.

    host: holds the link while the person's browser is linked.
    """

    def __init__(self, host: HostLink) -> None:
        self._host = host
        self._connection: C | None = None
        self._report: Report = _ignore
        self._handover: asyncio.Future[Json] | None = None
        self._known: set[TabHandle] = set()
        """The tabs of managed groups. Complete once ``_is_known``."""
        self._is_known = False
        """The extension has answered ``Roost.state`` on this link."""
        self._making = 0
        self._taken_away: set[TabHandle] = set()
        """Tabs that the person closed or moved before ``Tabs.create`` was answered."""
        self._closing: dict[TabHandle, asyncio.Future[None]] = {}
        self._panel: Panel | None = None
        self._forgotten: set[str] = set()
        """Keys of groups to forget when the browser links again."""

    # --- for subclasses --------------------------------------------------------------------------

    @abstractmethod
    def _speak(self, link: Link, on_end: Callable[[], None]) -> C:
        """Begin to speak the extension's protocol over a new link."""

    @abstractmethod
    def _linked_anew(self) -> None:
        """Discard all page state: a new link is up."""

    @abstractmethod
    def _take_over(self, handover: Json) -> None:
        """Continue what an earlier broker left in the tabs. The tabs are known by now."""

    @abstractmethod
    def _left(self, tab: TabHandle, error: RoostError) -> None:
        """Forget a tab that closed or left its group, and fail its pending calls with ``error``."""

    @abstractmethod
    def _heard(self, method: str, params: Json) -> None:
        """Handle an event of the browser that is not about the tab strip."""

    @abstractmethod
    def _spawned(self, opener: TabHandle) -> None:
        """Take note that a page in ``opener`` opened a tab."""

    def _link(self) -> C:
        if self._connection is None:
            raise BrowserLost("Your own browser is not linked to Roost.")
        return self._connection

    def _check(self, tab: TabHandle) -> None:
        self._link()
        if tab not in self._known:
            raise no_tab()

    def _tell(self, event: DriverEvent) -> None:
        self._report(event)

    # --- life ----------------------------------------------------------------------------------

    def linked(self, link: Link) -> None:
        self._host.linked(link)

    async def start(self, report: Report) -> RunningBrowser:
        link = await self._host.link()
        self._report = report
        self._known.clear()
        self._taken_away.clear()
        self._is_known = False
        self._handover = asyncio.get_running_loop().create_future()
        connection = self._connection = self._speak(link, partial(self._ended, link))
        self._linked_anew()
        handover = await self._handover
        connection.resume_ids(handover["nextId"])
        connection.on_event(BROWSER, self._browser_heard)
        state_asked = connection.call("Roost.state")
        if self._panel is not None:
            connection.tell("Panel.show", self._panel.to_wire())
        state = await state_asked
        rows = {TabHandle(row["tab"]): row for row in state["tabs"]}
        self._forget_empty_groups(connection, {row["group"] for row in rows.values()})
        self._known |= rows.keys()
        self._is_known = True
        self._take_over(handover)
        for key in state.get("closed", ()):  # while no broker was there
            asyncio.get_running_loop().call_soon(report, GroupClosed(key))
        return RunningBrowser(
            version=handover["product"],
            pid=handover["pid"],
            headless=False,
            resumed=handover["nextId"] > 1,
            tabs=frozenset(rows),
            jars=frozenset(state.get("jars", ())),
            groups={tab: row["group"] for tab, row in rows.items()},
            places={tab: row["url"] for tab, row in rows.items()},
            jar_of={tab: row["jar"] or SHARED_JAR for tab, row in rows.items()},
        )

    async def stop(self) -> None:
        """End the link. The browser and its tabs stay open, because they are the person's."""
        if self._connection is not None:
            self._report = _ignore
            self._host.lost(self._connection.link)
            self._connection.close()
            self._end()

    # --- tabs ----------------------------------------------------------------------------------

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        connection = self._link()
        self._check_jar(jar)
        if group is None:
            raise Internal("A tab in a person's own browser needs a group.")
        shown = {"key": group.key, "title": group.title, "color": group.color.value}
        params: Json = {"group": shown, **({} if jar == SHARED_JAR else {"jar": jar})}
        making = connection.call("Tabs.create", params)
        self._making += 1
        try:
            made = await asyncio.shield(making)
        except ProtocolError as error:
            raise BrowserLost("Your browser opens no tab.", page_said=str(error)) from None
        except asyncio.CancelledError:
            making.add_done_callback(self._close_unwanted)
            raise
        finally:
            self._making -= 1
        tab = TabHandle(made["tab"])
        if tab in self._taken_away:
            self._taken_away.discard(tab)
            raise TabGone("The person took the tab away as it opened.")
        self._known.add(tab)
        return tab

    async def bring_to_front(self, tab: TabHandle) -> None:
        self._check(tab)
        try:
            await self._link().call("Tabs.show", {"tab": tab})
        except ProtocolError as error:
            self._check(tab)  # raises TabGone if the tab closed meanwhile
            raise Unsupported(
                "Your browser did not show the tab.",
                hint="An extension older than this Roost cannot: update it.",
                page_said=str(error),
            ) from None

    def _close_unwanted(self, making: Pending) -> None:
        if not making.cancelled() and making.exception() is None and self._connection is not None:
            self._connection.tell("Tabs.close", {"tab": making.result()["tab"]})

    @abstractmethod
    def _check_jar(self, jar: str) -> None:
        """Raise ``JarUnavailable`` if there is no such jar."""

    async def close_tab(self, tab: TabHandle) -> None:
        connection = self._link()
        if tab not in self._known:
            return
        gone = self._closing.setdefault(tab, asyncio.get_running_loop().create_future())
        connection.call("Tabs.close", {"tab": tab}).add_done_callback(partial(self._closed, tab))
        async with asyncio.timeout(CLOSE_SECONDS):
            await asyncio.shield(gone)

    def _closed(self, tab: TabHandle, answer: Pending) -> None:
        """Count the tab as removed once ``Tabs.close`` is answered.

        The extension sends ``Tabs.removed`` before the answer, except for a tab that it no longer
        knows.
        """
        log_failure(answer)
        if not answer.cancelled() and answer.exception() is None:
            self._removed(tab)

    # --- the panel -----------------------------------------------------------------------------

    def show(self, panel: Panel) -> None:
        self._panel = panel
        if self._connection is not None:
            self._connection.tell("Panel.show", panel.to_wire())

    def forget_group(self, key: str) -> None:
        if self._connection is None:
            self._forgotten.add(key)
        else:
            self._connection.tell("Groups.forget", {"key": key})

    def _forget_empty_groups(self, connection: C, shown: set[str]) -> None:
        """Forget the groups of sessions that ended while the browser was away.

        Skip groups that still have tabs. The broker is about to close those tabs, and the group
        goes with the last one. If the extension forgot the group now, the tabs would become the
        person's and stay open.
        """
        for key in sorted(self._forgotten - shown):
            connection.tell("Groups.forget", {"key": key})
        self._forgotten.clear()

    # --- what happens there --------------------------------------------------------------------

    def _browser_heard(self, method: str, params: Json) -> None:
        if not self._is_known and method.startswith(("Tabs.", "Groups.")):
            return  # meant for the previous broker; the answer to ``Roost.state`` includes it
        match method:
            case "Tabs.appeared":
                self._tab_opened(params)
            case "Tabs.removed":
                self._removed(TabHandle(params["tab"]))
            case "Tabs.moved":
                self._moved(TabHandle(params["tab"]), params["group"])
            case "Tabs.arrived":
                if TabHandle(params["tab"]) in self._known:
                    self._arrived(TabHandle(params["tab"]), params["url"], params["title"])
            case "Groups.closed":
                self._report(GroupClosed(params["key"]))
            case "Person.said":
                self._report(PersonSaid(params["what"], params["group"]))
            case "Person.answered":
                self._report(PersonAnswered(params["name"], params["allow"]))
            case _:
                self._heard(method, params)

    def _tab_opened(self, params: Json) -> None:
        tab = TabHandle(params["tab"])
        if tab in self._known:
            return
        self._known.add(tab)
        opener = None if params["opener"] is None else TabHandle(params["opener"])
        self._report(
            TabOpened(
                handle=tab,
                opener=opener,
                jar=params.get("jar") or SHARED_JAR,
                url=params["url"],
                group=params["group"],
            )
        )
        if opener is not None:
            self._spawned(opener)

    def _arrived(self, tab: TabHandle, url: str, title: str) -> None:
        """Report the address and title that the tab strip shows."""
        self._report(TabNavigated(tab, url, title))

    def _removed(self, tab: TabHandle) -> None:
        closing = self._closing.pop(tab, None)
        if closing is not None and not closing.done():
            closing.set_result(None)
        if tab in self._known:
            self._known.discard(tab)
            self._left(tab, TabGone("The tab was closed."))
            self._report(TabClosed(tab))
        elif self._making:
            self._taken_away.add(tab)

    def _moved(self, tab: TabHandle, group: str | None) -> None:
        if tab not in self._known:
            if self._making and group is None:
                self._taken_away.add(tab)
            return
        if group is None:
            self._known.discard(tab)
            self._left(tab, TabGone("The person took the tab out of its group."))
        self._report(TabMoved(tab, group))

    # --- the link ------------------------------------------------------------------------------

    def _word(self, word: str, what: Any) -> None:
        if word == "handover" and self._handover is not None and not self._handover.done():
            self._handover.set_result(what)

    def _ended(self, link: Link) -> None:
        if self._host.lost(link):
            self._end()

    def _end(self) -> None:
        self._connection = None
        error = BrowserLost("Your own browser is not linked to Roost any more.")
        if self._handover is not None and not self._handover.done():
            self._handover.set_exception(error)
        known, self._known = self._known, set()
        for tab in known:
            self._left(tab, error)
        for closing in self._closing.values():
            if not closing.done():
                closing.set_result(None)
        self._closing.clear()
        report, self._report = self._report, _ignore
        report(BrowserEnded("its extension or its process is gone"))


def refuse_page(error: ProtocolError) -> BadRequest:
    """Return the error for a page that belongs to the browser itself, such as its settings."""
    return BadRequest(
        "This page cannot be used.",
        hint=Hint("It is one of the browser's own. Go elsewhere[ with {Navigate}]."),
        page_said=str(error),
    )


def _ignore(event: DriverEvent) -> None:
    pass
