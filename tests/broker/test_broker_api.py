"""The broker passes the API checks directly and through the socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from roost.testing.broker_api import (
    API_CHECKS,
    ApiCheck,
    Direct,
    Socket,
    Way,
    check_broker_api,
)


@pytest.mark.parametrize("way", [Direct, Socket])
@pytest.mark.parametrize("check", API_CHECKS, ids=lambda check: check.__name__)
async def test_the_api_keeps_its_promises(
    check: ApiCheck, way: Callable[[], Way], tmp_path: Path
) -> None:
    await check_broker_api(way, tmp_path, check)
