"""What a film asks Chromium for (``roost.drivers.chromium.film``), against a scripted tap."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Any

from roost.drivers.base import FilmOptions
from roost.drivers.chromium.film import Screencast
from roost.testing.waits import until
from roost.vocabulary import TabHandle

SLOW = FilmOptions(width=400, height=300, interval=0.5)
FAST = FilmOptions(width=400, height=300, interval=0.0)
START, STOP, ACK = "Page.startScreencast", "Page.stopScreencast", "Page.screencastFrameAck"


class Chromium:
    """Answers a film's commands at once, and notes them. ``draw`` sends a picture."""

    session = "tap"
    unanswered_bytes = 0

    def __init__(self, options: FilmOptions) -> None:
        self.asked: list[str] = []
        self.shown: list[bytes] = []
        self.film = Screencast(options, lambda one: self.shown.append(one.data), lambda tap: None)

    def send(self, key: Hashable, method: str, params: dict[str, Any], session: str = "") -> None:
        self.asked.append(method)
        self.film.answered(key, json.dumps({"result": {"sessionId": "page"}}).encode())

    def draw(self, picture: bytes) -> None:
        params = {
            "data": base64.b64encode(picture).decode(),
            "metadata": {"deviceWidth": 1280, "deviceHeight": 720},
            "sessionId": 1,
        }
        frame = {"method": "Page.screencastFrame", "params": params}
        self.film.heard("page", json.dumps(frame, separators=(",", ":")).encode())

    async def asked_next(self, method: str) -> None:
        """Ask for the next picture, and wait for what the film then asks Chromium for."""
        self.asked.clear()
        self.film.go_on()
        await until(lambda: self.asked)
        assert self.asked == [method]


@asynccontextmanager
async def filming(options: FilmOptions) -> AsyncIterator[Chromium]:
    chromium = Chromium(options)
    await asyncio.wait_for(chromium.film.begin(chromium, TabHandle("t")), 5)
    assert chromium.asked == ["Target.attachToTarget", START]
    chromium.asked.clear()
    yield chromium
    chromium.film.close()


async def test_a_page_that_stands_still_is_not_asked_again() -> None:
    async with filming(SLOW) as chromium:
        chromium.draw(b"one")
        assert chromium.asked == []
        await chromium.asked_next(ACK)
        chromium.draw(b"two")
        assert chromium.shown == [b"one", b"two"]


async def test_a_moving_page_is_drawn_once_for_each_slow_picture() -> None:
    async with filming(SLOW) as chromium:
        chromium.draw(b"one")
        chromium.draw(b"unwanted")
        assert chromium.asked == [STOP]
        await chromium.asked_next(START)
        chromium.draw(b"two")
        assert chromium.asked == [START, STOP], "a second picture must not be waited for"
        assert chromium.shown == [b"one", b"two"]


async def test_a_page_that_has_stopped_moving_is_waited_for() -> None:
    async with filming(SLOW) as chromium:
        chromium.draw(b"one")
        chromium.draw(b"two")
        await chromium.asked_next(START)
        chromium.draw(b"two")
        await chromium.asked_next(START)
        chromium.draw(b"two")
        assert chromium.asked == [START, ACK], "the screencast goes on until the page changes"
        chromium.draw(b"three")
        assert chromium.shown == [b"one", b"two", b"three"]


async def test_a_fast_film_shows_the_newest_picture_and_is_never_stopped() -> None:
    async with filming(FAST) as chromium:
        for picture in (b"one", b"two", b"three"):
            chromium.draw(picture)
        assert chromium.asked == []
        chromium.film.go_on()
        await until(lambda: len(chromium.shown) == 2)
        assert chromium.shown == [b"one", b"three"]
        assert set(chromium.asked) == {ACK}
