"""Who runs a command, for the process trees that clients, editors and terminals make."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.doors.command_callers import SiblingsCaller, UnprovenCaller
from roost.broker.doors.identity import (
    ActsAs,
    IsOperator,
    OfClient,
    Place,
    Shim,
    Unproven,
    Verdict,
    caller_of,
    client_of,
)
from roost.errors import BadRequest, Unauthorized
from roost.local.lineage import Lineage, Relative
from roost.testing.house import fake_house
from roost.testing.waits import error_of
from roost.vocabulary import AgentId, SessionId
from roost.wire.hello import ClientKind
from tests.support.process_trees import Tree

TREE = Tree(
    """
    systemd
      gnome-terminal-
        bash
          claude                     @ada
            npm exec roost
              python:shim-ada
            bash
              python:ada-command
              make
                python:ada-make
              setsid
                script
                  bash
                    python:ada-pty
              xterm
                bash
                  python:ada-xterm
              codex                  @nested
                python:shim-nested
                bash
                  python:nested-command
              gemini
                sh
                  python:gemini-command
        bash
          claude                     @two
            uvx
              python:shim-two-a
            sh
              python:shim-two-b
            bash
              python:two-command
        bash
          python:mine
          make
            pytest
              python:mine-make
          python:shim-by-hand
        bash
          claude
            bash
              python:shimless
        bash
          unheard-of
            wrapper
              python:shim-wrapped
            bash
              python:unheard-of-command
              make
                python:unheard-of-make
      tmux: server
        fish
          python:in-tmux
      tmux: server                   ~the agents' group
        sh
          python:in-grouped-tmux
      SCREEN                         $CLAUDECODE
        sh
          python:in-marked-screen
      tmux: server                   ~another group
        bash
          python:in-own-tmux
          claude                     @own
            python:shim-own
      gnome-terminal-                $CLAUDECODE
        bash
          python:in-marked-terminal
      code
        code                         @vscode
          python:shim-vscode
        code
          bash
            python:in-vscode
      sshd
        sshd
          zsh
            python:by-ssh
          node!.vscode-server
            bash
              python:in-remote-vscode
      cron
        sh
          python:by-cron
      python:orphan
      sh
        python:orphan-shell
      python:agent
        bash
          python:below-agent
    """
)

SHIMS = [
    Shim(
        AgentId(f"agent-{name}"),
        SessionId(home),
        TREE.client(f"shim-{name}"),
        frozenset(one.process for one in TREE.above(f"shim-{name}")),
    )
    for name, home in (
        ("ada", "a"),
        ("nested", "n"),
        ("two-a", "x"),
        ("two-b", "y"),
        ("vscode", "v"),
        ("by-hand", "h"),
        ("wrapped", "w"),
        ("own", "o"),
    )
]
PLACES = [
    Place("another group" if shim.session == "o" else "the agents' group", shim.above)
    for shim in SHIMS
]
AGENTS = {TREE["agent"].process: AgentId("agent-python")}
A_TERMINAL, NO_TERMINAL = True, False


def verdict(name: str, terminal: bool, *, conversation: str | None = None) -> Verdict:
    command = Lineage(TREE.above(name), "roost", terminal, "the agents' group")
    return caller_of(
        command,
        AGENTS,
        SHIMS,
        conversation=conversation,
        places=PLACES,
    )


@pytest.mark.parametrize("terminal", [A_TERMINAL, NO_TERMINAL])
@pytest.mark.parametrize(
    ("command", "agent"),
    [
        ("ada-command", "agent-ada"),
        ("ada-make", "agent-ada"),
        ("ada-pty", "agent-ada"),
        ("ada-xterm", "agent-ada"),
        ("nested-command", "agent-nested"),
        ("below-agent", "agent-python"),
    ],
)
def test_a_command_is_the_agent_of_the_nearest_client_above_it(
    command: str, agent: str, terminal: bool
) -> None:
    assert verdict(command, terminal) == ActsAs((AgentId(agent),))


@pytest.mark.parametrize(
    "command", ["mine", "mine-make", "in-tmux", "by-ssh", "in-own-tmux", "in-marked-terminal"]
)
def test_a_command_in_the_persons_terminal_is_the_operators(command: str) -> None:
    assert verdict(command, A_TERMINAL) == IsOperator("terminal")


@pytest.mark.parametrize("command", ["mine", "by-ssh", "by-cron"])
def test_without_a_terminal_a_command_may_only_manage_the_broker(
    command: str,
) -> None:
    found = verdict(command, NO_TERMINAL)
    assert isinstance(found, Unproven)
    assert found.may_keep_house


@pytest.mark.parametrize(
    ("command", "program", "is_persons"),
    [("shimless", "claude", True), ("gemini-command", "gemini", False)],
)
@pytest.mark.parametrize("terminal", [A_TERMINAL, NO_TERMINAL])
def test_below_a_client_without_a_shim_the_client_is_the_agent(
    command: str, program: str, is_persons: bool, terminal: bool
) -> None:
    """The tree has Gemini below Claude Code: an agent started it, not the person."""
    found = verdict(command, terminal)
    assert isinstance(found, OfClient)
    assert found.client.program == program
    assert found.below[0] == found.client
    assert found.is_persons == is_persons


def test_a_client_that_was_started_as_an_agents_command_is_not_the_persons() -> None:
    tree = Tree("init\n  cron\n    codex $CLAUDECODE\n      sh\n        x:me")
    found = caller_of(Lineage(tree.above("me"), "roost"), {}, [])
    assert isinstance(found, OfClient)
    assert not found.is_persons


@pytest.mark.parametrize("tree", ["init\n  python $CLAUDECODE\n    x:me", "init\n  x:me"])
def test_a_background_process_of_an_agent_is_not_a_service_of_the_person(tree: str) -> None:
    variables = frozenset() if "python" in tree else frozenset({"GEMINI_CLI"})
    command = Lineage(Tree(tree).above("me"), "roost", NO_TERMINAL, "", variables)
    found = caller_of(command, {}, [])
    assert isinstance(found, Unproven)
    assert not found.may_keep_house


@pytest.mark.parametrize("command", ["in-vscode", "in-remote-vscode"])
@pytest.mark.parametrize("terminal", [A_TERMINAL, NO_TERMINAL])
def test_in_an_editor_nothing_is_proven(command: str, terminal: bool) -> None:
    found = verdict(command, terminal)
    assert isinstance(found, Unproven)
    assert not found.may_keep_house
    assert found.below


@pytest.mark.parametrize("command", ["unheard-of-command", "unheard-of-make"])
def test_a_terminal_beside_a_wrapped_shim_does_not_prove_the_person(command: str) -> None:
    assert isinstance(verdict(command, A_TERMINAL), Unproven)


@pytest.mark.parametrize(
    ("command", "server"), [("in-grouped-tmux", "tmux: server"), ("in-marked-screen", "SCREEN")]
)
def test_a_multiplexer_that_an_agent_may_have_started_is_not_the_persons_terminal(
    command: str, server: str
) -> None:
    found = verdict(command, A_TERMINAL)
    assert isinstance(found, Unproven)
    assert server in found.because
    assert not found.may_keep_house
    assert not found.below


def test_a_multiplexer_whose_parent_is_known_is_judged_by_its_parent() -> None:
    tree = Tree("init\n  sshd\n    bash\n      zellij $CLAUDECODE\n        bash\n          x:me")
    command = Lineage(tree.above("me"), "roost", has_terminal=True)
    assert caller_of(command, {}, []) == IsOperator("terminal")


def test_empty_control_groups_are_ignored() -> None:
    tree = Tree("launchd\n  tmux\n    zsh\n      x:me")
    command = Lineage(tree.above("me"), "roost", has_terminal=True)
    assert caller_of(command, {}, [], places=[Place("")]) == IsOperator("terminal")


@pytest.mark.parametrize("command", ["orphan", "orphan-shell"])
@pytest.mark.parametrize("terminal", [A_TERMINAL, NO_TERMINAL])
def test_an_orphan_in_an_agents_control_group_may_not_manage_the_broker(
    command: str, terminal: bool
) -> None:
    found = verdict(command, terminal)
    assert isinstance(found, Unproven)
    assert not found.may_keep_house


def test_a_system_service_may_manage_the_broker() -> None:
    command = Lineage(TREE.above("orphan"), "roost", NO_TERMINAL, "a service's own group")
    found = caller_of(command, AGENTS, SHIMS, places=PLACES)
    assert isinstance(found, Unproven)
    assert found.may_keep_house


def test_the_conversation_id_selects_one_of_several_agents_of_a_client() -> None:
    both = ActsAs((AgentId("agent-two-a"), AgentId("agent-two-b")))
    assert verdict("two-command", A_TERMINAL, conversation="y") == ActsAs((AgentId("agent-two-b"),))
    assert verdict("two-command", A_TERMINAL) == both
    assert verdict("two-command", A_TERMINAL, conversation="a") == both, "another client's"


def test_agents_of_one_client_in_one_session_need_no_selection() -> None:
    client = TREE.client("shim-two-a")
    shims = [Shim(AgentId(name), SessionId("x"), client) for name in ("one", "two")]
    command = Lineage(TREE.above("two-command"))
    assert caller_of(command, {}, shims) == ActsAs((AgentId("one"),))


def test_a_conversation_counts_only_below_its_client() -> None:
    assert verdict("mine", A_TERMINAL, conversation="a") == IsOperator("terminal")
    assert isinstance(verdict("orphan", NO_TERMINAL, conversation="a"), Unproven)


def test_a_shim_that_a_person_runs_by_hand_has_no_client() -> None:
    assert client_of(TREE.above("shim-by-hand")) is None
    assert client_of(TREE.above("shim-ada")) == TREE["@ada"]
    assert client_of(()) is None


def test_a_terminal_outside_the_container_is_a_terminal() -> None:
    shell = Tree("bash\n  make\n    python:command").above("command")
    assert caller_of(Lineage(shell, "roost", has_terminal=True), {}, []) == IsOperator("terminal")
    assert caller_of(Lineage((), "roost", has_terminal=True), {}, []) == IsOperator("terminal")


def test_a_process_that_cannot_be_seen_proves_nothing() -> None:
    found = caller_of(Lineage(), {}, [])
    assert isinstance(found, Unproven)
    assert not found.may_keep_house


def test_a_lineage_that_is_too_long_to_see_its_top_proves_nothing() -> None:
    deep = Tree("\n".join(" " * depth + "bash" for depth in range(80)) + "\n" + " " * 80 + "x:me")
    above: tuple[Relative, ...] = deep.above("me")[:64]
    assert isinstance(caller_of(Lineage(above, "roost", has_terminal=True), {}, []), Unproven)


# --- what it may then do -------------------------------------------------------------------------


async def test_a_command_that_may_manage_the_broker_may_call_nothing_else(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        operator = await house.client(house.hello(ClientKind.CLI))
        keeper = UnprovenCaller(operator, Unproven("It has no terminal.", may_keep_house=True))
        assert (await keeper.call(ops.Status())).broker.pid
        await keeper.call(ops.BrokerStay())
        for operation in (ops.SessionList(), ops.SessionOpen(session="x"), ops.ProfileList()):
            refused = await error_of(Unauthorized, keeper.call(operation))
            assert "--operator" in refused.hint
        with pytest.raises(Unauthorized):
            keeper.watch()
        nobody = UnprovenCaller(operator, Unproven("It runs in an editor."))
        await nobody.call(ops.Ping())
        await error_of(Unauthorized, nobody.call(ops.Status()))
        await operator.aclose()


async def test_a_client_with_several_agents_names_the_session_in_each_call(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        one, two = house.admit(), house.admit()
        callers = {one.agent: one.api, two.agent: two.api}
        homes = {str(one.welcome.session): one.agent, str(two.welcome.session): two.agent}
        siblings = SiblingsCaller(callers, homes.get)
        for admission in (one, two):
            named = str(admission.welcome.session)
            assert (await siblings.call(ops.SessionShow(session=named))).id == named
        for operation in (ops.SessionShow(), ops.SessionShow(session="other"), ops.SessionList()):
            refused = await error_of(BadRequest, siblings.call(operation))
            assert "--session" in refused.hint
