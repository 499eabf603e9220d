"""Waiting for navigations, in whatever order Firefox reports the events."""

from __future__ import annotations

import asyncio

import pytest

from roost.drivers.connection import Pending
from roost.drivers.firefox.navigation import Documents, End, Navigation, Navigations
from roost.errors import TabCrashed, TabGone
from roost.testing.waits import answer_of, error_of, started, turn

SOME, OTHER = "n1", "n2"


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_navigation_may_end_before_the_reply_that_names_it(is_early: bool) -> None:
    navigation = Navigation()
    if is_early:
        navigation.ended(SOME, End.DOWNLOAD)
    waiting = await started(navigation.end_of(SOME))
    navigation.ended(OTHER, End.DOCUMENT)
    navigation.ended(SOME, End.DOWNLOAD)
    assert await answer_of(waiting) is End.DOWNLOAD


async def test_the_status_is_that_of_the_last_redirect() -> None:
    navigation = Navigation()
    for one, status in ((SOME, 302), (SOME, 200), (OTHER, 204)):
        navigation.answered(one, status)
    navigation.ended(SOME, End.DOCUMENT)
    await navigation.end_of(SOME)
    assert (navigation.status, navigation.last_status) == (200, 204)


async def test_a_navigation_fails_with_its_tab_even_before_a_caller_waits_for_it() -> None:
    navigation = Navigation()
    navigation.failed(TabGone("Closed."))
    await error_of(TabGone, navigation.end_of(SOME))


async def test_the_next_event_explains_why_a_document_is_gone() -> None:
    crashed = False

    def check() -> None:
        if crashed:
            raise TabCrashed("Died.")

    documents = Documents(check)
    waiting = await started(documents.known_since(documents.count))
    documents.changed()
    await answer_of(waiting)  # another document came

    waiting = await started(documents.known_since(documents.count))
    crashed = True
    documents.changed()
    await error_of(TabCrashed, waiting)


async def test_a_document_change_that_is_known_already_is_not_waited_for() -> None:
    documents = Documents(lambda: None)
    count = documents.count
    documents.changed()
    async with asyncio.timeout(0.5):
        await documents.known_since(count)


def begins(navigation: str) -> dict[str, str]:
    return {"navigation": navigation, "url": "http://x/"}


async def test_the_current_navigation_is_waited_for_until_it_ends_or_its_caller_gives_up() -> None:
    navigations = Navigations(lambda: None)
    navigations.started(begins(SOME))
    with navigations.waiting(None) as navigation:
        landing = await started(navigations.finish(navigation))
        navigations.ended(OTHER, End.DOCUMENT)
        await turn()
        assert not landing.done()
        navigations.ended(SOME, End.DOCUMENT)
        await answer_of(landing)
        await answer_of(navigations.finish(navigation))
    navigations.started(begins(OTHER))
    with pytest.raises(asyncio.CancelledError), navigations.waiting(None):
        raise asyncio.CancelledError
    assert navigations.leaving is None


async def test_a_navigation_command_is_sent_after_the_previous_navigation_began() -> None:
    navigations, sent = Navigations(lambda: None), list[Pending]()

    def send() -> Pending:
        sent.append(asyncio.get_running_loop().create_future())
        return sent[-1]

    await navigations.send(send)
    second = await started(navigations.send(send))
    assert len(sent) == 1
    navigations.started(begins(SOME))
    await answer_of(second)
    third = await started(navigations.send(send))
    sent[-1].set_result({})
    await answer_of(third)
    assert len(sent) == 3


@pytest.mark.parametrize("is_late", [True, False])
async def test_a_request_that_is_repeated_with_its_password_goes_on_under_another_id(
    is_late: bool,
) -> None:
    navigations = Navigations(lambda: None)
    with navigations.waiting(None) as navigation:
        navigations.started({"navigation": SOME, "url": "http://ada:secret@x/"})
        waiting = None if is_late else await started(navigation.end_of(SOME))
        navigations.answered(SOME, 401)
        navigations.started(begins(OTHER))
        navigations.answered(OTHER, 200)
        waiting = waiting or await started(navigation.end_of(SOME))
        navigations.ended(OTHER, End.DOCUMENT)
        assert await answer_of(waiting) is End.DOCUMENT
        assert navigation.status == 200


async def test_a_navigation_to_another_address_does_not_continue_the_awaited_one() -> None:
    navigations = Navigations(lambda: None)
    with navigations.waiting(None) as navigation:
        navigations.started({"navigation": SOME, "url": "http://y/"})
        waiting = await started(navigation.end_of(SOME))
        navigations.started(begins(OTHER))
        navigations.ended(SOME, End.NOTHING)
        assert await answer_of(waiting) is End.NOTHING
