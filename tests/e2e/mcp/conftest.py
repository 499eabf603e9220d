"""The pages these clients look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.local_web import Web, local_web


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with local_web() as served:
        yield served
