"""The audit trail: who did what, where, and how it ended. JSON lines, for a person to read.

Agent ids are cut, addresses redacted; typed text, scripts and page content never get here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roost.core.redaction import redacted_url
from roost.vocabulary import MIB

ROTATE_BYTES = 10 * MIB
_line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Audit:
    """Appends to one file; when that is full it becomes ``….1`` and a new one begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = self._opened()
        self._size = os.fstat(self._fd).st_size

    def write(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        entry = {"at": at, "kind": kind}
        for key, value in data.items():
            if value is not None:
                entry[key] = redacted_url(value) if key == "url" else value
        encoded = _line(entry).encode(errors="backslashreplace") + b"\n"
        if self._size + len(encoded) > ROTATE_BYTES:
            self._rotate()
        self._size += os.write(self._fd, encoded)

    def close(self) -> None:
        os.close(self._fd)

    def _opened(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._path, flags, 0o600)

    def _rotate(self) -> None:
        os.close(self._fd)
        os.replace(self._path, f"{self._path}.1")
        self._fd = self._opened()
        self._size = 0
