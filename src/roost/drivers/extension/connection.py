"""Commands, replies and events of Roost's extension, over the link of a native host.

Every command to a page names its tab's handle as the session. The extension checks with each
command that the tab is in a managed group, and refuses it (``TabGone``) if not.
"""

from __future__ import annotations

from roost.drivers.connection import ProtocolError, SessionConnection
from roost.errors import TabGone

NO_SUCH_TAB = 404
# In these events a page chooses only an address and a title. The events say where a tab is, so none
# may be dropped.
PLAIN = tuple(
    b'{"method":"%s.' % of
    for of in (b"Page", b"Target", b"Browser", b"Tabs", b"Groups", b"Person", b"Downloads")
)


class ExtensionError(ProtocolError):
    """The extension refused a command."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ExtensionConnection(SessionConnection):
    """A connection to the extension in a Firefox. A call raises ``ExtensionError`` if the extension
    refuses the command, and ``TabGone`` if its tab is in no managed group."""

    pictures = frozenset({"Page.capture"})

    def _is_plain(self, frame: bytes) -> bool:
        return frame.startswith(PLAIN)

    def _refused(self, code: int, message: str) -> Exception:
        return no_tab() if code == NO_SUCH_TAB else ExtensionError(code, message)


def no_tab() -> TabGone:
    """Return the error for a tab that is in no managed group."""
    return TabGone("There is no such tab.")
