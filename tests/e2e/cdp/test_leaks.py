"""Eight unmodified Playwright clients at once, each with its own mark: no client receives another's
mark.

A relay before each client records every byte it receives, and all of them are searched.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from itertools import cycle, islice
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.e2e.cdp.recording import Recording, recorded
from tests.support.house import House
from tests.support.local_web import Answer, Web

CLIENTS = 8
SECONDS = 1700.0
SHORT, LONG = 96, 5000
"""Operations of all clients together."""
_TARGET_ID = re.compile(rb'"targetId":"([0-9A-F]{32})"')


class MarkedClient:
    """A client that puts its mark into everything it sends."""

    def __init__(self, browser: Browser, web: Web, mark: str) -> None:
        self.browser = browser
        self.web = web
        self.mark = mark
        self.context: BrowserContext
        self.page: Page

    async def start(self) -> None:
        self.context = self.browser.contexts[0]
        self.page = await self.context.new_page()

    async def navigate(self) -> None:
        html = f"<h1>{self.mark}</h1><script>console.log('{self.mark}')</script>"
        url = self.web.page(html, title=self.mark) + f"?{self.mark}"
        await self.page.goto(url)
        assert await self.page.title() == self.mark

    async def evaluate(self) -> None:
        assert await self.page.evaluate("(x) => x", self.mark) == self.mark

    async def cookie(self) -> None:
        await self.context.add_cookies([{"name": "mark", "value": self.mark, "url": self.web.base}])
        values = {one["value"] for one in await self.context.cookies()}
        assert values == {self.mark}

    async def storage(self) -> None:
        await self.navigate()
        await self.page.evaluate("(x) => localStorage.setItem(x, x)", self.mark)
        assert await self.page.evaluate("Object.keys(localStorage)") == [self.mark]

    async def popup(self) -> None:
        goal = self.web.page(f"<h1>{self.mark} popup</h1>", title=self.mark)
        await self.page.goto(
            self.web.page(f"<button onclick=\"window.open('{goal}')\">go</button>")
        )
        async with self.page.expect_popup() as found:
            await self.page.click("button")
        popup = await found.value
        await popup.wait_for_load_state()
        assert await popup.title() == self.mark
        await popup.close()

    async def own_context(self) -> None:
        context = await self.browser.new_context()
        page = await context.new_page()
        await page.goto(self.web.page(f"<p>{self.mark}</p>", title=self.mark))
        assert await context.cookies() == []
        await context.close()

    async def worker(self) -> None:
        await self.navigate()
        script = f"const u = URL.createObjectURL(new Blob([\"console.log('{self.mark}')\"]));"
        async with self.page.expect_worker():
            await self.page.evaluate(f"() => {{ {script} window.w = new Worker(u) }}")

    async def frame(self) -> None:
        inner = self.web.there(self.web.page(f"<p>{self.mark}</p>"))
        await self.page.goto(self.web.page(f"<iframe src='{inner}'></iframe>"))
        text = await self.page.frame_locator("iframe").locator("p").inner_text()
        assert text == self.mark

    async def route(self) -> None:
        await self.page.route("**/routed", lambda route: route.fulfill(body=self.mark))
        await self.navigate()
        assert await self.page.evaluate("fetch('/routed').then((r) => r.text())") == self.mark
        await self.page.unroute("**/routed")

    async def download(self) -> None:
        headers = {"Content-Disposition": f"attachment; filename={self.mark}"}
        url = self.web.serve(Answer(self.mark.encode(), kind="application/x", headers=headers))
        await self.page.goto(self.web.page(f"<a href='{url}'>get</a>"))
        async with self.page.expect_download() as found:
            await self.page.click("a")
        assert (await found.value).suggested_filename == self.mark

    async def tabs(self) -> None:
        pages = [await self.context.new_page() for _ in range(2)]
        assert len(self.context.pages) == 3
        for page in pages:
            await page.close()

    def operations(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        return [
            self.navigate, self.evaluate, self.cookie, self.popup, self.own_context, self.worker,
            self.frame, self.route, self.storage, self.tabs, self.evaluate, self.download,
        ]  # fmt: skip


async def played(web: Web, urls: list[str], operations: int) -> None:
    marks = [f"mark-{number}-{secrets.token_hex(8)}" for number in range(CLIENTS)]
    async with AsyncExitStack() as stack:
        recordings = [await stack.enter_async_context(recorded(url)) for url in urls]
        playwright = await stack.enter_async_context(async_playwright())
        clients = []
        for recording, mark in zip(recordings, marks, strict=True):
            browser = await playwright.chromium.connect_over_cdp(recording.address)
            clients.append(MarkedClient(browser, web, mark))

        async def life(client: MarkedClient) -> None:
            await client.start()
            for operation in islice(cycle(client.operations()), operations // CLIENTS):
                await operation()

        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(life(client))
        for client in clients:
            await client.browser.close()
    assert_nothing_leaked(recordings, marks)


def assert_nothing_leaked(recordings: list[Recording], marks: list[str]) -> None:
    received = [bytes(recording.received) for recording in recordings]
    for number, data in enumerate(received):
        assert marks[number].encode() in data, "the detector sees what a client is told"
        others = [mark for mark in marks if mark != marks[number] and mark.encode() in data]
        where = [data.index(mark.encode()) for mark in others]
        words = [data[max(0, at - 300) : at + 60] for at in where]
        assert others == [], f"client {number} heard of {words}"
    seen = [set(_TARGET_ID.findall(data)) for data in received]
    for number, own in enumerate(seen):
        assert own
        for other in seen[number + 1 :]:
            assert own & other == set(), "a target two sessions have heard of"


@pytest.mark.timeout(SECONDS)
@pytest.mark.slow
def test_eight_clients_never_hear_of_each_other(house: House, web: Web) -> None:
    urls = [house.cdp_url() for _ in range(CLIENTS)]
    operations = LONG if os.environ.get("ROOST_SOAK") else SHORT
    # In a thread: other tests here use Playwright's synchronous interface, which has this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(played(web, urls, operations))).result(SECONDS)


def test_the_leak_detector_can_fail() -> None:
    recording = Recording("http://127.0.0.1:1/x")
    other = Recording("http://127.0.0.1:1/x")
    recording.received += b'mark-a mark-b "targetId":"%s"' % (b"A" * 32)
    other.received += b'mark-b "targetId":"%s"' % (b"B" * 32)
    with pytest.raises(AssertionError, match="heard of"):
        assert_nothing_leaked([recording, other], ["mark-a", "mark-b"])
