"""Keeps the sessions of the fleet on nodes: places them, moves them, and ends them.

The registry decides. This file writes its decisions to the journal, gives the orders to the nodes
and lets callers wait for the outcome.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from roost.broker.audit import Audit
from roost.broker.clock import Clock
from roost.broker.tasks import Tasks
from roost.errors import (
    BrowserLost,
    Interrupted,
    PoolFull,
    RoostError,
    SessionGone,
    Timeout,
)
from roost.fleet.journal import FleetJournal
from roost.fleet.node_door import Misdirected
from roost.fleet.node_links import NodeLink, Nodes
from roost.fleet.placement import choose
from roost.fleet.registry import Change, Registry
from roost.fleet.rows import Session
from roost.fleet.streams import Stream
from roost.wire.framing import decode, encode

TICK_SECONDS = 0.25
QUIET_SECONDS = 10.0
"""Before a session moves, wait this long for its running calls."""
IDLE_SECONDS = 120.0
"""An ephemeral session without a call ends after this long."""
REFUSED_SECONDS = 5.0
"""If a node refuses a session that was opened elsewhere before, place it again after this long."""
NONCE_BYTES = 12
LUGGAGE_BYTES = 64 * 1024 * 1024
RETRIED = (BrowserLost, Interrupted, Timeout, PoolFull)
"""Errors of a node that say nothing about the session: another node may open it."""
logger = logging.getLogger(__name__)


class Sessions:
    """The sessions of one fleet.

    secret: the fleet's secret; luggage in the journal is encrypted with a key made of it.
    monotonic: the clock of leases.
    """

    def __init__(
        self,
        registry: Registry,
        journal: FleetJournal,
        nodes: Nodes,
        audit: Audit,
        clock: Clock,
        monotonic: Callable[[], float],
        secret: bytes,
    ) -> None:
        self._registry = registry
        self._journal = journal
        self._nodes = nodes
        self._audit = audit
        self._clock = clock
        self._now = monotonic
        self._cipher = AESGCM(bytes.fromhex(secret.decode()))
        self._tasks = Tasks()
        # An earlier gateway placed the sessions of the journal. A node that lacks one says so at
        # the first request.
        self._ready = {each.id: each.epoch for each in registry.sessions.values() if each.node}
        self._waiters: dict[str, list[asyncio.Future[None]]] = {}
        self._failures: dict[str, RoostError] = {}
        self._under_way: Counter[str] = Counter()
        self._clients: dict[str, set[Stream]] = {}
        self._heard: dict[str, float] = {}
        self._moving: set[str] = set()

    def start(self) -> None:
        self._tasks.spawn(self._tick_for_ever(), name="look after sessions")

    async def aclose(self) -> None:
        await self._tasks.aclose()

    def write(self, changes: list[Change]) -> None:
        """Write rows to the journal. Raises ``Internal`` if that fails. The caller must not act on
        the rows then."""
        if changes:
            self._journal.write(changes)

    def note(self, kind: str, **data: Any) -> None:
        """Write a line to the audit trail."""
        self._audit.write(self._clock.now(), kind, data)

    # --- what callers wait for -----------------------------------------------------------------

    async def open(self, session: Session, timeout: float) -> Session:
        """Add a session and wait until a node has it.

        Raises ``PoolFull`` if no node has room in time, or the broker's own refusal. Then there is
        no such session.
        """
        self.write(self._registry.open(session))
        self._heard[session.id] = self._now()
        self.place_waiting()
        try:
            return await self.placed(session.id, timeout)
        except BaseException as error:
            if session.id in self._registry.sessions:
                wish = session.wish
                self.end(session.id)
                if isinstance(error, Timeout):
                    raise self._registry.full(self._now(), wish) from None
            raise

    async def placed(self, id: str, timeout: float) -> Session:
        """Return the session once a node has it.

        Raises ``SessionGone`` if it has ended, ``Timeout`` if no node has it in time.
        """
        try:
            async with asyncio.timeout(timeout):
                while True:
                    if (failure := self._failures.pop(id, None)) is not None:
                        raise failure
                    session = self._registry.sessions.get(id)
                    if session is None:
                        raise SessionGone(f"There is no session {id}.")
                    if session.node is not None and self._ready.get(id) == session.epoch:
                        return session
                    waiter = asyncio.get_running_loop().create_future()
                    self._waiters.setdefault(id, []).append(waiter)
                    await waiter
        except TimeoutError:
            raise Timeout(
                f"Session {id} has no machine yet.",
                hint="Its machine is lost or full. Try again; the session is kept.",
                retry_after_ms=2000,
            ) from None

    def link(self, session: Session) -> NodeLink:
        """Return the link to the session's node."""
        assert session.node is not None
        return self._nodes.link(self._registry.nodes[session.node])

    @contextmanager
    def call(self, session: Session, client: Stream, *, is_long: bool) -> Iterator[None]:
        """Count a call to the session, and end its connection when the session ends.

        is_long: a stream of events or a WebSocket, for which a move of the session does not wait.
        """
        id = session.id
        self._heard[id] = self._now()
        self._clients.setdefault(id, set()).add(client)
        self._under_way[id] += not is_long
        try:
            yield
        finally:
            self._under_way[id] -= not is_long
            self._heard[id] = self._now()
            streams = self._clients[id]
            streams.discard(client)
            if not streams:
                del self._clients[id]
                del self._under_way[id]
                if id not in self._registry.sessions:
                    del self._heard[id]

    def missing(self, session: Session) -> None:
        """A live node says that it does not have the session under that epoch: place it again."""
        if self._ready.get(session.id) == session.epoch:
            logger.warning("node %s does not have session %s", session.node, session.id)
            self._release(session.id, session.epoch)

    # --- the end of sessions -------------------------------------------------------------------

    def end(self, id: str) -> None:
        """End a session. Its node closes it now, or when it is heard of again."""
        session = self._registry.sessions[id]
        self.write(self._registry.end(id))
        self.forget(session)

    def forget(self, session: Session) -> None:
        """Have the node close a session whose row is gone, and end its callers' connections."""
        ready = self._ready.pop(session.id, None)
        self._failures.pop(session.id, None)
        if session.id not in self._clients:
            self._heard.pop(session.id, None)
        self._wake(session.id)
        for stream in list(self._clients.get(session.id, ())):
            stream.close()
        if session.node is not None and ready == session.epoch:
            self._tasks.spawn(self._close_at(session), name=f"close {session.id}")
        self.place_waiting()

    async def dispose(self, id: str) -> dict[str, Any]:
        """End a session because its user asked for it, and return the node's answer."""
        session = self._registry.sessions[id]
        self.write(self._registry.end(id))
        ready = self._ready.get(id)
        reply = {"disposed": id, "tabsClosed": 0}
        if session.node is not None and ready == session.epoch:
            reply |= await self._close_at(session) or {}
        self._ready.pop(id, None)
        self.forget(session)
        return reply

    async def _close_at(self, session: Session) -> dict[str, Any] | None:
        try:
            order = {"session": session.id, "epoch": session.epoch}
            return await self.link(session).order("/node/end", order)
        except (RoostError, Misdirected, KeyError):
            return None  # the node learns at its next renewal that the session is not its own

    # --- reports of nodes ----------------------------------------------------------------------

    def gone(self, id: str, epoch: int, *, is_ended: bool, node: str) -> None:
        """A node reports that its broker no longer has a session."""
        session = self._registry.sessions.get(id)
        if session is None or session.epoch != epoch or session.node != node:
            return
        if is_ended:
            self.note("fleet session ended", session=id, node=node)
            self.write(self._registry.end(id))
            self._ready.pop(id, None)
            self.forget(session)
        else:
            self._release(id, epoch)

    def pack(self, id: str, epoch: int, node: str, luggage: dict[str, Any]) -> None:
        """Keep what the session would need elsewhere, if the node still has the session."""
        session = self._registry.sessions.get(id)
        if session is None or session.epoch != epoch or session.node != node:
            return
        nonce = secrets.token_bytes(NONCE_BYTES)
        data = zlib.compress(encode(luggage), 1)
        self._journal.pack(id, nonce + self._cipher.encrypt(nonce, data, id.encode()))

    def luggage(self, id: str) -> dict[str, Any] | None:
        data = self._journal.luggage(id)
        if data is None:
            return None
        try:
            plain = self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], id.encode())
            return dict(decode(zlib.decompressobj().decompress(plain, LUGGAGE_BYTES)))
        except (InvalidTag, zlib.error, RoostError, TypeError, ValueError):
            logger.error("what was kept of session %s cannot be read", id)
            return None

    def lost(self, node: str) -> None:
        """Take all sessions from a node whose lease has run out."""
        row = self._registry.nodes[node]
        sessions = [each for each in self._registry.sessions.values() if each.node == node]
        self.write(self._registry.give_up(node))
        for session in sessions:
            self._ready.pop(session.id, None)
        self._nodes.cut(node)
        logger.error("node %s is lost; %d sessions wait for others", row.name, len(sessions))
        self.note("fleet node lost", node=row.name, sessions=len(sessions))
        self.place_waiting()

    # --- placement -----------------------------------------------------------------------------

    def place_waiting(self) -> None:
        """Give waiting sessions to nodes that have room."""
        for id, node in self._registry.placements(self._now()):
            self.write(self._registry.place(id, node))
            session = self._registry.sessions[id]
            self._tasks.spawn(self._place(session), name=f"place {id}")

    async def _place(self, session: Session) -> None:
        order = {
            "session": session.id,
            "epoch": session.epoch,
            "version": self._registry.version,
            "wish": session.wish,
            "luggage": self.luggage(session.id),
        }
        try:
            await self.link(session).order("/node/place", order)
        except (Misdirected, *RETRIED) as error:
            logger.warning("session %s: node %s: %s", session.id, session.node, error)
            await self._clock.wait(TICK_SECONDS)
            self._release(session.id, session.epoch)
        except RoostError as error:
            # The broker refuses the session itself: an unknown profile, for example.
            if self._is_current(session):
                if order["luggage"] is None:
                    self._failures[session.id] = error
                    self._wake(session.id)
                else:
                    logger.error("session %s cannot be opened again: %s", session.id, error)
                    await self._clock.wait(REFUSED_SECONDS)
                    self._release(session.id, session.epoch)
        else:
            if self._is_current(session):
                self._ready[session.id] = session.epoch
                self._wake(session.id)
            else:
                await self._close_at(session)

    def _is_current(self, session: Session) -> bool:
        row = self._registry.sessions.get(session.id)
        return row is not None and row.epoch == session.epoch and row.node == session.node

    def _release(self, id: str, epoch: int) -> None:
        changes = self._registry.release(id, epoch)
        if changes:
            self.write(changes)
            self._ready.pop(id, None)

    def _wake(self, id: str) -> None:
        for waiter in self._waiters.pop(id, ()):
            if not waiter.done():
                waiter.set_result(None)

    # --- timers --------------------------------------------------------------------------------

    async def _tick_for_ever(self) -> None:
        while True:
            await self._clock.wait(TICK_SECONDS)
            try:
                self._tick()
            except RoostError as error:  # the journal cannot be written; the next tick tries again
                logger.error("%s", error)

    def _tick(self) -> None:
        for node in self._registry.lost(self._now()):
            self.lost(node)
        self.place_waiting()
        self._end_idle()
        self._drain()

    def _end_idle(self) -> None:
        oldest = self._now() - IDLE_SECONDS
        for session in list(self._registry.sessions.values()):
            if not session.is_ephemeral or session.id in self._clients:
                continue
            if self._heard.setdefault(session.id, self._now()) < oldest:
                self.note("fleet session idle", session=session.id)
                self.end(session.id)

    def _drain(self) -> None:
        """Move sessions away from draining nodes, as far as others have room."""
        draining = {node.id for node in self._registry.nodes.values() if node.is_draining}
        if not draining:
            return
        for session in list(self._registry.sessions.values()):
            is_here = session.node in draining and self._ready.get(session.id) == session.epoch
            if is_here and session.id not in self._moving and self._has_room(session):
                self._moving.add(session.id)
                self._tasks.spawn(self._move(session), name=f"move {session.id}")

    def _has_room(self, session: Session) -> bool:
        room = [node for node in self._registry.capacities(self._now()) if not node.is_draining]
        free = sum(max(0, node.free) for node in room)
        return free > len(self._moving) and (
            choose(room, self._registry.wish(session.id)) is not None
        )

    async def _move(self, session: Session) -> None:
        """Let the session's calls end, take it from its node, and let it wait for another."""
        del self._ready[session.id]  # later calls wait
        try:
            deadline = self._now() + QUIET_SECONDS
            while self._under_way[session.id] and self._now() < deadline:
                await self._clock.wait(TICK_SECONDS)
            order = {"session": session.id, "epoch": session.epoch}
            reply = await self.link(session).order("/node/release", order)
            self.pack(session.id, session.epoch, session.node or "", reply["luggage"])
            self._release(session.id, session.epoch)
            self.note("fleet session moved", session=session.id, node=session.node)
            self.place_waiting()
        except (RoostError, Misdirected, KeyError) as error:
            logger.warning("session %s stays where it is: %s", session.id, error)
            if self._is_current(session):
                self._ready[session.id] = session.epoch
                self._wake(session.id)
        finally:
            self._moving.discard(session.id)
