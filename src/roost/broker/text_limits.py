"""How much Roost keeps of what a page says.

A page chooses how long its address, its title and its messages are. ``shortened`` cuts every report
of a driver as it enters the broker. Everything behind it (rows, journal, records, notices, panels,
audit trail, replies) holds and redacts short text only.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core.addresses import short_address
from roost.drivers.base import (
    ConsoleSaid,
    DialogOpened,
    DownloadBegan,
    DriverEvent,
    RequestEnded,
    RequestSent,
    TabAppeared,
    TabArrived,
)

TITLE_CHARS = 1000
CONSOLE_CHARS = 5000
DIALOG_CHARS = 2000
LOGGED_ADDRESS_CHARS = 4000
"""Addresses of requests, scripts and downloads. Nobody opens them again."""
FILE_NAME_CHARS = 1000
WORD_CHARS = 200
"""Methods, content types, reasons: one word or a few."""


def whole(text: str) -> str:
    """A page's text as journal and replies can hold it: pages make halves of surrogate pairs."""
    return text.encode(errors="replace").decode()


def short_title(text: str) -> str:
    """A page's title as rows and replies hold it."""
    return whole(text[:TITLE_CHARS])


def short_url(url: str) -> str:
    """A page's address as rows and replies hold it."""
    return whole(short_address(url))


def shortened(event: DriverEvent) -> DriverEvent:
    """The report with everything in it that a page or a server worded cut to its limit."""
    match event:
        case TabArrived():
            return TabArrived(event.handle, short_url(event.url), short_title(event.title))
        case TabAppeared():
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
        case DialogOpened():
            message, default = event.message[:DIALOG_CHARS], event.default[:DIALOG_CHARS]
            return replace(event, message=message, default=default)
        case DownloadBegan():
            return replace(event, url=_logged(event.url), name=_short_name(event.name))
    return event


def _logged(url: str) -> str:
    return short_address(url, LOGGED_ADDRESS_CHARS)


def _short_name(name: str) -> str:
    """The start and the end: the end of a file's name says what kind of file it is."""
    if len(name) <= FILE_NAME_CHARS:
        return name
    half = FILE_NAME_CHARS // 2
    return name[:half] + name[-half:]
