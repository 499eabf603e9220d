"""Measure page work through the client library against bare CDP in the same run.

Two Chromiums on pipes are asked in turns, so that a busy moment of the machine affects both.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable

from bench.memory import tree_bytes
from bench.raw_chromium import RawChromium, raw_chromium
from bench.report import Row
from bench.site import browser_home, site
from bench.timing import SAMPLES, asking, compared, timed, took
from roost.api import operations as ops
from roost.api.operations import Answers
from roost.api.views import View
from roost.client.client import Client, connect
from roost.local.home import Home

SLOW_SAMPLES = 15
SESSIONS = 6
WALK = """(() => { const found = [];
  const walk = (node) => { for (const child of node.children) {
    found.push([child.localName, child.getAttribute("role"), child.textContent.length]);
    walk(child) } };
  walk(document.body); return found.length })()"""


def rows() -> list[Row]:
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    with site() as base, browser_home("chromium") as home, raw_chromium() as raw:
        async with await connect(home=home, name="bench") as agent:
            await agent.call(ops.Navigate(url=f"{base}/page"))
            session = raw.page(f"{base}/page")
            found = [
                *await _latencies(agent, raw, session),
                await _background(agent, base),
                await _rules(agent, base),
                *await _snapshots(agent, raw, base),
            ]
        return [*found, await _memory(home, raw, base)]


# --- time ---------------------------------------------------------------------------------------


async def _latencies(agent: Client, raw: RawChromium, session: str) -> list[Row]:
    def click() -> None:
        for kind, count in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)):
            params = {"type": kind, "x": 30, "y": 20, "button": "left", "clickCount": count}
            raw.call("Input.dispatchMouseEvent", params, session)

    def type_() -> None:
        raw.evaluate("i.focus(); i.select()", session)
        raw.call("Input.insertText", {"text": "hello"}, session)

    def shoot() -> None:
        clip = {"x": 0, "y": 0, "width": 1280, "height": 720, "scale": 0.5}
        params = {"format": "jpeg", "quality": 60, "clip": clip, "optimizeForSpeed": True}
        raw.call("Page.captureScreenshot", params, session)

    cases: list[tuple[str, float, Callable[[], object], Answers[View], str]] = [
        (
            "evaluate",
            3,
            lambda: raw.evaluate("1", session),
            ops.Evaluate(function="() => 1"),
            "one Runtime.evaluate",
        ),
        (
            "click",
            1.2,
            click,
            ops.Click(target="#b", snapshot="none"),
            "three awaited input events",
        ),
        (
            "type",
            3,
            type_,
            ops.Type(target="#i", text="hello", snapshot="none"),
            "focus, then Input.insertText",
        ),
        ("screenshot", 1.2, shoot, ops.TakeScreenshot(), "Page.captureScreenshot, same picture"),
    ]
    return [
        await compared(f"page: {name}", limit, floor, asking(agent, operation), f"to {what}")
        for name, limit, floor, operation, what in cases
    ]


async def _background(agent: Client, base: str) -> Row:
    """Compare the slowest of 100 clicks in a hidden tab with the foreground's median."""
    click = asking(agent, ops.Click(target="#b", snapshot="none"))
    front = [await timed(click) for _ in range(SAMPLES)]
    hidden = (await agent.call(ops.Tabs(action="list"))).current
    await agent.call(ops.Tabs(action="new", url=f"{base}/page"))
    behind = asking(agent, ops.Click(target="#b", tab=hidden, snapshot="none"))
    times = [await timed(behind) for _ in range(100)]
    await agent.call(ops.Close())
    median = statistics.median(front)
    return Row(
        "page: slowest of 100 clicks in a hidden tab",
        max(times) / median,
        "×",
        limit=3,
        note=f"to the foreground's median, {median * 1000:.1f} ms",
    )


async def _rules(agent: Client, base: str) -> Row:
    """Compare page loads under a route rule that matches nothing with loads without rules, in
    turns."""
    load = asking(agent, ops.Navigate(url=f"{base}/page"))
    plain: list[float] = []
    ruled: list[float] = []
    for _ in range(SLOW_SAMPLES):
        plain.append(await timed(load))
        await agent.call(ops.Route(url="**/nothing-like-it/*.json", abort="failed"))
        ruled.append(await timed(load))
        await agent.call(ops.Unroute())
    median = statistics.median(plain)
    return Row(
        "page: load under a route rule that does not match",
        statistics.median(ruled) / median,
        "×",
        limit=1.1,
        note=f"to a load without rules, {median * 1000:.1f} ms",
    )


async def _snapshots(agent: Client, raw: RawChromium, base: str) -> list[Row]:
    page = f"{base}/doc/library/functions.html"
    arrived = await agent.call(ops.Navigate(url=page))
    if arrived.status != 200:
        return [Row("page: snapshot of library/functions.html", 0, "×", note="no python3-doc here")]
    session = raw.page(page)
    ours = asking(agent, ops.Snapshot())
    walked = await compared(
        "page: snapshot of library/functions.html",
        4,
        lambda: raw.evaluate(WALK, session),
        ours,
        "to a bare walk of it",
        samples=SLOW_SAMPLES,
    )
    tree = statistics.median(
        took(lambda: raw.call("Accessibility.getFullAXTree", None, session)) for _ in range(3)
    )
    ours_took = statistics.median([await timed(ours) for _ in range(SLOW_SAMPLES)])
    size = len((await agent.call(ops.Snapshot())).snapshot)
    return [
        walked,
        Row("page: the same, by the browser's own AX tree", ours_took / tree, "×", limit=0.5),
        Row("page: the same, characters by default", size, "", limit=20_000),
    ]


# --- memory -------------------------------------------------------------------------------------


async def _memory(home: Home, raw: RawChromium, base: str) -> Row:
    """Compare the memory of one more session with that of one more bare context and page."""
    bare = _growth(raw.pid, [lambda: raw.page(f"{base}/page") for _ in range(SESSIONS)])
    agents = [await connect(home=home, name="bench") for _ in range(SESSIONS)]
    try:
        await agents[0].call(ops.Navigate(url=f"{base}/page"))
        pid = (await agents[0].call(ops.Status())).browsers[0].pid
        assert pid is not None
        before = tree_bytes(pid)
        for agent in agents[1:]:
            await agent.call(ops.Navigate(url=f"{base}/page"))
        ours = (tree_bytes(pid) - before) / (SESSIONS - 1)
    finally:
        for agent in agents:
            await agent.aclose()
    return Row(
        "page: memory of each further session",
        ours / bare,
        "×",
        limit=1.15,
        note=f"{ours / 2**20:.1f} MiB to {bare / 2**20:.1f} of a bare context with a page",
    )


def _growth(pid: int, steps: list[Callable[[], object]]) -> float:
    first, *others = steps
    first()
    before = tree_bytes(pid)
    for step in others:
        step()
    return (tree_bytes(pid) - before) / len(others)
