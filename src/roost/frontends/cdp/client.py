"""One connected DevTools client: carry out effects, and buffer what the client has not read.

There is no queue between the client's WebSocket and the browser's link: a message is checked and
written in the same turn of the loop in which it is read. A client that waits for every answer
therefore waits for nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Coroutine, Hashable
from contextlib import suppress
from typing import Any

from roost.api.protocol import ProtocolDoor, Seat
from roost.api.sockets import Socket
from roost.errors import RoostError, Timeout
from roost.frontends.cdp import commands
from roost.frontends.cdp.messages import (
    Call,
    CloseTab,
    Effect,
    GiveProxyPassword,
    GoTo,
    HangUp,
    MakeContext,
    OpenTab,
    Order,
    Release,
    RemoveContext,
    Send,
    UseClipboard,
    WriteFrame,
)
from roost.frontends.cdp.visible_browser import VisibleBrowser
from roost.vocabulary import LINK_FRAME_BYTES, MIB

logger = logging.getLogger(__name__)
ANSWERS_DIALOG = b"Page.handleJavaScriptDialog"
LAST_WORDS_SECONDS = 1.0
UNREAD_BYTES = 2 * LINK_FRAME_BYTES
"""Cut off a client that leaves more than this unread."""
UNANSWERED_BYTES = 16 * MIB
ORDERS = 64
"""Stop reading from a client while it has more than ``UNANSWERED_BYTES`` unanswered in the browser,
or more than ``ORDERS`` orders under way in the broker."""


class _Over(Exception):
    pass


class _Pressed:
    """The key of a command whose answer a turn on the clipboard waits for."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()


