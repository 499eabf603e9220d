"""Measure what the dashboard costs: twelve live tiles, the large view, and what agents notice.

The viewer here is a WebSocket that acknowledges every picture at once, as a fast page does.
"""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.resources import files
from pathlib import Path

import websockets
from websockets.asyncio.client import ClientConnection

from bench.report import Row
from bench.site import browser_home, serving
from bench.timing import WARM_UP, asking, timed
from roost.api import operations as ops
from roost.api import page_operations as page_ops
from roost.client.client import Client, connect
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.wire.hello import ClientKind, Hello

TILES = 12
SECONDS = 10.0
CALLS = 300
ROUNDS = 4
INPUTS = 40
STILL = "<title>Still</title><h1>Still</h1><button onclick='this.textContent++'>0</button>"
MOVING = f"""{STILL}<style>div {{ width: 200px; height: 200px; background: tomato;
animation: go 2s linear infinite alternate }} @keyframes go {{ to {{ translate: 800px }} }}</style>
<div></div>"""
ANSWERING = """<style>html { height: 100%; background: white }</style><script>
addEventListener("mousedown", () => { document.documentElement.style.background =
  `hsl(${Math.random() * 360} 100% 50%)` })</script>"""


PAGES = {"/still": STILL, "/moving": MOVING, "/answering": ANSWERING}


class _Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def rows() -> list[Row]:
    return [_assets(), *asyncio.run(_rows())]


def _assets() -> Row:
    page = files("roost.frontends.dashboard").joinpath("page")
    size = sum(len(file.read_bytes()) for file in page.iterdir())
    return Row("dashboard: the page's files", size / 1000, "KB", limit=150)


async def _rows() -> list[Row]:
    with serving(_Pages) as base, browser_home("chromium") as home:
        async with AsyncExitStack() as agents:
            everybody = []
            for number in range(TILES):
                agent = await agents.enter_async_context(await connect(home=home, name="bench"))
                path = "/moving" if number % 2 else "/still"
                await agent.call(ops.Navigate(url=f"{base}{path}"))
                everybody.append(agent)
            found = await _tiles(home, everybody)
            return [*found, *await _large(home, everybody[0], base)]


async def _tiles(home: Home, agents: list[Client]) -> list[Row]:
    tabs = [(await agent.call(ops.Tabs(action="list"))).tabs[0].tab for agent in agents]
    async with _viewer(home) as viewer:
        await viewer.want([(number, tab, "tile") for number, tab in enumerate(tabs)])
        await viewer.listen(2.0)
        viewer.bytes = viewer.pictures = 0
        before, begun = _processor_seconds(home), time.perf_counter()
        await viewer.listen(SECONDS)
        wall = time.perf_counter() - begun
        share = (_processor_seconds(home) - before) / wall
        per_second, rate = viewer.bytes / wall / 1000, viewer.pictures / wall
    films = [(number, tab, "tile") for number, tab in enumerate(tabs)]
    rounds_alone, rounds_watched = [], []
    # Take turns, because the load of the machine changes. A round is long enough to contain the
    # pictures of all tiles.
    for _ in range(ROUNDS):
        rounds_alone.append(await _latencies(agents[0]))
        # In a process of its own, as the person's browser is: else the viewer's work for each
        # picture would delay the agent that is timed in the same loop.
        with _viewer_process(home, films):
            rounds_watched.append(await _latencies(agents[0]))
    alone, watched = _medians(rounds_alone), _medians(rounds_watched)
    return [
        Row(
            f"dashboard: {TILES} tiles, half of them animated",
            per_second,
            "KB/s",
            limit=250,
            note=f"{rate:.1f} pictures a second",
        ),
        Row("dashboard: the broker's share of one core then", share * 100, "%", limit=15),
        *(
            Row(
                f"dashboard: an agent's {name} beside that viewer",
                watched[name] / alone[name],
                "×",
                limit=1.15,
                note=f"{watched[name] * 1000:.2f} ms to {alone[name] * 1000:.2f} ms alone, p50",
            )
            for name in alone
        ),
    ]


