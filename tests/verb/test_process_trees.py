"""The table of real process trees, each with the session that its page verbs get."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from roost import ops
from roost.local.home import Home
from roost.local.processes import wait_until_gone
from tests.support.agent_shells import SECONDS, AgentShell, agent_shell
from tests.support.house import broker_of, operator_of, real_home

pytestmark = pytest.mark.slow
AGENT = ("sshd", "bash", "claude")


class Trees:
    """Starts trees in one ROOST_HOME."""

    def __init__(self, home: Home, folder: Path, stack: ExitStack) -> None:
        self.home = home
        self._folder = folder
        self._stack = stack
        self._count = 0

    def start(self, *programs: str, terminal: bool = False, **environ: str) -> AgentShell:
        self._count += 1
        folder = self._folder / f"tree{self._count}"
        return self._stack.enter_context(
            agent_shell(programs, folder, self.home, terminal=terminal, environ=environ)
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One Roost for all trees: a session ends with the processes that it belongs to."""
    with real_home(tmp_path_factory.mktemp("roost") / "home") as home:
        yield home


@pytest.fixture
def trees(home: Home, tmp_path: Path) -> Iterator[Trees]:
    with ExitStack() as stack:
        yield Trees(home, tmp_path, stack)


async def sessions(home: Home) -> set[str]:
    operator = await operator_of(home)
    found = {row.id for row in (await operator.call(ops.SessionList())).sessions}
    await operator.aclose()
    return found


async def until_gone(home: Home, session: str) -> None:
    """Wait until the session has ended: the broker hears of a process's end a moment later."""
    async with asyncio.timeout(SECONDS):
        while session in await sessions(home):
            pass


# --- agents ------------------------------------------------------------------------------------


def test_two_shells_of_one_agent_share_its_session(trees: Trees) -> None:
    agent = trees.start(*AGENT)
    first = agent.session()
    assert agent.says("sh -c 'roost session id --raw; true'") == first
    assert agent.says("sh -c 'sh -c \"roost session id --raw; true\"; true'") == first
    agent.says("roost open site.test")
    assert "site.test" in agent.says("sh -c 'roost tab list; true'")


def test_two_agents_in_two_terminals_have_two_sessions(trees: Trees) -> None:
    ada = trees.start(*AGENT, terminal=True)
    bob = trees.start("sshd", "bash", "codex", terminal=True)
    assert ada.session() != bob.session()
    ada.says("roost open ada.test")
    assert "ada.test" not in bob.says("roost tab list")


@pytest.mark.parametrize(
    "wrapped",
    [
        "sh -c '{}; true'",
        "env A=b {}",
        "timeout 60 {}",
        "nohup {}",
        "nice -n 1 {}",
        "nohup setsid {}",
        "setsid -w {}",
    ],
)
def test_a_launcher_does_not_change_the_agents_session(wrapped: str, trees: Trees) -> None:
    agent = trees.start(*AGENT)
    own = agent.session()
    assert agent.says(wrapped.format("roost session id --raw")).splitlines()[-1] == own


@pytest.mark.parametrize("launcher", ["npx", "uv", "uvx", "npm"])
def test_a_package_runner_does_not_hide_the_client(launcher: str, trees: Trees) -> None:
    with_runner = trees.start(*AGENT, launcher)
    assert "claude" in with_runner.says("roost session id")


def test_the_real_npx_does_not_change_the_agents_session(trees: Trees) -> None:
    if shutil.which("npx") is None:
        pytest.skip("no npx here")
    agent = trees.start(*AGENT, npm_config_offline="true", HOME=str(trees.home.path))
    own = agent.session()
    assert own in agent.says("npx -c 'roost session id --raw'").splitlines()


def test_the_real_uv_run_does_not_change_the_agents_session(trees: Trees) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("no uv here: tools/prepare_tests.py")
    agent = trees.start(*AGENT, HOME=str(trees.home.path), UV_OFFLINE="1")
    own = agent.session()
    run = f"{uv} run --no-project --python {sys.executable}"
    assert agent.says(f"{run} roost session id --raw").splitlines()[-1] == own


def test_a_nested_client_is_an_agent_of_its_own(trees: Trees, tmp_path: Path) -> None:
    outer = trees.start(*AGENT)
    codex = tmp_path / "nested" / "codex"
    codex.parent.mkdir()
    codex.symlink_to("/bin/sh")
    codex.with_name("script").write_text("roost session id; roost session id --raw; true\n")
    *about, nested = outer.says(f"{codex} {codex.with_name('script')}").splitlines()
    assert "below codex" in " ".join(about)
    assert nested != outer.session(), "the client above the nested one keeps its own session"


