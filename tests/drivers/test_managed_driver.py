"""A link from its handover to its end, with a scripted browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.drivers import managed_driver
from roost.drivers.chromium.connection import CdpError
from roost.drivers.events import (
    BrowserEnded,
)
from roost.errors import BrowserLost
from roost.testing.waits import started, until
from tests.drivers.played_chromium import HANDOVER, NEXT_ID, Played
from tests.drivers.scripted_link import ScriptedLink


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


async def test_ids_continue_where_the_last_broker_stopped(played: Played) -> None:
    await played.start()

    assert played.link.sent[0]["id"] == NEXT_ID


async def test_a_browser_that_ends_before_its_handover_is_lost(played: Played) -> None:
    starting = await played.begin()
    played.link.ends()

    with pytest.raises(BrowserLost):
        await starting


async def test_an_unexpected_end_of_the_browser_is_reported_once(played: Played) -> None:
    await played.start()
    waiting = await started(played.driver.read_cookies("default"))
    played.link.ends()

    assert [type(event) for event in played.reports] == [BrowserEnded]
    with pytest.raises(BrowserLost):
        await waiting
    with pytest.raises(BrowserLost):
        await played.driver.read_cookies("default")


async def test_an_end_that_was_asked_for_is_not_reported(played: Played) -> None:
    await played.start()
    stopping = await started(played.driver.stop())
    assert played.link.sent[-1] == ["end"]
    played.link.ends()
    await stopping

    assert played.reports == []


async def test_a_start_that_fails_gives_its_link_up_and_the_next_gets_another_handover(
    played: Played,
) -> None:
    starting = await played.begin()
    played.link.keeper_says("handover", HANDOVER)
    await until(lambda: played.link.sent)
    played.link.says(id=NEXT_ID, error={"code": -32000, "message": "a page died just now"})
    with pytest.raises(CdpError):
        await starting

    assert played.link.is_closed
    played.link = ScriptedLink()
    await played.start()


async def test_a_browser_that_does_not_answer_a_start_in_time_is_lost(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(managed_driver, "BEGIN_SECONDS", 0.01)
    starting = await played.begin()

    with pytest.raises(BrowserLost):
        await starting
    assert played.link.is_closed


@pytest.mark.parametrize("watches", [True, False])
async def test_a_broker_watches_for_pages_unless_one_before_it_did(
    played: Played, watches: bool
) -> None:
    """A broker that died between its first and its second command did not."""
    starting = await played.begin()
    played.link.keeper_says("handover", {**HANDOVER, "watches": watches})
    await until(lambda: played.link.sent)
    played.link.says(id=NEXT_ID, result={"browserContextIds": []})
    if not watches:
        await until(lambda: played.asked("Target.setAutoAttach"))
        played.link.says(id=NEXT_ID + 1, result={})
    await starting

    assert len(played.asked("Target.setAutoAttach")) == (0 if watches else 1)
