"""One connected client: what its view wants done is done, what it does not read is kept."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Coroutine, Hashable
from contextlib import suppress
from typing import Any, Protocol

from roost.api.protocol import ProtocolDoor, Seat
from roost.errors import RoostError
from roost.frontends.cdp import commands
from roost.frontends.cdp.messages import (
    CloseTab,
    Effect,
    GoTo,
    HangUp,
    MakeContext,
    OpenTab,
    Order,
    Release,
    RemoveContext,
    Send,
    Tell,
)
from roost.frontends.cdp.view import View
from roost.vocabulary import LINK_FRAME_BYTES

logger = logging.getLogger(__name__)
LAST_WORDS_SECONDS = 1.0
UNREAD_BYTES = 2 * LINK_FRAME_BYTES
"""A client that leaves more than this unread is cut off."""


class _Over(Exception):
    pass


class Socket(Protocol):
    """The client's end: a WebSocket that is open."""

    async def receive(self) -> str | bytes | None:
        """The next message; None when the client has gone."""

    async def send(self, text: str) -> None:
        """Waits while the client does not read."""


class Client:
    """A ``SeatEar``. First ``sit``; then ``run``, which is its whole life."""

    def __init__(self, *, unread_bytes: int = UNREAD_BYTES) -> None:
        self._limit = unread_bytes
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._news = asyncio.Event()
        self._all_read = asyncio.Event()
        self._over = asyncio.Event()
        self._ready = asyncio.Event()
        self._seat: Seat | None = None
        self._view: View | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self.is_too_slow = False

    async def sit(self, door: ProtocolDoor, token: str) -> None:
        """Take a seat in the session of that token."""
        seat = self._seat = await door.take_seat(token, self)
        self._view = View(
            root=seat.root, context=seat.context, judge=seat, nonce=secrets.token_hex(16)
        )
        self._do(self._view.started())

    async def run(self, socket: Socket) -> None:
        """Until the client goes, the session ends, or the client reads too little."""
        assert self._seat is not None
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._spawn(self._read(socket, self._seat), "cdp read")
                self._spawn(self._write(socket), "cdp write")
                await self._over.wait()
                await self._last_words()
                raise _Over
        except* _Over:
            pass
        finally:
            await self.leave()

    async def leave(self) -> None:
        self._over.set()
        if self._seat is not None:
            await self._seat.close()

    # --- what the seat tells (``api.protocol.SeatEar``) ----------------------------------------

    def answered(self, key: Hashable, frame: bytes) -> None:
        if self._view is not None:
            if key is None:
                self._ready.set()
            self._do(self._view.answered(key, frame))

    def heard(self, session: str, frame: bytes) -> None:
        if self._view is not None:
            self._do(self._view.heard(session, frame))

    def tab_came(self, target: str) -> bool:
        if self._view is None:
            return False  # told again, once we are ready
        waits, effects = self._view.tab_came(target)
        self._do(effects)
        return waits

    def tab_went(self, target: str) -> None:
        if self._view is not None:
            self._do(self._view.tab_went(target))

    def paused(self, is_paused: bool) -> None:
        if self._view is not None:
            self._do(self._view.paused(is_paused))

    def ended(self) -> None:
        self._over.set()

    # --- the work ------------------------------------------------------------------------------

    async def _read(self, socket: Socket, seat: Seat) -> None:
        view = self._view
        assert view is not None
        await self._ready.wait()
        seat.show_tabs()
        while (message := await socket.receive()) is not None:
            seat.touched()
            self._do(commands.said(view, message))
        self._over.set()

    async def _write(self, socket: Socket) -> None:
        while True:
            while self._unread:
                frame = self._unread.popleft()
                await socket.send(frame.decode(errors="replace"))
                self._unread_bytes -= len(frame)
            self._all_read.set()
            self._news.clear()
            await self._news.wait()

    async def _last_words(self) -> None:
        """What was said before the end is still heard, if the client reads it now."""
        if self._unread_bytes and not self.is_too_slow:
            self._all_read.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await self._all_read.wait()

    def _tell(self, frame: bytes) -> None:
        self._unread.append(frame)
        self._unread_bytes += len(frame)
        self._news.set()
        if self._unread_bytes > self._limit and not self.is_too_slow:
            self.is_too_slow = True
            logger.warning("a protocol client left %d bytes unread", self._unread_bytes)
            self._unread.clear()
            self._over.set()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if self._tasks is None or self._over.is_set():
            work.close()
        else:
            self._tasks.create_task(work, name=name)

    def _do(self, effects: list[Effect]) -> None:
        seat = self._seat
        assert seat is not None
        for effect in effects:
            match effect:
                case Tell():
                    self._tell(effect.frame)
                case Send():
                    seat.send(effect.key, effect.method, effect.params, effect.session)
                case Release():
                    seat.release(effect.target)
                case HangUp():
                    self._over.set()
                case GoTo():
                    self._spawn(seat.go_to(effect.target, effect.url), "go to")
                case _:
                    self._spawn(self._ask(seat, effect), effect.call.method)

    async def _ask(self, seat: Seat, order: Order) -> None:
        """What only the broker does; the client is answered either way."""
        assert self._view is not None
        value = ""
        try:
            match order:
                case OpenTab():
                    value = await seat.open_tab(order.context)
                case CloseTab():
                    await seat.close_tab(order.target)
                case MakeContext():
                    value = await seat.make_context(order.proxy)
                case RemoveContext():
                    await seat.remove_context(order.context)
        except RoostError as error:
            self._do(self._view.failed(order.call, error))
        else:
            self._do(self._view.done(order.call, value))
