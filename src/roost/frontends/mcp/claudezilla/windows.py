"""Tools for tabs, and for the window they are in: a session."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from roost.api import operations as ops
from roost.api import views
from roost.errors import BadRequest
from roost.frontends.mcp.claudezilla.desk import WINDOW, Desk, number_of, pool_of, tab_of
from roost.frontends.mcp.claudezilla.tool import ClaudezillaTool, TabTool


class CreateWindow(ClaudezillaTool):
    """Open a tab of your own. When the pool is full your oldest tab is closed for it."""

    tool = "firefox_create_window"
    title = "Open a tab"
    category = "core"
    url: str = "about:blank"
    private: bool | None = Field(default=None, description="Cookies of its own")

    async def run(self, desk: Desk) -> dict[str, Any]:
        is_private = await desk.is_private()
        if self.private is not None and self.private != is_private:
            raise _other_mode(is_private)
        had = (await desk.ask(ops.Tabs(action="list"))).tabs
        owner = await desk.my_id()
        view = await desk.ask(ops.Tabs(action="new", url=self.url))
        evicted = [number_of(tab) for tab in view.evicted or ()]
        answer: dict[str, Any] = {
            "windowId": WINDOW,
            "tabId": number_of(view.opened),
            "ownerId": owner,
            **pool_of(view.tab_pool),
            "isNewWindow": not any(_is_mine(tab, owner) for tab in had),
            "isPrivate": is_private,
            "privateFallback": False,
            "closedOldestTab": evicted[0] if evicted else None,
            "message": f"Opened tab {number_of(view.opened)}."
            + (f" The pool was full: closed your tab {evicted[0]}." if evicted else ""),
        }
        if desk.wishes.handle_consent and self.url != "about:blank":
            answer["consent"] = await answer_consent(desk, view.opened)
        return answer


class Navigate(TabTool):
    """Open an address in the tab and wait for the page."""

    tool = "firefox_navigate"
    title = "Navigate"
    category = "core"
    url: str

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.Navigate(tab=self.tab, url=self.url))
        answer: dict[str, Any] = {
            "tabId": number_of(view.tab),
            "url": view.url,
            "title": view.title,
            "navigated": True,
            "status": view.status,
            "downloads": view.downloads,
        }
        if desk.wishes.handle_consent:
            answer["consent"] = await answer_consent(desk, view.tab)
        return _given(answer)


class GetTabs(ClaudezillaTool):
    """List your tabs (with shared reads, everybody's) and how full the pool is."""

    tool = "firefox_get_tabs"
    title = "List tabs"
    category = "core"
    read_only = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.Tabs(action="list"))
        owner = await desk.my_id()
        tabs = [
            {
                "tabId": number_of(tab.tab),
                "url": tab.url,
                "title": tab.title,
                "active": tab.current,
                "ownerId": tab.owner_id or owner,
            }
            for tab in view.tabs
        ]
        return {"windowId": WINDOW, "tabs": tabs, **pool_of(view.tab_pool)}


class CloseTab(ClaudezillaTool):
    """Close one of your tabs. Whoever waits for a slot gets it."""

    tool = "firefox_close_tab"
    title = "Close a tab"
    category = "core"
    destructive = True
    is_data = True
    tab_id: int | str

    async def run(self, desk: Desk) -> dict[str, Any]:
        waiting = (await desk.ask(ops.TabSpaceStatus())).pending_requests
        view = await desk.ask(ops.Close(tab=tab_of(self.tab_id)))
        left = (await desk.ask(ops.TabSpaceStatus())).pending_requests
        is_reserved = left < waiting
        return {
            "closed": number_of(view.closed),
            **pool_of(view.tab_pool),
            "message": f"Closed tab {number_of(view.closed)}."
            + (" The slot is reserved for whoever waited longest." if is_reserved else ""),
            "slotFreed": is_reserved,
            "reservationCreated": is_reserved,
        }


class CloseWindow(ClaudezillaTool):
    """Close all your tabs, and nobody else's."""

    tool = "firefox_close_window"
    title = "Close all your tabs"
    category = "config"
    destructive = True
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        owner = await desk.my_id()
        tabs = (await desk.ask(ops.Tabs(action="list"))).tabs
        mine = [tab.tab for tab in tabs if _is_mine(tab, owner)]
        for tab in mine:
            await desk.ask(ops.Close(tab=tab))
        return {"closed": True, "windowId": WINDOW, "tabsClosed": len(mine)}


async def answer_consent(desk: Desk, tab: str | None) -> dict[str, Any]:
    """Answer a cookie banner and return the answer of ``firefox_handle_consent``."""
    view = await desk.ask(ops.HandleConsent(tab=tab, snapshot="none"))
    return _given(
        {
            "found": view.found,
            "clicked": view.found and view.action is not None,
            "buttonText": view.text,
            "method": view.action,
        }
    )


def _is_mine(tab: views.TabView, owner: str) -> bool:
    return tab.owner_id in (None, owner)


def _other_mode(is_private: bool) -> BadRequest:
    have, want = ("its own", "shared") if is_private else ("the browser's", "fresh")
    return BadRequest(
        f"private: this session's cookies are {have}, for all its tabs.",
        hint=f"Start the server with `roost mcp --names firefox --jar {want}`.",
        field="private",
    )


def _given(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if value is not None}
