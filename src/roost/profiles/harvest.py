"""The result of reading a source, and safe access to the database of a running browser."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from roost.drivers.base import Cookie, OriginStorage
from roost.errors import BadRequest

TRIES = 20
SIDE_FILES = ("-wal", "-journal")
"""Files that sqlite keeps beside an open database. ``-shm`` is left out: sqlite rebuilds it."""


@dataclass(slots=True)
class Harvest:
    """The logins read from a source. ``left_out`` counts what was skipped, by a reason that the
    person sees."""

    cookies: list[Cookie] = field(default_factory=list)
    storage: list[OriginStorage] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a consistent copy of the database, even while its browser writes to it.

    Opening the database in place would lock it and write side files in the browser's folder. So
    this copies the bytes: the main file, the side files, and the main file again. If the main file
    did not change, the copies belong together. Raises ``BadRequest`` if it cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="roost-import-") as folder:  # mode 0700
        copy = Path(folder) / "copy.sqlite"
        for name, data in _moment(path).items():
            Path(f"{copy}{name}").write_bytes(data)
        connection = sqlite3.connect(copy)
        try:
            (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if health != "ok":
                raise sqlite3.DatabaseError(health)
            yield connection
        except sqlite3.DatabaseError as error:
            raise BadRequest(
                f"source: {path} cannot be read: {error}.",
                hint="Is it a profile of that browser? Try again with the browser closed.",
                field="source",
            ) from None
        finally:
            connection.close()


def _moment(path: Path) -> dict[str, bytes]:
    """Return the bytes of the database and its side files, by suffix, that belong together."""
    try:
        before = path.read_bytes()
        for _ in range(TRIES):
            beside = {name: _there(Path(f"{path}{name}")) for name in SIDE_FILES}
            again = path.read_bytes()
            if again == before:
                return {"": before, **{name: data for name, data in beside.items() if data}}
            before = again
    except OSError as error:
        raise unreadable(path, error) from None
    raise BadRequest(
        f"source: {path} changed all the time.", hint="Close the browser first.", field="source"
    )


def _there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def unreadable(path: Path, error: OSError) -> BadRequest:
    return BadRequest(
        f"source: {path} cannot be read: {os.strerror(error.errno or 0)}.",
        hint="Name a browser's profile folder, a storage-state JSON or a cookies.txt.",
        field="source",
    )
