"""A window on a screen tells whose it is: in memory, and in real browsers on a screen of Xvfb."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from roost.drivers.base import SHARED_JAR, Group
from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.events import TabOpened
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.window_labels import WindowLabels, label_html
from roost.errors import TabGone
from roost.testing.driver_rig import Reports
from roost.testing.waits import SECONDS, started
from roost.vocabulary import Color, JarPolicy, TabHandle
from tests.drivers.managed_harness import (
    ChromiumUnderTest,
    FirefoxUnderTest,
    ManagedHarness,
    managed_harness,
)
from tests.support.own_browser import moment, screen

ADA = Group("s1@1", "ada", Color.BLUE)
BOB = Group("s2@2", "bob", Color.RED)


class Strip:
    """The pages of a browser in memory. ``gate``: label pages open only while it is set."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.opened = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def open(self, jar: str, html: str) -> str:
        await self.gate.wait()
        self.opened += 1
        page = f"{jar}-{self.opened}"
        self.pages[page] = html
        return page

    def close(self, page: str) -> None:
        del self.pages[page]


async def test_a_jar_gets_one_label_however_many_tabs_open_at_once() -> None:
    strip = Strip()
    labels = WindowLabels(strip.open, strip.close)
    made = await asyncio.gather(*(labels.show("jar", ADA) for _ in range(3)))
    assert sorted(made) == [False, False, True]
    assert list(strip.pages) == [labels.of("jar")]
    assert await labels.show("other", BOB)


async def test_sessions_in_the_shared_jar_have_no_label() -> None:
    strip = Strip()
    labels = WindowLabels(strip.open, strip.close)
    assert not await labels.show(SHARED_JAR, ADA)
    assert strip.pages == {}


async def test_a_label_that_the_person_closed_comes_back_with_the_next_tab() -> None:
    strip = Strip()
    labels = WindowLabels(strip.open, strip.close)
    await labels.show("jar", ADA)
    page = labels.of("jar")
    assert page is not None
    strip.close(page)
    labels.closed(page)
    assert await labels.show("jar", ADA)


async def test_a_renewed_label_shows_the_same_session_and_a_missing_one_stays_away() -> None:
    strip = Strip()
    labels = WindowLabels(strip.open, strip.close)
    await labels.renew("jar")
    assert strip.pages == {}
    await labels.show("jar", ADA)
    before = labels.of("jar")
    await labels.renew("jar")
    assert labels.of("jar") != before
    assert list(strip.pages.values()) == [label_html(ADA)]


async def test_a_label_that_opens_after_the_last_tab_has_gone_is_closed() -> None:
    strip = Strip()
    labels = WindowLabels(strip.open, strip.close)
    strip.gate.clear()
    showing = await started(labels.show("jar", ADA))
    labels.drop("jar")
    strip.gate.set()
    assert not await showing
    assert strip.pages == {}


async def test_a_label_that_does_not_open_raises_nothing_and_is_tried_again() -> None:
    strip = Strip()

    async def fails(jar: str, html: str) -> str:
        raise TabGone("The label tab closed as it opened.")

    labels = WindowLabels(fails, strip.close)
    assert not await labels.show("jar", ADA)
    labels = WindowLabels(strip.open, strip.close)
    assert await labels.show("jar", ADA)


def test_a_name_cannot_add_to_the_labels_page() -> None:
    page = label_html(Group("s1@1", "</title><script>x</script>", Color.GREEN))
    assert "<script>" not in page
    assert "<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt; · Roost</title>" in page
    assert re.search(r"fill='%23[0-9a-f]{6}'", page), "the icon has the session's colour"


# --- real windows --------------------------------------------------------------------------------


class HeadedChromium(ChromiumUnderTest):
    options = ChromiumOptions(headless=False)

    async def pages(self) -> dict[str, str]:
        """Return the title of every page by its target."""
        found = [one for one in await self.targets() if one["type"] == "page"]
        return {one["targetId"]: one["title"] for one in found}

    async def window(self, page: str) -> int:
        found = await self._browser().call("Browser.getWindowForTarget", {"targetId": page})
        return int(found["windowId"])


