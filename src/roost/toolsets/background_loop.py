"""An event loop in a thread, for callers that have none.

All synchronous drivers of a process share the one loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the background loop and return its result.

    If the caller is interrupted while it waits (Control-C), the coroutine is cancelled.
    """
    future = asyncio.run_coroutine_threadsafe(work, _started())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _started() -> asyncio.AbstractEventLoop:
    global _loop
    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="roost toolsets", daemon=True).start()
        return _loop
