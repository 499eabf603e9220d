"""Playwright MCP and chrome-devtools-mcp as their users run them, on sessions of one Roost, two of
each at a time. (Puppeteer: ``test_puppeteer_parity.py``.)"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cdp.node_clients import DEVTOOLS_MCP, NODE, PLAYWRIGHT_MCP, needs_node_clients
from tests.support.house import House
from tests.support.local_web import Web

SECONDS = 50.0

pytestmark = [pytest.mark.slow, needs_node_clients, pytest.mark.timeout(180)]


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
def agent(command: Sequence[str], folder: Path, **environment: str) -> Iterator[Agent]:
    process = subprocess.Popen(
        [NODE, *command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Agent(process)
    finally:
        process.communicate(timeout=SECONDS)


def test_two_of_each_mcp_server_work_side_by_side(house: House, web: Web, tmp_path: Path) -> None:
    urls = [house.cdp_url(f"mcp-{number}") for number in range(4)]
    http = house.status().broker.http
    assert http is not None
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
                    [str(DEVTOOLS_MCP), "--browserUrl", http, "--usageStatistics=false"],
                    tmp_path,
                    ROOST_SESSION=f"mcp-{number}",
                )
            )
            for number in (2, 3)
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