class HeadedFirefox(FirefoxUnderTest):
    options = FirefoxOptions(headless=False)

    async def pages(self) -> dict[str, str]:
        tree = await self._browser().call("browsingContext.getTree", {"maxDepth": 0})
        return {one["context"]: await self._title(one["context"]) for one in tree["contexts"]}

    async def _title(self, context: str) -> str:
        target = {"context": context}
        ask = {"expression": "document.title", "awaitPromise": False, "target": target}
        answer = await self._browser().call("script.evaluate", ask)
        return str(answer["result"]["value"])


HEADED: dict[str, Any] = {"chromium": HeadedChromium, "firefox": HeadedFirefox}


@pytest.fixture(scope="module", params=list(HEADED))
def headed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ManagedHarness[HeadedChromium | HeadedFirefox]]:
    with screen() as display, pytest.MonkeyPatch.context() as patched:
        patched.setitem(os.environ, "DISPLAY", display)
        with managed_harness(tmp_path_factory.mktemp("home"), HEADED[request.param]) as harness:
            yield harness


@asynccontextmanager
async def bounded() -> AsyncIterator[None]:
    async with asyncio.timeout(SECONDS):
        yield


async def labels_are(driver: HeadedChromium | HeadedFirefox, *names: str) -> dict[str, str]:
    """Wait until these labels are in the strip, and no others. Return their pages."""
    async with bounded():
        while True:
            pages = await driver.pages()
            found = {page: title for page, title in pages.items() if title.endswith(" · Roost")}
            if sorted(found.values()) == sorted(f"{name} · Roost" for name in names):
                return {title.removesuffix(" · Roost"): page for page, title in found.items()}
            await moment()


@pytest.mark.browser
async def test_each_sessions_window_has_a_tab_with_its_name(
    headed: ManagedHarness[HeadedChromium | HeadedFirefox],
) -> None:
    reports = Reports()
    async with headed.guest(reports) as driver:
        tabs: dict[str, TabHandle] = {}
        for group in (ADA, BOB):
            jar = await driver.make_jar(JarPolicy.FRESH)
            tabs[group.title] = await driver.open_tab(jar, group)
            await driver.open_tab(jar, group)
        labels = await labels_are(driver, "ada", "bob")
        if isinstance(driver, HeadedChromium):
            for name, page in labels.items():
                assert await driver.window(page) == await driver.window(tabs[name])
            assert await driver.window(labels["ada"]) != await driver.window(labels["bob"])
        assert len(driver.tab_handles) == 4, "a label is no tab"
        assert not [event for event in reports.events if isinstance(event, TabOpened)]


@pytest.mark.browser
async def test_a_label_goes_with_the_sessions_last_tab_and_comes_with_the_next(
    headed: ManagedHarness[HeadedChromium | HeadedFirefox],
) -> None:
    async with headed.guest(Reports()) as driver:
        jar = await driver.make_jar(JarPolicy.FRESH)
        for _ in range(2):
            first, second = [await driver.open_tab(jar, ADA) for _ in range(2)]
            await driver.close_tab(first)
            await labels_are(driver, "ada")
            await driver.close_tab(second)
            await labels_are(driver)


@pytest.mark.browser
async def test_the_next_broker_labels_the_windows_that_it_takes_over(
    headed: ManagedHarness[HeadedChromium | HeadedFirefox],
) -> None:
    async with headed.guest(Reports()) as driver:
        jar = await driver.make_jar(JarPolicy.FRESH)
        tab = await driver.open_tab(jar, ADA)
        await labels_are(driver, "ada")
        heir = await headed.heir(Reports())
        # The next driver does not know labels of another driver: to the core they are strays.
        for stray in set(heir.tab_handles) - {tab}:
            await heir.close_tab(stray)
        await heir.label(jar, ADA)
        await labels_are(heir, "ada")
        assert list(heir.tab_handles) == [tab]
