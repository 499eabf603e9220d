"""One house per browser: the proofs of isolation hold in both, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.local_web import Web, local_web
from tests.support.pages_house import House, house_of

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", params=["chromium", "firefox"])
def browser_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web


@pytest.fixture
def house(browser_kind: str, houses: Callable[..., House]) -> House:
    """The one of the page tests, too."""
    return houses(browser_kind)


@pytest.fixture
def own_house(browser_kind: str) -> Iterator[House]:
    """For tests that kill things."""
    with house_of(browser_kind) as house:
        house.start()
        yield house
