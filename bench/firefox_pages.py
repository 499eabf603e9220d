"""Measure page work in Firefox against bare BiDi in the same run, and the memory of 50 sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bench.memory import tree_bytes
from bench.raw_firefox import RawFirefox, raw_firefox
from bench.report import Row
from bench.site import browser_home, site
from bench.timing import asking, compared
from roost.api import operations as ops
from roost.api.operations import Answers
from roost.api.views import View
from roost.client.client import Client, connect
from roost.local.home import Home
from roost.vocabulary import MIB

SESSIONS = 50
TEXT = "hello"


def rows() -> list[Row]:
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    with site() as base, browser_home("firefox", pool=0) as home:
        with raw_firefox() as raw:
            async with await connect(home=home, name="bench") as agent:
                await agent.call(ops.Navigate(url=f"{base}/page"))
                found = await _latencies(agent, raw, raw.page(f"{base}/page"))
        return [*found, await _memory(home, base)]


async def _latencies(agent: Client, raw: RawFirefox, context: str) -> list[Row]:
    def click() -> None:
        found = raw.call(
            "browsingContext.locateNodes",
            context=context,
            locator={"type": "css", "value": "#b"},
        )
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        origin = {"type": "element", "element": element}
        move = {"type": "pointerMove", "x": 0, "y": 0, "origin": origin}
        press, let_go = ({"type": f"pointer{way}", "button": 0} for way in ("Down", "Up"))
        _act({"type": "pointer", "id": "mouse", "actions": [move, press, let_go]})

    def type_() -> None:
        raw.evaluate("i.focus(); i.select()", context)
        strokes = [{"type": f"key{way}", "value": key} for key in TEXT for way in ("Down", "Up")]
        _act({"type": "key", "id": "keys", "actions": strokes})

    def shoot() -> None:
        picture = {"type": "image/jpeg", "quality": 0.6}
        raw.call("browsingContext.captureScreenshot", context=context, format=picture)

    def _act(source: dict[str, Any]) -> None:
        raw.call("input.performActions", context=context, actions=[source])

    cases: list[tuple[str, float, Callable[[], object], Answers[View], str]] = [
        (
            "evaluate",
            2,
            lambda: raw.evaluate("1", context),
            ops.Evaluate(function="() => 1"),
            "one script.evaluate",
        ),
        (
            "click",
            1.2,
            click,
            ops.Click(target="#b", snapshot="none"),
            "locateNodes, then input.performActions there",
        ),
        (
            "type",
            1.5,
            type_,
            ops.Type(target="#i", text=TEXT, snapshot="none"),
            "focus, then input.performActions",
        ),
        (
            "screenshot",
            1.2,
            shoot,
            ops.TakeScreenshot(scale=1),
            "browsingContext.captureScreenshot, same picture",
        ),
    ]
    rows = [
        await compared(f"firefox: {name}", limit, floor, asking(agent, operation), f"to {what}")
        for name, limit, floor, operation, what in cases
    ]
    small = asking(agent, ops.TakeScreenshot())
    note = "at half the size, which BiDi cannot take, to one of the whole"
    return [
        *rows,
        await compared("firefox: screenshot as it is by default", None, shoot, small, note),
    ]


async def _memory(home: Home, base: str) -> Row:
    """Measure the memory that each further session with one page adds, up to fifty sessions."""
    agents = [await connect(home=home, name="bench") for _ in range(SESSIONS)]
    try:
        await agents[0].call(ops.Navigate(url=f"{base}/page"))
        pid = (await agents[0].call(ops.Status())).browsers[0].pid
        assert pid is not None
        before = tree_bytes(pid)
        for agent in agents[1:]:
            await agent.call(ops.Navigate(url=f"{base}/page"))
        each = (tree_bytes(pid) - before) / (SESSIONS - 1)
    finally:
        for agent in agents:
            await agent.aclose()
    return Row(
        f"firefox: memory of each further session, at {SESSIONS}",
        each / MIB,
        "MiB",
        limit=25,
        note=f"the first, with the browser itself, {before / MIB:.0f} MiB",
    )
