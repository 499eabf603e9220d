"""Fixtures that start one headed browser of each kind. Each test is a new agent in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.extension.own_house import OwnHouse, own_house
from tests.support.local_web import Web
from tests.support.own_browser import OwnChromium
from tests.support.own_firefox import OwnFirefox


@pytest.fixture(scope="session")
def own(web: Web) -> Iterator[OwnHouse]:
    with own_house(web, OwnChromium) as own:
        yield own


@pytest.fixture(scope="session")
def own_firefox(web: Web) -> Iterator[OwnHouse]:
    with own_house(web, OwnFirefox) as own:
        yield own


@pytest.fixture(params=["own", "own_firefox"])
def mine(request: pytest.FixtureRequest) -> OwnHouse:
    house: OwnHouse = request.getfixturevalue(request.param)
    return house
