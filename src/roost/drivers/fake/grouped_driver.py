"""The fake as a person's own browser, with tab groups that the person can change."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from roost.drivers.base import BLANK, SHARED_JAR, Group, Report, RunningBrowser
from roost.drivers.events import (
    DriverEvent,
    GroupClosed,
    PersonAnswered,
    PersonSaid,
    TabMoved,
    TabNavigated,
    TabOpened,
)
from roost.drivers.fake.browser import (
    FakeBrowser,
    FakePage,
    Web,
    any_page,
)
from roost.drivers.fake.driver import FakeDriver
from roost.drivers.panel import Panel
from roost.errors import TabGone
from roost.vocabulary import TabHandle


class GroupedBrowser(FakeBrowser):
    """A fake browser with tab groups. ``strip`` maps each managed tab to its group's key. Pages
    that are not in ``strip`` are the person's own."""

    def __init__(self, web: Web = any_page) -> None:
        super().__init__(web)
        self.strip: dict[TabHandle, str] = {}
        self.groups: dict[str, Group] = {}
        self.panel: Panel | None = None

    def open_page(self, jar: str, *, opener: TabHandle | None = None, url: str = BLANK) -> FakePage:
        """Open a page that no driver opened. A popup joins its opener's group; other pages are the
        person's own and not reported."""
        if opener is not None and opener in self.strip:
            return self.open_in(self.strip[opener], jar, opener=opener, url=url)
        page = self.new_page(jar)
        page.url = url
        return page

    def open_in(
        self,
        group: str,
        jar: str = SHARED_JAR,
        *,
        opener: TabHandle | None = None,
        url: str = BLANK,
    ) -> FakePage:
        """Open and report a tab in that group that no driver opened."""
        page = self.new_page(jar)
        page.url, self.strip[page.handle] = url, group
        self._say(TabOpened(handle=page.handle, opener=opener, jar=jar, url=url, group=group))
        page.conditions = self.conditions_of(page.handle)
        self._fill(page, url)
        return page

    def _say(self, event: DriverEvent) -> None:
        if not isinstance(event, TabNavigated) or event.handle in self.strip:
            super()._say(event)

    def close_page(self, handle: TabHandle) -> None:
        if self.strip.pop(handle, None) is None:
            self.pages.pop(handle, None)  # the person's own tab is not reported
        else:
            super().close_page(handle)

    # --- actions of the person -----------------------------------------------------------------

    def move(self, handle: TabHandle, group: str | None) -> None:
        """Move a tab into a group, or out of all groups (None)."""
        page, was = self.pages[handle], self.strip.pop(handle, None)
        if group is not None:
            self.strip[handle] = group
        if was is None and group is not None:
            page.ended = asyncio.get_running_loop().create_future()
            self._say(
                TabOpened(handle=handle, opener=None, jar=page.jar, url=page.url, group=group)
            )
        elif was != group:
            if group is None:
                page.end(TabGone("The tab is in no group any more."))
            self._say(TabMoved(handle, group))

    def close_group(self, group: str) -> None:
        self._say(GroupClosed(group))
        for handle in [handle for handle, one in self.strip.items() if one == group]:
            self.close_page(handle)

    def say(self, event: PersonSaid | PersonAnswered) -> None:
        """Report what the person chose in the extension's popup page."""
        self._say(event)


class GroupedDriver(FakeDriver):
    """Drives a ``GroupedBrowser``. Tabs without a group do not exist for this driver."""

    capabilities = replace(FakeDriver.capabilities, groups=True, asks_person=True)
    is_headless = False
    browser: GroupedBrowser

    def __init__(self, browser: GroupedBrowser | None = None) -> None:
        super().__init__(browser or GroupedBrowser())

    async def start(self, report: Report) -> RunningBrowser:
        started = await super().start(report)
        strip = self.browser.strip
        return replace(
            started,
            tabs=frozenset(strip),
            groups=dict(strip),
            places={handle: self.browser.pages[handle].url for handle in strip},
            jar_of={handle: self.browser.pages[handle].jar for handle in strip},
        )

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        handle = await super().open_tab(jar, group)
        assert group is not None, "a tab in no group would be the person's"
        self.browser.strip[handle] = group.key
        self.browser.groups[group.key] = group
        return handle

    def show(self, panel: Panel) -> None:
        self.browser.panel = panel

    def forget_group(self, key: str) -> None:
        """Remove the group. Its remaining tabs become the person's own."""
        self.browser.groups.pop(key, None)
        for handle in [handle for handle, one in self.browser.strip.items() if one == key]:
            del self.browser.strip[handle]

    def lose(self, *, new_ids: bool) -> None:
        """Disconnect the browser. Its tabs and jars are there again after the next ``start``.

        ``new_ids``: give the tabs new handles, as a restarted browser does.
        """
        browser = self.browser
        pages, strip, jars = list(browser.pages.values()), dict(browser.strip), browser.jars
        self._end("out of sight", reported=True)
        browser.jars = jars
        for old in pages:
            page = browser.new_page(old.jar)
            page.url, page.title = old.url, old.title
            if not new_ids:
                del browser.pages[page.handle]
                page.handle = old.handle
                browser.pages[page.handle] = page
            if old.handle in strip:
                browser.strip[page.handle] = strip[old.handle]

    def _end(self, reason: str, *, reported: bool) -> None:
        self.browser.strip.clear()
        super()._end(reason, reported=reported)

    def find(self, tab: TabHandle) -> FakePage:
        page = super().find(tab)
        if tab not in self.browser.strip:
            raise TabGone("There is no such tab.")
        return page
