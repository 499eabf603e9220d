"""What the tests of jars in real browsers share."""

from __future__ import annotations

from pages_house import House

from roost import ops

START_SECONDS = 60.0
"""A browser's start, on a busy machine; nothing waits this long in a run that passes."""


async def browser_started(house: House) -> None:
    """So that no call's deadline has to cover the browser's start."""
    async with house.operator() as operator:
        await operator.call(ops.BrowserStart(), timeout=START_SECONDS)
