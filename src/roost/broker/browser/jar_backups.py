"""Backups of jars, from which a jar is filled again after its browser died.

No browser reports changed cookies or storage. So Roost reads them after actions, at most once a
second per jar, and stores them sealed in the journal's file. Without the key, a stored backup stays
as it is: it is neither read nor replaced until the key is back.

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
from roost.errors import RoostError, VaultLocked
from roost.vault.seal import Damaged, Sealer, is_sealed
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
        sealer: Sealer,
    ) -> None:
        self._journal = journal
        self._sealer = sealer
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
        data = self._last.get(jar)
        try:
            if data is None:
                stored = self._journal.jar_backup(jar)
                data = None if stored is None else self._sealer.read(_place(jar), stored)
            return None if data is None else _JAR_BACKUP.validate_json(data)
        except VaultLocked:
            return None
        except (Damaged, ValidationError):
            logger.warning("what was kept of %s cannot be read", jar)
            return None

    def keep(self, jar: JarId, backup: JarBackup) -> None:
        if self._is_locked(jar):
            return  # the stored backup may hold more than what the jar holds now
        data = _JAR_BACKUP.dump_json(backup)
        if data != self._last.get(jar):
            self._last[jar] = data
            self._write(jar)

    def seal_all(self) -> int:
        """Seal the backups that an earlier release stored in plain text. Returns their number.

        Raises ``VaultLocked`` without the key.
        """
        sealed = 0
        for key in self._journal.jar_backups():
            data = self._journal.jar_backup(key)
            if data is not None and not is_sealed(data):
                sealed += self._journal.keep(key, self._sealer.seal(_place(key), data))
        if sealed:
            self._journal.scrub()
        return sealed

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

    def _is_locked(self, jar: JarId) -> bool:
        """Return True if the stored backup of the jar cannot be opened for lack of its key."""
        if jar in self._last:
            return False
        stored = self._journal.jar_backup(jar)
        try:
            if stored is not None:
                self._sealer.read(_place(jar), stored)
        except VaultLocked:
            return True
        except Damaged:
            pass  # no key opens it again, so a new backup replaces it
        return False

    def _sealed(self, jar: JarId) -> bytes | None:
        try:
            return self._sealer.seal(_place(jar), self._last[jar])
        except VaultLocked:
            return None

    def _write(self, jar: JarId) -> None:
        """Write the jar's last backup, and retry later if that fails: the jar may not change again
        before its browser dies."""
        earlier = self._unwritten.pop(jar, None)
        if earlier is not None:
            earlier.cancel()
        sealed = self._sealed(jar)
        if sealed is None or not self._journal.keep(jar, sealed):
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


def _place(jar: str) -> str:
    """Return what a backup is sealed for: the backup of one jar does not open as another's."""
    return f"jar/{jar}"
