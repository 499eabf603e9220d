"""Measure how ten hostile pages affect others: the loop's longest turn, and a neighbour's pings.

Each page attacks in its own way, and its agent works on it as an agent would. Another agent only
pings, which shows how long the broker keeps it waiting. For comparison, the same agent pings beside
ten pages that only spin, which shows what the machine alone costs.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import os
import signal
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.report import Row
from bench.site import browser_home, serving
from bench.sockets import echo_server
from roost.api import operations as ops
from roost.api import page_operations as page_ops
from roost.api.operations import Answers
from roost.api.views import View
from roost.client.client import Client, connect
from roost.errors import RoostError
from roost.local.endpoint import read_endpoint
from roost.local.home import Home

ROUNDS = 3
WARM_UP_SECONDS = 4.0
SECONDS = 16.0
CALL_SECONDS = 10.0
DAEMON = Path(__file__).parent / "watched_daemon.py"
SPIN = "<script>setTimeout(() => { for (;;); })</script>"
DEEP = "let deep = []; for (let n = 0; n < 5000; n++) deep = [deep];"

Calls = list[Answers[View]]
Pings = dict[str, list[float]]
ATTACKS: dict[str, tuple[str, Calls]] = {
    "requests with long queries": (
        """<script>const go = () => fetch('/q?' + 'a'.repeat(3980)).catch(() => 0).finally(go);
        for (let n = 0; n < 6; n++) go();
        const pairs = () => fetch('/q?' + 'sid=1&'.repeat(600)).catch(() => 0).finally(pairs);
        for (let n = 0; n < 2; n++) pairs()</script>""",
        [page_ops.NetworkRequests(limit=500), ops.Tabs(action="list")],
    ),
    "addresses of megabytes": (
        """<script>let n = 0; setInterval(() => {
        try { history.replaceState(0, '', '#' + n++ + 'a&b=,'.repeat(3.8e5)) } catch {}
        }, 60)</script>""",
        [ops.Tabs(action="list"), page_ops.Snapshot(), ops.Status()],
    ),
    "titles of megabytes": (
        """<script>let n = 0; setInterval(() => { document.title = n++ + 'x'.repeat(5e7) }, 200)
        </script>""",
        [ops.Tabs(action="list"), page_ops.Snapshot(), page_ops.Evaluate(function="() => 1")],
    ),
    "console": (
        f"""<script>{DEEP} const big = 'é,'.repeat(5e5), many = Array(1e5).fill({{a: 1}});
        setInterval(() => {{ console.error(big); console.log(deep, many, ...many.slice(0, 1000));
        for (let n = 0; n < 200; n++) console.warn('line', n, big.slice(0, 500));
        setTimeout(() => {{ throw new Error(big) }}) }}, 50)</script>""",
        [page_ops.ConsoleMessages(limit=500), page_ops.Snapshot()],
    ),
    "deep values": (
        f"""<script>{DEEP} Object.entries = () => deep; Array.prototype.then = undefined;
        Object.defineProperty(document, 'title', {{get: () => deep}});
        JSON.stringify = () => '['.repeat(1e5)</script>""",
        [
            page_ops.Evaluate(function=f"() => {{ {DEEP} return deep }}"),
            page_ops.Evaluate(function=f"() => {{ {DEEP} throw deep }}"),
            page_ops.PressKey(key="a"),
        ],
    ),
    "storage": (
        """<body><button onclick="fill()">Fill</button><script>let n = 0;
        const fill = () => { localStorage.clear(); n++; try {
          for (let k = 0; k < 9000; k++) localStorage.setItem(k + 'k' + n, 'v"\\\\n'.repeat(25));
          localStorage.setItem('big', n + 'é'.repeat(3e6)) } catch {} };
        fill()</script>""",
        [page_ops.Click(target="button"), ops.StorageState(action="save"), ops.Cookies()],
    ),
    "mutations": (
        """<body><script>const row = (n) => `<li><button>Row ${n}</button><a href="/${n}">${'t,'
        .repeat(40)}</a></li>`; let n = 0;
        const fill = () => { document.body.innerHTML =
          '<ul>' + Array.from({length: 3000}, () => row(n++)).join('') + '</ul>' };
        fill(); setInterval(fill, 300)</script>""",
        [
            page_ops.Snapshot(max_chars=200_000),
            page_ops.GetContent(max_length=4_000_000, format="html"),
            page_ops.Find(regex="(t,)+R"),
            page_ops.PageState(),
        ],
    ),
    "popups and frames": (
        """<body><button onclick="for (let n = 0; n < 30; n++) window.open('/p' + n)">Open</button>
        <script>let n = 0; setInterval(() => { document.querySelectorAll('iframe')
        .forEach((frame) => frame.remove()); for (let k = 0; k < 20; k++) {
          const frame = document.createElement('iframe');
          frame.src = 'data:text/html,' + n++ + ','.repeat(2e5); document.body.append(frame) } },
        500)</script>""",
        [page_ops.Click(target="button", snapshot="none"), ops.Tabs(action="list")],
    ),
    "downloads and alerts": (
        """<body><script>let n = 0; setInterval(() => { const a = document.createElement('a');
        a.href = 'data:application/x,' + 'd,'.repeat(2e5); a.download = n++ + 'n'.repeat(1e5);
        a.click(); if (n % 20 === 0) alert('m'.repeat(1e7)) }, 50)</script>""",
        [
            page_ops.HandleDialog(accept=True),
            page_ops.Downloads(),
            page_ops.Evaluate(function="() => 1"),
        ],
    ),
    "large answers": (
        "<body style='height: 15000px'><canvas width=1200 height=14000></canvas><script>"
        "const c = document.querySelector('canvas').getContext('2d');"
        "for (let y = 0; y < 14000; y += 4) for (let x = 0; x < 1200; x += 40) {"
        "c.fillStyle = '#' + Math.random().toString(16).slice(2, 8); c.fillRect(x, y, 40, 4) }"
        "</script>",
        [
            page_ops.Evaluate(function="() => Array(1e6).fill([])"),
            page_ops.Evaluate(
                function="() => Array.from({length: 24000}, (_, n) => ({n, a: [n]}))"
            ),
            page_ops.Evaluate(function="() => 'é\\n'.repeat(2e6)"),
            page_ops.Evaluate(function="() => 'a'.repeat(5e7)"),
            page_ops.TakeScreenshot(full_page=True, type="png", scale=1),
        ],
    ),
}


def rows() -> list[Row]:
    with serving(_Handler) as base:
        spinning = {str(n): (f"{base}/spin", Calls()) for n in range(len(ATTACKS))}
        attacks = {
            name: (f"{base}/{n}", calls) for n, (name, (_, calls)) in enumerate(ATTACKS.items())
        }
        # Measure in turns, so that a busy moment of the machine affects both.
        rounds = [
            (_measured_beside(spinning)[0], *_measured_beside(attacks)) for _ in range(ROUNDS)
        ]
    seen = max((turns for _, _, turns in rounds), key=lambda turns: turns["longest"][0]["ms"])
    usual, p99 = (_p99([one[which]["broker"] for one in rounds]) for which in (0, 1))
    bare = _p99([hostile["echo"] for _, hostile, _ in rounds])
    busy = seen["busySeconds"] / SECONDS * 100
    for turn in seen["longest"]:
        sys.stderr.write(
            f"{turn['ms']:.1f} ms (gc {turn['gcMs']:.1f}), of which {turn['callbackMs']:.1f} in "
            f"{turn['callback']}\n"
        )
    return [
        Row(
            "longest turn under ten hostile pages",
            seen["longest"][0]["ms"],
            "ms",
            limit=50,
            note=f"processor time; {seen['turns']} turns, the loop busy {busy:.0f} % of the time",
        ),
        Row(
            "p99 of a ping then",
            p99 / usual,
            "×",
            limit=2,
            note=f"{p99:.1f} ms; beside ten pages that only spin {usual:.1f} ms",
        ),
        Row(
            "p99 of a ping then, beside a bare server's",
            p99 / bare,
            "×",
            note=f"a bare server beside the same hostile pages: {bare:.1f} ms",
        ),
    ]


def _p99(rounds: list[list[float]]) -> float:
    return statistics.median(statistics.quantiles(pings, n=100)[98] for pings in rounds)


def _measured_beside(pages: dict[str, tuple[str, Calls]]) -> tuple[Pings, dict[str, Any]]:
    """Measure in a Roost of its own, because a page that spins can outlive its tab for a while."""

    async def measured(home: Home, echo: Path) -> tuple[Pings, dict[str, Any]]:
        async with _beside(home, pages):
            return await _measured(home, echo)

    with echo_server() as echo, browser_home("chromium", command=_command(), pool=60) as home:
        return asyncio.run(measured(home, echo))


# --- the agents ---------------------------------------------------------------------------------


@asynccontextmanager
async def _beside(home: Home, pages: dict[str, tuple[str, Calls]]) -> AsyncIterator[None]:
    """Keep agents working on those pages, each in a session of its own, until the context ends."""
    async with contextlib.AsyncExitStack() as stack:
        agents = [
            await stack.enter_async_context(await connect(home=home, name=name)) for name in pages
        ]
        working = [
            asyncio.get_running_loop().create_task(_work(agent, url, calls), name=name)
            for agent, (name, (url, calls)) in zip(agents, pages.items(), strict=True)
        ]
        try:
            yield
        finally:
            for task in working:
                task.cancel()
            await asyncio.wait(working)


async def _work(agent: Client, url: str, calls: Calls) -> None:
    """Open the page, then repeat the same calls. Ignore refusals."""
    with contextlib.suppress(RoostError):
        await agent.call(ops.Navigate(url=url), timeout=CALL_SECONDS)
    while calls:
        for call in calls:
            with contextlib.suppress(RoostError):
                await agent.call(call, timeout=CALL_SECONDS)
            await _pause(0.02)
    await asyncio.Event().wait()


async def _measured(home: Home, echo: Path) -> tuple[Pings, dict[str, Any]]:
    """Return the durations of a neighbour's pings, and the turns of the loop meanwhile."""
    await _pause(WARM_UP_SECONDS)
    await _turns(home)
    command = (sys.executable, "-m", "bench.pinger", str(home.path), str(echo), str(SECONDS))
    pinger = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await pinger.communicate()
    return json.loads(said), await _turns(home)


async def _turns(home: Home) -> dict[str, Any]:
    """Return what the daemon has recorded since the last call."""
    endpoint, path = read_endpoint(home), home.path / "turns.json"
    assert endpoint is not None
    before = path.read_bytes() if path.exists() else b""
    os.kill(endpoint.process.pid, signal.SIGUSR1)
    async with asyncio.timeout(60):
        while not path.exists() or path.read_bytes() == before:
            await _pause(0.05)
    seen: dict[str, Any] = json.loads(path.read_bytes())
    return seen


async def _pause(seconds: float) -> None:
    await asyncio.sleep(seconds)  # noqa: TID251 - agents and the warm-up take their time


def _command() -> list[str]:
    return [sys.executable, "-P", str(DAEMON)]


# --- the pages ----------------------------------------------------------------------------------


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path[1:]
        body = SPIN if name.startswith("spin") else ""
        if name.isdigit():
            body = list(ATTACKS.values())[int(name)][0]
        data = f"<!doctype html>{body}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass
