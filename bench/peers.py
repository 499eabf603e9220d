"""Compare Roost with Playwright MCP and chrome-devtools-mcp, all through MCP: time and memory.

All use the same Chromium and pages in one run. npm installs the released versions into
``bench/.peers`` (not in git). Without npm there are no rows.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeVar

from bench.mcp_client import McpClient, node_command, roost_command, server
from bench.memory import tree_bytes
from bench.report import Row
from bench.site import browser_home, site
from roost.local.browsers import find_browser
from roost.local.endpoint import read_endpoint
from roost.local.home import Home

FOLDER = Path(__file__).parent / ".peers"
PEERS = FOLDER / "node_modules"
PACKAGES = (
    "@playwright/mcp@0.0.83",
    "chrome-devtools-mcp@1.11.0",
    "@playwright/cli@0.1.22",
    "agent-browser@0.41.1",
)
"""The last two are command lines, which ``bench/verbs.py`` measures."""
AGENTS = 12
SAMPLES = 15
ROUNDS = 3
PATIENCE = 300.0
T = TypeVar("T")
LARGE = "/doc/library/functions.html"


def rows() -> list[Row]:
    if shutil.which("npm") is None:
        return [Row("mcp: beside Playwright MCP", 0, "", note="no npm here")]
    fetch()
    path = find_browser("chromium")
    playwright = node_command(
        PEERS / "@playwright/mcp/cli.js",
        *("--headless", "--isolated", "--no-sandbox", "--executable-path", path),
        *("--output-dir", str(FOLDER / "output")),
    )
    devtools = node_command(
        PEERS / "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
        *("--headless", "--isolated", "--executablePath", path),
        *("--chromeArg=--no-sandbox", "--usageStatistics=false"),
    )
    with site() as base:
        return [
            *_one_agent(playwright, devtools, base),
            *_many_agents(playwright, base),
        ]


def fetch() -> None:
    """Install the peers, unless they are there."""
    if not all((PEERS / name.rpartition("@")[0]).exists() for name in PACKAGES):
        quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
        subprocess.run(["npm", "install", *quiet, "--prefix", str(FOLDER), *PACKAGES], check=True)


# --- one agent ----------------------------------------------------------------------------------


class Agent:
    """A client at a page, with the refs from the page's snapshot."""

    def __init__(self, client: McpClient, base: str) -> None:
        begun = time.perf_counter()
        client.initialize()
        client.call("browser_navigate", url=f"{base}/page")
        text = client.call("browser_snapshot")
        self.first_snapshot_seconds = time.perf_counter() - begun
        self.client = client
        self.button, self.field = _ref(text, "button"), _ref(text, "textbox")

    def click(self) -> None:
        self.client.call("browser_click", element="the button", target=self.button)

    def type(self) -> None:
        self.client.call("browser_type", element="the field", target=self.field, text="hello")

    def evaluate(self) -> None:
        self.client.call("browser_evaluate", function="() => 1")

    def snapshot(self) -> str:
        return self.client.call("browser_snapshot")

    def screenshot(self) -> None:
        self.client.call("browser_take_screenshot", type="jpeg")

    def works(self) -> None:
        """Do the same mix of actions for every server measured."""
        for _ in range(ROUNDS):
            self.snapshot()
            self.click()
            self.type()
            self.evaluate()
            self.screenshot()


LIMITS: Sequence[tuple[str, float, Callable[[Agent], object]]] = (
    ("click", 1 / 10, Agent.click),
    ("evaluate", 1 / 20, Agent.evaluate),
    ("type", 1 / 2, Agent.type),
    ("snapshot", 1 / 2, Agent.snapshot),
    ("screenshot", 1, Agent.screenshot),
)


def _one_agent(playwright: Sequence[str], devtools: Sequence[str], base: str) -> list[Row]:
    found: list[Row] = []
    with ExitStack() as stack:
        home = stack.enter_context(browser_home("chromium"))
        ours = Agent(stack.enter_context(_roost(home)), base)
        theirs = Agent(stack.enter_context(server(playwright)), base)
        for name, limit, act in LIMITS:
            times, peer = [], []
            for _ in range(SAMPLES):
                times.append(_took(act, ours))
                peer.append(_took(act, theirs))
            mine, other = statistics.median(times), statistics.median(peer)
            shown = f"{mine * 1000:.1f} ms to Playwright MCP's {other * 1000:.1f}"
            found.append(Row(f"mcp: {name}", mine / other, "×", limit=limit, note=shown))
        mine, other = ours.first_snapshot_seconds, theirs.first_snapshot_seconds
        shown = f"{mine:.1f} s to Playwright MCP's {other:.1f}, each starting its browser"
        found.append(Row("mcp: first snapshot", mine / other, "×", note=shown))
        sizes = [len(_large(agent, base).encode()) for agent in (ours, theirs)]
        shown = f"{sizes[0]:,} bytes to Playwright MCP's {sizes[1]:,}"
        found.append(
            Row("mcp: a large page's snapshot", sizes[0] / sizes[1], "×", limit=1 / 10, note=shown)
        )
        found.append(_beside_devtools(ours, stack.enter_context(server(devtools)), base))
    return found


