from __future__ import annotations

import stat
from pathlib import Path

from roost.broker.clock import SystemClock
from roost.daemon.settings import Settings
from roost.daemon.wiring import FAKE, build
from roost.drivers.fake import FakeDriver
from roost.local.home import Home
from roost.vocabulary import Reads


async def test_the_house_is_built_from_the_settings_and_not_started(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    settings = Settings.model_validate({"browser": "fake", "pool": 3, "reads": "shared"})
    house = build(home, settings)
    rules = house.broker.state.rules
    assert (rules.default_browser, rules.limit(FAKE), rules.reads) == (FAKE, 3, Reads.SHARED)
    assert isinstance(house.broker.browsers[FAKE].driver, FakeDriver)
    assert isinstance(house.broker.clock, SystemClock)
    assert house.broker.browsers[FAKE].started is None
    await house.broker.aclose()
    for file in (home.journal, home.audit, home.token):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
