"""What end-to-end tests share: the web site they visit, and the marker ``browser``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.local_web import Web, local_web
from tests.support.persons_browser import BROWSERS

HERE = Path(__file__).parent
WITH_BROWSERS = tuple(HERE / name for name in ("cdp", "dashboard", "extension", "jars", "pages"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent in WITH_BROWSERS:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def _close_persons_browsers() -> Iterator[None]:
    yield
    BROWSERS.close()


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web
