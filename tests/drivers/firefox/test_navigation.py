"""Journeys and courses: what is waited for, in whatever order it is told."""

from __future__ import annotations

import asyncio

import pytest

from roost.drivers.connection import Pending
from roost.drivers.firefox.navigation import Course, End, Journey, Ways
from roost.errors import TabCrashed, TabGone
from roost.testing.waits import answer_of, error_of, started, turn

SOME_WAY, OTHER_WAY = "n1", "n2"


@pytest.mark.parametrize("is_early", [True, False])
async def test_an_end_may_be_told_before_it_is_known_whose_it_is(is_early: bool) -> None:
    journey = Journey()
    if is_early:
        journey.ended(SOME_WAY, End.DOWNLOAD)
    waiting = await started(journey.end_of(SOME_WAY))
    journey.ended(OTHER_WAY, End.DOCUMENT)
    journey.ended(SOME_WAY, End.DOWNLOAD)
    assert await answer_of(waiting) is End.DOWNLOAD


async def test_the_status_is_that_of_the_last_leg() -> None:
    journey = Journey()
    for navigation, status in ((SOME_WAY, 302), (SOME_WAY, 200), (OTHER_WAY, 204)):
        journey.answered(navigation, status)
    journey.ended(SOME_WAY, End.DOCUMENT)
    await journey.end_of(SOME_WAY)
    assert (journey.status, journey.last_status) == (200, 204)


async def test_a_journey_ends_with_its_tab_whether_or_not_anybody_waits_yet() -> None:
    journey = Journey()
    journey.failed(TabGone("Closed."))
    await error_of(TabGone, journey.end_of(SOME_WAY))


async def test_a_document_that_is_gone_is_explained_by_what_comes() -> None:
    crashed = False

    def check() -> None:
        if crashed:
            raise TabCrashed("Died.")

    course = Course(check)
    waiting = await started(course.known_since(course.turns))
    course.turn()
    await answer_of(waiting)  # another document came

    waiting = await started(course.known_since(course.turns))
    crashed = True
    course.turn()
    await error_of(TabCrashed, waiting)


async def test_what_is_known_already_is_not_waited_for() -> None:
    course = Course(lambda: None)
    turns = course.turns
    course.turn()
    async with asyncio.timeout(0.5):
        await course.known_since(turns)


def begins(navigation: str) -> dict[str, str]:
    return {"navigation": navigation, "url": "http://x/"}


async def test_what_is_under_way_is_waited_for_until_it_ends_or_somebody_gave_up() -> None:
    ways = Ways()
    ways.started(begins(SOME_WAY))
    with ways.journey(None) as journey:
        landing = await started(ways.land(journey))
        ways.ended(OTHER_WAY, End.DOCUMENT)
        await turn()
        assert not landing.done()
        ways.ended(SOME_WAY, End.DOCUMENT)
        await answer_of(landing)
        await answer_of(ways.land(journey))
    ways.started(begins(OTHER_WAY))
    with pytest.raises(asyncio.CancelledError), ways.journey(None):
        raise asyncio.CancelledError
    assert ways.leaving is None


async def test_one_command_sets_out_after_the_other_has_begun() -> None:
    ways, sent = Ways(), list[Pending]()

    def send() -> Pending:
        sent.append(asyncio.get_running_loop().create_future())
        return sent[-1]

    await ways.set_out(send)
    second = await started(ways.set_out(send))
    assert len(sent) == 1
    ways.started(begins(SOME_WAY))
    await answer_of(second)
    third = await started(ways.set_out(send))
    sent[-1].set_result({})
    await answer_of(third)
    assert len(sent) == 3


@pytest.mark.parametrize("is_late", [True, False])
async def test_a_request_that_is_repeated_with_its_password_goes_on_under_another_id(
    is_late: bool,
) -> None:
    ways = Ways()
    with ways.journey(None) as journey:
        ways.started({"navigation": SOME_WAY, "url": "http://ada:secret@x/"})
        waiting = None if is_late else await started(journey.end_of(SOME_WAY))
        ways.answered(SOME_WAY, 401)
        ways.started(begins(OTHER_WAY))
        ways.answered(OTHER_WAY, 200)
        waiting = waiting or await started(journey.end_of(SOME_WAY))
        ways.ended(OTHER_WAY, End.DOCUMENT)
        assert await answer_of(waiting) is End.DOCUMENT
        assert journey.status == 200


async def test_another_address_is_another_journey() -> None:
    ways = Ways()
    with ways.journey(None) as journey:
        ways.started({"navigation": SOME_WAY, "url": "http://y/"})
        waiting = await started(journey.end_of(SOME_WAY))
        ways.started(begins(OTHER_WAY))
        ways.ended(SOME_WAY, End.NOTHING)
        assert await answer_of(waiting) is End.NOTHING
