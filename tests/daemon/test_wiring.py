from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roost.broker.clock import SystemClock
from roost.daemon.wiring import FAKE, MINE_CHROMIUM, MINE_FIREFOX, build
from roost.drivers.fake import FakeDriver
from roost.errors import BrowserLost
from roost.local.home import Home
from roost.local.settings import Settings
from roost.vocabulary import JarPolicy, Reads


async def test_the_broker_is_built_from_the_settings_and_not_started(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    settings = Settings(browser="fake", pool=3, reads=Reads.SHARED)
    house = build(home, settings)
    rules = house.broker.state.settings
    assert (rules.default_browser, rules.limit(FAKE), rules.reads) == (FAKE, 3, Reads.SHARED)
    assert isinstance(house.broker.browsers[FAKE].driver, FakeDriver)
    assert isinstance(house.broker.clock, SystemClock)
    assert house.broker.browsers[FAKE].started is None
    await house.broker.aclose()
    for file in (home.journal, home.audit, home.token):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


async def test_the_persons_own_browser_is_used_only_if_it_is_named(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    broker = build(home, Settings(browser="chromium")).broker
    rules = broker.state.settings
    assert rules.default_browser == "chromium"
    assert MINE_CHROMIUM in rules.grouped & rules.personal
    assert rules.policy(MINE_CHROMIUM) is JarPolicy.SHARED
    assert broker.chosen(None) is None
    await broker.aclose()


async def test_with_browser_mine_every_session_uses_the_persons_browser(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    broker = build(home, Settings(browser="mine")).broker
    with pytest.raises(BrowserLost):
        broker.chosen(None)
    assert broker.chosen("chromium") == "chromium"
    assert broker.chosen("mine", waits=True) == MINE_CHROMIUM
    home.extension("firefox").mkdir(parents=True)
    assert broker.chosen("mine", waits=True) == MINE_FIREFOX, "the one that has the extension"
    await broker.aclose()
