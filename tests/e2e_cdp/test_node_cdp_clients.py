"""Puppeteer, Playwright MCP and chrome-devtools-mcp as their users run them, on sessions of one
Roost, several at a time. ``make test`` fetches them from npm; without it these are skipped."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cdp_house import CdpHouse
from local_web import Web

MODULES = Path(sys.prefix) / "node-clients" / "node_modules"
PUPPETEER = MODULES / "puppeteer-core" / "lib" / "esm" / "puppeteer" / "puppeteer-core.js"
PLAYWRIGHT_MCP = MODULES / "@playwright" / "mcp" / "cli.js"
DEVTOOLS_MCP = MODULES / "chrome-devtools-mcp" / "build" / "src" / "bin" / "chrome-devtools-mcp.js"
HERE = Path(__file__).parent
SECONDS = 50.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not (PUPPETEER.exists() and DEVTOOLS_MCP.exists()),
        reason="no Node clients here: tools/prepare_tests.py",
    ),
]


def socket_of(url: str) -> str:
    return url.replace("http://", "ws://") + "/devtools/browser/session"


def test_puppeteer_does_its_tour_in_a_session(house: CdpHouse, web: Web) -> None:
    tour = str(HERE / "puppeteer_tour.mjs")
    page = web.page("<h1>P</h1>", title="Pup")
    command = ["node", tour, str(PUPPETEER), socket_of(house.url("puppeteer")), page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "title": "Pup", "pages": 1, "popup": True, "typed": "typed", "added": 5, "shot": True,
        "pdf": True, "cookies": 0, "routed": "made", "targets": ["page", "page"], "cdp": 42,
        "left": 0,
    }  # fmt: skip
    assert house.tabs("puppeteer") == []


class Agent:
    """An MCP server, spoken to as its client speaks to it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._last_id = 0
        who = {"name": "roost-tests", "version": "1"}
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
        self._request("initialize", about)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> str:
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in answer["content"])
        assert not answer.get("isError"), text
        return text

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last_id and "method" not in message:
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found
        raise AssertionError(f"it ended before it answered {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


@contextmanager
def agent(command: Sequence[str], folder: Path) -> Iterator[Agent]:
    process = subprocess.Popen(
        ["node", *command],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Agent(process)
    finally:
        process.communicate(timeout=SECONDS)


def test_two_of_each_mcp_server_work_side_by_side(
    house: CdpHouse, web: Web, tmp_path: Path
) -> None:
    urls = [house.url(f"mcp-{number}") for number in range(4)]
    pages = [
        web.page(f"<h1>Only {number}</h1><a href='/x'>Link {number}</a>", title=f"Only {number}")
        for number in range(4)
    ]
    with ExitStack() as stack:
        playwrights = [
            stack.enter_context(agent([str(PLAYWRIGHT_MCP), "--cdp-endpoint", url], tmp_path))
            for url in urls[:2]
        ]
        devtools = [
            stack.enter_context(
                agent(
                    [str(DEVTOOLS_MCP), "--wsEndpoint", socket_of(url), "--usageStatistics=false"],
                    tmp_path,
                )
            )
            for url in urls[2:]
        ]
        for one, page in zip(playwrights, pages[:2], strict=True):
            one.call("browser_navigate", url=page)
        for one, page in zip(devtools, pages[2:], strict=True):
            one.call("new_page", url=page)
        seen = [one.call("browser_snapshot") for one in playwrights]
        for one, page in zip(devtools, pages[2:], strict=True):
            listed = re.search(rf"(\d+): .*{re.escape(page)}", one.call("list_pages"))
            assert listed is not None
            seen.append(one.call("take_snapshot", pageId=int(listed.group(1))))
        lists = [one.call("browser_tabs", action="list") for one in playwrights]
        lists += [one.call("list_pages") for one in devtools]
    for number, text in enumerate([*seen, *lists]):
        own, others = number % 4, {0, 1, 2, 3} - {number % 4}
        assert number >= 4 or f"Only {own}" in text
        assert not any(f"Only {other}" in text or pages[other] in text for other in others)
