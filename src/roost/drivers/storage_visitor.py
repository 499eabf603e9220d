"""Read and write localStorage and IndexedDB through an unseen page that visits one origin after
another.

In both browsers the page's process can die at any step, and the browser may not report it. So a
page that crashes or hangs is given up, and a new page continues with the remaining origins.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Protocol

from roost.drivers.base import OriginStorage
from roost.drivers.databases import READ, WRITE
from roost.errors import TabCrashed, TabGone

VISITS_SECONDS = 30.0
"""Timeout for all origins of one call together."""
VISIT_SECONDS = 12.0
"""Timeout to open a page, and to visit one origin. A busy browser needs seconds for a process."""
TRIES = 3
"""Give up an origin after this many failed visits, and the call after this many failed opens."""
Items = list[Any]
"""What a script answers: a list, which is empty if it only wrote."""


class Visitor(Protocol):
    """An unseen page. The driver answers each of its network requests with a blank document."""

    async def run(self, origin: str, expression: str) -> Items | None:
        """Return the expression's value at that origin. Return None if the browser refuses the
        origin or the script fails. Raises ``TabCrashed`` or ``TabGone`` if the page dies."""


OpenVisitor = Callable[[], AbstractAsyncContextManager[Visitor]]


async def read_storage(open_page: OpenVisitor, origins: Sequence[str]) -> list[OriginStorage]:
    """Return the localStorage and IndexedDB of the origins that the page could visit."""
    read = f"(async () => [Object.entries(localStorage), await {READ}])()"
    found = await _visited(open_page, dict.fromkeys(origins, read))
    return [
        OriginStorage(
            origin, tuple((name, value) for name, value in found[origin][0]), str(found[origin][1])
        )
        for origin in origins
        if origin in found
    ]


async def write_storage(
    open_page: OpenVisitor, storage: Sequence[OriginStorage]
) -> list[OriginStorage]:
    """Write the items and databases. Return those whose origin refused them or could not be visited
    in time."""
    scripts = {one.origin: _writing(one) for one in storage}
    done = await _visited(open_page, scripts)
    return [one for one in storage if one.origin not in done]


def _writing(storage: OriginStorage) -> str:
    items = json.dumps(storage.items)
    put = f"{items}.forEach(([name, value]) => localStorage.setItem(name, value));"
    databases = f"await {WRITE}({storage.databases});" if storage.databases else ""
    return f"(async () => {{ {put} {databases} return []; }})()"


async def _visited(open_page: OpenVisitor, scripts: dict[str, str]) -> dict[str, Items]:
    """Run each origin's script and return the results of those that succeeded."""
    done: dict[str, Items] = {}
    failures = dict.fromkeys(scripts, 0)
    unopened = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(VISITS_SECONDS):
            while failures and unopened < TRIES:
                unopened += 1
                with suppress(TimeoutError, TabCrashed, TabGone):
                    async with _visitor(open_page) as page:
                        unopened = 0
                        await _visit_all(page, scripts, failures, done)
    return done


async def _visit_all(
    page: Visitor, scripts: dict[str, str], failures: dict[str, int], done: dict[str, Items]
) -> None:
    """Visit the remaining origins until all are done or the page dies.

    ``failures``: remaining origins and their failed visits. ``done``: gets the results.
    """
    for origin in list(failures):
        tries = failures.pop(origin) + 1
        if tries < TRIES:
            failures[origin] = tries  # re-added at the end: if the page dies, others come first
        async with asyncio.timeout(VISIT_SECONDS):
            value = await page.run(origin, scripts[origin])
        failures.pop(origin, None)
        if value is not None:
            done[origin] = value


class _visitor:
    """A context manager that opens the page within ``VISIT_SECONDS`` and closes it at the end."""

    def __init__(self, open_page: OpenVisitor) -> None:
        self._page = open_page()

    async def __aenter__(self) -> Visitor:
        async with asyncio.timeout(VISIT_SECONDS):
            return await self._page.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._page.__aexit__(*error)
