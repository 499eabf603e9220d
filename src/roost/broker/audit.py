"""The audit trail: who did what, where, and how it ended. JSON lines, for a person to read.

Agent ids are shortened and addresses redacted; typed text, scripts and page content are never
written. ``write`` never fails, because the action it reports has already been done.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roost.core.addresses import short_address
from roost.core.redaction import redacted_url
from roost.vocabulary import MIB

ROTATE_BYTES = 10 * MIB
SCHEMA_VERSION = 1
"""Version of the lines' fields (``docs/reference/audit.md``). It grows when a field changes its
meaning or goes away; new kinds and new fields do not change it."""
OLDER_BYTES, OLDER_LINES = MIB, 200
"""The most that one look back reads and returns."""
UNWRITTEN_LINES = 1000
"""How many lines are kept in memory while the file cannot be written."""
logger = logging.getLogger(__name__)
_line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class Audit:
    """Append lines to one file. A full file is renamed to ``….1`` and a new one begins.

    Lines that cannot be written (the disk is full or broken) wait in memory and are written before
    the next line. If too many wait, later lines are dropped, and a line of kind ``audit gap`` says
    how many."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.redact: Callable[[bytes], bytes] = bytes
        """Removes secrets of the person from a line."""
        self._fd = self._opened()
        self._size = os.fstat(self._fd).st_size
        self._unwritten: deque[bytes] = deque()
        self._lost = 0
        self._is_failing = False
        self._listeners: list[Callable[[bytes], None]] = []

    def listen(self, listener: Callable[[bytes], None]) -> Callable[[], None]:
        """Call the listener with each line that is written from now on. Returns a function that
        removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def newest(self, size: int) -> list[bytes]:
        """Return the last lines of the file, of about ``size`` bytes in all. Returns none if
        somebody has removed the file."""
        try:
            with self._path.open("rb") as file:
                begin = max(0, file.seek(0, os.SEEK_END) - size)
                file.seek(begin)
                lines = file.read(size).splitlines()
        except FileNotFoundError:
            return []
        return lines[1:] if begin else lines  # the first line may be cut

    def older(
        self, before: str | None, session: str | None = None
    ) -> tuple[list[bytes], str | None]:
        """Return earlier lines in order, and what to pass as ``before`` for those before them.

        before: where to go back from, as an earlier call returned it. None: from the end.
        session: return only the lines of that session.

        One call reads ``OLDER_BYTES`` and returns ``OLDER_LINES`` lines at most, so it may return
        no line of a session and still have more to read. Raises ``ValueError`` for a wrong
        ``before``.
        """
        wanted = None if session is None else b'"session":' + _line(session).encode()
        places = [Path(f"{self._path}.1"), self._path]
        found = [(place, place.stat()) for place in places if place.exists()]
        if not found:
            return [], None
        number, end = len(found) - 1, found[-1][1].st_size
        if before is not None:
            inode, end = map(int, before.split(":"))
            known = [at for at, (_, about) in enumerate(found) if about.st_ino == inode]
            if not known:
                return [], None  # the file was removed, because newer ones are full
            number = known[0]
        path, about = found[number]
        lines, begin = _lines_before(path, min(end, about.st_size), wanted)
        if begin > 0:
            return lines, f"{about.st_ino}:{begin}"
        if number > 0:
            return lines, f"{found[number - 1][1].st_ino}:{found[number - 1][1].st_size}"
        return lines, None

    def write(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        """Record one thing that happened. Raises nothing."""
        line = self.redact(_encoded(now, kind, data))
        for listener in self._listeners:
            listener(line)
        if len(self._unwritten) < UNWRITTEN_LINES:
            self._unwritten.append(line)
        else:
            self._lost += 1
        try:
            self._write_out()
            if self._lost:
                self._unwritten.append(_encoded(now, "audit gap", {"lost": self._lost}))
                self._lost = 0
                self._write_out()
        except OSError as error:
            if not self._is_failing:
                logger.error("the audit trail cannot be written: %s; its lines wait", error)
            self._is_failing = True
        else:
            self._is_failing = False

    def reopen(self) -> None:
        """Begin a new file if the old one was removed or moved away."""
        with contextlib.suppress(OSError):
            if os.path.exists(self._path):
                return
            fresh = self._opened()
            os.close(self._fd)
            self._fd, self._size = fresh, os.fstat(fresh).st_size

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._write_out()
        os.close(self._fd)

    def _write_out(self) -> None:
        while self._unwritten:
            line = self._unwritten[0]
            if self._size + len(line) > ROTATE_BYTES:
                self._rotate()
            written = os.write(self._fd, line)
            self._size += written
            if written == len(line):
                self._unwritten.popleft()
            else:  # the disk is nearly full and took a part: write the rest first next time
                self._unwritten[0] = line[written:]

    def _opened(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._path, flags, 0o600)

    def _rotate(self) -> None:
        """Rename the full file and begin a new one. If that fails, keep writing to the open
        descriptor; the next line tries again."""
        try:
            with contextlib.suppress(FileNotFoundError):  # an earlier attempt has renamed it
                os.replace(self._path, f"{self._path}.1")
            fresh = self._opened()
        except OSError as error:
            if not self._is_failing:
                logger.error("the audit trail cannot begin a new file: %s", error)
            self._is_failing = True
            return
        os.close(self._fd)
        self._fd = fresh
        self._size = os.fstat(fresh).st_size


def _lines_before(path: Path, end: int, wanted: bytes | None) -> tuple[list[bytes], int]:
    """Return the lines that end at or before ``end`` and hold ``wanted``, in order, and where the
    first line that was looked at begins."""
    begin = max(0, end - OLDER_BYTES)
    with path.open("rb") as file:
        file.seek(begin)
        data = file.read(end - begin)
    if begin > 0:  # the first line may be cut
        cut = data.find(b"\n") + 1
        begin, data = begin + cut, data[cut:]
    lines: list[bytes] = []
    for line in reversed(data.splitlines(keepends=True)):
        if len(lines) == OLDER_LINES:
            break
        end -= len(line)
        if wanted is None or wanted in line:
            lines.append(line.strip())
    else:
        end = begin
    return lines[::-1], end


def _encoded(now: float, kind: str, data: Mapping[str, Any]) -> bytes:
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    entry: dict[str, Any] = {"v": SCHEMA_VERSION, "at": at, "kind": kind}
    for key, value in data.items():
        if value is not None:
            entry[key] = redacted_url(short_address(value)) if key == "url" else value
    return _line(entry).encode(errors="backslashreplace") + b"\n"
