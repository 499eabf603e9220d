"""Answer a request with a file of a folder on this machine, as a small static server would."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from roost.conditions import Header
from roost.vocabulary import MIB

FILE_BYTES = 20 * MIB
INDEX = "index.html"
Answer = tuple[int, list[Header], bytes]
_HEADERS: list[Header] = [
    ("Cache-Control", "no-store"),
    # Only the session knows the address of the folder, and no other site may learn it.
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
]


def folder_answer(folder: str, method: str, url: str) -> Answer:
    """Return status, headers and body for a request to a file below the folder.

    Hidden files, and links that lead out of the folder, do not exist here.
    """
    if method not in ("GET", "HEAD"):
        return _failed(405, "Only GET and HEAD work here.")
    asked = unquote(urlsplit(url).path)
    names = [name for name in asked.split("/") if name]
    if any(name.startswith(".") or "\0" in name for name in names):
        return _failed(404, "There is no such file.")
    try:
        root = Path(folder).resolve(strict=True)
        path = root.joinpath(*names).resolve(strict=True)
        if path.is_dir() and not asked.endswith("/"):
            return 302, [*_HEADERS, ("Location", quote(f"{asked}/"))], b""
        if path.is_dir():
            path = (path / INDEX).resolve(strict=True)
        if not path.is_relative_to(root) or not path.is_file():
            return _failed(404, "There is no such file.")
        if path.stat().st_size > FILE_BYTES:
            return _failed(413, f"This file has more than {FILE_BYTES // MIB} MiB.")
        body = path.read_bytes()
    except (OSError, ValueError):
        return _failed(404, "There is no such file.")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if kind.startswith("text/") or kind.endswith(("javascript", "json")):
        kind += "; charset=utf-8"
    return 200, [*_HEADERS, ("Content-Type", kind)], body


def _failed(status: int, why: str) -> Answer:
    return status, [*_HEADERS, ("Content-Type", "text/plain; charset=utf-8")], why.encode()
