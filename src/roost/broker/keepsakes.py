"""What a jar held, kept for the day its browser dies: read when it may have changed.

No browser reports changed cookies or storage. So they are read after actions, at most once a second
per jar, and written beside the journal; a jar that has to be made again gets them back.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Container

from pydantic import TypeAdapter, ValidationError

from roost.broker.clock import Clock, Timer
from roost.broker.journal import Journal
from roost.broker.tasks import Tasks
from roost.drivers.base import JarContents
from roost.errors import RoostError
from roost.vocabulary import JarId

logger = logging.getLogger(__name__)
AT_MOST_EVERY = 1.0
_CONTENTS = TypeAdapter(JarContents)


class Keepsakes:
    """``read`` asks the jar's browser what it holds."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        tasks: Tasks,
        read: Callable[[JarId], Awaitable[JarContents]],
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._tasks = tasks
        self._read = read
        self._due: dict[JarId, Timer] = {}
        self._last: dict[JarId, bytes] = {}

    def may_have_changed(self, jar: JarId) -> None:
        """Something was done with that jar: look soon, once for all that is done meanwhile."""
        if jar not in self._due:
            at = self._clock.now() + AT_MOST_EVERY
            self._due[jar] = self._clock.call_at(at, lambda: self._look(jar))

    def close(self) -> None:
        for timer in self._due.values():
            timer.cancel()

    def kept(self, jar: JarId) -> JarContents | None:
        data = self._journal.keepsake(jar)
        try:
            return None if data is None else _CONTENTS.validate_json(data)
        except ValidationError:
            logger.warning("what was kept of %s cannot be read", jar)
            return None

    def forget(self, jar: JarId) -> None:
        self._last.pop(jar, None)
        due = self._due.pop(jar, None)
        if due is not None:
            due.cancel()
        self._journal.keep(jar, None)

    def forget_others(self, jars: Container[str]) -> None:
        """Whatever is kept of jars beside these: an earlier broker died before it forgot them."""
        for key in self._journal.keepsakes():
            if key not in jars:
                self._journal.keep(key, None)

    def _look(self, jar: JarId) -> None:
        del self._due[jar]
        self._tasks.spawn(self._keep(jar), name=f"keep {jar}")

    async def _keep(self, jar: JarId) -> None:
        try:
            data = _CONTENTS.dump_json(await self._read(jar))
        except RoostError:
            return  # the jar or its browser is gone; what was kept before still counts
        if data != self._last.get(jar):
            self._last[jar] = data
            self._journal.keep(jar, data)
