"""One WebSocket: uvicorn's protocol, which an application may also use without its queue.

ASGI puts a queue, a task and several turns of the loop between a socket and its application. A
client that waits for every single answer pays for them each time. So an application may take the
socket itself (``scope["extensions"]["roost.direct"]``) after accepting the connection. Then
incoming messages are handed over as they are read, and outgoing ones are written at once.
"""

from __future__ import annotations

from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState
from websockets.http11 import Request

from roost.api.sockets import DIRECT, SocketEar

TURN = 64
"""Messages of one peer to handle before everybody else gets a turn."""


class Socket(WebSocketsSansIOProtocol):
    """After ``listen``, the ear gets all messages and controls back-pressure in both directions."""

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any]
    ) -> None:
        super().__init__(config, server_state, app_state)
        self.is_full = False
        """The peer does not read, so write nothing until ``SocketEar.has_room`` is called."""
        self._ear: SocketEar | None = None
        self._is_held = False

    def listen(self, ear: SocketEar) -> None:
        """Give all messages to the ear from now on, beginning with those that are queued."""
        self._ear = ear
        self.transport.resume_reading()
        self.read_paused = True  # keeps uvicorn from resuming: from here on, this class does
        self._deliver()

    def write(self, text: bytes) -> None:
        """Write one message. Do nothing if the peer has disconnected."""
        try:
            self.conn.send_text(text)
        except InvalidState:
            return
        self.transport.write(b"".join(self.conn.data_to_send()))

    def hold(self) -> None:
        """Stop reading from the peer until ``go_on``."""
        self._is_held = True

    def go_on(self) -> None:
        self._is_held = False
        self.loop.call_soon(self._deliver)

    # --- uvicorn's methods, extended to inform the ear ------------------------------------------

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            extensions = cast(dict[str, Any], self.scope["extensions"])
            extensions[DIRECT] = self

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._is_held and self._ear is not None:
            self._ear.left()  # while held, its queue is not delivered
        self._deliver()

    def shutdown(self) -> None:
        super().shutdown()
        self._deliver()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.is_full = True

    def resume_writing(self) -> None:
        super().resume_writing()
        self.is_full = False
        if self._ear is not None:
            self._ear.has_room()

    def _deliver(self) -> None:
        if self._ear is None:
            return
        for _ in range(TURN):
            if self._is_held or self.queue.empty():
                break
            event = self.queue.get_nowait()
            if event["type"] == "websocket.receive":
                text = event.get("text")
                self._ear.said(event["bytes"] if text is None else text)  # type: ignore[arg-type]
            else:
                self._ear.left()
        if self._is_held:
            self.transport.pause_reading()
        elif self.queue.empty():
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()
            self.loop.call_soon(self._deliver)
