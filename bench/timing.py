"""Time two ways of doing the same thing in turns, so that a busy machine affects both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable

from bench.report import Row
from roost.api.operations import Answers
from roost.api.views import View
from roost.client.client import Client

SAMPLES = 60
WARM_UP = 3


async def compared(
    name: str,
    limit: float | None,
    floor: Callable[[], object],
    ours: Callable[[], Awaitable[object]],
    note: str,
    samples: int = SAMPLES,
) -> Row:
    """Compare the medians of both ways, measured in turns."""
    floor_times, times = [], []
    for number in range(samples + WARM_UP):
        bare, full = took(floor), await timed(ours)
        if number >= WARM_UP:
            floor_times.append(bare)
            times.append(full)
    bare, full = statistics.median(floor_times), statistics.median(times)
    shown = f"{full * 1000:.2f} ms {note}: {bare * 1000:.2f} ms"
    return Row(name, full / bare, "×", limit=limit, note=shown)


def asking(agent: Client, operation: Answers[View]) -> Callable[[], Awaitable[object]]:
    return lambda: agent.call(operation)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


def took(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
