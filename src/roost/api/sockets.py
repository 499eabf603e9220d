"""A WebSocket without ASGI's queue: how one front end offers it and another takes it.

``frontends.http`` accepts connections. An application that is mounted there, such as
``frontends.cdp``, finds the socket in ``scope["extensions"][DIRECT]``.
"""

from __future__ import annotations

from typing import Final, Protocol

DIRECT: Final = "roost.direct"
"""The ASGI extension under which the server offers its sockets without a queue."""


class SocketEar(Protocol):
    """Receives what happens on a socket."""

    def said(self, message: str | bytes) -> None: ...

    def has_room(self) -> None:
        """The socket can be written to again."""

    def left(self) -> None:
        """The client has disconnected."""


class Socket(Protocol):
    """The open WebSocket of a client. No method waits."""

    @property
    def is_full(self) -> bool:
        """The client does not read: write nothing until ``SocketEar.has_room`` is called."""

    def listen(self, ear: SocketEar) -> None: ...

    def write(self, text: bytes) -> None: ...

    def hold(self) -> None:
        """Stop reading from the client until ``go_on``."""

    def go_on(self) -> None: ...
