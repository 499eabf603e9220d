"""Compare Playwright on a session of Roost with Playwright on a Chromium with nothing in between.

Both use the same program and flags, and are measured in turns. The ratio is the endpoint's cost.

A click waits for two frames of its page. Two browsers that draw 60 times a second and are asked in
turns fall into step. The browser asked at the wrong moment would lose a frame in every sample (for
a mouse move we measured 11 ms either way). So every sample begins at a random moment.

Profiling (py-spy on broker and keeper; ``DEBUG=pw:protocol`` on both sides) showed that a click is
the same 18 commands and 18 answers either way, in 11 round trips, without further events. So a
click costs 11 times what one round trip costs. A third of that was ASGI's queue and tasks, which
are gone (``frontends/http/sockets.py``). The rest is waking two more processes each way: broker and
keeper. Half of the broker's time in a round trip are the two ``send`` calls that wake them. Neither
another loop (uvloop was tried) nor another place to join the bytes makes a difference. The keeper
could hand the browser's pipe to the broker, but then only the broker would know what must outlive
it.

A connection used to wait for the browser three times more than a direct one: for its version, for a
session of its own, and for the targets. The first two are now ready before a client asks.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from bench.report import Row
from bench.site import browser_home, site
from bench.timing import took
from roost.frontends.cli import orders
from roost.frontends.cli.broker_call import ask
from roost.frontends.cli.options import CommonFlags
from roost.local.home import Home
from tests.support.bare_chromium import bare_chromium

SAMPLES, SLOW_SAMPLES = 100, 8
FRAMES_SECONDS = 2 / 60
CLIENTS = 8
CALLS = 100
ROUNDS = 2
NOISE = """
    const canvas = document.body.appendChild(document.createElement('canvas'));
    canvas.width = 2000; canvas.height = 1300;
    const context = canvas.getContext('2d'), image = context.createImageData(2000, 1300);
    const all = image.data.buffer, size = all.byteLength;
    for (let at = 0; at < size; at += 65536)
      crypto.getRandomValues(new Uint8Array(all, at, Math.min(65536, size - at)));
    context.putImageData(image, 0, 0);
"""
"""Draws a picture that cannot be compressed: about 10 MB as PNG."""


def rows() -> list[Row]:
    with (
        site() as base,
        tempfile.TemporaryDirectory(prefix="roost-bench-", ignore_cleanup_errors=True) as folder,
        bare_chromium(Path(folder)) as bare,
        browser_home("chromium", pool=0) as home,
        sync_playwright() as playwright,
    ):
        ours = _endpoint(home, "bench")
        found = [_connecting(playwright, bare, ours)]
        browsers = [playwright.chromium.connect_over_cdp(url) for url in (bare, ours)]
        pages = [_page(browser, f"{base}/page") for browser in browsers]
        found += [
            _compared("cdp: evaluate", 1.15, pages, lambda page: page.evaluate("1")),
            _compared("cdp: click", 1.15, pages, lambda page: page.click("#b")),
            _screenshots(pages),
        ]
        for browser in browsers:
            browser.close()
        urls = [[bare] * CLIENTS, [_endpoint(home, f"bench-{n}") for n in range(CLIENTS)]]
        found.append(_together(urls, f"{base}/page"))
        return found


def _connecting(playwright: Playwright, bare: str, ours: str) -> Row:
    def connect(url: str) -> None:
        playwright.chromium.connect_over_cdp(url).close()

    for url in (bare, ours):
        connect(url)
    times = [[took(lambda url=url: connect(url)) for url in (bare, ours)] for _ in range(20)]  # type: ignore[misc]
    return _ratio("cdp: connect", 1.3, *(list(one) for one in zip(*times, strict=True)))


def _compared(name: str, limit: float, pages: list[Page], work: Callable[[Page], object]) -> Row:
    times: list[list[float]] = [[], []]
    moments = random.Random(7)
    for number in range(SAMPLES + 5):
        for page, taken in zip(pages, times, strict=True):
            time.sleep(moments.uniform(0, FRAMES_SECONDS))  # noqa: TID251 - waits for nothing
            taken.append(took(lambda page=page: work(page)))  # type: ignore[misc]
            if number < 5:
                taken.clear()
    return _ratio(name, limit, *times)


def _screenshots(pages: list[Page]) -> Row:
    """Compare the throughput of screenshots of about 10 MB."""
    sizes: list[int] = []
    times: list[list[float]] = [[], []]
    for page in pages:
        page.set_viewport_size({"width": 2000, "height": 1300})
        page.evaluate(f"() => {{ {NOISE} }}")
    for _ in range(SLOW_SAMPLES):
        for page, taken in zip(pages, times, strict=True):
            taken.append(took(lambda page=page: sizes.append(len(page.screenshot()))))  # type: ignore[misc]
    bare, ours = (statistics.median(taken) for taken in times)
    note = f"{max(sizes) / 1e6:.1f} MB in {ours:.2f} s to {bare:.2f} s"
    name = "cdp: throughput of large screenshots"
    return Row(name, bare / ours, "×", limit=0.85, at_least=True, note=note)


def _together(urls: list[list[str]], page: str) -> Row:
    """Compare evaluations per second of many clients at once, each with a Playwright of its own."""
    rounds = [[_rate(each, page) for each in urls] for _ in range(ROUNDS)]
    rates = [max(each) for each in zip(*rounds, strict=True)]
    note = f"{rates[1]:.0f} a second to {rates[0]:.0f}"
    name = f"cdp: {CLIENTS} clients in parallel"
    return Row(name, rates[1] / rates[0], "×", limit=0.9, at_least=True, note=note)


def _rate(urls: list[str], address: str) -> float:
    def client(url: str) -> float:
        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(url)
            page = _page(browser, address)
            taken = took(lambda: [page.evaluate("1") for _ in range(CALLS)])
            page.context.close()
            browser.close()
        return CALLS / taken

    with ThreadPoolExecutor(len(urls)) as threads:
        return sum(threads.map(client, urls))


def _ratio(name: str, limit: float, bare: list[float], ours: list[float]) -> Row:
    direct, through = statistics.median(bare), statistics.median(ours)
    note = f"{through * 1000:.2f} ms to {direct * 1000:.2f} ms directly"
    return Row(name, through / direct, "×", limit=limit, note=note)


def _page(browser: Browser, url: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(url)
    return page


def _endpoint(home: Home, session: str) -> str:
    """Return the session's CDP address.

    Playwright's synchronous interface occupies this thread's loop, so ask in another thread.
    """

    def asked() -> str:
        os.environ["ROOST_HOME"] = str(home.path)
        person = CommonFlags(operator=True)
        ask(person, orders.SESSION_OPEN, session=session, browser="chromium")
        http = ask(person, orders.STATUS).broker.http
        return f"{http}/cdp/{ask(person, orders.SESSION_TOKEN, session=session).token}"

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asked).result()
