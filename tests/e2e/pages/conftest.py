"""One browser for all these tests; each test is an agent of its own in it, or its next guest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.local_web import Web, local_web
from tests.support.pages_house import House

HERE = Path(__file__).parent
BROWSERS = ["chromium", "firefox"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", params=BROWSERS)
def browser_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web


@pytest.fixture
def house(browser_kind: str, houses: Callable[..., House]) -> House:
    """Shared: a test may do to its own session what it likes, and to the browser nothing. Asked for
    anew by each test: where a start failed, the next one tries again."""
    return houses(browser_kind)


@pytest.fixture
def own_house(browser_kind: str, houses: Callable[..., House]) -> House:
    """For tests that kill things. One for all of them: what was killed has to come back."""
    return houses(browser_kind, is_hurt=True)
