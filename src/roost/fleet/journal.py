"""The registry's journal: its rows in sqlite, written before the gateway acts on them.

Unlike the broker's journal, a damaged one is not moved away: without it, the gateway would let
every session of the fleet end. The gateway refuses to start and says what to do.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from roost.errors import Internal
from roost.fleet.registry import Change
from roost.fleet.rows import ROW_TYPES, Row

SCHEMA = 1
BUSY_SECONDS = 5.0
_ADAPTERS: dict[str, TypeAdapter[Any]] = {row.table: TypeAdapter(row) for row in ROW_TYPES}


class FleetJournal:
    """The journal's file. The gateway's lock makes sure that only one process has it open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        try:
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS)
            self._prepare()
        except sqlite3.Error as error:
            raise self._unreadable(str(error)) from error

    def next_generation(self) -> int:
        """Count a start of the gateway, and return how many there have been."""
        with self._db:
            self._db.execute("UPDATE generation SET number = number + 1")
        (number,) = self._db.execute("SELECT number FROM generation").fetchone()
        return int(number)

    def rows(self) -> list[Row]:
        """Return all rows. Raises ``Internal`` if one cannot be read."""
        try:
            return [
                _ADAPTERS[table].validate_json(data)
                for table, data in self._db.execute("SELECT kind, row FROM rows")
            ]
        except (sqlite3.Error, ValidationError, KeyError) as error:
            raise self._unreadable(type(error).__name__) from error

    def write(self, changes: Iterable[Change]) -> None:
        """Record all changes in one transaction. Raises ``Internal`` if that fails."""
        try:
            with self._db:
                for change in changes:
                    if change.row is None:
                        self._db.execute(
                            "DELETE FROM rows WHERE kind = ? AND key = ?",
                            (change.table, change.key),
                        )
                        self._db.execute("DELETE FROM luggage WHERE session = ?", (change.key,))
                    else:
                        row = _ADAPTERS[change.table].dump_json(change.row)
                        self._db.execute(
                            "REPLACE INTO rows VALUES (?, ?, ?)", (change.table, change.key, row)
                        )
        except sqlite3.Error as error:
            raise Internal(
                f"The registry's journal cannot be written: {error}.",
                hint=f"Check the disk that holds {self._path}.",
            ) from error

    def pack(self, session: str, data: bytes) -> None:
        """Store what the session would need on another node."""
        try:
            with self._db:
                self._db.execute("REPLACE INTO luggage VALUES (?, ?)", (session, data))
        except sqlite3.Error as error:
            raise Internal(
                f"The registry's journal cannot be written: {error}.",
                hint=f"Check the disk that holds {self._path}.",
            ) from error

    def luggage(self, session: str) -> bytes | None:
        found = self._db.execute("SELECT data FROM luggage WHERE session = ?", (session,))
        row = found.fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        self._db.close()

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA):
            raise sqlite3.DatabaseError(f"its version {version} is not {SCHEMA}")
        (health,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(health)
        with self._db:
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS rows "
                "(kind TEXT, key TEXT, row BLOB, PRIMARY KEY (kind, key)) WITHOUT ROWID"
            )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS luggage (session TEXT PRIMARY KEY, data BLOB)"
            )
            self._db.execute("CREATE TABLE IF NOT EXISTS generation (number INTEGER)")
            if self._db.execute("SELECT count(*) FROM generation").fetchone() == (0,):
                self._db.execute("INSERT INTO generation VALUES (0)")
            self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _unreadable(self, why: str) -> Internal:
        return Internal(
            f"The registry's journal {self._path} cannot be read: {why}.",
            hint="Put a backup of the file in its place. If there is none, move the file away:"
            " the machines must then join again, and the users need new tokens.",
        )
