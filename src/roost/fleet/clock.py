"""The clock of leases. Only this file of the room reads it."""

from __future__ import annotations

import time


def now() -> float:
    """Return seconds that never go backwards and that also count while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
