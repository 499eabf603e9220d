"""Both browsers, a small web, and the tests' own loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.house import House
from tests.support.local_web import Web, local_web

BROWSERS = ["chromium", "firefox"]


@pytest.fixture(params=BROWSERS)
def house(request: pytest.FixtureRequest, houses: Callable[..., House]) -> House:
    return houses(request.param)


@pytest.fixture
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web


@pytest.fixture
def in_work(house: House, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in the agents' working directory, whose files they may upload."""
    monkeypatch.chdir(house.work)
    return house.work
