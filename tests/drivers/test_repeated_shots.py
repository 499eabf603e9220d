"""Films made of single screenshots (``roost.drivers.repeated_shots``)."""

from __future__ import annotations

import asyncio

import pytest

from roost.drivers import repeated_shots
from roost.drivers.base import FilmOptions, FilmPicture, Picture, Shot
from roost.drivers.repeated_shots import FIRST_SCALE, RepeatedShots
from roost.errors import RoostError, TabCrashed, TabGone, Timeout
from roost.testing.waits import until

OPTIONS = FilmOptions(width=320, height=240, interval=0.0)


class Tab:
    """A tab of 1280 × 800 whose screenshots are its ``looks``, or fail with ``error``."""

    def __init__(self) -> None:
        self.looks = b"first"
        self.error: RoostError | None = None
        self.shots: list[Shot] = []

    async def capture(self, shot: Shot) -> Picture:
        self.shots.append(shot)
        if self.error is not None:
            raise self.error
        return Picture(self.looks, "image/jpeg", int(1280 * shot.scale), int(800 * shot.scale))


async def test_the_second_picture_has_the_asked_size() -> None:
    tab, pictures = Tab(), asyncio.Queue[FilmPicture]()
    film = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait)
    first = await pictures.get()
    assert first.viewport == (1280, 800)
    tab.looks = b"second"
    film.go_on()
    assert (await pictures.get()).data == b"second"
    assert [shot.scale for shot in tab.shots] == [FIRST_SCALE, 0.25]
    film.close()


async def test_no_screenshot_is_taken_before_the_last_picture_was_drawn() -> None:
    tab, pictures = Tab(), asyncio.Queue[FilmPicture]()
    film = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait)
    await pictures.get()
    other = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait)
    await pictures.get()
    assert len(tab.shots) == 2
    film.close()
    other.close()


async def test_a_tab_that_cannot_be_pictured_now_is_tried_again() -> None:
    tab, pictures = Tab(), asyncio.Queue[FilmPicture]()
    tab.error = TabCrashed("crashed")
    misses: list[RoostError] = []
    film = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait, misses.append)
    await until(lambda: misses)
    assert misses == [tab.error]
    tab.error = None
    assert (await pictures.get()).data == b"first"
    film.close()


async def test_a_tab_that_draws_nothing_is_given_up_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeated_shots, "SHOT_SECONDS", 0.0)
    misses: asyncio.Queue[RoostError] = asyncio.Queue()

    async def hang(shot: Shot) -> Picture:
        await asyncio.Event().wait()
        raise AssertionError

    film = RepeatedShots(hang, OPTIONS, lambda picture: None, misses.put_nowait)
    assert isinstance(await misses.get(), Timeout)
    film.close()


async def test_a_picture_that_is_the_same_after_a_miss_is_shown_again() -> None:
    tab, pictures = Tab(), asyncio.Queue[FilmPicture]()
    misses: asyncio.Queue[RoostError] = asyncio.Queue()
    film = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait, misses.put_nowait)
    first = await pictures.get()
    tab.error = TabCrashed("crashed")
    film.go_on()
    await misses.get()
    tab.error = None
    assert (await pictures.get()).data == first.data
    film.close()


async def test_a_film_ends_with_its_tab() -> None:
    tab, pictures = Tab(), asyncio.Queue[FilmPicture]()
    tab.error = TabGone("closed")
    film = RepeatedShots(tab.capture, OPTIONS, pictures.put_nowait)
    await until(lambda: film._taking is not None and film._taking.done())
    film.go_on()
    assert len(tab.shots) == 1
    film.close()
