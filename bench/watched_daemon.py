"""The daemon with every turn of its loop timed; ``hostile`` starts it with ``ensure_broker``.

A turn is one pass of the event loop: everything that is ready runs, and nobody else is served
meanwhile. Its length is the processor time of the loop's thread, so that a busy machine does not
count. On SIGUSR1 the daemon writes its records to ``turns.json`` in ROOST_HOME, and starts anew.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import time
from asyncio import events
from typing import Any

from roost.daemon.main import main
from roost.local.home import Home

KEPT = 10
SHOWN_CHARS = 300


class Turns:
    """The longest turns, and the callback that took most of each."""

    def __init__(self) -> None:
        self._file = Home.find().path / "turns.json"
        self._number = 0
        self._begin_anew()
        self._run = events.Handle._run
        self._collecting = 0.0
        gc.callbacks.append(self._collected)

    def _begin_anew(self) -> None:
        self._count = 0
        self._busy = 0.0
        self._longest: list[tuple[float, float, str, float]] = []
        self._most = (0.0, "")
        self._garbage = 0.0

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._garbage += time.thread_time() - self._collecting

    def timed(self, handle: Any) -> None:
        """Run the handle in place of ``Handle._run``, and time it."""
        begun = time.thread_time()
        self._run(handle)
        took = time.thread_time() - begun
        if took > self._most[0]:
            self._most = took, repr(handle)[:SHOWN_CHARS] if took > 0.005 else ""

    def passed(self, seconds: float) -> None:
        """Record a turn that is over."""
        self._count += 1
        self._busy += seconds
        if len(self._longest) < KEPT or seconds > self._longest[-1][0]:
            self._longest.append((seconds, *self._most, self._garbage))
            self._longest.sort(reverse=True)
            del self._longest[KEPT:]
        self._most, self._garbage = (0.0, ""), 0.0

    def write(self, *_: object) -> None:
        self._number += 1
        seen = {
            "number": self._number,
            "turns": self._count,
            "busySeconds": self._busy,
            "longest": [
                {"ms": all_ * 1000, "callbackMs": most * 1000, "callback": what, "gcMs": gc_ * 1000}
                for all_, most, what, gc_ in self._longest
            ],
        }
        self._begin_anew()
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps(seen), encoding="utf-8")
        os.replace(draft, self._file)


def watch() -> None:
    turns = Turns()
    run_once = asyncio.SelectorEventLoop._run_once  # type: ignore[attr-defined]

    def timed_once(loop: Any) -> None:
        begun = time.thread_time()
        run_once(loop)
        turns.passed(time.thread_time() - begun)

    events.Handle._run = lambda handle: turns.timed(handle)  # type: ignore[method-assign, assignment]
    asyncio.SelectorEventLoop._run_once = timed_once  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, turns.write)


if __name__ == "__main__":
    watch()
    sys.exit(main())
