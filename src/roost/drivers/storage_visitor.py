"""Visits of an unseen page to origins, to read and write what each origin stores.

Both browsers can lose the page's process at any step, with or without a word about it. So a page
that crashes or hangs is given up, and a new page goes on with the origins that are left.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Protocol

from roost.drivers.base import OriginStorage
from roost.errors import TabCrashed, TabGone

VISITS_SECONDS = 30.0
"""For all origins of one call together."""
VISIT_SECONDS = 12.0
"""For a new page, and for each origin it visits. A new process of a busy browser needs seconds."""
TRIES = 3
"""Visits to one origin whose page did not survive them, and pages that did not even open."""
Items = list[list[str]]


class Visitor(Protocol):
    """An unseen page. Whatever it asks the network for is answered with a blank document."""

    async def run(self, origin: str, expression: str) -> Items | None:
        """The expression's value at that origin; None where the browser refuses the origin or the
        script fails there. Raises ``TabCrashed`` or ``TabGone`` when the page does not survive."""


OpenVisitor = Callable[[], AbstractAsyncContextManager[Visitor]]


async def read_storage(open_page: OpenVisitor, origins: Sequence[str]) -> list[OriginStorage]:
    """The localStorage of those origins that could be visited."""
    read = "Object.entries(localStorage)"
    found = await _visited(open_page, dict.fromkeys(origins, read))
    return [
        OriginStorage(origin, tuple((name, value) for name, value in found[origin]))
        for origin in origins
        if origin in found
    ]


async def write_storage(
    open_page: OpenVisitor, storage: Sequence[OriginStorage]
) -> list[OriginStorage]:
    """Put the items in; returns those whose origin refused them or could not be visited in time."""
    put = "({}.forEach(([name, value]) => localStorage.setItem(name, value)), [])"
    scripts = {one.origin: put.format(json.dumps(one.items)) for one in storage}
    done = await _visited(open_page, scripts)
    return [one for one in storage if one.origin not in done]


async def _visited(open_page: OpenVisitor, scripts: dict[str, str]) -> dict[str, Items]:
    """What each origin's script came to, where it came to anything."""
    done: dict[str, Items] = {}
    failures = dict.fromkeys(scripts, 0)
    unopened = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(VISITS_SECONDS):
            while failures and unopened < TRIES:
                unopened += 1
                with suppress(TimeoutError, TabCrashed, TabGone):
                    async with _opened(open_page) as page:
                        unopened = 0
                        await _visit_all(page, scripts, failures, done)
    return done


async def _visit_all(
    page: Visitor, scripts: dict[str, str], failures: dict[str, int], done: dict[str, Items]
) -> None:
    """Until all are visited, or the page does not survive a visit."""
    for origin in list(failures):
        tries = failures.pop(origin) + 1
        if tries < TRIES:
            failures[origin] = tries  # behind the others, should the page not survive
        async with asyncio.timeout(VISIT_SECONDS):
            value = await page.run(origin, scripts[origin])
        failures.pop(origin, None)
        if value is not None:
            done[origin] = value


class _opened:
    """The page, which has to open in time."""

    def __init__(self, open_page: OpenVisitor) -> None:
        self._page = open_page()

    async def __aenter__(self) -> Visitor:
        async with asyncio.timeout(VISIT_SECONDS):
            return await self._page.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._page.__aexit__(*error)
