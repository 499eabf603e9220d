"""Compare what nine tasks on real applications cost with Roost and with Playwright MCP.

With Roost each task is done twice: with one step in each call, and with batches. Counted are the
calls, and the UTF-8 bytes of all text in their replies. The sum of the bytes also contains the
server's list of tools, as JSON, once. Each server starts anew for each task, in the same Chromium.
A second passes before each call, as it does while a model chooses it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench.mcp_client import McpClient, node_command, roost_command, server
from bench.peers import FOLDER, PEERS, fetch
from bench.report import Row
from bench.site import browser_home
from bench.tasks.agent import Agent
from bench.tasks.applications import Application, NotInstalled
from bench.tasks.catalogue import TASKS, Script, Task
from roost.local.browsers import find_browser

THINKING_SECONDS = 1.0
BYTES_LIMIT = 0.7
CALLS_LIMIT = 0.75
BATCH_CALLS_LIMIT = 0.5
ONE_TASK_LIMIT = 1.1


@dataclass(frozen=True, slots=True)
class Cost:
    calls: int
    bytes: int


def rows() -> list[Row]:
    if shutil.which("npm") is None:
        return [Row("tasks: beside Playwright MCP", 0, "", note="no npm here")]
    fetch()
    found: list[Row] = []
    ours: list[Cost] = []
    batched: list[Cost] = []
    theirs: list[Cost] = []
    for name, task in TASKS.items():
        try:
            mine, other = _with_roost(task, task.by_roost), _with_playwright(task)
            batched.append(_with_roost(task, task.by_batches))
        except NotInstalled as error:
            note = f"{error} Run `make soak` where packages can be fetched."
            return [*found, Row(f"tasks: {name}", 1, "missing", limit=0, note=note[:300])]
        ours.append(mine)
        theirs.append(other)
        found += _beside(f"tasks: {name}", mine, other, ONE_TASK_LIMIT, ONE_TASK_LIMIT)
    lists = _tool_bytes(roost_command()), _tool_bytes(_playwright_command())
    mine, other = _sum(ours, lists[0]), _sum(theirs, lists[1])
    by_batches = _sum(batched, lists[0])
    return [
        *found,
        *_beside("tasks: all", mine, other, BYTES_LIMIT, CALLS_LIMIT),
        *_beside("tasks: all, with batches", by_batches, other, BYTES_LIMIT, BATCH_CALLS_LIMIT),
    ]


def _beside(
    name: str, mine: Cost, other: Cost, bytes_limit: float, calls_limit: float
) -> list[Row]:
    return [
        Row(
            f"{name}, bytes to the model",
            mine.bytes / other.bytes,
            "×",
            limit=bytes_limit,
            note=f"{mine.bytes:,} to Playwright MCP's {other.bytes:,}",
        ),
        Row(
            f"{name}, calls",
            mine.calls / other.calls,
            "×",
            limit=calls_limit,
            note=f"{mine.calls} to Playwright MCP's {other.calls}",
        ),
    ]


def _sum(costs: Sequence[Cost], tool_bytes: int) -> Cost:
    return Cost(sum(one.calls for one in costs), sum(one.bytes for one in costs) + tool_bytes)


def _with_roost(task: Task, script: Script) -> Cost:
    with _folder() as folder, task.application(Path(folder)) as application:
        with browser_home("chromium") as home:
            started = server(roost_command(), cwd=application.folder, ROOST_HOME=str(home.path))
            return _done(started, task, script, application)


def _with_playwright(task: Task) -> Cost:
    with _folder() as folder, task.application(Path(folder)) as application:
        started = server(_playwright_command(), cwd=application.folder)
        return _done(started, task, task.by_playwright, application)


def _folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix="roost-bench-", ignore_cleanup_errors=True)


def _done(
    started: AbstractContextManager[McpClient], task: Task, script: Script, app: Application
) -> Cost:
    with started as client:
        client.initialize()
        agent = Agent(client, THINKING_SECONDS)
        script(agent, app)
        task.check(app, agent)
        return Cost(agent.calls, agent.bytes)


def _tool_bytes(command: Sequence[str]) -> int:
    with browser_home("fake") as home, server(command, ROOST_HOME=str(home.path)) as client:
        client.initialize()
        return len(json.dumps(client.tools(), ensure_ascii=False).encode())


def _playwright_command() -> list[str]:
    return node_command(
        PEERS / "@playwright/mcp/cli.js",
        *("--headless", "--isolated", "--no-sandbox"),
        *("--executable-path", find_browser("chromium")),
        *("--output-dir", str(FOLDER / "output")),
    )
