"""Fixtures that start each browser once. Each test is a new agent in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.house import House

BROWSERS = ["chromium", "firefox"]


@pytest.fixture(scope="session", params=BROWSERS)
def browser_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def house(browser_kind: str, houses: Callable[..., House]) -> House:
    """Return the shared house. A test may do anything to its own session, but not to the browser.

    The scope is one test, so that after a failed start the next test tries again.
    """
    return houses(browser_kind)


@pytest.fixture
def own_house(browser_kind: str, houses: Callable[..., House]) -> House:
    """Return the house in which tests may kill processes. All of them share it."""
    return houses(browser_kind, is_hurt=True)
