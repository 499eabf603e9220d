from __future__ import annotations

import pytest

from roost.broker import hooks
from roost.broker.hooks import agent_beside
from roost.core.model import Agent
from roost.local.processes import Process
from roost.vocabulary import AgentId, SessionId

TREE = {
    # pid: (parent, program)
    1: (0, "systemd"),
    10: (1, "tmux: server"),
    20: (10, "bash"), 21: (20, "claude"), 22: (21, "npm exec roost"), 23: (22, "python3"),
    24: (21, "sh"), 25: (24, "python3"),
    30: (10, "bash"), 31: (30, "claude"), 32: (31, "python3"),
    34: (31, "sh"), 35: (34, "uvx"), 36: (35, "python3"),
    40: (10, "bash"), 41: (40, "claude"), 44: (41, "sh"), 45: (44, "python3"),
    50: (1, "sh"), 51: (50, "python3"),
}  # fmt: skip
"""A terminal with three clients. Shims: 23 (under npx) and 32. Hooks: 25, 36 (under uvx), 45,
and 51, whose client is gone."""


def shim(pid: int, home: str) -> Agent:
    return Agent(
        id=AgentId(f"agent_{pid}"),
        pid=pid,
        process_started=f"{pid}",
        name="mcp",
        home=SessionId(home),
        secret_digest="",
        connected=True,
    )


@pytest.fixture(autouse=True)
def tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def ancestors(pid: int) -> list[Process]:
        found = []
        while pid in TREE and (pid := TREE[pid][0]):
            found.append(Process(pid, str(pid), TREE[pid][1]))
        return found

    monkeypatch.setattr(hooks, "lineages", lambda pids: {pid: ancestors(pid) for pid in pids})


def found(pid: int, *shims: Agent, session: str | None = None) -> int | None:
    agent = agent_beside(pid, shims, session)
    return None if agent is None else agent.pid


def test_a_hook_belongs_to_the_shim_below_the_nearest_common_ancestor() -> None:
    shims = shim(23, "a"), shim(32, "b")
    assert (found(25, *shims), found(36, *shims)) == (23, 32)


def test_the_clients_word_does_not_outweigh_descent() -> None:
    assert found(25, shim(23, "a"), shim(32, "b"), session="b") == 23


def test_a_client_without_a_shim_has_no_agent_however_few_others_there_are() -> None:
    assert found(45, shim(23, "a")) is None
    assert found(45) is None


def test_an_orphan_belongs_to_nobody_though_all_have_one_ancestor() -> None:
    assert found(51, shim(23, "a")) is None
    assert found(51, shim(23, "a"), session="a") == 23


def test_where_descent_says_nothing_the_session_id_does() -> None:
    shims = shim(23, "a"), shim(32, "b")
    assert found(45, *shims, session="b") == 32
    assert found(45, *shims, session="c") is None
    assert found(0, *shims, session="a") == 23


def test_between_two_shims_of_one_client_the_session_id_decides() -> None:
    shims = shim(23, "a"), shim(22, "b")
    assert found(25, *shims, session="b") == 22
    assert found(25, *shims) is None
    assert found(25, shim(23, "a"), shim(22, "a")) == 23, "one session is no choice"


def test_a_session_elsewhere_is_not_taken_where_descent_leaves_a_choice() -> None:
    assert found(25, shim(23, "a"), shim(22, "b"), shim(32, "c"), session="c") is None


def test_what_runs_below_the_shim_itself_belongs_to_it() -> None:
    assert found(23, shim(22, "a")) == 22
