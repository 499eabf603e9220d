"""Claude Code, Codex, Gemini CLI and opencode work with the entry that ``roost install`` writes.

Each is the real program from npm, in a home folder of its own, with a scripted model on loopback.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from roost import ops
from roost.api.views import StatusView
from tests.e2e.clients.model_server import DONE, Model, scripted_model
from tests.e2e.clients.real_clients import CLAUDE, CODEX, REAL_CLIENTS, RealClient
from tests.support.house import House, house_of
from tests.support.local_web import Web

SECONDS = 90.0
"""No wait here is longer; nothing waits this long in a run that passes."""
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with house_of("chromium") as made:
        made.start()
        yield made


def needed(client: RealClient) -> RealClient:
    if client.path is None:
        pytest.skip(f"no {client.package} here: tools/prepare_tests.py")
    return client


class Desk:
    """A person's home folder with one client in it, configured by ``roost install``."""

    def __init__(self, client: RealClient, folder: Path, house: House, model: Model) -> None:
        self.client = needed(client)
        self.folder = folder
        self.work = folder / "project"
        self.work.mkdir(parents=True)
        self.environ = client.environment(folder, house.home.path, model.address)

    def install(self, *flags: str) -> None:
        command = [sys.executable, "-P", "-m", "roost", "install", self.client.word, *flags]
        # The client's own program is on PATH, as it is for a person.
        assert self.client.path is not None
        path = f"{self.client.path.parent}:{self.environ['PATH']}"
        subprocess.run(
            command,
            env={**self.environ, "PATH": path},
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )

    def configure(self, model: Model) -> None:
        self.client.configure(self.folder, model.address)

    @contextmanager
    def started(self, prompt: str = "go") -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            self.client.command(prompt),
            env=self.environ,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def said(self, prompt: str = "go") -> str:
        """What the client prints when it is given that prompt."""
        with self.started(prompt) as process:
            out, _ = process.communicate(timeout=SECONDS)
        return out.decode()


async def until_agents_are(house: House, count: int) -> StatusView:
    async with asyncio.timeout(SECONDS), house.operator() as operator:
        while True:
            found = await operator.call(ops.Status())
            if len(found.agents) == count:
                return found


@pytest.mark.parametrize("client", REAL_CLIENTS, ids=lambda client: client.word)
def test_a_real_client_reads_a_page_and_leaves_nothing_behind(
    client: RealClient, house: House, web: Web, tmp_path: Path
) -> None:
    url = web.page("<h1>Greeting of the shop</h1><button>Buy</button>")
    script = [("browser_navigate", {"url": url}), ("browser_snapshot", {})]
    with scripted_model(script) as one, scripted_model(script) as other:
        one.holds.clear()
        other.holds.clear()
        desks = []
        for name, model in (("one", one), ("other", other)):
            desk = Desk(client, tmp_path / name, house, model)
            desk.install(*client.install)
            desk.configure(model)
            desks.append(desk)
        with desks[0].started() as ends, desks[1].started() as is_killed:
            for model, process in ((one, ends), (other, is_killed)):
                assert model.is_held.wait(SECONDS), process.poll()
                assert not model.unknown
                assert len(model.tools()) > 20
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


def test_codex_exec_refuses_only_what_reaches_pages_or_destroys_unless_it_was_approved(
    house: House, web: Web, tmp_path: Path
) -> None:
    script: Sequence[tuple[str, dict[str, object]]] = [
        ("session_list", {}),
        ("tab_space_request", {}),
        ("browser_navigate", {"url": web.page("x")}),
        ("browser_close", {}),
    ]
    with scripted_model(script) as model:
        desk = Desk(CODEX, tmp_path, house, model)
        desk.install()
        desk.configure(model)
        lines = [json.loads(line) for line in desk.said().splitlines() if line.startswith("{")]
    done = [line["item"] for line in lines if line["type"] == "item.completed"]
    calls = {item["tool"]: item["error"] for item in done if item["type"] == "mcp_tool_call"}
    assert {tool: bool(error) for tool, error in calls.items()} == {
        "session_list": False,
        "tab_space_request": False,
        "browser_navigate": True,
        "browser_close": True,
    }
    assert "requires approval" in calls["browser_navigate"]["message"]


def test_claude_code_has_the_plugins_commands_at_its_first_start(
    house: House, tmp_path: Path
) -> None:
    script = [("loop_start", {"prompt": "Count", "completionPhrase": DONE}), ("loop_status", {})]
    with scripted_model(script) as model:
        desk = Desk(CLAUDE, tmp_path, house, model)
        desk.install("--plugin")
        said = desk.said("/roost:focus --max 2 count")
        assert DONE in said
        assert "Start a focus loop with Roost's tool `loop_start`" in json.dumps(model.asked[0])
        assert "count" in json.dumps(model.asked[0])
