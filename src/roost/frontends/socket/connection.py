"""One peer on the socket.

A peer sends a hello and then calls, any number of which may be in flight at once. Each call has an
id of the peer's choice and gets exactly one answer. A peer that sends garbage gets an error and is
cut off. A peer that floods the broker or does not read is slowed down, then cut off. Other peers do
not notice.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from roost.api.broker import Notices
from roost.api.door import Admission, Conversation, Door, Language
from roost.api.operations import Operation, parse
from roost.errors import (
    BadRequest,
    Internal,
    Interrupted,
    RoostError,
    TooLarge,
    Unauthorized,
)
from roost.frontends.socket.link import SocketLink
from roost.hints import Spelling, no_way
from roost.local.processes import Peer, peer_of
from roost.vocabulary import AGENT_FRAME_BYTES, HELLO_SECONDS, LINK_FRAME_BYTES
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello, parse_hello
from roost.wire.weight import AGENT_VALUES

logger = logging.getLogger(__name__)
CALLS_IN_FLIGHT = 256
MESSAGES_A_TURN = 64
"""Messages of one peer to handle before other peers get a turn."""
UNREAD_BYTES = 2 * LINK_FRAME_BYTES


class Connection(asyncio.Protocol):
    """One peer's connection, from hello to close.

    ``door``: admits the peer and gives it an identity.
    ``closed``: called once when the connection is over.
    ``languages``: for kinds of peers that do not send calls, what they speak instead.
    ``spellings``: for kinds of peers that can perform the steps of a hint, how they do it.
    """

    def __init__(
        self,
        door: Door,
        closed: Callable[[Connection], None],
        languages: Mapping[ClientKind, Language],
        spellings: Mapping[ClientKind, Spelling],
    ) -> None:
        self._door = door
        self._spellings = spellings
        self._spell: Spelling = no_way
        self._languages = languages
        self._closed = closed
        self._frames = JsonLines(AGENT_FRAME_BYTES, AGENT_VALUES)
        self._transport: asyncio.Transport
        self._admission: Admission | None = None
        self._conversation: Conversation | None = None
        self._calls: dict[int | str, asyncio.Task[None]] = {}
        self._events: asyncio.Task[None] | None = None
        self._unheard: deque[Any] = deque()
        """Received messages not handled yet; the last may be the error that ended the stream."""
        self._unsent: list[bytes] = []
        self._said_goodbye = False
        self._is_link = False
        self._is_made = False
        self._is_over = False
        self._is_read = True
        self._is_held = False
        self._loop = asyncio.get_running_loop()

    @property
    def is_admitted(self) -> bool:
        return self._admission is not None or self._is_link

    @property
    def is_stranger(self) -> bool:
        """The peer has not said hello, so it may be cut off to make room for others."""
        return not self._is_over and not self.is_admitted

    def close(self) -> None:
        self._is_over = True
        if self._is_made:
            self._flush()
            self._transport.close()

    def stop(self) -> None:
        """Close, and tell the peer that the broker stops on purpose.

        The peer then need not reconnect at once.
        """
        if not self._is_link:
            self._send({"stopping": True})
        self.close()

    # --- asyncio.Protocol ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._is_made = True
        self._hello_timer = self._loop.call_later(HELLO_SECONDS, self._too_quiet)
        if self._is_over:  # the server accepts many at once and may close one before it is made
            transport.close()

    def data_received(self, data: bytes) -> None:
        try:
            self._unheard.extend(self._frames.feed(data))
        except RoostError as error:
            self._unheard.append(error)
        self._hear()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over = True
        self._hello_timer.cancel()
        last_words = [message for message in self._unheard if isinstance(message, dict)]
        self._said_goodbye |= any("goodbye" in message for message in last_words)
        for task in list(self._calls.values()):
            task.cancel()
        if self._events is not None:
            self._events.cancel()
        if self._conversation is not None:
            self._conversation.end()
        if self._admission is not None:
            self._door.leave(self._admission, goodbye=self._said_goodbye)
        self._closed(self)

    def pause_writing(self) -> None:
        # The peer does not read its replies, so read no new calls until it does.
        self._is_read = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_read = True
        self._resume_reading()

    # --- Line: for conversations in another language -----------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message; what one turn of the loop produces leaves in one write."""
        if self._transport.is_closing():
            return
        frame = encode_line(message)
        if len(frame) > LINK_FRAME_BYTES:
            raise TooLarge("The reply is larger than 64 MiB.", bytes=len(frame))
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(frame)

    def hold(self) -> None:
        self._is_held = True
        self._transport.pause_reading()

    def let_go(self) -> None:
        self._is_held = False
        self._resume_reading()

    # --- messages ------------------------------------------------------------------------------

    def _hear(self) -> None:
        """Handle up to ``MESSAGES_A_TURN`` messages now, and the rest in a later turn."""
        unheard, is_closing = self._unheard, self._transport.is_closing
        for _ in range(min(len(unheard), MESSAGES_A_TURN)):
            if is_closing():
                return
            try:
                message = unheard.popleft()
                if isinstance(message, RoostError):
                    raise message
                self._received(message)
            except RoostError as error:
                self._refuse(error)
        if unheard:
            self._transport.pause_reading()
            self._loop.call_soon(self._hear_rest)

    def _hear_rest(self) -> None:
        self._hear()
        self._resume_reading()

    def _received(self, message: Any) -> None:
        if not isinstance(message, dict):
            raise BadRequest("A message is a JSON object.")
        if self._admission is None:
            self._hello(message)
        elif "goodbye" in message:
            self._said_goodbye = True
            self.close()
        elif self._conversation is not None:
            self._conversation.heard(message)
        elif "op" in message:
            self._call(message)
        elif "cancel" in message:
            self._cancel(message["cancel"])
        elif "watch" in message:
            self._watch(message["watch"])
        else:
            raise BadRequest(
                "A message has op, cancel, watch or goodbye.", hint="See docs/reference/wire.md."
            )

    def _hello(self, message: dict[str, Any]) -> None:
        if "hello" not in message:
            raise Unauthorized("Say hello first.")
        hello = parse_hello(message["hello"])
        self._spell = self._spellings.get(hello.kind, no_way)
        peer = peer_of(self._transport.get_extra_info("socket"))
        if hello.kind is ClientKind.LINK:
            self._become_link(hello, peer)
            return
        language = self._languages.get(hello.kind)
        begin = None if language is None else language.prepared(hello)
        self._admission = self._door.admit(hello, peer, on_end=self.close)
        self._hello_timer.cancel()
        self._send({"welcome": self._admission.welcome.to_wire()})
        if begin is not None:
            self._conversation = begin(self._admission.api, self)
        elif self._admission.is_life:
            self._watch(None)

    def _become_link(self, hello: Hello, peer: Peer) -> None:
        """Hand the transport over. The peer sends nothing between its hello and our welcome."""
        link = SocketLink(self._transport, closed=lambda: self._closed(self))
        welcome = self._door.admit_link(hello, peer, link)
        self._hello_timer.cancel()
        self._send({"welcome": welcome.to_wire()})
        self._flush()
        self._is_link = True
        self._transport.set_protocol(link)

    def _call(self, message: dict[str, Any]) -> None:
        call = message.get("id")
        if not isinstance(call, int | str) or isinstance(call, bool):
            raise BadRequest("id: expected a number or a string.", field="id")
        if call in self._calls:
            raise BadRequest("id: already in flight.", field="id")
        try:
            operation = parse(message["op"], message.get("args", {}))
            timeout = _seconds(message.get("timeoutMs"))
        except RoostError as error:
            self._send({"id": call, "error": self._told(error)})
            return
        task = self._loop.create_task(self._work(call, operation, timeout), name=operation.op)
        self._calls[call] = task
        task.add_done_callback(lambda done: self._ended(call, done))
        if len(self._calls) >= CALLS_IN_FLIGHT:
            self._transport.pause_reading()

    async def _work(self, call: int | str, operation: Operation, timeout: float | None) -> None:
        """Perform the call and send its result.

        The task itself sends the result, because a done-callback would cost one more turn of the
        loop.
        """
        assert self._admission is not None
        view = await self._admission.api.call(operation, timeout=timeout)  # type: ignore[var-annotated, arg-type]
        self._send({"id": call, "ok": view.spelled(self._spell).to_wire()})
        self._answered(call)

    def _ended(self, call: int | str, done: asyncio.Task[None]) -> None:
        """Send the error of a call that failed or was cancelled, even before it began."""
        if self._calls.get(call) is not done:
            return
        try:
            done.result()
        except asyncio.CancelledError:
            self._send({"id": call, "error": Interrupted("You cancelled the call.").to_wire()})
        except RoostError as error:
            self._send({"id": call, "error": self._told(error)})
        except Exception:
            logger.exception("the answer to %s cannot be sent", done.get_name())
            internal = Internal(f"{done.get_name()} has an answer that cannot be sent.")
            self._send({"id": call, "error": internal.to_wire()})
        self._answered(call)

    def _answered(self, call: int | str) -> None:
        del self._calls[call]
        if not self._calls:
            self._flush()  # no other answer is due that could share the write
        self._resume_reading()

    def _cancel(self, call: Any) -> None:
        task = self._calls.get(call) if isinstance(call, int | str) else None
        if task is not None:
            task.cancel()

    def _watch(self, session: Any) -> None:
        assert self._admission is not None
        if session is not None and not isinstance(session, str):
            raise BadRequest("watch: expected a session or null.", field="watch")
        try:
            notices = self._admission.api.watch(session)
        except RoostError as error:  # the session may have ended meanwhile
            self._send({"error": self._told(error)})
            return
        if self._events is not None:
            self._events.cancel()
        self._events = self._loop.create_task(self._forward(notices), name="events")
        # A task that is cancelled before it has begun runs none of its code, so close from outside.
        self._events.add_done_callback(lambda _: notices.close())

    async def _forward(self, notices: Notices) -> None:
        async for notice in notices:
            self._send({"event": notice.to_wire()})

    # --- writing -------------------------------------------------------------------------------

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self.send(message)
        except TooLarge as error:
            self.send({"id": message.get("id"), "error": error.to_wire()})

    def _flush(self) -> None:
        if self._unsent and not self._transport.is_closing():
            self._transport.write(b"".join(self._unsent))
            if self._transport.get_write_buffer_size() > UNREAD_BYTES:
                logger.warning("a peer does not read its replies; cut off")
                self._transport.abort()
        self._unsent.clear()

    def _refuse(self, error: RoostError) -> None:
        self._send({"error": self._told(error)})
        self.close()

    def _told(self, error: RoostError) -> dict[str, Any]:
        return error.spelled(self._spell).to_wire()

    def _too_quiet(self) -> None:
        self._refuse(Unauthorized(f"No hello within {HELLO_SECONDS:g} s."))

    def _resume_reading(self) -> None:
        may_read = self._is_read and not self._is_held and not self._is_over
        if may_read and not self._unheard and len(self._calls) < CALLS_IN_FLIGHT:
            self._transport.resume_reading()


def _seconds(timeout_ms: Any) -> float | None:
    if timeout_ms is None:
        return None
    if not isinstance(timeout_ms, int | float) or isinstance(timeout_ms, bool):
        raise BadRequest("timeoutMs: expected a number.", field="timeoutMs")
    return timeout_ms / 1000
