"""What a source gave, what it did not, and a look into the database of a browser that runs."""

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
"""What sqlite keeps beside a database that is open; ``-shm`` is made anew from the first."""


@dataclass(slots=True)
class Harvest:
    """What was read. ``left_out`` says how many of what, and why, for the person to see."""

    cookies: list[Cookie] = field(default_factory=list)
    storage: list[OriginStorage] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A moment's state of the database, also while its browser writes to it.

    Nothing is locked and nothing written there, not even sqlite's own side files: a reader that
    opened the database in place would do both. So its bytes are read, the main file twice around
    the side files: if it did not change meanwhile, they belong together.
    """
    with tempfile.TemporaryDirectory(prefix="roost-import-") as folder:  # 0700
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
