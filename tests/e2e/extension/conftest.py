"""One headed browser of each kind for all these tests; each test is an agent of its own in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.extension.own_firefox_house import OwnFirefoxHouse, own_firefox_house
from tests.e2e.extension.own_house import OwnHouse, own_house
from tests.support.local_web import Web, local_web

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web


@pytest.fixture(scope="session")
def own(web: Web) -> Iterator[OwnHouse]:
    with own_house(web) as own:
        yield own


@pytest.fixture(scope="session")
def own_firefox(web: Web) -> Iterator[OwnFirefoxHouse]:
    with own_firefox_house(web) as own:
        yield own


@pytest.fixture(params=["own", "own_firefox"])
def mine(request: pytest.FixtureRequest) -> OwnHouse:
    house: OwnHouse = request.getfixturevalue(request.param)
    return house