def _large(agent: Agent, base: str) -> str:
    agent.client.call("browser_navigate", url=base + LARGE)
    return agent.snapshot()


def _beside_devtools(ours: Agent, peer: McpClient, base: str) -> Row:
    """Compare one tool that both servers have, because they name their tools differently."""
    peer.initialize()
    peer.call("navigate_page", pageId=1, url=f"{base}/page")
    ours.client.call("browser_navigate", url=f"{base}/page")
    times, others = [], []
    for _ in range(SAMPLES):
        times.append(_took(Agent.evaluate, ours))
        others.append(_took(_evaluates, peer))
    mine, other = statistics.median(times), statistics.median(others)
    shown = f"{mine * 1000:.1f} ms to chrome-devtools-mcp's {other * 1000:.1f}"
    return Row("mcp: evaluate, beside chrome-devtools-mcp", mine / other, "×", note=shown)


def _evaluates(devtools: McpClient) -> None:
    devtools.call("evaluate_script", pageId=1, function="() => 1")


# --- twelve agents ------------------------------------------------------------------------------


def _many_agents(playwright: Sequence[str], base: str) -> list[Row]:
    with browser_home("chromium") as home:
        seconds, held = _all_at_work(lambda: _roost(home), base, lambda: _broker_and_browser(home))
    their_seconds, their_held = _all_at_work(lambda: server(playwright), base, lambda: 0)
    return [
        Row(
            f"mcp: memory of {AGENTS} agents",
            held / their_held,
            "×",
            limit=1 / 4,
            note=f"{held / 2**20:,.0f} MiB to Playwright MCP's {their_held / 2**20:,.0f}",
        ),
        Row(
            f"mcp: {AGENTS} agents do the same work",
            seconds / their_seconds,
            "×",
            limit=1 / 3,
            note=f"{seconds:.1f} s to Playwright MCP's {their_seconds:.1f}, start included",
        ),
    ]


def _all_at_work(
    start: Callable[[], AbstractContextManager[McpClient]],
    base: str,
    shared_bytes: Callable[[], int],
) -> tuple[float, int]:
    """Return the seconds until all agents were done, and the memory held while all still ran."""
    done, measured = threading.Barrier(AGENTS + 1), threading.Event()
    failures: list[BaseException] = []
    pids: list[int] = []

    def one() -> None:
        try:
            with start() as client:
                pids.append(client.pid)
                Agent(client, base).works()
                done.wait(PATIENCE)
                measured.wait(PATIENCE)
        except BaseException as error:
            failures.append(error)
            done.abort()

    threads = [threading.Thread(target=one) for _ in range(AGENTS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    try:
        done.wait(PATIENCE)
        seconds = time.perf_counter() - begun
        held = sum(tree_bytes(pid) for pid in pids) + shared_bytes()
    except threading.BrokenBarrierError:
        raise failures[0] from None
    finally:
        measured.set()
        for thread in threads:
            thread.join()
    return seconds, held


def _broker_and_browser(home: Home) -> int:
    endpoint = read_endpoint(home)
    assert endpoint is not None
    keepers = [json.loads(path.read_bytes())["pid"] for path in home.path.glob("keepers/*.json")]
    return sum(tree_bytes(pid) for pid in (endpoint.process.pid, *keepers))


# --- helpers ------------------------------------------------------------------------------------


def _roost(home: Home) -> AbstractContextManager[McpClient]:
    return server(roost_command(), ROOST_HOME=str(home.path))


def _ref(snapshot: str, role: str) -> str:
    found = re.search(rf"- {role}\b.*\[ref=(\w+)\]", snapshot)
    if found is None:
        raise AssertionError(f"No {role} in {snapshot}")
    return found[1]


def _took(work: Callable[[T], object], whom: T) -> float:
    begun = time.perf_counter()
    work(whom)
    return time.perf_counter() - begun
