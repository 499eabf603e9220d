"""What policies and secrets cost a reply: with secrets, and where there are none and no policy."""

from __future__ import annotations

import asyncio
import http.server
import random
import string
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from unittest.mock import patch

from bench.report import Row
from bench.site import browser_home, serving
from roost.api import operations as ops
from roost.api import page_views
from roost.broker.doors.caller import Caller
from roost.broker.work import policy
from roost.client.client import Client, connect
from roost.local.home import Home
from roost.testing.house import fake_house
from roost.vault.redaction import Redactor

CHARS = 20_000
SAMPLES = 40
SHARE = 5.0
"""Percent of a snapshot of 20 KB that 50 secrets may cost."""
MANY_MS = 20.0
NOTHING = 1.0
"""Percent of a snapshot that may go into checks where there is neither a policy nor a secret."""
CALLS, ROUNDS = 200, 15
_LETTERS = string.ascii_letters + string.digits + "&'\"<>+/ -"


class _Page(http.server.BaseHTTPRequestHandler):
    """A page of random text, of more characters than the snapshot shows."""

    def do_GET(self) -> None:
        body = "".join(f"<p>{_text(80)}</p>" for _ in range(300)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def rows() -> list[Row]:
    with serving(_Page) as address, browser_home("chromium") as home:
        snapshot, seconds = asyncio.run(_snapshot(home, address))
    found = []
    for count in (50, 1000):
        redactor = Redactor()
        redactor.register_all({f"s{number}": [_text(20)] for number in range(count)})
        ms = median(_cost(redactor, snapshot) for _ in range(SAMPLES)) * 1000
        note = f"{ms:.2f} ms for {len(snapshot.snapshot)} characters"
        if count == 50:
            share = ms / (seconds * 1000) * 100
            note += f"; the snapshot takes {seconds * 1000:.1f} ms"
            found.append(Row("redaction: 50 secrets", share, "%", limit=SHARE, note=note))
        else:
            found.append(Row("redaction: 1,000 secrets", ms, "ms", limit=MANY_MS, note=note))
    return [*found, _without_any(seconds)]


def _without_any(seconds: float) -> Row:
    """Return what checks for policies and secrets cost where there are none.

    Compares calls in a Roost with a fake browser with and without the checks, in turns.

    seconds: duration of a snapshot in a real browser.
    """
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        checked, bare = asyncio.run(_compared(Path(folder)))
    cost = max(0.0, checked - bare)
    share = cost / seconds * 100
    note = (
        f"{cost * 1e6:.0f} µs of a call of {checked * 1e6:.0f} µs; the snapshot takes"
        f" {seconds * 1000:.1f} ms"
    )
    return Row("no policy, no secret: checks", share, "%", limit=NOTHING, note=note)


async def _compared(folder: Path) -> tuple[float, float]:
    """Return the seconds of a reading call with all checks, and without them."""

    async def nothing(*_: object) -> None: ...

    patches = (
        (policy, "check", lambda *_: None),
        (policy, "check_tab", lambda *_: None),
        (policy, "check_again", lambda *_: None),
        (policy, "judge_for", lambda *_: None),
        (Caller, "_know_secrets", nothing),
    )
    found: dict[bool, list[float]] = {True: [], False: []}
    async with fake_house(folder) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url="https://site.test/"))
        for turn in range(2 * ROUNDS):
            is_checked = turn % 2 == 0
            with ExitStack() as patched:
                for owner, name, stub in () if is_checked else patches:
                    patched.enter_context(patch.object(owner, name, stub))
                started = time.perf_counter()
                for _ in range(CALLS):
                    await agent.call(ops.NetworkRequests())
                found[is_checked].append((time.perf_counter() - started) / CALLS)
    return median(found[True]), median(found[False])


async def _snapshot(home: Home, address: str) -> tuple[page_views.SnapshotView, float]:
    async with await connect(home=home) as agent:
        await agent.call(ops.Navigate(url=address), timeout=60)
        asked = ops.Snapshot(max_chars=CHARS)
        times = [await _timed(agent, asked) for _ in range(SAMPLES)]
        return await agent.call(asked), median(times)


async def _timed(agent: Client, asked: ops.Snapshot) -> float:
    started = time.perf_counter()
    await agent.call(asked)
    return time.perf_counter() - started


def _cost(redactor: Redactor, view: page_views.SnapshotView) -> float:
    started = time.perf_counter()
    view.redacted(redactor.text)
    return time.perf_counter() - started


def _text(chars: int) -> str:
    return "".join(random.choices(_LETTERS, k=chars)).replace("<", "(")
