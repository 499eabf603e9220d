from __future__ import annotations

import pytest

from roost import vocabulary as words
from roost.vocabulary import OPERATOR, AgentId, is_session_id, shown


@pytest.mark.parametrize("id", ["a", "shop", "A.b_c:d-1", "0", "x" * 64])
def test_session_ids_people_may_choose(id: str) -> None:
    assert is_session_id(id)


@pytest.mark.parametrize(
    "id", ["", " a", "a b", "-a", ".a", "_a", "a/b", "a\n", "a\x00", "ä", "x" * 65, "../a", "a%2f"]
)
def test_session_ids_nobody_may_choose(id: str) -> None:
    assert not is_session_id(id)


def test_agents_are_shown_by_twelve_characters_and_the_operator_by_name() -> None:
    assert shown(AgentId("agent_0123456789abcdef0123456789abcdef_42")) == "agent_012345"
    assert shown(OPERATOR) == "operator"


def test_the_numbers_of_the_design() -> None:
    """Each of these numbers is a rule of sharing (docs/design/sharing.md)."""
    assert words.POOL_LIMIT == 12
    assert words.TAB_HEAVY_ABOVE == 4
    assert words.RESERVATION_SECONDS == 30
    assert (words.SPAWN_BURST, words.SPAWN_BURST_SECONDS) == (5, 1)
    assert words.GRACE_SECONDS == 10
    assert words.RESUMABLE_SECONDS == 86_400
    assert (words.LEASE_SECONDS, words.SWEEP_SECONDS) == (120, 60)
    assert (words.CAPTURE_WAIT_SECONDS, words.CAPTURE_RETRY_MS) == (3, 2000)
    assert words.CLONED_JARS == 10
    assert (words.LOOP_ITERATIONS, words.LOOP_ITERATIONS_MAX) == (20, 10_000)
    assert words.LOOP_SECONDS == 3600
    assert words.AGENT_FRAME_BYTES == 10 * 1024 * 1024
    assert words.LINK_FRAME_BYTES == 64 * 1024 * 1024
