"""What starts nodes on machines and asks for more machines.

The gateway does not depend on an engine: it serves the nodes that report to it. An engine that
fails stops nothing but the start of new nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

LOOK_SECONDS = 2.0
"""How often the engine is asked to keep the nodes running."""


class Engine(Protocol):
    """Starts and watches one node per machine. All calls block."""

    def keep_nodes(self, invite: Callable[[], str], drained: frozenset[str]) -> int:
        """Have a node running on each machine, and return how many machines are to stay.

        invite: makes a join token for a machine that has not joined the fleet.
        drained: ids of nodes that drain and have no session left. Their machines may go.
        """
        ...

    def ask_for(self, machines: int) -> None:
        """Ask for that many machines in all. The engine adds them when it can."""
        ...

    def close(self) -> None:
        """End the connection to the engine. Nodes go on."""
        ...


@dataclass(frozen=True, slots=True)
class Demand:
    """How full the fleet is.

    machines: nodes that are ready.
    slots: sessions that all of them take.
    waiting: sessions that wait for room.
    drained: ids of nodes that drain and have no session left.
    """

    machines: int
    slots: int
    waiting: int
    drained: frozenset[str] = frozenset()

    @classmethod
    def of(cls, status: dict[str, Any]) -> Demand:
        """Return the demand in an administrator's ``status``."""
        ready = [node for node in status["nodes"] if node["state"] == "ready"]
        drained = frozenset(
            node["id"]
            for node in status["nodes"]
            if node["state"] == "draining" and not node["sessions"]
        )
        return cls(len(ready), sum(node["slots"] for node in ready), status["waiting"], drained)


def wanted(demand: Demand, machines: int) -> int:
    """Return how many machines the fleet wants, of which it has ``machines``.

    Machines that were asked for and are not ready yet count, so that a queue that waits for them
    does not ask for more each time. A new machine counts as many slots as a ready one has on
    average.
    """
    per_machine = max(1, demand.slots // demand.machines) if demand.machines else 1
    missing = math.ceil(demand.waiting / per_machine)
    coming = max(0, machines - demand.machines)
    return machines + max(0, missing - coming)


def tend(engine: Engine, status: Callable[[], dict[str, Any]], invite: Callable[[], str]) -> None:
    """Keep the nodes of all machines running, and ask for the machines that are missing. Does this
    once."""
    demand = Demand.of(status())
    engine.ask_for(wanted(demand, engine.keep_nodes(invite, demand.drained)))
