"""Limits on the length of text that pages choose.

A page chooses how long its address, its title and its messages are. ``TextLimits`` cuts that text
in every driver event as it enters the broker, so everything after it (rows, journal, records,
notices, panels, audit trail, replies) stores and redacts short text only. No cut goes through a
secret of the person, because half a secret would not be recognised and redacted later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from roost.core.addresses import ADDRESS_CHARS, short_address
from roost.drivers.events import (
    ConsoleSaid,
    DialogOpened,
    DownloadBegan,
    DriverEvent,
    MessageSeen,
    RequestEnded,
    RequestSent,
    TabNavigated,
    TabOpened,
)

TITLE_CHARS = 1000
CONSOLE_CHARS = 5000
DIALOG_CHARS = 2000
MESSAGE_CHARS = 5000
LOGGED_ADDRESS_CHARS = 4000
"""Limit for addresses of requests, scripts and downloads, which Roost never opens again."""
FILE_NAME_CHARS = 1000
WORD_CHARS = 200
"""Limit for request methods, content types and error reasons."""


Cut = Callable[[str, int], str]
"""Returns the start of a text, with at most so many characters."""


def whole(text: str) -> str:
    """Replace lone surrogates, which pages can produce and UTF-8 cannot encode, by ``?``."""
    return text.encode(errors="replace").decode()


class TextLimits:
    """Cuts text that pages choose.

    cut: cuts one text, and no secret in two (``Redactor.cut``).
    """

    def __init__(self, cut: Cut) -> None:
        self.cut = cut

    def title(self, text: str) -> str:
        """Cut a page's title to the length that rows and replies hold."""
        return whole(self.cut(text, TITLE_CHARS))

    def url(self, url: str, limit: int = ADDRESS_CHARS) -> str:
        """Cut a page's address to the length that rows and replies hold."""
        if len(url) > limit:
            url = short_address(url, len(self.cut(url, limit)))
        return whole(url)

    def shortened(self, event: DriverEvent) -> DriverEvent:
        """Return the event with all text that a page or a server chose cut to its limit."""
        cut = self.cut
        match event:
            case TabNavigated():
                return TabNavigated(event.handle, self.url(event.url), self.title(event.title))
            case TabOpened():
                return replace(event, url=self.url(event.url))
            case RequestSent():
                if len(event.url) > LOGGED_ADDRESS_CHARS or len(event.method) > WORD_CHARS:
                    method = cut(event.method, WORD_CHARS)
                    return replace(event, url=self._logged(event.url), method=method)
            case RequestEnded():
                if len(event.mime_type or "") > WORD_CHARS or len(event.error or "") > WORD_CHARS:
                    mime_type = (
                        None if event.mime_type is None else cut(event.mime_type, WORD_CHARS)
                    )
                    error = None if event.error is None else cut(event.error, WORD_CHARS)
                    return replace(event, mime_type=mime_type, error=error)
            case ConsoleSaid():
                if len(event.text) > CONSOLE_CHARS or len(event.url) > LOGGED_ADDRESS_CHARS:
                    text = cut(event.text, CONSOLE_CHARS)
                    return replace(event, text=text, url=self._logged(event.url))
            case MessageSeen():
                text, name = cut(event.text, MESSAGE_CHARS), cut(event.name, WORD_CHARS)
                return replace(event, text=text, url=self._logged(event.url), name=name)
            case DialogOpened():
                message, default = (
                    cut(event.message, DIALOG_CHARS),
                    cut(event.default, DIALOG_CHARS),
                )
                return replace(event, message=message, default=default)
            case DownloadBegan():
                return replace(event, url=self._logged(event.url), name=_short_name(event.name))
        return event

    def _logged(self, url: str) -> str:
        return self.url(url, LOGGED_ADDRESS_CHARS)


def _short_name(name: str) -> str:
    """Cut the middle out of a long file name, because its end says what kind of file it is."""
    if len(name) <= FILE_NAME_CHARS:
        return name
    half = FILE_NAME_CHARS // 2
    return name[:half] + name[-half:]
