"""Lease and fencing, against a network that drops, delays and repeats, and processes that die.

``World`` is a gateway and three nodes with clocks of their own. It performs what the real ones do,
message by message. After every step it checks what must hold for a session never to answer from two
machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from roost.fleet.lease import LEASE_SECONDS, LOST_SECONDS, Lease
from roost.fleet.placement import Capacity
from roost.fleet.registry import Change, Registry
from roost.fleet.rows import Invitation, Node, Row, Session

NODES = ("n0", "n1", "n2")
SESSIONS = ("ann.a", "ann.b", "bob.a")
OFFSETS = (0.0, 1000.0, -50.0)
RATES = (1.0, 1.05, 0.95)
"""The nodes' clocks run up to 5 % faster or slower than the gateway's."""


@dataclass
class Renewal:
    """A question of a node that is under way, or its answer."""

    node: str
    life: int
    asked_at: float
    known: int
    answer: tuple[int, dict[str, int] | None] | None = None


@dataclass
class Order:
    """A placement that is under way."""

    node: str
    session: str
    epoch: int
    version: int


class World(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.rows: dict[tuple[str, str], Row] = {}
        self.generation = 0
        self.leases = {node: Lease() for node in NODES}
        self.kept: dict[str, dict[str, int]] = {node: {} for node in NODES}
        """The file of epochs of each node."""
        self.lives = dict.fromkeys(NODES, 0)
        self.messages: list[Renewal | Order] = []
        self.ready: dict[str, int] = {}

    @initialize()
    def begin(self) -> None:
        self.restart_gateway()
        for node in NODES:
            self.write(self.registry.invite(Invitation(digest=node, expires_at=1e9), 0.0))
            changes = self.registry.accept(node, Node(id=node, name=node), 0.0, self.time)
            assert changes is not None
            self.write(changes)
        for id in SESSIONS:
            user = id.split(".")[0]
            self.write(
                self.registry.open(
                    Session(id=id, user=user, epoch=0, node=None, salt=id, digest=id)
                )
            )

    def write(self, changes: list[Change]) -> None:
        for change in changes:
            if change.row is None:
                self.rows.pop((change.table, change.key), None)
            else:
                self.rows[change.table, change.key] = change.row

    def clock(self, node: str) -> float:
        number = NODES.index(node)
        return OFFSETS[number] + self.time * RATES[number]

    # --- what happens --------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.1, 0.5, 1.0, 3.0, 5.5, 7.0]))
    def time_passes(self, seconds: float) -> None:
        self.time += seconds
        for node in self.registry.lost(self.time):
            assert not self.leases[node].is_valid(self.clock(node)), "it would still answer"
            self.write(self.registry.give_up(node))

    @rule(node=st.sampled_from(NODES))
    def a_node_asks(self, node: str) -> None:
        asked = Renewal(node, self.lives[node], self.clock(node), self.leases[node].version)
        self.messages.append(asked)

    @rule(node=st.sampled_from(NODES))
    def a_node_renews_at_once(self, node: str) -> None:
        """Without this rule, nearly every history is one of lost machines."""
        self.a_node_asks(node)
        self.a_message_arrives(len(self.messages) - 1)
        self.a_message_arrives(len(self.messages) - 1)

    @rule(number=st.integers(0, 30))
    def a_message_arrives(self, number: int) -> None:
        if not self.messages:
            return
        message = self.messages.pop(number % len(self.messages))
        match message:
            case Renewal(answer=None):
                report = Capacity(node=message.node, slots=3)
                self.write(self.registry.hear(message.node, "h", 1, report, self.time))
                epochs = self.registry.assignment(message.node, message.known)
                message.answer = (self.registry.version, epochs)
                self.messages.append(message)
            case Renewal(answer=(version, epochs)):
                if message.life == self.lives[message.node]:  # the process that asked still runs
                    lease = self.leases[message.node]
                    for dropped in lease.renew(message.asked_at, version, epochs):
                        self.kept[message.node].pop(dropped, None)
            case Order():
                lease = self.leases[message.node]
                if lease.is_valid(self.clock(message.node)) and lease.take(
                    message.session, message.epoch, message.version
                ):
                    self.kept[message.node][message.session] = message.epoch
                    row = self.registry.sessions[message.session]
                    if (row.node, row.epoch) == (message.node, message.epoch):
                        self.ready[message.session] = message.epoch

    @rule(number=st.integers(0, 30))
    def a_message_is_lost(self, number: int) -> None:
        if self.messages:
            self.messages.pop(number % len(self.messages))

    @rule(number=st.integers(0, 30))
    def an_order_is_repeated(self, number: int) -> None:
        orders = [each for each in self.messages if isinstance(each, Order)]
        if orders:
            self.messages.append(orders[number % len(orders)])

    @rule()
    def waiting_sessions_are_placed(self) -> None:
        for session, node in self.registry.placements(self.time):
            self.write(self.registry.place(session, node))
            epoch = self.registry.sessions[session].epoch
            self.messages.append(Order(node, session, epoch, self.registry.version))

    @rule(session=st.sampled_from(SESSIONS))
    def a_placement_fails(self, session: str) -> None:
        """The gateway gives an order up. The order may still arrive."""
        row = self.registry.sessions[session]
        if self.ready.get(session) != row.epoch and row.node is not None:
            self.write(self.registry.release(session, row.epoch))
            # A node may have taken the order. The gateway sends no request under that epoch.

    @rule()
    def restart_gateway(self) -> None:
        self.generation += 1
        self.registry = Registry(list(self.rows.values()), self.generation, self.time)
        self.ready = {each.id: each.epoch for each in self.registry.sessions.values() if each.node}

    @rule(node=st.sampled_from(NODES))
    def restart_node(self, node: str) -> None:
        self.lives[node] += 1
        self.leases[node] = Lease()
        for session, epoch in self.kept[node].items():
            self.leases[node].take(session, epoch, 0)

    # --- what must hold ------------------------------------------------------------------------

    @invariant()
    def no_two_machines_may_answer_under_one_epoch(self) -> None:
        for session in SESSIONS:
            epochs = [
                self.leases[node].given[session].epoch
                for node in NODES
                if session in self.leases[node].given
            ]
            assert len(epochs) == len(set(epochs))

    @invariant()
    def nobody_but_the_owner_has_the_epoch_under_which_requests_are_sent(self) -> None:
        if not hasattr(self, "registry"):
            return
        for session in SESSIONS:
            row = self.registry.sessions[session]
            for node in NODES:
                if node != row.node:
                    epoch = self.leases[node].given.get(session)
                    assert epoch is None or epoch.epoch < row.epoch + (row.node is None)

    @invariant()
    def no_session_is_lost(self) -> None:
        if not hasattr(self, "registry"):
            return
        assert set(self.registry.sessions) == set(SESSIONS)
        placed = [each for each in self.registry.sessions.values() if each.node is not None]
        assert len(placed) + self.registry.waiting == len(SESSIONS)
        journal = {row.id: row for row in self.rows.values() if isinstance(row, Session)}
        assert journal == self.registry.sessions, "the journal knows everything"


World.TestCase.settings = settings(max_examples=60, stateful_step_count=60)
TestWorld = pytest.mark.slow(World.TestCase)


def test_the_node_stops_before_the_gateway_gives_it_up() -> None:
    lease = Lease()
    lease.renew(asked_at=100.0, version=1, epochs={})
    lease.take("a", 1, 2)
    assert lease.answers("a", 1, 100.0 + LEASE_SECONDS - 0.01)
    assert not lease.answers("a", 1, 100.0 + LEASE_SECONDS)
    assert LOST_SECONDS > LEASE_SECONDS * 1.15


def test_an_answer_that_was_overtaken_drops_no_session() -> None:
    lease = Lease()
    lease.take("old", 1, 1)
    lease.renew(0.0, 5, {"old": 1})
    lease.take("new", 1, 6)
    assert lease.renew(0.1, 5, {"old": 1}) == set(), "the answer cannot know the new session"
    assert lease.renew(0.2, 3, {}) == set(), "a later answer has been taken"
    assert lease.renew(0.3, 7, {"new": 1}) == {"old"}
    assert lease.answers("new", 1, 1.0)


def test_an_earlier_epoch_does_not_replace_a_later_one() -> None:
    lease = Lease()
    assert lease.take("a", 3, 1)
    assert not lease.take("a", 2, 9)
    lease.forget("a", 2)
    assert "a" in lease.given
    lease.forget("a", 3)
    assert "a" not in lease.given