async def _large(home: Home, agent: Client, base: str) -> list[Row]:
    view = await agent.call(ops.Navigate(url=f"{base}/moving"))
    async with _viewer(home) as viewer:
        await viewer.want([(1, view.tab, "large")])
        await viewer.listen(1.0)
        viewer.pictures = 0
        await viewer.listen(SECONDS)
        rate = viewer.pictures / SECONDS
        await agent.call(ops.Navigate(url=f"{base}/answering"))
        session = (await agent.call(ops.SessionList())).sessions[0].id
        await viewer.say({"id": 1, "take": session})
        await viewer.listen(1.0)
        delays = [await viewer.pressed(view.tab) for _ in range(INPUTS)]
        await viewer.say({"id": 2, "give": session})
    return [
        Row("dashboard: the large view of an animated page", rate, "/s", limit=20, at_least=True),
        Row(
            "dashboard: from a press to its picture, p50",
            statistics.median(delays) * 1000,
            "ms",
            limit=120,
        ),
    ]


async def _latencies(agent: Client) -> dict[str, float]:
    evaluate = page_ops.Evaluate(function="() => 1")
    click = page_ops.Click(target="button", snapshot="none")
    found = {}
    for name, operation, calls in (("evaluate", evaluate, 4 * CALLS), ("click", click, CALLS // 5)):
        times = [await timed(asking(agent, operation)) for _ in range(calls + WARM_UP)]
        found[name] = statistics.median(times[WARM_UP:])
    return found


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


class _Viewer:
    """A dashboard without a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.bytes = 0
        self.pictures = 0

    async def say(self, message: object) -> None:
        await self._socket.send(json.dumps(message))

    async def want(self, films: list[tuple[int, str, str]]) -> None:
        wishes = [{"number": number, "tab": tab, "kind": kind} for number, tab, kind in films]
        await self.say({"films": wishes})

    async def listen(self, seconds: float) -> None:
        """Take what comes for that time, and ask for the next picture after each."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self._take()
        except TimeoutError:
            return

    async def pressed(self, tab: str) -> float:
        """Press the mouse in the page and return the time until the next picture."""
        begun = time.perf_counter()
        point = {"x": 100, "y": 100}
        await self.say({"tab": tab, "inputs": [{"kind": "down", **point}, {"kind": "up", **point}]})
        seen = self.pictures
        while self.pictures == seen:
            await self._take()
        return time.perf_counter() - begun

    async def _take(self) -> None:
        data = await self._socket.recv()
        self.bytes += len(data)
        if isinstance(data, bytes):
            self.pictures += 1
            await self.say({"seen": int.from_bytes(data[:4], "big")})


@asynccontextmanager
async def _viewer(home: Home) -> AsyncIterator[_Viewer]:
    said = Hello(token="", kind=ClientKind.CLI, operator=True)
    async with Client(home, said, start=False) as operator:
        login = await operator.call(ops.DashboardOpen())
    address = login.address.replace("http", "ws", 1) + "live"
    async with websockets.connect(address, max_size=None) as socket:
        viewer = _Viewer(socket)
        await viewer.say({"code": login.code})
        yield viewer


@contextmanager
def _viewer_process(home: Home, films: list[tuple[int, str, str]]) -> Iterator[None]:
    """Let another process watch those films until the block ends."""
    command = [sys.executable, "-m", "bench.dashboard", str(home.path), json.dumps(films)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has shown the first pictures
        try:
            yield
        finally:
            process.terminate()


async def _watch(home: Home, films: list[tuple[int, str, str]]) -> None:
    async with _viewer(home) as viewer:
        await viewer.want(films)
        await viewer.listen(2.0)
        sys.stdout.write("watching\n")
        sys.stdout.flush()
        await viewer.listen(600.0)


def _processor_seconds(home: Home) -> float:
    """Return the processor time that the broker has used so far."""
    endpoint = read_endpoint(home)
    assert endpoint is not None
    fields = Path(f"/proc/{endpoint.process.pid}/stat").read_text(encoding="ascii").split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(_watch(Home(Path(sys.argv[1])), json.loads(sys.argv[2])))
