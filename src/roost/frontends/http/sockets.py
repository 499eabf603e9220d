"""One WebSocket: uvicorn's protocol, which an application may also use without its queue.

Between a socket and its application ASGI has a queue, a task and several turns of the loop. Whoever
waits for every single message pays for them every time, so an application may take the socket
itself (``scope["extensions"]["roost.direct"]``) once it has accepted the connection: what comes is
handed over as it is read, what is written goes out at once.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState
from websockets.http11 import Request

DIRECT = "roost.direct"
TURN = 64
"""Messages of one peer that are heard before everybody else has a turn."""


class Ear(Protocol):
    """Whoever took the socket."""

    def said(self, message: str | bytes) -> None: ...

    def has_room(self) -> None:
        """The peer reads again: ``is_full`` is over."""

    def left(self) -> None:
        """The peer has gone, or is going. Told at least once."""


class Socket(WebSocketsSansIOProtocol):
    """After ``listen``: what is heard goes to the ear, and back-pressure both ways is its own."""

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any]
    ) -> None:
        super().__init__(config, server_state, app_state)
        self.is_full = False
        """The peer does not read what is written, and no more should be until it ``has_room``."""
        self._ear: Ear | None = None
        self._is_held = False

    def listen(self, ear: Ear) -> None:
        """From now on; what was said before comes first."""
        self._ear = ear
        self.transport.resume_reading()
        self.read_paused = True  # so that uvicorn leaves it alone: from here on it is ours to do
        self._deliver()

    def write(self, text: bytes) -> None:
        """One message. A peer that has gone is written to in vain."""
        try:
            self.conn.send_text(text)
        except InvalidState:
            return
        self.transport.write(b"".join(self.conn.data_to_send()))

    def hold(self) -> None:
        """Hear nothing more until ``go_on``: the peer is left to wait."""
        self._is_held = True

    def go_on(self) -> None:
        self._is_held = False
        self.loop.call_soon(self._deliver)

    # --- uvicorn's, with the ear told -----------------------------------------------------------

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
            self._ear.left()  # what it had said before is not heard any more
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
