"""A node's lease, and the epochs under which the node answers for sessions. Pure.

The node asks for a renewal and notes when it asked. Once the gateway has answered, the node may
answer for ``LEASE_SECONDS`` after it ASKED. The gateway counts from when it ANSWERED, which is
later, and waits ``LOST_SECONDS``, which is longer. So whatever the network does, the node has
stopped answering by itself before the gateway gives its sessions to another node.

Both clocks are monotonic and count while the machine is suspended. They need not agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEASE_SECONDS = 5.0
RENEW_SECONDS = 0.5
"""How often a node asks for a renewal, whether or not the last one was answered."""
LOST_SECONDS = 5.9
"""The gateway gives a node up when it has not been heard of for this long. The difference to
``LEASE_SECONDS`` allows for clocks of which one runs up to 15 % faster."""


@dataclass(frozen=True, slots=True)
class Given:
    """A session that this node was given.

    version: the registry's version when it gave the session.
    """

    epoch: int
    version: int


class Lease:
    """The node's side.

    The registry's version grows with every change of an assignment, also across restarts of the
    gateway.
    """

    def __init__(self) -> None:
        self._until = float("-inf")
        self._version = -1
        self._given: dict[str, Given] = {}

    @property
    def until(self) -> float:
        return self._until

    @property
    def version(self) -> int:
        """The version of the last assignment that the node has taken."""
        return self._version

    @property
    def given(self) -> Mapping[str, Given]:
        """The sessions of this node."""
        return self._given

    def is_valid(self, now: float) -> bool:
        return now < self._until

    def renew(self, asked_at: float, version: int, epochs: Mapping[str, int] | None) -> set[str]:
        """Take the gateway's answer to a renewal that was asked at that moment.

        epochs: the node's sessions at that version, or None if they have not changed since the
            version that the node named in its question.
        Returns the sessions that this node must drop.

        An answer that a later one has overtaken extends the lease, but its assignment is outdated.
        A session that was given after the answer's version stays: the answer cannot know it. A
        session that the answer names and the node lacks is being placed; only ``take`` adds it.
        """
        self._until = max(self._until, asked_at + LEASE_SECONDS)
        if version < self._version:
            return set()
        self._version = version
        if epochs is None:
            return set()
        dropped = {
            id
            for id, given in self._given.items()
            if given.version <= version and epochs.get(id) != given.epoch
        }
        for id in dropped:
            del self._given[id]
        return dropped

    def take(self, session: str, epoch: int, version: int) -> bool:
        """Take a session. Returns False if the node has the session under a later epoch."""
        known = self._given.get(session)
        if known is not None and known.epoch > epoch:
            return False
        self._given[session] = Given(epoch, version)
        return True

    def forget(self, session: str, epoch: int) -> None:
        """Forget a session that has ended, or that could not be opened."""
        known = self._given.get(session)
        if known is not None and known.epoch == epoch:
            del self._given[session]

    def answers(self, session: str, epoch: int, now: float) -> bool:
        """Return whether this node may answer for that session under that epoch now."""
        known = self._given.get(session)
        return self.is_valid(now) and known is not None and known.epoch == epoch
