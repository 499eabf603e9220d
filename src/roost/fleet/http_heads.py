"""Heads of HTTP/1.1 messages: parse them strictly, and write them anew.

The gateway never forwards bytes of a head that it has read. It parses the head, refuses whatever
two parsers could read in two ways (request smuggling), and writes a new head. So the gateway and
the node always agree where a message ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from roost.errors import BadRequest, TooLarge
from roost.vocabulary import KIB

HEAD_BYTES = 64 * KIB
HEADERS = 100
"""A head may have this many header lines."""
CHUNK_LINE_BYTES = 64
"""Maximum length of the line that says how long a chunk is. Extensions are refused."""

_METHOD = re.compile(rb"[A-Z]{1,20}")
_TARGET = re.compile(rb"/[!-~]*")
"""Only the path form: an absolute address would name a second host."""
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_STATUS = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_CHUNK = re.compile(rb"[0-9a-fA-F]{1,8}")

Header = tuple[bytes, bytes]
"""A header's name in lower case, and its value without white space around it."""


class Framing(StrEnum):
    """How the end of a body is found."""

    NONE = "none"
    LENGTH = "length"
    CHUNKED = "chunked"
    UNTIL_CLOSE = "until-close"


@dataclass(frozen=True, slots=True)
class Body:
    """How the body of a message is framed. ``length`` counts for ``Framing.LENGTH`` only."""

    framing: Framing
    length: int = 0


NO_BODY = Body(Framing.NONE)


@dataclass(frozen=True, slots=True)
class Request:
    """The head of a request."""

    method: bytes
    target: bytes
    headers: tuple[Header, ...]
    body: Body
    is_last: bool
    """The peer ends the connection after the answer."""

    @property
    def path(self) -> str:
        return self.target.partition(b"?")[0].decode("ascii")

    @property
    def query(self) -> str:
        return self.target.partition(b"?")[2].decode("ascii")

    @property
    def is_upgrade(self) -> bool:
        """The request asks for a WebSocket."""
        return b"websocket" in (value.lower() for value in values(self.headers, b"upgrade"))


@dataclass(frozen=True, slots=True)
class Response:
    """The head of a response."""

    status: int
    headers: tuple[Header, ...]
    body: Body
    is_last: bool


def values(headers: Iterable[Header], name: bytes) -> list[bytes]:
    return [value for each, value in headers if each == name]


def parse_request(head: bytes) -> Request:
    """Return the request of a head that ends with an empty line. Raises ``BadRequest``."""
    first, headers = _lines(head)
    parts = first.split(b" ")
    if len(parts) != 3 or parts[2] != b"HTTP/1.1":
        raise BadRequest("This is not an HTTP/1.1 request.", field="request")
    method, target, _ = parts
    if not _METHOD.fullmatch(method) or not _TARGET.fullmatch(target):
        raise BadRequest("The request line is not valid.", field="request")
    if len(values(headers, b"host")) != 1:
        raise BadRequest("Host: exactly one is needed.", field="host")
    return Request(method, target, headers, _framed(headers, NO_BODY), _is_last(headers))


def parse_response(head: bytes, method: bytes) -> Response:
    """Return the response to a request with that method. Raises ``BadRequest``."""
    first, headers = _lines(head)
    found = _STATUS.fullmatch(first)
    if found is None:
        raise BadRequest("This is not an HTTP/1.1 response.", field="response")
    status = int(found[1])
    if method == b"HEAD" or status < 200 or status in (204, 304):
        body = NO_BODY
    else:
        body = _framed(headers, Body(Framing.UNTIL_CLOSE))
    is_last = _is_last(headers) or body.framing is Framing.UNTIL_CLOSE
    return Response(status, headers, body, is_last)


def request_head(method: bytes, target: bytes, headers: Iterable[Header]) -> bytes:
    return _head(b"%s %s HTTP/1.1" % (method, target), headers)


def response_head(status: int, reason: str, headers: Iterable[Header]) -> bytes:
    return _head(b"HTTP/1.1 %d %s" % (status, reason.encode("ascii")), headers)


def chunk_length(line: bytes) -> int:
    """Return the length that a chunk's first line says. Raises ``BadRequest``."""
    if not _CHUNK.fullmatch(line):
        raise BadRequest("A chunk's length is not valid.", field="body")
    return int(line, 16)


def _head(first: bytes, headers: Iterable[Header]) -> bytes:
    return b"\r\n".join([first, *(b"%s: %s" % header for header in headers), b"", b""])


def _lines(head: bytes) -> tuple[bytes, tuple[Header, ...]]:
    if len(head) > HEAD_BYTES:
        raise TooLarge(f"A head is at most {HEAD_BYTES} bytes.", limitBytes=HEAD_BYTES)
    if not head.endswith(b"\r\n\r\n"):
        raise BadRequest("The head does not end with an empty line.", field="request")
    first, *lines = head[:-4].split(b"\r\n")
    if len(lines) > HEADERS:
        raise TooLarge(f"A head has at most {HEADERS} header lines.", limit=HEADERS)
    return first, tuple(map(_header, lines))


def _header(line: bytes) -> Header:
    name, colon, value = line.partition(b":")
    value = value.strip(b" \t")
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise BadRequest("A header line is not valid.", field="headers")
    return name.lower(), value


def _framed(headers: tuple[Header, ...], default: Body) -> Body:
    lengths = values(headers, b"content-length")
    codings = values(headers, b"transfer-encoding")
    if not lengths and not codings:
        return default
    if len(lengths) + len(codings) != 1:
        raise BadRequest("The body's length is given twice.", field="content-length")
    if codings:
        if codings[0].lower() != b"chunked":
            raise BadRequest("Transfer-Encoding: only chunked is known.", field="transfer-encoding")
        return Body(Framing.CHUNKED)
    if not _LENGTH.fullmatch(lengths[0]):
        raise BadRequest("Content-Length: expected a number.", field="content-length")
    return Body(Framing.LENGTH, int(lengths[0]))


def _is_last(headers: tuple[Header, ...]) -> bool:
    said = {
        word.strip().lower()
        for value in values(headers, b"connection")
        for word in value.split(b",")
    }
    return b"close" in said
