"""Commands, replies and events of the DevTools protocol over one link.

https://chromedevtools.github.io/devtools-protocol/ — sessions are flat: every message names the
session it belongs to, the browser itself being the empty one. A command dies with its session.
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
"""How a keeper begins its answer for one that is above the limit of a link (``keeper.wires``)."""
# In these a page chooses an address of up to two megabytes, and nothing else. They say where a tab
# is, so none of them may be dropped.
PLAIN = (b'{"method":"Page.', b'{"method":"Target.', b'{"method":"Browser.')


class CdpError(Exception):
    """Chromium's own answer that it will not."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CdpConnection(Exchange):
    """Calls fail with ``CdpError`` when Chromium refuses them, ``TabGone`` when their session ends
    first, ``BrowserLost`` when the browser does."""

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
        """Send a command; await what comes back."""
        rest: Json = {}
        if session:
            rest["sessionId"] = session
        if params:
            rest["params"] = params
        return self._ask(method, rest, session)

    def tell(self, method: str, params: Json | None = None, session: str = BROWSER) -> None:
        """Send a command nobody waits for; a refusal is only logged."""
        self.call(method, params, session).add_done_callback(unheard)

    def on_event(self, session: str, handler: Handler) -> None:
        self._handlers[session] = handler

    def end_session(self, session: str, error: RoostError | None = None) -> None:
        """The session is gone: whoever waits on it is told."""
        self._handlers.pop(session, None)
        self.fail(session, error or TabGone("The tab was closed."))

    def interrupt(self, session: str, error: RoostError) -> None:
        """Answer every call of a session that lives on (its page crashed)."""
        self.fail(session, error)

    def _pass(self, method: str, session: str, params: Json) -> tuple[int, int]:
        """Send a command whose answer goes to a tap: its id and size."""
        call = self._pending.mint()
        return call, self._write(call, method, {"sessionId": session, "params": params})

    def _received(self, frame: bytes) -> None:
        try:
            is_taken = self.taps.take(frame)
        except Exception:
            # One client that does not understand its frame must not end the link of all. Of the
            # frame only its name or id is logged: the rest is what pages say, secrets included.
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
