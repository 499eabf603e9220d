"""Films of browsers that have no screencast: one screenshot after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from roost.drivers.base import FilmOptions, FilmPicture, Picture, Shot
from roost.errors import BrowserLost, RoostError, TabGone, Timeout

FIRST_SCALE = 0.25
"""The scale of the first screenshot, which tells how large the page is."""
SHOT_SECONDS = 10.0
"""Give up a screenshot that takes this long, for example of a window that draws nothing."""
RETRY_SECONDS = 1.0
"""Wait this long after a screenshot that failed, and between two equal ones."""


class RepeatedShots:
    """A film of one tab. See ``drivers.base.Film``.

    capture: takes a screenshot of the tab.
    miss: gets the reason why a screenshot cannot be taken now.
    """

    def __init__(
        self,
        capture: Callable[[Shot], Awaitable[Picture]],
        options: FilmOptions,
        show: Callable[[FilmPicture], None],
        miss: Callable[[RoostError], None] | None = None,
    ) -> None:
        self._capture = capture
        self._options = options
        self._show = show
        self._miss = miss
        self._loop = asyncio.get_running_loop()
        self._scale = FIRST_SCALE
        self._last = b""
        self._shown_at = 0.0
        self._is_wanted = True
        self._taking: asyncio.Task[None] | None = None
        self._timer = self._loop.call_soon(self._take)

    def go_on(self) -> None:
        if not self._is_wanted:
            self._is_wanted = True
            self._take_in(self._shown_at + self._options.interval - self._loop.time())

    def close(self) -> None:
        self._timer.cancel()
        if self._taking is not None:
            self._taking.cancel()

    def _take_in(self, seconds: float) -> None:
        self._timer = self._loop.call_later(max(0.0, seconds), self._take)

    def _take(self) -> None:
        self._taking = self._loop.create_task(self._shoot(), name="film")

    async def _shoot(self) -> None:
        try:
            shot = Shot(quality=self._options.quality, scale=self._scale)
            async with asyncio.timeout(SHOT_SECONDS):
                picture = await self._capture(shot)
        except (TabGone, BrowserLost):
            return
        except TimeoutError:
            self._missed(Timeout("The page has drawn nothing for a while."))
            return
        except RoostError as error:  # crashed, leaving, or a dialog is open
            self._missed(error)
            return
        if picture.data == self._last:
            self._take_in(max(self._options.interval, RETRY_SECONDS))
            return
        viewport = (picture.width / self._scale, picture.height / self._scale)
        self._last, self._is_wanted, self._shown_at = picture.data, False, self._loop.time()
        fits = (self._options.width / viewport[0], self._options.height / viewport[1])
        self._scale = min(1.0, *fits)
        self._show(FilmPicture(picture.data, viewport))

    def _missed(self, error: RoostError) -> None:
        """Say why there is no picture, and try again later."""
        self._last = b""  # show the next picture even if it is the same: it ends the reason
        if self._miss is not None:
            self._miss(error)
        self._take_in(RETRY_SECONDS)
