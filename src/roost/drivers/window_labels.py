"""A label tab in each window on a screen: it tells the person whose window it is.

Neither CDP nor BiDi can name a window, colour it or group its tabs. So a managed browser with
windows gets one more tab for each jar. The tab has the session's name as its title. Roost does not
treat it as a tab: no session owns it, and the pool does not count it. Pages of sessions cannot see
it.
"""

from __future__ import annotations

import asyncio
import html
import logging
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from roost.drivers.base import SHARED_JAR, Group
from roost.errors import RoostError, Unsupported
from roost.vocabulary import Color

logger = logging.getLogger(__name__)
LABEL_SECONDS = 5.0
"""Give up a label after this time. The tab that it labels opens without it."""
_COLORS = {
    Color.BLUE: "#1a73e8",
    Color.RED: "#d93025",
    Color.YELLOW: "#f9ab00",
    Color.GREEN: "#188038",
    Color.PINK: "#d01884",
    Color.PURPLE: "#a142f4",
    Color.CYAN: "#007b83",
    Color.ORANGE: "#fa903e",
    Color.GREY: "#5f6368",
}
_PAGE = """<!doctype html><html lang=en><head><meta charset=utf-8><title>{name} · Roost</title>
<link rel=icon href="data:image/svg+xml,{icon}">
<style>body {{ font: 18px/1.5 system-ui, sans-serif; margin: 15vh auto; max-width: 34em;
padding: 0 1em; border-left: 1em solid {color} }} h1 {{ margin: 0 }}</style></head>
<body><h1>{name}</h1><p>Agents of this Roost session ({word}) work in the tabs beside this one.</p>
<p><code>roost status</code> lists the sessions with their colours. <code>roost session pause
SESSION</code> gives you one, <code>roost session resume SESSION</code> hands it back.</p>
</body></html>"""
_ICON = """<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'>\
<circle cx='4' cy='4' r='4' fill='{}'/></svg>"""


class WindowLabels:
    """The label tabs of one run of a browser, at most one for each jar.

    open_page: opens a page in the jar, fills it with that HTML and returns the page's handle.
    close_page: closes a page. It neither waits nor fails.

    The shared jar has no label, because several sessions use it in one window.
    """

    def __init__(
        self,
        open_page: Callable[[str, str], Awaitable[str]],
        close_page: Callable[[str], None],
    ) -> None:
        self._open_page = open_page
        self._close_page = close_page
        self._pages: dict[str, str | None] = {}
        """The label's page by jar. None while it opens."""
        self._groups: dict[str, Group] = {}
        """The group that each jar's label shows."""

    def of(self, jar: str) -> str | None:
        """Return the handle of the jar's label page, if there is one."""
        return self._pages.get(jar)

    async def show(self, jar: str, group: Group) -> bool:
        """Open the jar's label, unless there is one. Return whether this call opened it.

        If the label cannot be opened, the session works without it.
        """
        if jar == SHARED_JAR or jar in self._pages:
            return False
        self._pages[jar] = None
        self._groups[jar] = group
        try:
            async with asyncio.timeout(LABEL_SECONDS):
                page = await self._open_page(jar, label_html(group))
        except (RoostError, TimeoutError) as error:
            logger.info("jar %s has no label: %r", jar, error)
            self._pages.pop(jar, None)
            return False
        except BaseException:
            self._pages.pop(jar, None)
            raise
        if jar not in self._pages:  # the jar was removed, or its last tab closed, meanwhile
            self._close_page(page)
            return False
        self._pages[jar] = page
        return True

    async def renew(self, jar: str) -> None:
        """Close the jar's label and open another one at the end of the strip."""
        if self._pages.get(jar) is not None:
            self.drop(jar)
            await self.show(jar, self._groups[jar])

    def drop(self, jar: str) -> None:
        """Close the jar's label: the session has no tab left, so the window should close."""
        page = self._pages.pop(jar, None)
        if page is not None:
            self._close_page(page)

    def closed(self, page: str) -> None:
        """Learn that a page closed. If it was a label, the jar's next tab brings a new one."""
        self._pages = {jar: one for jar, one in self._pages.items() if one != page}


def no_window() -> Unsupported:
    """Return the error for a browser that shows nothing on a screen."""
    return Unsupported(
        "The browser runs headless, so there is no window to show.",
        hint="Start Roost with `roost up --headed`, before the agents come.",
    )


def label_html(group: Group) -> str:
    """Return the label's page. An agent chose the title, so it is escaped."""
    color = _COLORS[group.color]
    icon = quote(_ICON.format(color), safe="'/:= ")
    return _PAGE.format(
        name=html.escape(group.title), word=group.color.value, color=color, icon=icon
    )
