"""Commands, replies and events of WebDriver BiDi over one link.

https://w3c.github.io/webdriver-bidi/ — one connection serves all contexts. Firefox works on
commands at the same time: what must happen in order has to be awaited in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roost.drivers.exchange import Exchange, Json, Pending, too_much, unheard
from roost.drivers.link import Link

__all__ = ["NOBODY", "BidiConnection", "BidiError", "Json", "Pending"]

NOBODY = ""
PASSED_OVER = "too large"
"""The keeper's answer for one that is above the limit of a link (``link.websocket``)."""
# In these a page chooses an address, and nothing else. They say where a tab is, so none of them
# may be dropped.
_PLAIN = b'{"type":"event","method":"browsingContext.'


class BidiError(Exception):
    """Firefox's own answer that it will not. ``code`` is the protocol's word for why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message.removeprefix("Error: ") or code)
        self.code = code

    @property
    def is_document_gone(self) -> bool:
        """The document the command ran in went away under it, or its context did.

        Firefox shows its own page about a crash in the browser's process, where no script may run.
        It refuses scripts there before it says that the page's process died.
        """
        is_crash_page = self.code == "unsupported operation" and "parent process" in str(self)
        return self.code == "no such frame" or is_crash_page


class BidiConnection(Exchange):
    """Calls fail with ``BidiError`` when Firefox refuses them, with their owner's error when that
    ends first, with ``BrowserLost`` when the browser does. ``on_event`` hears all events, once it
    is known which tabs they may be about (``release``)."""

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
        """Send a command; await what comes back. ``owner`` is the tab it dies with."""
        return self._ask(method, {"params": params or {}}, owner)

    def tell(self, method: str, params: Json | None = None, owner: str = NOBODY) -> None:
        """Send a command nobody waits for; a refusal is only logged."""
        self.call(method, params, owner).add_done_callback(unheard)

    def held(self, method: str) -> list[Json]:
        """What such events said that are held back."""
        return [one["params"] for one in self._held or [] if one["method"] == method]

    def release(self) -> None:
        """Tell what was held back, and everything from now on at once."""
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
