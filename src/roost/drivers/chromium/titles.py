"""The title of a tab, as Chromium's main process knows it: no page is asked for its own."""

from __future__ import annotations

import re
from urllib.parse import unquote

from roost.drivers.base import FAILED_TITLE
from roost.drivers.chromium.connection import Json
from roost.drivers.chromium.frames import Frame

TITLE_CHARS = 4096
"""Chromium cuts longer titles, and addresses that stand in for one."""
_SCHEME = re.compile(r"^https?://([^/?#@]*@)?")


def title_of(frame: Frame, info: Json) -> str:
    """The title in a ``targetInfo`` of the tab whose main frame that is."""
    if frame.is_error:
        return FAILED_TITLE
    title = str(info["title"])
    return "" if _is_address(title, frame.url) else title


def _is_address(title: str, url: str) -> bool:
    """Whether Chromium shows the address, without its scheme, because the page has no title."""
    shown = unquote(url[: 9 * len(title) + 100])
    forms = (shown, _SCHEME.sub("", shown, count=1))
    if len(title) >= TITLE_CHARS:
        return any(form.startswith(title) for form in forms)
    return title.rstrip("/") in {form.rstrip("/") for form in forms}
