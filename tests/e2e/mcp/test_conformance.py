"""The official conformance suite's server scenarios that apply to a server of tools.

It knows servers by HTTP only and asks for tools of its own names, so they are given here as one
more ``Toolset`` to the very server that every client of Roost talks to. Not served by Roost, so not
asked: resources, prompts, completion, logging, sampling, elicitation."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from roost.api.broker import BrokerApi, Notices
from roost.errors import Internal
from roost.frontends.mcp.server import Guest, make_server
from roost.frontends.mcp.toolset import Image, Reply, Tool
from roost.hints import Spelling, no_way

PROGRAMS = Path(sys.prefix) / "node-clients" / "node_modules" / ".bin"
SECONDS = 50
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk"
    "Jggg=="
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROGRAMS / "conformance").exists(), reason="`make test` fetches it with npm"
    ),
]


class TheirTools:
    """What the suite calls."""

    tools: Sequence[Tool] = [
        Tool(name=name, title=name, description=name, input_schema={"type": "object"})
        for name in ("test_simple_text", "test_image_content", "test_error_handling")
    ]

    instructions = ""

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        return True

    def spelling(self, name: str) -> Spelling:
        return no_way

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        if name == "test_error_handling":
            raise Internal("This tool intentionally returns an error for testing")
        if name == "test_image_content":
            return Reply("A pixel.", [Image(PIXEL, "image/png")])
        return Reply("This is a simple text response for testing.")


@contextmanager
def served() -> Iterator[str]:
    nobody: Any = SimpleNamespace(watch=lambda: Notices(on_close=lambda _: None))
    guest = Guest(nobody, TheirTools())
    app = make_server(lambda _: guest, "").streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=asyncio.run, args=(server.serve(),))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.05)
        (listening,) = (sock for each in server.servers for sock in each.sockets)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as url:
        yield url


@pytest.mark.parametrize(
    "scenario",
    [
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-error",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ],
)
def test_a_scenario_of_the_conformance_suite_passes(
    address: str, scenario: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(PROGRAMS / "conformance"), "server", "--url", address, "--scenario", scenario],
        env={"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed, 0 warnings" in done.stdout
