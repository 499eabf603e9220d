"""A film of one tab: a screencast in a protocol session of its own.

https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-startScreencast — Chromium sends
a picture when the page has changed, and the next one only after the last was acknowledged. The
session of its own keeps the film apart from the tab's commands and from other films.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Hashable
from typing import Any

from roost.drivers.base import FilmOptions, FilmPicture, ProtocolTap
from roost.errors import BrowserLost, TabGone
from roost.vocabulary import TabHandle

_PICTURE = b'{"method":"Page.screencastFrame",'
_ATTACH, _START, _UNHEARD = "attach", "start", "unheard"
SLOW_SECONDS = 0.5
"""A film with at least this much time between two pictures is slow. Its screencast stops in
between, so that Chromium draws no pictures that are not shown."""


class Screencast:
    """A film (``drivers.base.Film``) that is the ear of its own tap.

    end: closes the tap.
    """

    def __init__(
        self,
        options: FilmOptions,
        show: Callable[[FilmPicture], None],
        end: Callable[[ProtocolTap], None],
    ) -> None:
        self._options = options
        self._show = show
        self._end = end
        self._tap: ProtocolTap | None = None
        self._loop = asyncio.get_running_loop()
        self._answers: dict[Hashable, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self._unacknowledged: list[int] = []
        """Chromium's numbers of the pictures that came. Until they are acknowledged, Chromium sends
        one or two more and then waits."""
        self._is_wanted = True
        self._held: FilmPicture | None = None
        """The newest picture that came before it was wanted."""
        self._shown_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._is_moving = False
        """The page changed again before the next slow picture was wanted."""
        self._is_stopped = False
        """The screencast of a page that is always moving is stopped between two slow pictures."""
        self._last = b""
        self._screencast = {
            "format": "jpeg",
            "quality": options.quality,
            "maxWidth": options.width,
            "maxHeight": options.height,
        }

    async def begin(self, tap: ProtocolTap, tab: TabHandle) -> None:
        """Attach to the tab and start the screencast. Raises ``TabGone`` if the tab is gone."""
        self._tap = tap
        attached = await self._ask(_ATTACH, "Target.attachToTarget", targetId=tab, flatten=True)
        self._session = str(attached["sessionId"])
        await self._ask(_START, "Page.startScreencast", **self._screencast)

    def go_on(self) -> None:
        if not self._is_wanted and self._timer is None:
            wait = self._shown_at + self._options.interval - self._loop.time()
            self._timer = self._loop.call_later(max(0.0, wait), self._show_next)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        tap, self._tap = self._tap, None
        if tap is not None:
            self._end(tap)

    # --- what the tap says ---------------------------------------------------------------------

    def answered(self, key: Hashable, frame: bytes) -> None:
        waiting = self._answers.pop(key, None)
        if waiting is None or waiting.done():
            return
        answer = json.loads(frame)
        if "error" in answer:
            waiting.set_exception(TabGone("There is no such tab."))
        else:
            waiting.set_result(answer["result"])

    def heard(self, session: str, frame: bytes) -> None:
        if session != self._session or not frame.startswith(_PICTURE) or self._tap is None:
            return
        params = json.loads(frame)["params"]
        self._unacknowledged.append(params["sessionId"])
        metadata = params["metadata"]
        viewport = (float(metadata["deviceWidth"]), float(metadata["deviceHeight"]))
        self._held = FilmPicture(base64.b64decode(params["data"]), viewport)
        if self._is_wanted and self._is_moving and self._held.data == self._last:
            self._is_moving, self._held = False, None  # the page stands still: wait for a change
            self._acknowledge()
            return
        is_unwanted = not self._is_wanted
        if self._is_wanted:
            self._show_held()
        # Each picture of a moving page costs the browser as much as drawing it, so stop after one.
        if self._options.interval >= SLOW_SECONDS and (is_unwanted or self._is_moving):
            self._is_moving = True
            self._stop()

    def ended(self) -> None:
        self._tap = None
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(BrowserLost("The browser ended."))

    def _ask(self, key: str, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        waiting = self._answers[key] = self._loop.create_future()
        if self._tap is None:
            waiting.set_exception(BrowserLost("The browser ended."))
        else:
            self._tap.send(key, method, params, self._session)
        return waiting

    def _show_next(self) -> None:
        """Show the picture that came meanwhile, or the next one, and let Chromium send more."""
        self._timer, self._is_wanted = None, True
        if self._is_stopped:  # what is held is old; a new screencast begins with a picture
            self._is_stopped, self._held = False, None
            self._unacknowledged.clear()
            self._send("Page.startScreencast", self._screencast)
            return
        if self._held is not None:
            self._show_held()
        self._acknowledge()

    def _acknowledge(self) -> None:
        numbers, self._unacknowledged = self._unacknowledged, []
        for number in numbers:
            self._send("Page.screencastFrameAck", {"sessionId": number})

    def _stop(self) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._send("Page.stopScreencast", {})

    def _send(self, method: str, params: dict[str, Any]) -> None:
        """Send a command whose answer does not matter."""
        if self._tap is not None:
            self._tap.send(_UNHEARD, method, params, self._session)

    def _show_held(self) -> None:
        picture, self._held = self._held, None
        self._is_wanted, self._shown_at = False, self._loop.time()
        assert picture is not None
        self._last = picture.data
        self._show(picture)
