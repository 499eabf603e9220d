"""Checks of ``Driver.film``. They belong to the suite in ``drivers.py``."""

from __future__ import annotations

import asyncio

from roost.drivers.base import FilmOptions, FilmPicture
from roost.drivers.pictures import picture_size
from roost.errors import TabGone
from roost.testing.driver_rig import NO_TAB, DriverRig, driver_check
from roost.testing.waits import error_of

SMALL = FilmOptions(width=160, height=120, interval=0.0)
LARGE = FilmOptions(width=640, height=480, quality=70, interval=0.0)
PAINT = "() => { document.documentElement.style.background = 'rgb(200, 30, 40)'; }"
"""Changes what the page shows. The fake browser draws nothing and does not know it."""


@driver_check
async def a_film_shows_the_page_at_once_and_says_how_large_it_is(rig: DriverRig) -> None:
    pictures: asyncio.Queue[FilmPicture] = asyncio.Queue()
    film = await rig.driver.film(await rig.tab("/"), SMALL, pictures.put_nowait)
    picture = await pictures.get()
    width, height = picture_size(picture.data)
    assert abs(width / height - picture.viewport[0] / picture.viewport[1]) < 0.05
    assert picture.viewport[0] > width
    film.close()


@driver_check
async def films_of_one_tab_and_of_others_run_at_the_same_time(rig: DriverRig) -> None:
    tabs = [await rig.tab("/"), await rig.tab("/")]
    films = []
    for tab in tabs:
        for options in (SMALL, LARGE):
            shown: asyncio.Queue[FilmPicture] = asyncio.Queue()
            films.append((await rig.driver.film(tab, options, shown.put_nowait), shown))
    for _, shown in films:
        assert (await shown.get()).data
    for film, _ in films:
        film.close()


@driver_check
async def the_next_picture_comes_when_it_is_asked_for_and_the_page_changed(rig: DriverRig) -> None:
    if not rig.driver.capabilities.page_work:
        return
    tab = await rig.tab("/")
    pictures: asyncio.Queue[FilmPicture] = asyncio.Queue()
    film = await rig.driver.film(tab, SMALL, pictures.put_nowait)
    last = await pictures.get()
    await rig.evaluate(tab, PAINT)
    film.go_on()
    while (await pictures.get()).data == last.data:
        film.go_on()
    film.close()


@driver_check
async def a_film_that_nobody_asks_to_go_on_shows_one_picture(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    waiting: asyncio.Queue[FilmPicture] = asyncio.Queue()
    other: asyncio.Queue[FilmPicture] = asyncio.Queue()
    film = await rig.driver.film(tab, SMALL, waiting.put_nowait)
    await waiting.get()
    if rig.driver.capabilities.page_work:
        await rig.evaluate(tab, PAINT)
    beside = await rig.driver.film(tab, SMALL, other.put_nowait)
    await other.get()
    assert waiting.empty()
    film.close()
    beside.close()


@driver_check
async def a_film_ends_with_its_tab_and_by_close(rig: DriverRig) -> None:
    pictures: asyncio.Queue[FilmPicture] = asyncio.Queue()
    tab = await rig.tab("/")
    film = await rig.driver.film(tab, SMALL, pictures.put_nowait)
    await pictures.get()
    await rig.driver.close_tab(tab)
    film.go_on()
    film.close()
    film.close()
    await rig.works(await rig.tab("/"))
    await error_of(TabGone, rig.driver.film(NO_TAB, SMALL, pictures.put_nowait))
