"""The driver of a ``FakeBrowser``. ``roost.testing.check_driver`` checks it like any driver."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from roost.conditions import Conditions
from roost.drivers import events
from roost.drivers.base import (
    SHARED_JAR,
    Capabilities,
    ConditionsOf,
    Cookie,
    Film,
    FilmOptions,
    Group,
    Miss,
    OriginStorage,
    Report,
    RunningBrowser,
    Show,
)
from roost.drivers.events import (
    BrowserEnded,
)
from roost.drivers.fake.browser import (
    FakeBrowser,
    FakePage,
)
from roost.drivers.fake.page import FakePageDriver
from roost.drivers.repeated_shots import RepeatedShots
from roost.drivers.window_labels import no_window
from roost.errors import (
    BadRequest,
    BrowserLost,
    JarUnavailable,
    TabCrashed,
    TabGone,
    Unsupported,
)
from roost.vocabulary import JarPolicy, TabHandle

REFUSED_AGENT = "refused"
"""A user agent that the fake browser refuses, for tests of refused conditions."""


class FakeDriver:
    """Drives a browser in memory. Tests call ``kill`` and ``crash`` to make it fail.

    ``browser``: the browser to drive; by default a new one.
    """

    capabilities = Capabilities(page_work=False)

    is_headless = True

    def __init__(self, browser: FakeBrowser | None = None) -> None:
        self.browser = browser or FakeBrowser()

    async def start(self, report: Report) -> RunningBrowser:
        browser = self.browser
        resumed, browser.is_running = browser.is_running, True
        browser.report = report
        jars = frozenset(jar for jar in browser.jars if jar != SHARED_JAR)
        return RunningBrowser(
            version="Fake/1",
            pid=None,
            headless=self.is_headless,
            resumed=resumed,
            tabs=frozenset(browser.pages),
            jars=jars,
        )

    async def stop(self) -> None:
        self._end("stopped", reported=False)

    def kill(self) -> None:
        """End the browser as ``kill -9`` does."""
        self._end("killed", reported=True)

    def crash(self, tab: TabHandle) -> None:
        """Crash the tab's page as if its process had died."""
        page = self.find(tab)
        page.crashed = True
        page.end(TabCrashed("The page's process died."))
        if self.browser.report is not None:
            self.browser.report(events.TabCrashed(tab))

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        self._check_running()
        if policy not in self.capabilities.jars:
            raise JarUnavailable(f"The fake browser has no {policy} jars.")
        return SHARED_JAR if policy is JarPolicy.SHARED else self.browser.new_jar()

    async def remove_jar(self, jar: str) -> None:
        self._check_running()
        for page in [page for page in self.browser.pages.values() if page.jar == jar]:
            self.browser.close_page(page.handle)
        if jar != SHARED_JAR:
            self.browser.jars.pop(jar, None)
            self.browser.storage.pop(jar, None)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        sites = self._cookies(jar)
        return [
            Cookie(name=name, value=value, domain=site)
            for site, cookies in sites.items()
            for name, value in cookies.items()
        ]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        sites = self._cookies(jar)
        for cookie in cookies:
            sites.setdefault(cookie.domain, {})[cookie.name] = cookie.value
        return []

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        sites = self._cookies(jar)
        for cookie in cookies:
            sites.get(cookie.domain, {}).pop(cookie.name, None)

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        self._cookies(jar)
        storage = self.browser.storage.get(jar, {})
        return [OriginStorage(one, tuple(storage.get(one, {}).items())) for one in origins]

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        page = self.find(tab)
        if page.crashed:
            raise TabCrashed("The page crashed.")
        if page.origin != origin:
            return None
        return OriginStorage(origin, tuple(self.browser.stored(page).items()))

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        self._cookies(jar)
        for one in storage:
            self.browser.storage.setdefault(jar, {}).setdefault(one.origin, {}).update(one.items)
        return []

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        self._check_running()
        if jar not in self.browser.jars:
            raise JarUnavailable("That jar is gone.")
        return self.browser.new_page(jar).handle

    async def bring_to_front(self, tab: TabHandle) -> None:
        self.find(tab)
        if self.is_headless:
            raise no_window()
        self.browser.front = tab

    async def close_tab(self, tab: TabHandle) -> None:
        self._check_running()
        self.browser.close_page(tab)

    def ask_conditions(self, of: ConditionsOf) -> None:
        self.browser.conditions_of = of

    def check_conditions(self, conditions: Conditions) -> None:
        if conditions.throttle is not None:
            raise Unsupported("The fake browser has one speed.")

    async def put_jar_conditions(self, jar: str, conditions: Conditions) -> None:
        self._cookies(jar)
        self.browser.jar_conditions[jar] = conditions

    async def put_conditions(self, tab: TabHandle, conditions: Conditions) -> None:
        self.find(tab).conditions = conditions
        if conditions.emulation.user_agent == REFUSED_AGENT:
            raise BadRequest("The browser refused a value.")

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        return RepeatedShots(self.page(tab).capture, options, show, miss)

    def page(self, tab: TabHandle) -> FakePageDriver:
        self.find(tab)
        return FakePageDriver(self.browser, partial(self.find, tab))

    def _end(self, reason: str, *, reported: bool) -> None:
        browser = self.browser
        if not browser.is_running:
            return
        browser.is_running = False
        for page in browser.pages.values():
            page.end(BrowserLost("The browser ended."))
        browser.pages.clear()
        browser.jars = {SHARED_JAR: {}}
        browser.storage.clear()
        report, browser.report = browser.report, None
        if reported and report is not None:
            report(BrowserEnded(reason))

    def _cookies(self, jar: str) -> dict[str, dict[str, str]]:
        self._check_running()
        if jar not in self.browser.jars:
            raise JarUnavailable("That jar is gone.")
        return self.browser.jars[jar]

    def _check_running(self) -> None:
        if not self.browser.is_running:
            raise BrowserLost("The browser ended.")

    def find(self, tab: TabHandle) -> FakePage:
        """Return the tab's page. Raises ``TabGone`` if there is no such tab."""
        self._check_running()
        page = self.browser.pages.get(tab)
        if page is None:
            raise TabGone("There is no such tab.")
        return page