def test_an_agent_in_a_tmux_pane_is_that_agent(trees: Trees, tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("no tmux here")
    person = trees.start("sshd", "bash", terminal=True)
    claude = tmp_path / "pane" / "claude"
    claude.parent.mkdir()
    claude.symlink_to("/bin/sh")
    out, server = tmp_path / "pane" / "out", tmp_path / "pane" / "server"
    inner = f"roost session id > {out}.part 2>&1; mv {out}.part {out}"
    (tmp_path / "pane" / "script").write_text(f"{inner}\ntrue\n")
    run = f"{claude} {tmp_path}/pane/script; tmux -S {server} wait-for -S done"
    try:
        person.says(
            f"tmux -S {server} new-session -d '{run}; true' && tmux -S {server} wait-for done"
        )
    finally:
        person.run(f"tmux -S {server} kill-server")
    assert "below claude" in out.read_text()


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"])
def test_each_conversation_of_a_client_has_its_session(variable: str, trees: Trees) -> None:
    agent = trees.start(*AGENT)
    assert agent.session()
    one = agent.says(f"{variable}=one roost session id --raw")
    two = agent.says(f"{variable}=two roost session id --raw")
    assert one != two
    assert agent.says(f"{variable}=one roost session id --raw") == one


def test_a_session_that_an_agent_names_is_its_own(trees: Trees) -> None:
    ada, bob = trees.start(*AGENT), trees.start(*AGENT)
    assert ada.session("-s shop") == ada.session("-s shop") != ada.session()
    assert ada.says("ROOST_SESSION=shop roost session id --raw") == ada.session("-s shop")
    assert bob.session("-s shop") != ada.session("-s shop")


# --- the person ----------------------------------------------------------------------------------


def test_a_persons_terminal_has_one_session(trees: Trees) -> None:
    terminal = trees.start("sshd", "bash", terminal=True)
    other = trees.start("gnome-terminal-server", "zsh", terminal=True)
    assert terminal.session() == terminal.session() != other.session()
    assert "a terminal of yours" in terminal.says("roost session id")
    assert terminal.says("roost session list --json").startswith("[")


@pytest.mark.parametrize("program", ["code", "cursor", "zed-editor", "idea", "devin-desktop"])
def test_an_editors_terminal_proves_nothing(program: str, trees: Trees) -> None:
    editor = trees.start("sshd", program, "bash", terminal=True)
    code, said = editor.run("roost open site.test")
    assert (code, "UNAUTHORIZED" in said, "--operator" in said) == (1, True, True)
    own = editor.session("--operator")
    assert editor.session("--operator") == own


@pytest.mark.parametrize("programs", [("runner", "bash"), ("cron", "sh"), ("systemd", "sh")])
def test_without_client_and_terminal_a_page_verb_wants_a_session(
    programs: tuple[str, ...], trees: Trees
) -> None:
    service = trees.start(*programs)
    code, said = service.run("roost open site.test")
    assert (code, "BAD_REQUEST" in said, "-s NAME" in said) == (1, True, True)
    service.says("roost -s nightly open site.test")
    assert service.session("-s nightly") == "nightly"
    assert "site.test" in service.says("roost -s nightly tab list")
    assert "broker" in service.says("roost status --json")


# --- what the repository chooses -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("programs", "terminal", "flags"),
    [(AGENT, False, ""), (("sshd", "bash"), True, ""), (("cron", "sh"), False, "-s weekly")],
)
def test_the_file_of_the_repository_counts_for_page_verbs(
    programs: tuple[str, ...], terminal: bool, flags: str, trees: Trees
) -> None:
    tree = trees.start(*programs, terminal=terminal)
    project = Path(tree.says("pwd")) / ".roost.toml"
    project.write_text('deny = ["bad.test"]\nbrowser = "lynx"\n')
    code, said = tree.run(f"roost {flags} open good.test")
    assert (code, f"{project}, line 2: browser: expected auto" in said) == (1, True), said
    project.write_text('deny = ["bad.test"]\n')
    tree.says(f"roost {flags} open good.test")
    for line in (f"roost {flags} open bad.test", f"cd / && roost {flags} open bad.test"):
        code, said = tree.run(line)
        assert (code, "URL_BLOCKED" in said) == (1, True), line


def test_an_agent_that_changes_its_folder_keeps_the_repositorys_file(trees: Trees) -> None:
    agent = trees.start(*AGENT)
    (Path(agent.says("pwd")) / ".roost.toml").write_text('deny = ["bad.test"]\n')
    for line in ("cd / && roost open bad.test", "cd / && roost -s other open bad.test"):
        code, said = agent.run(line)
        assert (code, "URL_BLOCKED" in said) == (1, True), line


# --- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_kill", [False, True])
async def test_an_agent_ends_with_its_clients_process(
    by_kill: bool, trees: Trees, tmp_path: Path
) -> None:
    with ExitStack() as inner:
        short = Trees(trees.home, tmp_path / "short", inner)
        agent = short.start(*AGENT)
        agent.says("roost open site.test")
        own = agent.session()
        assert own in await sessions(trees.home)
        if by_kill:
            agent.kill("claude")
    await until_gone(trees.home, own)


async def test_a_terminals_session_ends_with_the_terminal(trees: Trees, tmp_path: Path) -> None:
    with ExitStack() as inner:
        short = Trees(trees.home, tmp_path / "short", inner)
        own = short.start("sshd", "bash", terminal=True).session()
        assert own in await sessions(trees.home)
    await until_gone(trees.home, own)


def test_an_agent_of_a_client_outlives_a_broker_that_crashes(trees: Trees) -> None:
    agent = trees.start(*AGENT)
    agent.says("roost open site.test")
    own = agent.session()
    broker = broker_of(trees.home)
    assert broker is not None
    os.kill(broker.pid, signal.SIGKILL)
    assert wait_until_gone(broker, SECONDS)
    assert agent.session() == own
