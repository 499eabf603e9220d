"""What it costs to look for the person's secrets in a reply, beside the reply itself."""

from __future__ import annotations

import asyncio
import http.server
import random
import string
import time
from statistics import median

from bench.report import Row
from bench.site import browser_home, serving
from roost.api import operations as ops
from roost.api import page_views
from roost.client.client import Client, connect
from roost.local.home import Home
from roost.vault.redaction import Redactor

CHARS = 20_000
SAMPLES = 40
SHARE = 5.0
"""Percent of a snapshot of 20 KB that 50 secrets may cost."""
MANY_MS = 20.0
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
    return found


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
