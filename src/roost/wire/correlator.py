"""Match replies to requests, with many requests in flight on one connection.

Nothing waits here. The caller gives each request its own *sink* (a Future, a queue, a callback) and
gets the sink back exactly once: when the reply or the end of the connection comes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Pending(Generic[T]):
    sink: T
    label: str
    owner: Hashable | None


class Correlator(Generic[T]):
    """Mints request ids and keeps the sinks that wait for replies."""

    def __init__(self, next_id: int = 1) -> None:
        self._next_id = next_id
        self._pending: dict[int, _Pending[T]] = {}
        self._ids_of: dict[Hashable, set[int]] = {}

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def next_id(self) -> int:
        """The first id not used yet.

        A link tells it to the next broker, because ids must not be reused.
        """
        return self._next_id

    def start(
        self,
        sink: T,
        *,
        label: str,
        owner: Hashable | None = None,
    ) -> int:
        """Mint the id of a request whose reply goes to ``sink``.

        label: name of the request in logs.
        owner: requests of one owner can be failed together.
        """
        request_id = self.mint()
        self._pending[request_id] = _Pending(sink, label, owner)
        if owner is not None:
            self._ids_of.setdefault(owner, set()).add(request_id)
        return request_id

    def expect(self, request_id: int, sink: T, *, label: str) -> None:
        """Wait for the reply to a request that an earlier process sent on this connection."""
        self._pending[request_id] = _Pending(sink, label, None)

    def mint(self) -> int:
        """Mint an id whose reply the caller tracks elsewhere."""
        request_id = self._next_id
        self._next_id += 1
        return request_id

    def resolve(self, request_id: object) -> T | None:
        """Remove the request and return its sink, or None if no such request waits.

        Accepts any JSON value, so that ``true``, ``1.0`` and ``[]`` are not mistaken for an id.
        """
        if type(request_id) is not int or request_id not in self._pending:
            return None
        return self._remove(request_id)

    def label(self, request_id: int) -> str | None:
        """Return the label of a request that still waits."""
        pending = self._pending.get(request_id)
        return None if pending is None else pending.label

    def fail_owner(self, owner: Hashable) -> list[T]:
        """Remove all requests of ``owner``.

        Return their sinks, oldest first, for the caller to fail.
        """
        return [self._remove(request_id) for request_id in sorted(self._ids_of.get(owner, ()))]

    def fail_all(self) -> list[T]:
        """Remove all requests. Return their sinks, oldest first, for the caller to fail."""
        return [self._remove(request_id) for request_id in list(self._pending)]

    def _remove(self, request_id: int) -> T:
        pending = self._pending.pop(request_id)
        if pending.owner is not None:
            ids = self._ids_of[pending.owner]
            ids.discard(request_id)
            if not ids:
                del self._ids_of[pending.owner]
        return pending.sink
