"""Limits on the length of text that pages choose.

A page chooses how long its address, its title and its messages are. ``shortened`` cuts that text in
every driver event as it enters the broker, so everything after it (rows, journal, records, notices,
panels, audit trail, replies) stores and redacts short text only.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core.addresses import short_address
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


def whole(text: str) -> str:
    """Replace lone surrogates, which pages can produce and UTF-8 cannot encode, by ``?``."""
    return text.encode(errors="replace").decode()


def short_title(text: str) -> str:
    """Cut a page's title to the length that rows and replies hold."""
    return whole(text[:TITLE_CHARS])


def short_url(url: str) -> str:
    """Cut a page's address to the length that rows and replies hold."""
    return whole(short_address(url))


def shortened(event: DriverEvent) -> DriverEvent:
    """Return the event with all text that a page or a server chose cut to its limit."""
    match event:
        case TabNavigated():
            return TabNavigated(event.handle, short_url(event.url), short_title(event.title))
        case TabOpened():
            return replace(event, url=short_url(event.url))
        case RequestSent():
            if len(event.url) > LOGGED_ADDRESS_CHARS or len(event.method) > WORD_CHARS:
                return replace(event, url=_logged(event.url), method=event.method[:WORD_CHARS])
        case RequestEnded():
            if len(event.mime_type or "") > WORD_CHARS or len(event.error or "") > WORD_CHARS:
                mime_type = None if event.mime_type is None else event.mime_type[:WORD_CHARS]
                error = None if event.error is None else event.error[:WORD_CHARS]
                return replace(event, mime_type=mime_type, error=error)
        case ConsoleSaid():
            if len(event.text) > CONSOLE_CHARS or len(event.url) > LOGGED_ADDRESS_CHARS:
                return replace(event, text=event.text[:CONSOLE_CHARS], url=_logged(event.url))
        case MessageSeen():
            text = event.text[:MESSAGE_CHARS]
            return replace(event, text=text, url=_logged(event.url), name=event.name[:WORD_CHARS])
        case DialogOpened():
            message, default = event.message[:DIALOG_CHARS], event.default[:DIALOG_CHARS]
            return replace(event, message=message, default=default)
        case DownloadBegan():
            return replace(event, url=_logged(event.url), name=_short_name(event.name))
    return event


def _logged(url: str) -> str:
    return short_address(url, LOGGED_ADDRESS_CHARS)


def _short_name(name: str) -> str:
    """Cut the middle out of a long file name, because its end says what kind of file it is."""
    if len(name) <= FILE_NAME_CHARS:
        return name
    half = FILE_NAME_CHARS // 2
    return name[:half] + name[-half:]
