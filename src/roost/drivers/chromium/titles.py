"""Read a tab's title from Chromium's main process, without running a script in the page."""

from __future__ import annotations

import re
from urllib.parse import unquote

from roost.drivers.base import FAILED_TITLE
from roost.drivers.chromium.connection import Json
from roost.drivers.chromium.frames import Frame

TITLE_CHARS = 4096
"""Chromium cuts longer titles, and longer addresses that it shows as titles."""
_SCHEME = re.compile(r"^https?://([^/?#@]*@)?")


def title_of(frame: Frame, info: Json) -> str:
    """Return the title from a ``targetInfo``. ``frame``: the main frame of that tab."""
    if frame.is_error:
        return FAILED_TITLE
    title = str(info["title"])
    return "" if _is_address(title, frame.url) else title


def _is_address(title: str, url: str) -> bool:
    """Return True if the title is only the address, which Chromium shows for untitled pages."""
    shown = unquote(url[: 9 * len(title) + 100])
    forms = (shown, _SCHEME.sub("", shown, count=1))
    if len(title) >= TITLE_CHARS:
        return any(form.startswith(title) for form in forms)
    return title.rstrip("/") in {form.rstrip("/") for form in forms}
