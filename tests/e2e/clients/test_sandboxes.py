"""Claude Code and Codex with their sandboxes on: a verb is refused until the person exempts it.

Each is the real program from npm, with its real sandbox (bubblewrap and seccomp) and a scripted
model. Pages do not matter here, so the browser is the fake one.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clients.model_server import Model, scripted_model
from tests.e2e.clients.real_clients import CLAUDE, CODEX, RealClient
from tests.e2e.clients.test_real_clients import SECONDS, Desk, until_agents_are
from tests.e2e.clients.test_verbs_in_shells import desk_of, script_of
from tests.support.house import House, house_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
BOXED = (
    replace(CLAUDE, arguments=("--allowedTools", "Bash", "-p")),
    replace(CODEX, arguments=(*CODEX.arguments, "--sandbox", "workspace-write")),
)
CLAUDE_ON = {"enabled": True, "failIfUnavailable": True, "allowUnsandboxedCommands": False}
TITLES = {"claude": "Claude Code", "codex": "Codex"}
COMMANDS = (
    "grep Seccomp_filters: /proc/self/status",
    "roost open site.test",
    "roost tab list | cat",
)


@pytest.fixture(scope="module", autouse=True)
def bubblewrap() -> None:
    """Containers and some kernels forbid the namespaces that the sandboxes need."""
    probe = ["bwrap", "--ro-bind", "/", "/", "--unshare-net", "--unshare-pid", "true"]
    needed = (shutil.which(name) for name in ("bwrap", "socat"))
    if not all(needed) or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("bubblewrap does not run here")


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with house_of("fake") as made:
        made.start()
        yield made


def desk_with_sandbox(client: RealClient, folder: Path, house: House, model: Model) -> Desk:
    desk = desk_of(client, folder, house, model)
    (folder / ".claude").mkdir()
    (folder / ".claude/settings.json").write_text(json.dumps({"sandbox": CLAUDE_ON}))
    programs = Path(sys.executable).parent  # the rules of both clients name the word `roost`
    desk.environ["PATH"] = f"{programs}:{desk.environ['PATH']}"
    if client.word == "codex":
        # Codex makes no helper for its sandbox if its home is below the temporary folder.
        desk.environ["TMPDIR"] = str(folder / "temporary")
        (folder / "temporary").mkdir()
    return desk


def filters_in(status: str) -> int:
    """Return how many system-call filters a process has."""
    return int(status.partition("Seccomp_filters:")[2].split()[0].split("\\")[0])


def results_of(model: Model) -> list[str]:
    """Return what each call of the shell tool answered."""
    body: dict[str, Any] = json.loads(model.results())
    if "input" in body:
        return [item["output"] for item in body["input"] if "output" in item]
    blocks = [block for said in body["messages"] for block in _blocks(said["content"])]
    return [str(block["content"]) for block in blocks if block.get("type") == "tool_result"]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else []


@pytest.mark.parametrize("client", BOXED, ids=lambda client: client.word)
def test_a_verb_in_a_sandbox_is_refused_until_roost_is_exempt(
    client: RealClient, house: House, tmp_path: Path
) -> None:
    script, tool = script_of(client, COMMANDS)
    with ExitStack() as stack:
        models = {
            name: stack.enter_context(scripted_model(script, tool)) for name in ("boxed", "exempt")
        }
        processes = {}
        for name, model in models.items():
            model.holds.clear()
            desk = desk_with_sandbox(client, tmp_path / name, house, model)
            if name == "exempt":
                desk.install("--sandbox")
            processes[name] = stack.enter_context(desk.started())
        for name, model in models.items():
            assert model.is_held.wait(SECONDS), processes[name].poll()
        here = filters_in(Path("/proc/self/status").read_text())
        refused = f"UNAUTHORIZED: The sandbox of {TITLES[client.word]}"
        setting = f"`roost install {client.word} --sandbox`"
        where, opened, piped = results_of(models["boxed"])
        assert filters_in(where) > here, "this machine runs the client's sandbox"
        for said in (opened, piped):
            assert (refused in said, setting in said) == (True, True), said
        where, opened, piped = results_of(models["exempt"])
        assert filters_in(where) > here, "all other commands stay in the sandbox"
        assert "Opened tab" in opened
        assert refused in piped, "a pipe keeps the line in the sandbox"
        found = asyncio.run(until_agents_are(house, 1))
        assert sum(len(row.tabs) for row in found.sessions) == 1
        processes["exempt"].kill()
        asyncio.run(until_agents_are(house, 0))
