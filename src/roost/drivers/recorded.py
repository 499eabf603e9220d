"""The responses of a HAR file, which the broker has split into a folder: an index and bodies.

The index maps ``METHOD address`` to status, headers and the name of the file with the body. The
broker writes the folder, and drivers read it, in a thread.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from roost.conditions import Header

INDEX = "index.json"
Answer = tuple[int, list[Header], bytes]


def recorded_answer(folder: str, method: str, url: str) -> Answer | None:
    """Return the recorded response to a request, or None if there is none. Blocks."""
    try:
        entry = _index(folder).get(f"{method.upper()} {url.partition('#')[0]}")
        if entry is None:
            return None
        status, headers, name = entry
        body = (Path(folder) / name).read_bytes() if name else b""
    except (OSError, ValueError):
        return None
    return status, [(name, value) for name, value in headers], body


@lru_cache(maxsize=8)
def _index(folder: str) -> dict[str, tuple[int, list[list[str]], str]]:
    text = (Path(folder) / INDEX).read_text(encoding="utf-8")
    read: dict[str, tuple[int, list[list[str]], str]] = json.loads(text)
    return read
