"""Commands, replies and events of WebDriver BiDi over one link.

https://w3c.github.io/webdriver-bidi/ — one connection serves all contexts. Firefox runs commands
concurrently, so commands that must run in order have to be awaited one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roost.drivers.connection import (
    Connection,
    Json,
    Pending,
    ProtocolError,
    log_failure,
    too_much,
)
from roost.drivers.link import Link

NOBODY = ""
PASSED_OVER = "too large"
"""The error that the keeper sends in place of a too large reply (``link/websocket.py``)."""
# In these events a page chooses only an address. The events say where a tab is, so none may be
# dropped.
_PLAIN = b'{"type":"event","method":"browsingContext.'


class BidiError(ProtocolError):
    """Firefox refused a command. ``code`` is the protocol's error code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message.removeprefix("Error: ") or code)
        self.code = code

    @property
    def is_document_gone(self) -> bool:
        """True if the command's document or context went away while the command ran.

        Firefox shows its crash page in the browser's own process, where no script may run. It
        refuses scripts there before it reports that the page's process died.
        """
        is_crash_page = self.code == "unsupported operation" and "parent process" in str(self)
        return self.code == "no such frame" or is_crash_page


class BidiConnection(Connection):
    """A connection to one Firefox. A call raises ``BidiError`` if Firefox refuses the command, the
    owner's error if its owner ends first, and ``BrowserLost`` if the browser ends first.

    ``on_event`` gets all events. They are held back until ``release``, when all tabs are known.
    """

    pictures = frozenset(
        {"browsingContext.captureScreenshot", "browsingContext.print", "network.getData"}
    )
    inventories = frozenset({"browsingContext.getTree"})

    def __init__(
        self,
        link: Link,
        on_word: Callable[[str, Any], None],
        on_end: Callable[[], None],
        on_event: Callable[[str, Json], None],
    ) -> None:
        self._on_event = on_event
        self._held: list[Json] | None = []
        super().__init__(link, on_word, on_end)

    def call(self, method: str, params: Json | None = None, owner: str = NOBODY) -> Pending:
        """Send a command and return a future for its reply. The call fails if ``owner`` ends."""
        return self._ask(method, {"params": params or {}}, owner)

    def tell(self, method: str, params: Json | None = None, owner: str = NOBODY) -> None:
        """Send a command without waiting for its reply. An error is only logged."""
        self.call(method, params, owner).add_done_callback(log_failure)

    def held(self, method: str) -> list[Json]:
        """Return the parameters of the held back events of that method."""
        return [one["params"] for one in self._held or [] if one["method"] == method]

    def release(self) -> None:
        """Deliver the held back events, and from now on deliver each event at once."""
        held, self._held = self._held or [], None
        for message in held:
            self._hear(message)

    def _heard(self, message: Json) -> None:
        if self._held is not None:
            self._held.append(message)
            return
        self._on_event(message["method"], message["params"])

    def _is_plain(self, frame: bytes) -> bool:
        return frame.startswith(_PLAIN)

    def _refusal(self, message: Json) -> Exception | None:
        if message["type"] == "success":
            return None
        if message["error"] == PASSED_OVER:
            return too_much(f"it is {message['message']}")
        return BidiError(message["error"], message["message"])
