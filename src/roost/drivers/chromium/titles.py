"""Read a tab's title from Chromium's main process, without running a script in the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from roost.drivers.base import FAILED_TITLE
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.frames import Frame, Frames
from roost.drivers.connection import Json, Pending

TITLE_CHARS = 4096
"""Chromium cuts longer titles, and longer addresses that it shows as titles."""
_SCHEME = re.compile(r"^https?://([^/?#@]*@)?")


class Title:
    """The title of one tab. ``changed`` is called when a title that ``ask`` asked for is new."""

    def __init__(
        self, cdp: CdpConnection, session: str, frames: Frames, changed: Callable[[], None]
    ) -> None:
        self.text = ""
        self._cdp = cdp
        self._session = session
        self._frames = frames
        self._changed = changed

    async def read(self) -> None:
        self._take(await self._target_info())

    def ask(self) -> None:
        """Ask for the title without waiting for it."""
        self._target_info().add_done_callback(self._learn)

    def _target_info(self) -> Pending:
        """Ask Chromium's main process, which answers even if the page is busy. It cuts titles."""
        return self._cdp.call("Target.getTargetInfo", None, self._session)

    def _learn(self, answer: Pending) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        before = self.text
        self._take(answer.result())
        if self.text != before:
            self._changed()

    def _take(self, answer: Json) -> None:
        main = self._frames.get(None)
        if main is not None:
            self.text = title_of(main, answer["targetInfo"])


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
