"""Commands, replies and events of the DevTools protocol over one link.

https://chromedevtools.github.io/devtools-protocol/ — protocol sessions are flat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from roost.drivers.chromium.taps import Taps
from roost.drivers.connection import Json, ProtocolError, SessionConnection
from roost.drivers.link import Link

logger = logging.getLogger(__name__)
# In these events a page chooses only an address, of up to two megabytes. The events say where a tab
# is, so none may be dropped.
PLAIN = (b'{"method":"Page.', b'{"method":"Target.', b'{"method":"Browser.')


class CdpError(ProtocolError):
    """Chromium refused a command."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CdpConnection(SessionConnection):
    """A connection to one Chromium. A call raises ``CdpError`` if Chromium refuses the command,
    ``TabGone`` if its session ends first, and ``BrowserLost`` if the browser ends first."""

    pictures = frozenset({"Page.captureScreenshot", "Network.getResponseBody"})
    inventories = frozenset({"Target.getTargets", "Page.getFrameTree"})

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self.taps = Taps(self._pass)
        super().__init__(link, on_word, on_end)

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

    def _refused(self, code: int, message: str) -> Exception:
        return CdpError(code, message)
