"""Read LevelDB, in which Chromium keeps localStorage.

The latest writes are in a log, older ones in sorted tables. The manifest, which has the format of a
log, says which tables are valid. Every entry has a sequence number, and for each key the entry with
the highest number counts.
https://github.com/google/leveldb/blob/main/doc/ (log_format.md, table_format.md, impl.md)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from roost.profiles.snappy import unpacked

BLOCK_BYTES, HEAD_BYTES = 32 * 1024, 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
FOOTER_BYTES, MAGIC = 48, bytes.fromhex("57fb808b247547db")
TRAILER_BYTES, PLAIN, SNAPPY = 5, 0, 1
DELETED, VALUE = 0, 1
TRIES = 20

Entry = tuple[bytes, int, bytes | None]
"""A key, its sequence number, and the value, or None if the key was deleted."""


class Damaged(ValueError):
    """The data is not in LevelDB's format, or is incomplete."""


def read_leveldb(folder: Path) -> dict[bytes, bytes]:
    """Return all keys and values of the store, even while its browser writes to it.

    This locks and writes nothing. The browser adds and removes files, and the manifest records
    that. If the manifest is the same before and after, the files that were read belong together.
    Raises ``Damaged`` if the store cannot be read.
    """
    for _ in range(TRIES):
        try:
            manifest = _manifest(folder)
            entries = list(_entries(folder, Version.read(manifest)))
            if _manifest(folder) == manifest:
                return _newest(entries)
        except FileNotFoundError:
            continue  # the browser has just replaced the file
    raise Damaged("it changes all the time")


def _manifest(folder: Path) -> bytes:
    name = (folder / "CURRENT").read_text(encoding="ascii", errors="replace").strip()
    if not name.startswith("MANIFEST-") or "/" in name:
        raise Damaged("no manifest is named")
    return (folder / name).read_bytes()


@dataclass(slots=True)
class Version:
    """The valid files: the tables, the logs from number ``log`` on, and ``earlier_log``."""

    tables: set[int] = field(default_factory=set)
    log: int = 0
    earlier_log: int = 0

    @staticmethod
    def read(manifest: bytes) -> Version:
        version = Version()
        for record in records(manifest):
            version._edited(Bytes(record))
        return version

    def _edited(self, edit: Bytes) -> None:
        while not edit.is_over:
            match edit.number():
                case 1:  # the name of the comparator
                    edit.text()
                case 2:
                    self.log = edit.number()
                case 3 | 4:  # the next file number, the last sequence number
                    edit.number()
                case 5:  # a compaction pointer
                    edit.number()
                    edit.text()
                case 6:
                    edit.number()
                    self.tables.discard(edit.number())
                case 7:
                    edit.number()
                    self.tables.add(edit.number())
                    edit.number()  # its size, followed by its first and its last key
                    edit.text()
                    edit.text()
                case 9:
                    self.earlier_log = edit.number()
                case other:
                    raise Damaged(f"an edit of kind {other}")


def _entries(folder: Path, version: Version) -> Iterator[Entry]:
    for number in version.tables:
        table = folder / f"{number:06}.ldb"
        yield from table_entries(
            (table if table.exists() else table.with_suffix(".sst")).read_bytes()
        )
    for log in folder.glob("*.log"):
        if log.stem.isdigit() and (
            int(log.stem) >= version.log or int(log.stem) == version.earlier_log
        ):
            for record in records(log.read_bytes()):
                yield from batch_entries(record)


def _newest(entries: list[Entry]) -> dict[bytes, bytes]:
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    for key, number, value in entries:
        if key not in newest or newest[key][0] < number:
            newest[key] = number, value
    return {key: value for key, (_, value) in newest.items() if value is not None}


# --- logs ----------------------------------------------------------------------------------------


def records(log: bytes) -> Iterator[bytes]:
    """Yield the complete records. Skip one at the end that is still being written."""
    parts: list[bytes] = []
    for start in range(0, len(log), BLOCK_BYTES):
        block, at = log[start : start + BLOCK_BYTES], 0
        while at + HEAD_BYTES <= len(block):
            size, kind = int.from_bytes(block[at + 4 : at + 6], "little"), block[at + 6]
            data = block[at + HEAD_BYTES : at + HEAD_BYTES + size]
            if kind == 0 or len(data) < size:
                break  # preallocated space, or the end of the file
            at += HEAD_BYTES + size
            parts = [data] if kind in (WHOLE, FIRST) else [*parts, data]
            if kind in (WHOLE, LAST):
                yield b"".join(parts)
            elif kind not in (FIRST, MIDDLE):
                raise Damaged(f"a record of kind {kind}")


def batch_entries(batch: bytes) -> Iterator[Entry]:
    """Yield the entries of a write batch, which the log stores as one record."""
    data = Bytes(batch)
    number, count = int.from_bytes(data.take(8), "little"), int.from_bytes(data.take(4), "little")
    for each in range(number, number + count):
        kind = data.take(1)[0]
        key = data.text()
        yield key, each, data.text() if kind == VALUE else None


# --- tables --------------------------------------------------------------------------------------


def table_entries(table: bytes) -> Iterator[Entry]:
    """Yield the entries of a sorted table, whose index block points to its data blocks."""
    footer = Bytes(table[-FOOTER_BYTES:])
    if len(table) < FOOTER_BYTES or table[-len(MAGIC) :] != MAGIC:
        raise Damaged("no table")
    footer.number()  # skip the position and size of the metaindex block, which holds filters
    footer.number()
    for _, handle in _block(table, footer):
        for key, value in _block(table, Bytes(handle)):
            mark = int.from_bytes(key[-8:], "little")
            yield key[:-8], mark >> 8, value if mark & 0xFF == VALUE else None


def _block(table: bytes, handle: Bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block. A key is stored as the length of the prefix it shares
    with the key before, followed by the rest."""
    offset, size = handle.number(), handle.number()
    stored, trailer = table[offset : offset + size], table[offset + size :][:TRAILER_BYTES]
    if len(trailer) < TRAILER_BYTES or trailer[0] not in (PLAIN, SNAPPY):
        raise Damaged("a block that cannot be read")
    block = stored if trailer[0] == PLAIN else unpacked(stored)
    restarts = int.from_bytes(block[-4:], "little")
    data, key = Bytes(block[: len(block) - 4 * (restarts + 1)]), b""
    while not data.is_over:
        shared, own, length = data.number(), data.number(), data.number()
        key = key[:shared] + data.take(own)
        yield key, data.take(length)


class Bytes:
    """Read bytes from the front. Numbers are varints; texts are preceded by their length."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._data)

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise Damaged("it ends too soon")
        self._at += size
        return taken

    def number(self) -> int:
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def text(self) -> bytes:
        return self.take(self.number())
