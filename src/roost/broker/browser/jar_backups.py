"""Backups of jars, from which a jar is filled again after its browser died.

No browser reports changed cookies or storage. So Roost reads them after actions, at most once a
second per jar, and stores them in the journal's file.

Contents that could not be put back are *owed* to the jar. A page that opens meanwhile finds empty
storage and stores its defaults. So the backup ignores what the jar holds at an origin with owed
contents: otherwise the defaults would overwrite the only copy.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from roost.broker.clock import Clock, Timer
from roost.broker.journal import Journal
from roost.broker.tasks import Tasks
from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.drivers.stores import Stores
from roost.errors import RoostError
from roost.vocabulary import JarId

logger = logging.getLogger(__name__)
AT_MOST_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class JarBackup:
    """The backup of one jar.

    ``cookies``, ``storage``: what the jar held, including what it is owed.
    ``owed_cookies``: those of ``cookies`` that are not in the jar.
    ``owed_origins``: those of ``storage`` that are not in the jar.
    ``stores``: the browser's processes that held the jar's contents when they were read.
    """

    cookies: tuple[Cookie, ...] = ()
    storage: tuple[OriginStorage, ...] = ()
    owed_cookies: tuple[Cookie, ...] = ()
    owed_origins: tuple[str, ...] = ()
    stores: Stores = Stores()

    @property
    def contents(self) -> JarContents:
        return JarContents(self.cookies, self.storage)


_JAR_BACKUP = TypeAdapter(JarBackup)


class JarBackups:
    """The backups of all jars. ``read`` reads a jar's contents from its browser."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        tasks: Tasks,
        read: Callable[[JarId], Awaitable[JarBackup]],
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._tasks = tasks
        self._read = read
        self._due: dict[JarId, Timer] = {}
        self._last: dict[JarId, bytes] = {}
        self._unwritten: dict[JarId, Timer] = {}
        """Jars whose last backup could not be written, with the timer of the next attempt."""

    def may_have_changed(self, jar: JarId) -> None:
        """Read the jar within a second. All calls until then share one read."""
        if jar not in self._due:
            at = self._clock.now() + AT_MOST_EVERY
            self._due[jar] = self._clock.call_at(at, lambda: self._look(jar))

    def close(self) -> None:
        for timer in (*self._due.values(), *self._unwritten.values()):
            timer.cancel()

    def kept(self, jar: JarId) -> JarBackup | None:
        data = self._last.get(jar) or self._journal.jar_backup(jar)
        try:
            return None if data is None else _JAR_BACKUP.validate_json(data)
        except ValidationError:
            logger.warning("what was kept of %s cannot be read", jar)
            return None

    def keep(self, jar: JarId, backup: JarBackup) -> None:
        data = _JAR_BACKUP.dump_json(backup)
        if data != self._last.get(jar):
            self._last[jar] = data
            self._write(jar)

    def forget(self, jar: JarId) -> None:
        self._last.pop(jar, None)
        for timers in (self._due, self._unwritten):
            timer = timers.pop(jar, None)
            if timer is not None:
                timer.cancel()
        self._journal.keep(jar, None)

    def forget_others(self, jars: Container[str]) -> None:
        """Delete the backups of all other jars, which an earlier broker left when it died."""
        for key in self._journal.jar_backups():
            if key not in jars:
                self._journal.keep(key, None)

    def _write(self, jar: JarId) -> None:
        """Write the jar's last backup, and retry later if that fails: the jar may not change again
        before its browser dies."""
        earlier = self._unwritten.pop(jar, None)
        if earlier is not None:
            earlier.cancel()
        if not self._journal.keep(jar, self._last[jar]):
            at = self._clock.now() + AT_MOST_EVERY
            self._unwritten[jar] = self._clock.call_at(at, lambda: self._write(jar))

    def _look(self, jar: JarId) -> None:
        del self._due[jar]
        self._tasks.spawn(self._keep(jar), name=f"keep {jar}")

    async def _keep(self, jar: JarId) -> None:
        try:
            backup = await self._read(jar)
        except RoostError:
            return  # the jar or its browser is gone; the previous backup stays valid
        self.keep(jar, backup)
