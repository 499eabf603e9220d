"""MCP clients written by others, in Node: the TypeScript SDK in two releases, and the command
line of MCP Inspector. `make test` installs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roost.local.home import Home
from tests.support.house import real_home

CLIENTS = Path(sys.prefix) / "node-clients"
PROGRAMS = CLIENTS / "node_modules" / ".bin"
SCRIPT = Path(__file__).with_name("typescript_client.mjs")
SERVER = (sys.executable, "-P", "-m", "roost", "mcp")
SECONDS = 50
URL = "https://site.test/"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROGRAMS / "inspector").exists(), reason="`make test` fetches the clients with npm"
    ),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with real_home(tmp_path_factory.mktemp("node")) as made:
        yield made


def ran(home: Home, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environ = {
        # The newer Node among the packages comes first: the Inspector needs it.
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "HOME": str(home.path),
        "ROOST_HOME": str(home.path),
        "NODE_CLIENTS": str(CLIENTS),
    }
    return subprocess.run(
        [str(word) for word in command], env=environ, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["v1", "v2"])
def seen(home: Home, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return what the TypeScript client saw in one run."""
    done = ran(home, "node", SCRIPT, request.param, *SERVER)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def test_the_typescript_client_understands_every_kind_of_answer(seen: dict[str, Any]) -> None:
    assert seen["server"] == "roost"
    assert seen["tools"] > 30
    assert URL in text_of(seen["opened"])
    assert f"]({URL})" in text_of(seen["tabs"])
    assert seen["picture"]["content"][0]["type"] == "image"
    assert text_of(seen["status"]).count("\nSession ") == 1
    assert seen["loop"]["structuredContent"] == {"active": False}
    assert [text_of(one).count("\n1\n") for one in seen["together"]] == [1, 1, 1, 1]


def test_the_typescript_client_takes_errors_of_tools_with_a_schema(seen: dict[str, Any]) -> None:
    """An error has no `structuredContent`, though the tool has an `outputSchema`."""
    assert seen["refused"]["isError"] is True
    assert text_of(seen["refused"]).startswith("SESSION_GONE: ")
    assert "browser_click" in text_of(seen["misspelt"])


def test_the_inspector_finds_nothing_wrong_with_the_tools(home: Home) -> None:
    listed = ran(home, "inspector", "--cli", "-e", f"ROOST_HOME={home.path}",
                 "--method", "tools/list", "--strict", "--", *SERVER)  # fmt: skip

    assert listed.returncode == 0, listed.stderr
    assert "browser_snapshot" in [tool["name"] for tool in json.loads(listed.stdout)["tools"]]


def test_the_inspector_calls_a_tool(home: Home) -> None:
    called = ran(home, "inspector", "--cli", "-e", f"ROOST_HOME={home.path}", "--method",
                 "tools/call", "--tool-name", "browser_navigate", "--tool-arg", f"url={URL}",
                 "--", *SERVER)  # fmt: skip

    assert called.returncode == 0, called.stderr
    assert URL in text_of(json.loads(called.stdout))
