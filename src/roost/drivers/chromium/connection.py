"""Commands, replies and events of the DevTools protocol over one link.

https://chromedevtools.github.io/devtools-protocol/ — protocol sessions are flat: every message
names its session, and messages of the browser itself name none. When a session ends, its pending
commands fail.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from roost.drivers.chromium.taps import Taps
from roost.drivers.exchange import Exchange, Json, Pending, too_much, unheard
from roost.drivers.link import Link
from roost.errors import RoostError, TabGone

__all__ = ["BROWSER", "CdpConnection", "CdpError", "Handler", "Json", "Pending"]

logger = logging.getLogger(__name__)
Handler = Callable[[str, Json], None]
BROWSER = ""
PASSED_OVER = "larger than "
"""How an error begins that the keeper sends in place of a too large reply (``keeper/wires.py``)."""
# In these events a page chooses only an address, of up to two megabytes. The events say where a tab
# is, so none may be dropped.
PLAIN = (b'{"method":"Page.', b'{"method":"Target.', b'{"method":"Browser.')


class CdpError(Exception):
    """Chromium refused a command."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CdpConnection(Exchange):
    """A connection to one Chromium. A call raises ``CdpError`` if Chromium refuses the command,
    ``TabGone`` if its session ends first, and ``BrowserLost`` if the browser ends first."""

    pictures = frozenset({"Page.captureScreenshot", "Network.getResponseBody"})
    inventories = frozenset({"Target.getTargets", "Page.getFrameTree"})

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self._handlers: dict[str, Handler] = {}
        super().__init__(link, on_word, on_end)
        self.taps = Taps(self._pass)
        self.begin()

    def call(self, method: str, params: Json | None = None, session: str = BROWSER) -> Pending:
        """Send a command and return a future for its reply."""
        rest: Json = {}
        if session:
            rest["sessionId"] = session
        if params:
            rest["params"] = params
        return self._ask(method, rest, session)

    def tell(self, method: str, params: Json | None = None, session: str = BROWSER) -> None:
        """Send a command without waiting for its reply. An error is only logged."""
        self.call(method, params, session).add_done_callback(unheard)

    def on_event(self, session: str, handler: Handler) -> None:
        self._handlers[session] = handler

    def end_session(self, session: str, error: RoostError | None = None) -> None:
        """Fail all pending calls of a session that ended, and drop its handler."""
        self._handlers.pop(session, None)
        self.fail(session, error or TabGone("The tab was closed."))

    def interrupt(self, session: str, error: RoostError) -> None:
        """Fail all pending calls of a session that continues, because its page crashed."""
        self.fail(session, error)

    def _pass(self, method: str, session: str, params: Json) -> tuple[int, int]:
        """Send a command whose reply goes to a tap. Return the command's id and size."""
        call = self._pending.mint()
        return call, self._write(call, method, {"sessionId": session, "params": params})

    def _received(self, frame: bytes) -> None:
        try:
            is_taken = self.taps.take(frame)
        except Exception:
            # A client's error must not end the link that all tabs share. Log only the frame's
            # method or id: the rest comes from pages and may contain secrets.
            logger.exception("a protocol client failed at %.100s", frame.partition(b",")[0])
            return
        if not is_taken:
            super()._received(frame)

    def _ended(self) -> None:
        self.taps.end()
        super()._ended()

    def _is_plain(self, frame: bytes) -> bool:
        return frame.startswith(PLAIN)

    def _heard(self, message: Json) -> None:
        handler = self._handlers.get(message.get("sessionId", BROWSER))
        if handler is not None:
            handler(message["method"], message.get("params", {}))

    def _refusal(self, message: Json) -> Exception | None:
        error = message.get("error")
        if error is None:
            return None
        if str(error.get("message")).startswith(PASSED_OVER):
            return too_much(f"it is {error['message']}")
        return CdpError(error.get("code", 0), error.get("message", ""))
