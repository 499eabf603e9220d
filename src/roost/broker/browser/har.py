"""HAR files: record a session's requests, and split a file into responses to answer with.

A recording lives in the broker's memory and has bounds. It ends with the session and with the
broker. http://www.softwareishard.com/blog/har-12-spec/
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from roost.broker.tasks import Tasks
from roost.drivers.events import PageEvent, RequestEnded, RequestSent
from roost.drivers.har_answers import file_name
from roost.errors import BadRequest, RoostError, TooLarge
from roost.vault.redaction import Redactor
from roost.vocabulary import MIB, TabId

ENTRIES = 2000
"""Requests in one recording, of which later ones are left out, and in one file that is read."""
RECORDED_BYTES = 32 * MIB
"""All bodies of one recording together."""
BODY_SECONDS = 5.0
HEADERS, HEADER_CHARS = 100, 4000
"""Headers of one message, and characters of one header, that a recording keeps."""
FILE_BYTES = 16 * MIB
"""The largest HAR file that is read: parsing a larger one would hold up other agents."""
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that describe the body as it was sent. A recorded body is decoded."""
Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Entry:
    """One request of a recording."""

    tab: TabId
    sent: RequestSent
    at: float
    status: int = 0
    mime_type: str = ""
    headers: Headers = ()
    error: str | None = None
    ended_at: float | None = None
    body: bytes | None = None


@dataclass(slots=True)
class Recording:
    """The requests of one session since the recording began.

    read_body: reads the body of a tab's response.
    redactor: removes the person's secrets from what is recorded.
    """

    tasks: Tasks
    redactor: Redactor
    read_body: Callable[[TabId, str], Awaitable[bytes]]
    entries: list[_Entry] = field(default_factory=list)
    _open: dict[tuple[TabId, str], _Entry] = field(default_factory=dict)
    _reading: set[asyncio.Task[None]] = field(default_factory=set)
    _bytes: int = 0

    def hear(self, tab: TabId, event: PageEvent, now: float) -> None:
        """Add what an event says about a request of the session."""
        if isinstance(event, RequestSent):
            if len(self.entries) < ENTRIES:
                entry = _Entry(tab, replace(event, headers=self._bounded(event.headers)), now)
                self.entries.append(entry)
                self._open[tab, event.request] = entry
        elif isinstance(event, RequestEnded):
            self._ended(tab, event, now)

    def without(self, is_hidden: Callable[[str], bool]) -> None:
        """Drop the requests to addresses that are hidden from the caller."""
        self.entries = [one for one in self.entries if not is_hidden(one.sent.url)]

    async def har(self, version: str) -> bytes:
        """Return the recording as a HAR file."""
        if self._reading:
            await asyncio.wait(self._reading, timeout=BODY_SECONDS)
        return await asyncio.to_thread(_har, self.entries, version, self.redactor)

    def _ended(self, tab: TabId, event: RequestEnded, now: float) -> None:
        entry = self._open.get((tab, event.request))
        if entry is None:
            return
        entry.status = event.status or entry.status
        entry.mime_type = event.mime_type or entry.mime_type
        entry.headers = self._bounded(event.headers) or entry.headers
        entry.error = event.error
        if not event.finished:
            return
        entry.ended_at = now
        del self._open[tab, event.request]
        if event.error is None and self._bytes < RECORDED_BYTES:
            reading = self.tasks.spawn(self._read(entry), name=f"record a body of {tab}")
            self._reading.add(reading)
            reading.add_done_callback(self._reading.discard)

    async def _read(self, entry: _Entry) -> None:
        """Read a body while the browser still has it."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self.read_body(entry.tab, entry.sent.request)
        except (RoostError, TimeoutError):
            return  # redirects and empty responses have none
        if self._bytes + len(body) <= RECORDED_BYTES:
            self._bytes += len(body)
            entry.body = body

    def _bounded(self, headers: Headers) -> Headers:
        cut = self.redactor.cut
        return tuple((name, cut(value, HEADER_CHARS)) for name, value in headers[:HEADERS])


def _har(entries: list[_Entry], version: str, redactor: Redactor) -> bytes:
    log = {
        "version": "1.2",
        "creator": {"name": "Roost", "version": version},
        "pages": [],
        "entries": [redactor.data(_entry(one, redactor)) for one in entries],
    }
    return json.dumps({"log": log}, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _entry(entry: _Entry, redactor: Redactor) -> dict[str, Any]:
    took = 0.0 if entry.ended_at is None else max(0.0, entry.ended_at - entry.at) * 1000
    query = parse_qsl(urlsplit(entry.sent.url).query, keep_blank_values=True)
    response = {
        "status": entry.status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(entry.headers),
        "content": _content(entry, redactor),
        "redirectURL": next((v for k, v in entry.headers if k.lower() == "location"), ""),
        "headersSize": -1,
        "bodySize": -1,
    }
    if entry.error is not None:
        response["_failureText"] = entry.error
    return {
        "startedDateTime": datetime.fromtimestamp(entry.at, UTC).isoformat(),
        "time": took,
        "request": {
            "method": entry.sent.method,
            "url": entry.sent.url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(entry.sent.headers),
            "queryString": [{"name": name, "value": value} for name, value in query],
            "headersSize": -1,
            "bodySize": -1,
        },
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
        "_resourceType": entry.sent.kind,
    }


def _content(entry: _Entry, redactor: Redactor) -> dict[str, Any]:
    body = None if entry.body is None else redactor.encoded(entry.body)
    content: dict[str, Any] = {
        "size": -1 if body is None else len(body),
        "mimeType": entry.mime_type or "x-unknown",
    }
    if body is not None:
        try:
            content["text"] = body.decode("utf-8")
        except UnicodeDecodeError:
            content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    return content


def _named(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def split(data: bytes, folder: Path) -> tuple[int, int]:
    """Write the responses of a HAR file to a new folder that rules answer from. Blocks.

    data: the file's contents, at most ``FILE_BYTES``.
    Returns the number of responses and of their bytes. Raises ``TooLarge`` and ``BadRequest``.
    """
    try:
        entries = json.loads(data)["log"]["entries"]
        if len(entries) > ENTRIES:
            raise TooLarge(
                f"path: the HAR file has more than {ENTRIES} requests.",
                hint="Record fewer requests.",
                field="path",
            )
        folder.mkdir(mode=0o700, parents=True)
        written: dict[str, int] = {}
        for entry in entries:
            request, response = entry["request"], entry["response"]
            status = int(response["status"])
            name = file_name(str(request["method"]), str(request["url"]))
            if not 200 <= status <= 599 or name in written:
                continue  # the recorded request failed, or an earlier response answers it
            headers = [
                [str(one["name"]), str(one["value"])[:HEADER_CHARS]]
                for one in response["headers"][:HEADERS]
                if str(one["name"]).lower() not in _ENCODED and not str(one["name"]).startswith(":")
            ]
            head = json.dumps([status, headers]).encode()
            body = head + b"\n" + _recorded_body(response.get("content", {}))
            written[name] = (folder / name).write_bytes(body)
    except OSError as error:
        raise BadRequest(
            f"path: the file cannot be used: {error.strerror}.", field="path"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadRequest(
            "path: the file is no HAR file.", hint="Record one, or export it.", field="path"
        ) from None
    return len(written), sum(written.values())


def _recorded_body(content: dict[str, Any]) -> bytes:
    text = content.get("text")
    if not isinstance(text, str):
        return b""
    is_base64 = content.get("encoding") == "base64"
    return base64.b64decode(text) if is_base64 else text.encode("utf-8", "replace")
