"""Accept connections of this user only, and as many at a time as there are places.

Every user of the machine can reach a port on loopback. Another user's connection is refused before
it costs anything. This user's connections wait in the kernel's queue when every place is taken.
When no place has become free for some seconds, the next ones are answered 503.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from roost.errors import Unauthorized
from roost.frontends.http.replies import head_of
from roost.local.tcp_peers import is_stranger
from roost.wire.framing import encode

PLACES = 512
"""Connections at a time, without WebSockets. Each is an open file of the broker."""
CROWD = PLACES // 2
"""When more connections than this are open, each ends with its answer, so that idle connections
cannot take every place."""
EXTRA = 64
"""Places beside ``PLACES``, for connections that only get the answer 503."""
PATIENCE_SECONDS = 5.0
AGAIN_SECONDS = 0.5
"""Wait this long before accepting again after the system had no file left for a connection."""
TURN = 64
"""Connections to accept before the rest of the broker gets a turn."""
logger = logging.getLogger(__name__)


class Reception:
    """Accepts connections from a listening socket.

    ``make``: makes the protocol of one connection. Its second argument is True if no place was
        free, so that the protocol answers 503.
    """

    def __init__(
        self, listening: socket.socket, make: Callable[[Reception, bool], asyncio.Protocol]
    ) -> None:
        self._listening = listening
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._here: set[asyncio.Protocol] = set()
        self._arriving: set[asyncio.Task[None]] = set()
        self._later: asyncio.TimerHandle | None = None
        """While this timer runs, no connection is accepted."""
        self._puts_off = False

    def open(self) -> None:
        self._loop.add_reader(self._listening, self._take)

    async def aclose(self) -> None:
        """Stop accepting connections, and refuse those that wait in the kernel."""
        if self._listening.fileno() < 0:
            return
        self._loop.remove_reader(self._listening)
        self._listening.close()
        if self._later is not None:
            self._later.cancel()
            self._later = None
        for task in self._arriving:
            task.cancel()
        await asyncio.gather(*self._arriving, return_exceptions=True)

    @property
    def is_crowded(self) -> bool:
        return len(self._here) > CROWD

    def leave(self, guest: asyncio.Protocol) -> None:
        """Free a place: the connection has ended, or has become a WebSocket."""
        self._here.discard(guest)
        if len(self._here) < PLACES:
            self._puts_off = False
            if self._later is not None:
                self._resume()

    def _take(self) -> None:
        for _ in range(TURN):
            if len(self._here) >= PLACES + (EXTRA if self._puts_off else 0):
                self._pause(PATIENCE_SECONDS)
                return
            try:
                peer, there = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                logger.error("HTTP takes no connections for now: %s", error)
                self._pause(AGAIN_SECONDS)
                return
            peer.setblocking(False)
            if is_stranger(peer.getsockname(), there):
                _turn_away(peer)
            else:
                self._welcome(peer)

    def _welcome(self, peer: socket.socket) -> None:
        guest = self._make(self, len(self._here) >= PLACES)
        self._here.add(guest)
        task = self._loop.create_task(self._connect(guest, peer), name="http connection")
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _connect(self, guest: asyncio.Protocol, peer: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: guest, peer)
        except (OSError, asyncio.CancelledError) as error:  # the peer left, or the broker stops
            peer.close()
            self.leave(guest)
            if isinstance(error, asyncio.CancelledError):
                raise

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening)
        self._later = self._loop.call_later(seconds, self._waited)

    def _waited(self) -> None:
        self._puts_off = len(self._here) >= PLACES
        self._resume()

    def _resume(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self.open()


def _turn_away(peer: socket.socket) -> None:
    """Close a connection of another user, or one that was closed meanwhile.

    Send the reason only if the socket takes it at once.
    """
    body = encode(Unauthorized("This broker serves another user.").to_wire())
    with peer, suppress(OSError):
        peer.send(head_of(403, len(body)) + body)
