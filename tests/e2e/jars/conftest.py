"""Fixtures that run every test of this folder in both browsers: isolation must hold in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.house import House, house_of


@pytest.fixture(scope="session", params=["chromium", "firefox"])
def browser_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def house(browser_kind: str, houses: Callable[..., House]) -> House:
    """Return the house that the page tests also use. A test must not damage its browser."""
    return houses(browser_kind)


@pytest.fixture
def own_house(browser_kind: str) -> Iterator[House]:
    """Start a house for this test alone, which may kill its processes."""
    with house_of(browser_kind) as house:
        house.start()
        yield house
