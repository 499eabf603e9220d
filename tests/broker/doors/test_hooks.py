from __future__ import annotations

from roost.broker.doors.hooks import agent_of_hook
from roost.broker.doors.identity import Shim
from roost.local.lineage import Lineage
from roost.vocabulary import AgentId, SessionId
from tests.support.process_trees import Tree

TREE = Tree(
    """
    systemd
      tmux: server
        bash
          claude
            npm exec roost
              python3:shim-1
                python3:below-shim-1
            python3:shim-1b
            sh
              python3:hook-1
        bash
          claude
            wrapper
              python3:shim-2
            sh
              uvx
                python3:hook-2
        bash
          claude
            sh
              python3:hook-3
      sh
        python3:orphan
    """
)
"""A terminal with three clients, the third without a shim; and a hook whose client is gone."""


def shim(name: str, home: str) -> Shim:
    above = frozenset(one.process for one in TREE.above(name))
    return Shim(AgentId(name), SessionId(home), TREE.client(name), above)


def found(hook: str, *shims: Shim, session: str | None = None) -> str | None:
    agents = {TREE[shim.agent].process: shim.agent for shim in shims}
    line = Lineage(TREE.above(hook)) if hook else Lineage()
    return agent_of_hook(line, agents, shims, session)


def test_a_hook_belongs_to_the_shim_of_its_own_client() -> None:
    shims = shim("shim-1", "a"), shim("shim-2", "b")
    assert (found("hook-1", *shims), found("hook-2", *shims)) == ("shim-1", "shim-2")


def test_the_process_tree_outranks_the_session_id() -> None:
    assert found("hook-1", shim("shim-1", "a"), shim("shim-2", "b"), session="b") == "shim-1"


def test_a_client_without_a_shim_has_no_agent_however_few_others_there_are() -> None:
    assert found("hook-3", shim("shim-1", "a")) is None
    assert found("hook-3") is None


def test_a_hook_whose_client_has_ended_is_found_only_by_its_session_id() -> None:
    assert found("orphan", shim("shim-1", "a")) is None
    assert found("orphan", shim("shim-1", "a"), session="a") == "shim-1"


def test_the_session_id_decides_if_the_process_tree_does_not() -> None:
    shims = shim("shim-1", "a"), shim("shim-2", "b")
    assert found("hook-3", *shims, session="b") == "shim-2"
    assert found("hook-3", *shims, session="c") is None
    assert found("", *shims, session="a") == "shim-1"


def test_between_two_shims_of_one_client_the_session_id_decides() -> None:
    shims = shim("shim-1", "a"), shim("shim-1b", "b")
    assert found("hook-1", *shims, session="b") == "shim-1b"
    assert found("hook-1", *shims) is None
    assert found("hook-1", shim("shim-1", "a"), shim("shim-1b", "a")) == "shim-1"


def test_a_session_id_of_another_client_is_ignored() -> None:
    shims = shim("shim-1", "a"), shim("shim-1b", "b"), shim("shim-2", "c")
    assert found("hook-1", *shims, session="c") is None


def test_what_runs_below_the_shim_itself_belongs_to_it() -> None:
    assert found("below-shim-1", shim("shim-1", "a")) == "shim-1"
