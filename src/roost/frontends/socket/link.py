"""A connection whose peer is a keeper or a native host: frames for a driver, not calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from roost.errors import RoostError
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import Splitter

logger = logging.getLogger(__name__)
HANDOVER_BYTES = 4 * LINK_FRAME_BYTES
"""Largest frame to accept from a link. Links keep the frames they relay within
``LINK_FRAME_BYTES``. Only the handover of an older version's keeper can be larger, and cutting off
that keeper would cost everybody's pages."""


class SocketLink(asyncio.Protocol):
    """The protocol that takes over a connection's transport after a link's hello."""

    def __init__(self, transport: asyncio.Transport, closed: Callable[[], None]) -> None:
        self._transport = transport
        self._closed = closed
        self._frames = Splitter(b"\n", HANDOVER_BYTES)
        self._early: list[bytes] = []
        self._on_frame: Callable[[bytes], None] | None = None
        self._on_end: Callable[[], None] | None = None
        self._is_over = False

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame, self._on_end = on_frame, on_end
        early, self._early = self._early, []
        for frame in early:
            on_frame(frame)
        if self._is_over:
            on_end()

    def send(self, frame: bytes) -> None:
        if not self._is_over:
            self._transport.write(frame + b"\n")

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                if self._on_frame is None:
                    self._early.append(frame)
                else:
                    self._on_frame(frame)
        except RoostError as error:
            logger.warning("a link sent what it must not: %s", error)
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over = True
        self._closed()
        if self._on_end is not None:
            self._on_end()
