"""Placement: the properties that hold for every fleet."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from roost.fleet.placement import (
    MEMORY_FLOOR,
    Capacity,
    Waiting,
    Wish,
    assign,
    choose,
    fits,
    in_order,
)

CAPACITIES = st.lists(
    st.builds(
        Capacity,
        node=st.sampled_from("abcdef"),
        slots=st.integers(0, 12),
        tabs=st.integers(0, 14),
        sessions=st.integers(0, 14),
        waiting=st.integers(0, 3),
        memory_free=st.floats(0, 1),
        load=st.floats(0, 8),
        profiles=st.frozensets(st.sampled_from(["work", "shop"])),
        browsers=st.frozensets(st.sampled_from(["chromium", "firefox"])),
        is_draining=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda each: each.node,
)
WISHES = st.builds(
    Wish,
    profile=st.sampled_from([None, "work", "shop"]),
    browser=st.sampled_from([None, "chromium", "firefox"]),
)
QUEUES = st.lists(st.tuples(st.sampled_from(["ann", "bob", "eve"]), WISHES), max_size=20).map(
    lambda each: [
        Waiting(session=str(number), user=user, number=number, wish=wish)
        for number, (user, wish) in enumerate(each)
    ]
)


@given(CAPACITIES, WISHES)
def test_the_chosen_node_has_room_and_everything_that_is_needed(
    nodes: list[Capacity], wish: Wish
) -> None:
    chosen = choose(nodes, wish)
    good = {node.node for node in nodes if fits(node, wish) and node.free > 0}
    assert (chosen in good) if good else (chosen is None)
    for node in nodes:
        if node.node == chosen:
            assert not node.is_draining
            assert node.memory_free >= MEMORY_FLOOR
            assert wish.profile is None or wish.profile in node.profiles
            assert wish.browser is None or wish.browser in node.browsers


@given(CAPACITIES, WISHES)
def test_the_order_of_the_nodes_does_not_matter(nodes: list[Capacity], wish: Wish) -> None:
    assert choose(nodes, wish) == choose(list(reversed(nodes)), wish)


@given(CAPACITIES, QUEUES)
def test_no_node_gets_more_sessions_than_it_has_room_for(
    nodes: list[Capacity], waiting: list[Waiting]
) -> None:
    placed = assign(nodes, waiting, {})
    counts = Counter(node for _, node in placed)
    for node in nodes:
        assert counts[node.node] <= max(0, node.free + node.waiting)
    assert len({each.session for each, _ in placed}) == len(placed)


@given(CAPACITIES, QUEUES)
def test_a_session_waits_only_if_no_node_fits_it(
    nodes: list[Capacity], waiting: list[Waiting]
) -> None:
    placed = assign(nodes, waiting, {})
    left = {each.session for each in waiting} - {each.session for each, _ in placed}
    if left and not placed:
        for each in waiting:
            assert choose(nodes, each.wish) is None


@given(QUEUES, st.dictionaries(st.sampled_from(["ann", "bob", "eve"]), st.integers(0, 30)))
def test_no_user_overtakes_one_with_fewer_sessions(
    waiting: list[Waiting], held: dict[str, int]
) -> None:
    order = in_order(waiting, held)
    assert sorted(each.session for each in order) == sorted(each.session for each in waiting)
    counts = Counter(held)
    for position, each in enumerate(order):
        later = {other.user for other in order[position:]}
        assert counts[each.user] == min(counts[user] for user in later)
        counts[each.user] += 1
    for user in ("ann", "bob", "eve"):
        numbers = [each.number for each in order if each.user == user]
        assert numbers == sorted(numbers), "within a user, first come, first served"


def test_a_busy_machine_gets_the_session_later() -> None:
    idle = Capacity(node="b", slots=12, tabs=6)
    busy = Capacity(node="a", slots=12, tabs=4, load=1.5)
    assert choose([busy, idle], Wish()) == "b"
    assert choose([busy, idle], Wish(), avoid="b") == "a"
