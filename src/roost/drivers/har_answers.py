"""The responses of a HAR file, which the broker has split into a folder: one file for each.

A file is named by the digest of method and address. Its first line has status and headers as JSON,
and the rest is the body. The broker writes the folder, and drivers read it, in a thread. Nothing
of it stays in memory.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from roost.conditions import Header

Answer = tuple[int, list[Header], bytes]


def file_name(method: str, url: str) -> str:
    """Return the name of the file with the response to such a request."""
    key = f"{method.upper()} {url.partition('#')[0]}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def recorded_answer(folder: str, method: str, url: str) -> Answer | None:
    """Return the recorded response to a request, or None if there is none. Blocks."""
    try:
        data = (Path(folder) / file_name(method, url)).read_bytes()
        head, _, body = data.partition(b"\n")
        status, headers = json.loads(head)
    except (OSError, ValueError):
        return None
    return status, [(name, value) for name, value in headers], body
