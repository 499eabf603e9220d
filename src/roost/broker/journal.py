"""The journal: the core's rows in sqlite, written before the effects they lead to are performed.

One table holds one JSON document per row of the core. With ``synchronous = NORMAL``, a killed
broker loses nothing. If a write fails, ``decisions.py`` undoes the decision and stops the broker. A
machine that loses power may lose the last writes, but then its browsers
died as well.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from roost.core.rows import ROW_TYPES, Agent, Row
from roost.core.state import Change
from roost.errors import Internal

logger = logging.getLogger(__name__)
SCHEMA = 1
BUSY_SECONDS = 5.0
_ADAPTERS: dict[str, TypeAdapter[Any]] = {row.table: TypeAdapter(row) for row in ROW_TYPES}


class Journal:
    """The journal file. The daemon's lock makes sure that only one process has it open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.redact: Callable[[bytes], bytes] = bytes
        """Removes secrets of the person from a row: an address or a title may hold one."""
        self._db = self._opened()
        self._file = os.stat(path)

    def write(self, changes: Iterable[Change]) -> None:
        """Record all changes in one transaction. Raises ``Internal`` if they cannot be written."""
        try:
            with self._db:
                for change in changes:
                    if change.row is None:
                        self._db.execute(_DELETE, (change.table, change.key))
                    else:
                        row = self.redact(_ADAPTERS[change.table].dump_json(change.row))
                        self._db.execute(_UPSERT, (change.table, change.key, row))
        except sqlite3.Error as error:
            raise Internal(
                f"The journal cannot be written: {error}.",
                hint=f"Check the disk that holds {self._path}.",
            ) from error

    def rows(self) -> Iterator[Row]:
        """Yield all recorded rows. A row that cannot be read is logged and left out."""
        for table, key, data in self._db.execute("SELECT kind, key, row FROM rows"):
            adapter = _ADAPTERS.get(table)
            if adapter is None:
                logger.warning("journal: unknown kind of row %s, left out", table)
                continue
            try:
                yield adapter.validate_json(_upgraded(table, data))
            except ValidationError:
                logger.warning("journal: row %s %s cannot be read, left out", table, key)

    def keep(self, key: str, data: bytes | None) -> bool:
        """Store the backup of a jar's contents (or delete it, for None). It is not a row of the
        core.

        Returns False if it could not be written.
        """
        try:
            with self._db:
                if data is None:
                    self._db.execute("DELETE FROM keepsakes WHERE key = ?", (key,))
                else:
                    self._db.execute("REPLACE INTO keepsakes VALUES (?, ?)", (key, data))
        except sqlite3.Error as error:
            logger.warning("journal: %s was not kept: %s", key, error)
            return False
        return True

    def jar_backup(self, key: str) -> bytes | None:
        found = self._db.execute("SELECT data FROM keepsakes WHERE key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def jar_backups(self) -> list[str]:
        return [key for (key,) in self._db.execute("SELECT key FROM keepsakes")]

    def scrub(self) -> None:
        """Write the file anew, so that deleted and replaced data is nowhere in it."""
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            logger.warning("journal: old data could not be erased: %s", error)

    def reopen(self) -> None:
        """Copy everything into a new file if somebody removed the journal's file, so that the next
        broker finds it. Raises ``Internal`` if the new file cannot be written."""
        if os.path.exists(self._path) and os.path.samestat(os.stat(self._path), self._file):
            return
        fresh = self._opened()
        try:
            with fresh:
                for table in ("rows", "keepsakes"):
                    fresh.execute(f"DELETE FROM {table}")
                    for row in self._db.execute(f"SELECT * FROM {table}"):
                        values = ", ".join("?" * len(row))
                        fresh.execute(f"INSERT OR REPLACE INTO {table} VALUES ({values})", row)
        except sqlite3.Error as error:
            fresh.close()
            raise Internal(
                f"The journal cannot be written again: {error}.",
                hint=f"Check the disk that holds {self._path}.",
            ) from error
        self._db.close()
        self._db = fresh
        self._file = os.stat(self._path)

    def close(self) -> None:
        self._db.close()

    def _opened(self) -> sqlite3.Connection:
        """Open the database. Move a damaged one away and begin a new one."""
        try:
            return self._connect()
        except sqlite3.OperationalError as error:
            # Busy, or the disk is full: the file is not damaged, so it must not be moved away.
            raise Internal(
                f"The journal cannot be opened: {error}.",
                hint=f"Check the disk that holds {self._path}, and who uses it.",
            ) from error
        except sqlite3.DatabaseError as error:
            # A damaged journal must not keep Roost from starting, so start with an empty one.
            broken = self._path.with_suffix(".broken")
            logger.error("journal: %s; moved to %s, starting anew", error, broken)
            os.replace(self._path, broken)
            for suffix in ("-wal", "-shm"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        db = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, SCHEMA):
                raise sqlite3.DatabaseError(f"schema {version} is not {SCHEMA}")
            # Check for damage now: when the rows are read, it is too late to start a new journal.
            (health,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if health != "ok":
                raise sqlite3.DatabaseError(health)
            db.execute(
                "CREATE TABLE IF NOT EXISTS rows "
                "(kind TEXT, key TEXT, row BLOB, PRIMARY KEY (kind, key)) WITHOUT ROWID"
            )
            db.execute("CREATE TABLE IF NOT EXISTS keepsakes (key TEXT PRIMARY KEY, data BLOB)")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        except sqlite3.Error:
            db.close()
            raise
        return db


def _upgraded(table: str, data: bytes) -> bytes:
    """Return the row with the field names of this release."""
    row = json.loads(data) if table == Agent.table else {}
    if "home" not in row:
        return data
    row["own_session"] = row.pop("home")  # its name in earlier releases
    return json.dumps(row).encode()


_UPSERT = "INSERT INTO rows VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET row = excluded.row"
_DELETE = "DELETE FROM rows WHERE kind = ? AND key = ?"
