"""No agent becomes the operator, or enters another's session, by any way a command can take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.agent_shells import AgentShell
from tests.support.house import real_home
from tests.verb.test_process_trees import AGENT, Trees

pytestmark = pytest.mark.slow
CONVERSATION = "0199aaaa-1111-2222-3333-444455556666"
TERMINAL = ("sshd", "bash")


class Scene:
    """A victim with a secret page in its own session, a named session, and an attacker."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees
        self.victim = trees.start(*AGENT, terminal=True)
        said = f"CLAUDE_CODE_SESSION_ID={CONVERSATION}"
        self.victim.says(f"{said} roost open secret.test")
        self.own = self.victim.says(f"{said} roost session id --raw")
        self.person = trees.start(*TERMINAL, terminal=True)
        self.person.says("roost -s shop open secret.test")
        self.attacker = trees.start("sshd", "bash", "codex", terminal=True)
        self.attackers = self.attacker.session()

    def check_out(self, shell: AgentShell, command: str) -> str:
        """Run the command and check that it neither reads a secret nor leaves a trace of one."""
        _, said = shell.run(command)
        assert "secret.test" not in said, command
        return said


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One scene for all attacks: each must leave it as it was."""
    folder = tmp_path_factory.mktemp("attacks")
    with real_home(folder / "home") as home, ExitStack() as stack:
        yield Scene(Trees(home, folder, stack))


@pytest.mark.parametrize("name", ["{own}", "shop", CONVERSATION, "operator", "s99"])
@pytest.mark.parametrize(
    "way",
    [
        "roost -s {name} tab list",
        "roost tab list --session={name}",
        "ROOST_SESSION={name} roost tab list",
        "env ROOST_SESSION={name} sh -c 'roost tab list; true'",
        """roost call browser_tabs '{{"action":"list","session":"{name}"}}'""",
        "roost session show {name} --once",
        "roost cdp-url --session {name}",
    ],
)
def test_another_session_cannot_be_named(name: str, way: str, scene: Scene) -> None:
    said = scene.check_out(scene.attacker, way.format(name=name.format(own=scene.own)))
    if "{own}" in name or name in ("shop", "s99"):
        assert "SESSION_GONE" in said


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"])
def test_a_forged_conversation_id_leads_only_to_a_session_of_the_forgers_own(
    variable: str, scene: Scene
) -> None:
    scene.check_out(scene.attacker, f"{variable}={CONVERSATION} roost tab list")
    forged = scene.attacker.says(f"{variable}={CONVERSATION} roost session id --raw")
    assert forged not in (scene.own, "shop")


@pytest.mark.parametrize("name", ["shop", "{own}"])
@pytest.mark.parametrize(
    "wrap",
    [
        "ROOST_SESSION={name} {claude} {script}",
        "ROOST_SESSION={name} setsid -w {claude} {script}",
        "ROOST_SESSION={name} sh -c '{claude} {script}; true'",
        # The parent ends at once, so that the false client is an orphan.
        "(ROOST_SESSION={name} setsid {claude} {script} &)",
    ],
)
def test_a_false_client_does_not_get_the_session_it_was_started_with(
    wrap: str, name: str, scene: Scene, tmp_path: Path
) -> None:
    """A client that an agent starts is not the person's, whatever its environment says."""
    name = name.format(own=scene.own)
    claude, script, out = tmp_path / "false" / "claude", tmp_path / "script", tmp_path / "out"
    claude.parent.mkdir()
    claude.symlink_to("/bin/sh")
    os.mkfifo(out)
    script.write_text(f"roost tab list > {out} 2>&1\n")
    started = wrap.format(name=name, claude=claude, script=script)
    said = scene.check_out(scene.attacker, f"{{ {started}\n}} & cat {out}; wait")
    assert said


def test_a_client_that_the_person_starts_for_a_session_gets_it(scene: Scene) -> None:
    """The rule that the attacks above aim at."""
    hired = scene.trees.start(*AGENT, terminal=True, ROOST_SESSION="shop")
    assert hired.session() == "shop"
    assert "secret.test" in hired.says("roost tab list")


@pytest.mark.parametrize(
    "command",
    [
        "roost stop",
        "roost up",
        "roost session list",
        "roost session dispose shop",
        "roost session pause {own}",
        "roost profile remove work",
        "roost call broker_stop",
        "roost -s shop close",
        "setsid -w roost session list",
        "nohup setsid roost status --json",
        "sh -c 'roost session list; true'",
        "script -qc 'roost session list' /dev/null",
        "CLAUDECODE= roost session list",
    ],
)
def test_no_tree_makes_an_agent_the_operator(command: str, scene: Scene) -> None:
    scene.check_out(scene.attacker, command.format(own=scene.own))
    assert scene.victim.says(f"CLAUDE_CODE_SESSION_ID={CONVERSATION} roost tab list")
    assert "secret.test" in scene.person.says("roost -s shop tab list")


def test_an_orphan_of_an_agent_is_refused(scene: Scene, tmp_path: Path) -> None:
    for number, command in enumerate(
        ("roost -s shop tab list", "roost session list", "roost stop", "roost -s new tab list")
    ):
        out = tmp_path / f"orphan{number}"
        os.mkfifo(out)
        said = scene.check_out(
            scene.attacker, f"(setsid sh -c '{command} > {out} 2>&1' &); cat {out}"
        )
        assert "UNAUTHORIZED" in said, command
    assert "secret.test" in scene.person.says("roost -s shop tab list"), "it still runs"


def test_an_agent_that_says_operator_is_in_the_audit_trail(scene: Scene) -> None:
    scene.attacker.run("roost --operator session list")
    trail = (scene.trees.home.path / "audit.jsonl").read_text()
    assert any("--operator" in line and "codex" in line for line in trail.splitlines())
