"""A link's life, from its handover to its end (roost.drivers.kept); the browser is played."""

from __future__ import annotations

from pathlib import Path

import pytest
from played_chromium import NEXT_ID, Played

from roost.drivers.base import BrowserEnded
from roost.errors import BrowserLost
from roost.testing.waiting import started


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


async def test_ids_go_on_where_the_last_broker_stopped(played: Played) -> None:
    await played.start()

    assert played.link.sent[0]["id"] == NEXT_ID


async def test_a_browser_that_ends_before_its_handover_is_lost(played: Played) -> None:
    starting = await played.begin()
    played.link.ends()

    with pytest.raises(BrowserLost):
        await starting


async def test_an_end_that_nobody_asked_for_is_reported_once(played: Played) -> None:
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
