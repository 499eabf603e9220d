"""Compare page work in a person's own browser with the managed browser of the same kind.

The own browser is used through extension and native host. Both browsers run headed on one screen in
the same run, and each page is behind another tab.
"""

from __future__ import annotations

import asyncio
import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from bench.report import Row
from bench.timing import SAMPLES, WARM_UP, asking, timed
from roost.api import operations as ops
from roost.api.operations import Answers
from roost.api.views import View
from roost.client.client import Client
from roost.errors import BrowserLost
from tests.support.own_browser import screen

NAME = "bench"
LINK_SECONDS = 30.0


@contextmanager
def a_screen() -> Iterator[str]:
    """Provide a screen for this process and those it starts."""
    before = os.environ.get("DISPLAY")
    with screen() as display:
        os.environ["DISPLAY"] = display
        try:
            yield display
        finally:
            if before is None:
                del os.environ["DISPLAY"]
            else:
                os.environ["DISPLAY"] = before


async def latencies(title: str, managed: Client, own: Client, url: str) -> list[Row]:
    cases: list[tuple[str, float, Answers[View]]] = [
        ("evaluate", 3, ops.Evaluate(function="() => 1")),
        ("click", 2, ops.Click(target="#b", snapshot="none")),
        ("screenshot", 1.5, ops.TakeScreenshot()),
    ]
    await managed.call(ops.Navigate(url=url))
    # A new tab opens in the background, so this page is behind the first, as in the own browser.
    await managed.call(ops.Tabs(action="new", url=url))
    await _arrive(own, url)
    return [
        await _beside(f"{title}: {name}", limit, operation, managed, own)
        for name, limit, operation in cases
    ]


async def _arrive(own: Client, url: str) -> None:
    """Navigate as soon as the browser has started its native host."""
    async with asyncio.timeout(LINK_SECONDS):
        while True:
            try:
                await own.call(ops.Navigate(url=url))
                return
            except BrowserLost:
                continue


async def _beside(
    name: str, limit: float, operation: Answers[View], managed: Client, own: Client
) -> Row:
    """Compare the medians of both browsers, measured in turns."""
    pairs = [
        (await timed(asking(managed, operation)), await timed(asking(own, operation)))
        for _ in range(SAMPLES + WARM_UP)
    ]
    direct, through = (statistics.median(times) for times in zip(*pairs[WARM_UP:], strict=True))
    return Row(
        name,
        through / direct,
        "×",
        limit=limit,
        note=f"{through * 1000:.2f} ms to the managed browser's {direct * 1000:.2f} ms",
    )
