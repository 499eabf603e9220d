"""Measure ten evaluates in one batch against ten calls, both through the shim, in Chromium."""

from __future__ import annotations

import statistics

from bench.mcp_client import McpClient, roost_command, server
from bench.report import Row
from bench.site import browser_home, site
from bench.timing import SAMPLES, took

STEPS = 10
FUNCTION = "() => document.title"


def rows() -> list[Row]:
    with site() as base, browser_home("chromium") as home:
        with server(roost_command(), ROOST_HOME=str(home.path)) as agent:
            agent.initialize()
            agent.call("browser_navigate", url=f"{base}/page")
            for way in (_calls, _batch):
                way(agent)  # the first of each also loads code
            # In turns, so that a busy moment of the machine affects both.
            pairs = [
                (took(lambda: _calls(agent)), took(lambda: _batch(agent))) for _ in range(SAMPLES)
            ]
    calls, batch = (statistics.median(times) for times in zip(*pairs, strict=True))
    return [
        Row(
            f"batch: {STEPS} evaluates in one call",
            batch / calls,
            "×",
            limit=0.35,
            note=f"to {STEPS} calls of MCP, {calls * 1000:.1f} ms",
        )
    ]


def _calls(agent: McpClient) -> None:
    for _ in range(STEPS):
        agent.call("browser_evaluate", function=FUNCTION)


def _batch(agent: McpClient) -> None:
    step = {"tool": "evaluate", "function": FUNCTION}
    agent.call("browser_batch", steps=[step] * STEPS, snapshot="none")
