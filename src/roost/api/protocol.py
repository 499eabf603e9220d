"""A session's browser in the browser's own protocol: what a front end gets from the broker for it.

A client takes a **seat** in one session. Through it, it speaks with the browser under a
browser-level session of its own, and asks the broker for what only the broker may do: tabs, jars,
addresses and files. What the client may say in the protocol is the front end's to judge; whose a
tab is, the broker says, and says it before the browser does.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

Json = dict[str, Any]


class SeatEar(Protocol):
    """What a front end hears at a seat, in order."""

    def answered(self, key: Hashable, frame: bytes) -> None:
        """The browser's answer to the command that was sent with that key."""

    def heard(self, session: str, frame: bytes) -> None:
        """The browser's event in that protocol session."""

    def tab_came(self, target: str) -> bool:
        """A tab of the session is there. True: it must not run before it is released."""

    def tab_went(self, target: str) -> None:
        """It is closed, or no longer the session's."""

    def paused(self, is_paused: bool) -> None:
        """A person has taken the session over, or given it back."""

    def ended(self) -> None:
        """The session or its browser is over: hang up."""


class Seat(Protocol):
    """One client's place in a session. Whatever fails raises a ``RoostError``."""

    @property
    def root(self) -> str:
        """The protocol session of the client itself."""

    @property
    def context(self) -> str | None:
        """The browser's name for the session's jar. None: the browser's own, shared with others."""

    def show_tabs(self) -> None:
        """Tell ``SeatEar`` of the tabs that are there: it is ready to hear of them."""

    @property
    def unanswered_bytes(self) -> int:
        """How much the browser was sent that it has not answered yet."""

    def touched(self) -> None:
        """The client has said something."""

    def used(self, target: str) -> None:
        """What it said was for that tab."""

    def send(self, key: Hashable, method: str, params: Json, session: str = "") -> None:
        """A command in that protocol session (empty: ``root``). It must have been judged."""

    def release(self, target: str) -> None:
        """Let a tab run that ``tab_came`` held."""

    def owns_frame(self, frame: str) -> bool:
        """Whether that frame is in a tab of the session."""

    def checked_url(self, url: str) -> str:
        """The address as it may be opened in this session."""

    def checked_upload(self, path: str) -> str:
        """A file the session may read."""

    def checked_folder(self, path: str) -> str:
        """A folder the session's downloads may go to."""

    async def open_tab(self, context: str | None) -> str:
        """A blank tab, admitted by the pool, in that jar (None: the session's); its target."""

    async def go_to(self, target: str, url: str) -> None:
        """Send a tab there. What comes of it, its page tells."""

    async def close_tab(self, target: str) -> None: ...

    async def make_context(self, proxy: str | None) -> str:
        """A jar beside the session's; it goes with this seat."""

    async def remove_context(self, context: str) -> None: ...

    async def close(self) -> None:
        """The client has gone. Safe to call twice."""


class Look(Protocol):
    """A session's browser, looked at without taking a seat: nobody is told, nothing is made."""

    async def version(self) -> Json:
        """What browser it is, as it says itself."""

    async def targets(self) -> list[Json]:
        """The session's tabs, as the browser describes them."""


class ProtocolDoor(Protocol):
    async def look(self, token: str) -> Look:
        """For the session that token is good for; raises what ``take_seat`` does."""

    async def take_seat(self, token: str, ear: SeatEar) -> Seat:
        """A seat in the session that token is good for: its browser runs.
        ``Unauthorized`` for a token that is nobody's, ``Unsupported`` where the
        session's browser does not speak the protocol."""
