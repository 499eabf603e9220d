"""A session's browser over the browser's own protocol (CDP): what the broker gives a front end.

A CDP client takes a **seat** in one session. Through the seat, the client talks to the browser in a
browser-level protocol session of its own. The front end decides which commands the client may send.
The broker opens tabs, makes jars, checks addresses and files, and decides whose a tab is. It
reports a tab before the browser does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Protocol

Json = dict[str, Any]


class SeatEar(Protocol):
    """The events that a seat reports to its front end, in order."""

    def answered(self, key: Hashable, frame: bytes) -> None:
        """Receive the browser's response to the command that was sent with that key."""

    def heard(self, session: str, frame: bytes) -> None:
        """Receive a browser event of that protocol session."""

    def tab_came(self, target: str) -> bool:
        """A tab of the session exists now. Return True to hold its page until ``Seat.release``."""

    def tab_went(self, target: str) -> None:
        """The tab closed, or no longer belongs to the session."""

    def paused(self, is_paused: bool) -> None:
        """A person paused the session or handed it back."""

    def proxy_asked(self, context: str, site: str, challenge: str) -> bool:
        """The client's own proxy in that context wants a password before it leads to that site.

        Return whether the client was asked for it. Then ``Seat.give_proxy_password`` must follow.
        """

    def ended(self) -> None:
        """The session or its browser ended, so the front end must disconnect the client."""


class SeatChecks(Protocol):
    """The checks of a seat that a front end makes before it sends a command.

    The ``checked_`` methods raise a ``RoostError`` if the session may not use the argument.
    """

    def owns_frame(self, frame: str) -> bool:
        """Return whether that frame is in a tab of the session."""

    def own_proxy(self, context: str) -> str | None:
        """Return the address of the client's own proxy in that context, or None if it has none."""

    def checked_url(self, url: str) -> str:
        """Return the address as it may be opened in this session, or raise."""

    def checked_upload(self, path: str) -> str:
        """Return the path of a file that the session may read, or raise."""

    def checked_folder(self, path: str) -> str:
        """Return the path of a folder that the session may download to, or raise."""


class Seat(SeatChecks, Protocol):
    """One CDP client's place in a session. Every method raises a ``RoostError`` if it fails."""

    @property
    def root(self) -> str:
        """The client's own browser-level protocol session."""

    @property
    def context(self) -> str | None:
        """The browser's id of the session's jar.

        None: the browser's own jar, shared with others.
        """

    def show_tabs(self) -> None:
        """Report the tabs that already exist to the ``SeatEar``, once it is ready for them."""

    @property
    def unanswered_bytes(self) -> int:
        """Bytes of commands that the browser has not answered yet."""

    def touched(self) -> None:
        """Record that the client sent something: it is alive, and its cookies may have changed."""

    def used(self, target: str) -> None:
        """Record that the client used that tab."""

    def send(self, key: Hashable, method: str, params: Json, session: str = "") -> None:
        """Send a command in that protocol session (empty: ``root``).

        The front end has checked it before.
        """

    def release(self, target: str) -> None:
        """Let a page run that ``tab_came`` held."""

    def give_proxy_password(self, context: str | None, password: str | None) -> None:
        """Send that ``Proxy-Authorization`` header to the client's own proxy in that context.

        None: the client has no password for it.
        """

    async def open_tab(self, context: str | None) -> str:
        """Open a blank tab in that jar (None: the session's own) and return its target.

        The pool must admit the tab.
        """

    async def go_to(self, target: str, url: str) -> None:
        """Navigate a tab.

        The page's own events report how that ends; this method raises nothing.
        """

    async def close_tab(self, target: str) -> None: ...

    async def make_context(self, proxy: str | None) -> str:
        """Make an extra jar that is removed with this seat, and return the browser's id of it."""

    async def remove_context(self, context: str) -> None: ...

    async def use_clipboard(
        self, target: str, use: str, press: Callable[[bool], Awaitable[None]]
    ) -> None:
        """Copy, cut or paste in a tab, on the session's own clipboard.

        use: ``copy``, ``cut`` or ``paste``.
        press: presses the key, perhaps several times. True: the key was pressed before.
        """

    async def close(self) -> None:
        """Give up the seat, because the client has disconnected. Safe to call twice."""


class Look(Protocol):
    """A session's browser, seen without taking a seat. Notifies nobody and makes nothing."""

    async def version(self) -> Json:
        """Return the browser's own description of its version."""

    async def targets(self) -> list[Json]:
        """Return the session's tabs, as the browser describes them."""


class ProtocolDoor(Protocol):
    """Lets CDP clients in, by their session's token."""

    async def look(self, token: str) -> Look:
        """Return a ``Look`` at the token's session. Raises as ``take_seat`` does."""

    async def take_seat(self, token: str, ear: SeatEar) -> Seat:
        """Start the browser of the token's session if necessary, and return a seat there.

        Raises ``Unauthorized`` for an unknown token, ``Unsupported`` if the session's browser does
        not speak CDP.
        """
