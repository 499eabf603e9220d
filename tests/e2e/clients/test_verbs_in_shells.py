"""Claude Code, Codex, Gemini CLI and opencode run page verbs through their shell tools.

Each is the real program from npm, with a scripted model on loopback and without Roost's MCP server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clients.model_server import DONE, Step, scripted_model
from tests.e2e.clients.real_clients import CLAUDE, CODEX, GEMINI, OPENCODE, RealClient
from tests.e2e.clients.test_real_clients import SECONDS, Desk, until_agents_are
from tests.support.house import House, house_of
from tests.support.local_web import Web, local_web

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
ROOST = f"{sys.executable} -P -m roost"
SHELLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "claude": ("Bash", "command", {"description": "Use the browser"}),
    "codex": ("exec_command", "cmd", {"login": False, "yield_time_ms": 25_000}),
    "gemini": ("run_shell_command", "command", {}),
    "opencode": ("bash", "command", {"description": "Use the browser"}),
}
"""The shell tool of each client: its name, the argument for the command line, other arguments."""
UNBOXED = (
    replace(CLAUDE, arguments=("--allowedTools", "Bash", "-p")),
    replace(CODEX, arguments=(*CODEX.arguments, "--sandbox", "danger-full-access")),
    GEMINI,
    OPENCODE,
)


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with house_of("chromium") as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with local_web() as served:
        yield served


def script_of(client: RealClient, commands: Sequence[str]) -> tuple[list[Step], str]:
    """Return the calls of the shell tool, and the tool's name."""
    tool, argument, more = SHELLS[client.word]
    return [(tool, {argument: command, **more}) for command in commands], tool


def desk_of(client: RealClient, folder: Path, house: House, model: Any) -> Desk:
    desk = Desk(client, folder, house, model)
    for path, text in (
        (".codex/config.toml", ""),
        (".gemini/settings.json", "{}"),
        (".config/opencode/opencode.json", "{}"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    desk.configure(model)
    return desk


@pytest.mark.parametrize("client", UNBOXED, ids=lambda client: client.word)
def test_two_clients_work_by_verbs_in_sessions_that_end_with_them(
    client: RealClient, house: House, web: Web, tmp_path: Path
) -> None:
    url = web.page("<h1>Greeting of the shop</h1><button>Buy</button>")
    script, tool = script_of(client, [f"{ROOST} open {url}", f"{ROOST} snapshot"])
    with scripted_model(script, tool) as one, scripted_model(script, tool) as other:
        one.holds.clear()
        other.holds.clear()
        desks = [
            desk_of(client, tmp_path / name, house, model)
            for name, model in (("one", one), ("other", other))
        ]
        with desks[0].started() as ends, desks[1].started() as is_killed:
            for model, process in ((one, ends), (other, is_killed)):
                assert model.is_held.wait(SECONDS), process.poll()
                assert "Greeting of the shop" in model.results()
            both = asyncio.run(until_agents_are(house, 2))
            owners = {row.id for row in both.sessions if row.tabs}
            assert len(owners) == 2, "each has a session of its own"

            one.holds.set()
            out, _ = ends.communicate(timeout=SECONDS)
            assert (ends.returncode, DONE in out.decode()) == (0, True), out
            left = asyncio.run(until_agents_are(house, 1))
            assert sum(len(row.tabs) for row in left.sessions) == 1, "the other goes on"

            is_killed.kill()
            left = asyncio.run(until_agents_are(house, 0))
            assert [row.id for row in left.sessions if row.tabs] == []


def test_a_command_beside_a_shim_is_the_shims_agent(house: House, web: Web, tmp_path: Path) -> None:
    """Claude Code with Roost's MCP server: tools and verbs work in one session."""
    url = web.page("<h1>Both ways</h1>")
    tool, argument, more = SHELLS["claude"]
    script: list[Step] = [
        ("browser_navigate", {"url": url}),
        (tool, {argument: f"{ROOST} snapshot", **more}),
    ]
    client = replace(CLAUDE, arguments=("--allowedTools", "mcp__roost,Bash", "-p"))
    with scripted_model(script) as model:
        model.holds.clear()
        desk = Desk(client, tmp_path, house, model)
        desk.install()
        with desk.started() as process:
            assert model.is_held.wait(SECONDS), process.poll()
            assert model.results().count("Both ways") >= 2
            found = asyncio.run(until_agents_are(house, 1))
            assert len([row for row in found.sessions if row.tabs]) == 1
            model.holds.set()
            process.communicate(timeout=SECONDS)
    asyncio.run(until_agents_are(house, 0))
