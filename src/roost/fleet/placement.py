"""Which node gets a session, and which waiting session is next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

MEMORY_FLOOR = 0.08
"""A node with less than this part of its memory free gets no more sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a node reports about itself, and what the registry knows about it.

    slots: how many tabs its browser may have.
    tabs: how many it has.
    sessions: how many sessions are placed there. A session without a tab will want one.
    waiting: sessions there that wait for a slot.
    memory_free: free part of the machine's memory, 0 to 1.
    load: processor load per processor; 1 is busy.
    profiles: profiles that lie on that machine.
    """

    node: str
    slots: int
    tabs: int = 0
    sessions: int = 0
    waiting: int = 0
    memory_free: float = 1.0
    load: float = 0.0
    profiles: frozenset[str] = frozenset()
    browsers: frozenset[str] = frozenset()
    is_draining: bool = False

    @property
    def free(self) -> int:
        """Slots that neither a tab nor a session without a tab takes."""
        return self.slots - max(self.tabs, self.sessions) - self.waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a session needs of its node."""

    profile: str | None = None
    browser: str | None = None


def choose(nodes: Iterable[Capacity], wish: Wish, avoid: str | None = None) -> str | None:
    """Return the node for one more session, or None if no node has room.

    avoid: a node that has just failed to open the session; it is the last choice.

    A node must have a free slot, enough memory, the profile and the browser, and must not drain.
    Among those, prefer the largest free part, less the load: nodes fill up evenly, and a busy
    machine gets less. The node's id breaks ties, so that the choice does not depend on the order.
    """
    fitting = [node for node in nodes if fits(node, wish) and node.free > 0]
    if not fitting:
        return None
    return min(fitting, key=lambda node: (node.node == avoid, -_room(node), node.node)).node


def fits(node: Capacity, wish: Wish) -> bool:
    """Return whether the node could have the session if it had a free slot."""
    return (
        not node.is_draining
        and node.memory_free >= MEMORY_FLOOR
        and (wish.profile is None or wish.profile in node.profiles)
        and (wish.browser is None or wish.browser in node.browsers)
    )


def _room(node: Capacity) -> float:
    return node.free / max(node.slots, 1) - 0.5 * min(node.load, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A session that waits for a node.

    number: grows with each session that begins to wait.
    """

    session: str
    user: str
    number: int
    wish: Wish = field(default_factory=Wish)


def in_order(waiting: Iterable[Waiting], held: Mapping[str, int]) -> list[Waiting]:
    """Return the waiting sessions in the order in which they get room.

    held: how many sessions each user has on nodes.

    The user with the fewest sessions comes first, counting those that stand before in this order.
    So a user with a hundred waiting sessions delays another user's first one by one place.
    """
    counts = dict(held)
    queues: dict[str, list[Waiting]] = {}
    for each in sorted(waiting, key=lambda each: each.number, reverse=True):
        queues.setdefault(each.user, []).append(each)
    order: list[Waiting] = []
    while queues:
        user = min(queues, key=lambda user: (counts.get(user, 0), queues[user][-1].number))
        order.append(queues[user].pop())
        counts[user] = counts.get(user, 0) + 1
        if not queues[user]:
            del queues[user]
    return order


def assign(
    nodes: Sequence[Capacity], waiting: Iterable[Waiting], held: Mapping[str, int]
) -> list[tuple[Waiting, str]]:
    """Return which waiting sessions get which nodes now.

    A session that fits nowhere does not hold up those behind it: they may need another profile.
    """
    capacities = {node.node: node for node in nodes}
    chosen = []
    for each in in_order(waiting, held):
        node = choose(capacities.values(), each.wish)
        if node is None:
            continue
        chosen.append((each, node))
        capacities[node] = _with_one_more(capacities[node])
    return chosen


def _with_one_more(node: Capacity) -> Capacity:
    # Count the session beside the tabs: the node reports its tab only later.
    return replace(node, sessions=max(node.sessions, node.tabs) + 1)