class Client:
    """The connection of one DevTools client.

    It is the ``SeatEar`` of its seat and the ``SocketEar`` of its socket. Call ``sit`` first, then
    ``run``, which returns when the connection is over.
    """

    def __init__(
        self, *, unread_bytes: int = UNREAD_BYTES, unanswered_bytes: int = UNANSWERED_BYTES
    ) -> None:
        self._limit = unread_bytes
        self._unanswered_limit = unanswered_bytes
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._all_read = asyncio.Event()
        self._over = asyncio.Event()
        self._ready = asyncio.Event()
        self._seat: Seat | None = None
        self._browser: VisibleBrowser | None = None
        self._socket: Socket | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._orders = 0
        self._is_held = False
        self._has_left = False
        self.is_too_slow = False
        self._has_turn = False
        self._later: deque[str | bytes] = deque()
        """What the client sent during its turn on the clipboard."""

    async def sit(self, door: ProtocolDoor, token: str) -> None:
        """Take a seat in the session that the token belongs to."""
        seat = self._seat = await door.take_seat(token, self)
        self._browser = VisibleBrowser(
            root=seat.root, context=seat.context, seat=seat, nonce=secrets.token_hex(16)
        )
        self._do(self._browser.started())

    async def run(self, socket: Socket) -> None:
        """Serve until the client disconnects or leaves too much unread, or the session ends."""
        assert self._seat is not None
        try:
            async with asyncio.TaskGroup() as self._tasks:
                await self._ready.wait()
                if not self._over.is_set():
                    self._seat.show_tabs()
                    self._socket = socket
                    self.has_room()
                    socket.listen(self)
                await self._over.wait()
                await self._last_words()
                raise _Over
        except* _Over:
            pass
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Give the seat back. Safe to call twice."""
        self._over.set()
        if self._seat is not None and not self._has_left:
            self._has_left = True
            await self._seat.close()

    # --- reports of the seat (``api.protocol.SeatEar``) -------------------------------------------

    def answered(self, key: Hashable, frame: bytes) -> None:
        if isinstance(key, _Pressed):
            if not key.answer.done():
                key.answer.set_result(frame)
        elif self._browser is not None:
            if key is None:
                self._ready.set()
            self._do(self._browser.answered(key, frame))
            self._keep_up()

    def heard(self, session: str, frame: bytes) -> None:
        if self._browser is not None:
            self._do(self._browser.heard(session, frame))
            self._keep_up()

    def tab_came(self, target: str) -> bool:
        if self._browser is None:
            return False  # the seat reports it again in ``show_tabs``, once we are ready
        waits, effects = self._browser.tab_came(target)
        self._do(effects)
        return waits

    def tab_went(self, target: str) -> None:
        if self._browser is not None:
            self._do(self._browser.tab_went(target))

    def paused(self, is_paused: bool) -> None:
        if self._browser is not None:
            self._do(self._browser.paused(is_paused))

    def proxy_asked(self, context: str, site: str, challenge: str) -> bool:
        if self._browser is None:
            return False
        effects = self._browser.authentication.proxy_asked(context, site, challenge)
        self._do(effects)
        return bool(effects)

    def ended(self) -> None:
        self._ready.set()
        self._over.set()

    # --- reports of the socket -------------------------------------------------------------------

    def said(self, message: str | bytes) -> None:
        assert self._seat is not None
        assert self._browser is not None
        if self._over.is_set():
            return
        self._seat.touched()
        # A dialog may keep the page from handling the key, and the client answers the dialog.
        if self._has_turn and ANSWERS_DIALOG not in _bytes(message):
            self._later.append(message)
        else:
            self._do(commands.said(self._browser, message))
        self._keep_up()

    def has_room(self) -> None:
        assert self._socket is not None
        while self._unread and not self._socket.is_full:
            frame = self._unread.popleft()
            self._unread_bytes -= len(frame)
            self._socket.write(frame)
        if not self._unread:
            self._all_read.set()

    def left(self) -> None:
        self._over.set()

    # --- the work ------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Stop reading from the client while too many of its commands are unanswered."""
        assert self._seat is not None
        unanswered, socket = self._seat.unanswered_bytes, self._socket
        is_behind = unanswered > self._unanswered_limit or self._orders > ORDERS
        is_behind = is_behind or bool(self._later)
        if socket is not None and is_behind != self._is_held:
            self._is_held = is_behind
            if is_behind:
                socket.hold()
            else:
                socket.go_on()

    async def _last_words(self) -> None:
        """Give the client a moment to read what was written before the end."""
        if self._unread and not self.is_too_slow:
            self._all_read.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await self._all_read.wait()

    def _tell(self, frame: bytes) -> None:
        if self._socket is not None and not self._unread and not self._socket.is_full:
            self._socket.write(frame)
            return
        self._unread.append(frame)
        self._unread_bytes += len(frame)
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
                case WriteFrame():
                    self._tell(effect.frame)
                case Send():
                    seat.send(effect.key, effect.method, effect.params, effect.session)
                    if effect.session:
                        self._use(seat, effect.session)
                case Release():
                    seat.release(effect.target)
                case GiveProxyPassword():
                    seat.give_proxy_password(effect.context, effect.password)
                case HangUp():
                    self._over.set()
                case UseClipboard():
                    self._has_turn = True
                    self._spawn(self._use_clipboard(seat, effect), "use the clipboard")
                case GoTo():
                    self._spawn(seat.go_to(effect.target, effect.url), "go to")
                case _:
                    self._orders += 1
                    self._spawn(self._ask(seat, effect), effect.call.method)

    def _use(self, seat: Seat, session: str) -> None:
        assert self._browser is not None
        tab = self._browser.targets.tab_behind(session)
        if tab is not None:
            seat.used(tab)

    async def _use_clipboard(self, seat: Seat, effect: UseClipboard) -> None:
        """Send the key event in the session's turn. What the client says next comes after it."""
        assert self._browser is not None
        call, pressed = effect.call, [_Pressed()]

        async def press(again: bool) -> None:
            if again:
                pressed.append(_Pressed())
            seat.send(pressed[-1], call.method, call.params, call.session)
            await asyncio.shield(pressed[-1].answer)

        try:
            await seat.use_clipboard(effect.target, effect.use, press)
        except Timeout as error:
            if pressed[-1].answer.done():
                self._do(self._browser.failed(call, error))
            else:  # the page handles the key later, without the clipboard
                pressed[-1].answer.add_done_callback(lambda late: self._tell_late(call, late))
        except RoostError as error:
            self._do(self._browser.failed(call, error))
        else:
            self._do(self._browser.answered(call, pressed[-1].answer.result()))
        finally:
            self._has_turn = False
            while self._later and not self._has_turn:
                self._do(commands.said(self._browser, self._later.popleft()))
            self._keep_up()

    def _tell_late(self, call: Call, answer: asyncio.Future[bytes]) -> None:
        if self._browser is not None and not answer.cancelled() and not self._over.is_set():
            self._do(self._browser.answered(call, answer.result()))

    async def _ask(self, seat: Seat, order: Order) -> None:
        """Have the broker carry out the order, and answer the client in any case."""
        assert self._browser is not None
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
            self._do(self._browser.failed(order.call, error))
        else:
            self._do(self._browser.done(order.call, value))
        finally:
            self._orders -= 1
            self._keep_up()


def _bytes(message: str | bytes) -> bytes:
    return message.encode() if isinstance(message, str) else message
