"""Heads of HTTP messages: nothing that two parsers could read in two ways gets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.errors import BadRequest, TooLarge
from roost.fleet.http_heads import (
    HEAD_BYTES,
    HEADERS,
    Body,
    Framing,
    chunk_length,
    parse_request,
    parse_response,
    request_head,
    response_head,
)

HOST = b"Host: gateway\r\n"


def request(*lines: bytes, first: bytes = b"POST /mcp HTTP/1.1") -> bytes:
    return b"\r\n".join([first, b"Host: gateway", *lines, b"", b""])


@pytest.mark.parametrize(
    "head",
    [
        request(b"Content-Length: 4", b"Transfer-Encoding: chunked"),
        request(b"Content-Length: 4", b"Content-Length: 4"),
        request(b"Content-Length: 4, 4"),
        request(b"Content-Length: +4"),
        request(b"Content-Length: -1"),
        request(b"Content-Length: 0x4"),
        request(b"Content-Length: "),
        request(b"Transfer-Encoding: gzip, chunked"),
        request(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
        request(b"Transfer-Encoding: xchunked"),
        request(b"Transfer-Encoding : chunked"),
        request(b" Transfer-Encoding: chunked"),
        request(b"X: a\r\n b"),
        request(b"X: a\nTransfer-Encoding: chunked"),
        request(b"X: a\rb"),
        request(b"X: a\0b"),
        request(b"Host: other"),
        request(b"no colon"),
        request(b": no name"),
        request(first=b"POST  /mcp HTTP/1.1"),
        request(first=b"POST /mcp HTTP/1.0"),
        request(first=b"POST /mcp HTTP/2.0"),
        request(first=b"POST http://other/mcp HTTP/1.1"),
        request(first=b"POST //other HTTP/1.1 X"),
        request(first=b"post /mcp HTTP/1.1"),
        request(first=b"CONNECT other:443 HTTP/1.1"),
        request(first=b"POST /m\xc3\xa4 HTTP/1.1"),
        request(first=b"POST /a\tb HTTP/1.1"),
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"\r\n" + request(),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_request(head)


def test_a_head_with_too_many_or_too_long_lines_is_refused() -> None:
    with pytest.raises(TooLarge):
        parse_request(request(*[b"X: y"] * (HEADERS + 1)))
    with pytest.raises(TooLarge):
        parse_request(request(b"X: " + b"y" * HEAD_BYTES))


def test_the_body_is_framed_as_the_head_says() -> None:
    assert parse_request(request()).body == Body(Framing.NONE)
    assert parse_request(request(b"Content-Length: 12")).body == Body(Framing.LENGTH, 12)
    assert parse_request(request(b"Transfer-Encoding: Chunked")).body.framing is Framing.CHUNKED
    assert parse_request(request(b"Connection: keep-alive, Close")).is_last


def test_a_response_without_a_length_ends_with_its_connection() -> None:
    until_close = parse_response(b"HTTP/1.1 200 OK\r\n\r\n", b"GET")
    assert until_close.body.framing is Framing.UNTIL_CLOSE
    assert until_close.is_last
    head = parse_response(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"HEAD")
    assert head.body.framing is Framing.NONE
    assert parse_response(b"HTTP/1.1 204 No Content\r\n\r\n", b"GET").body.framing is Framing.NONE


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/2 200 OK\r\n\r\n", b"garbage\r\n\r\n", b"\r\n\r\n"]
)
def test_garbage_is_refused_as_a_response(head: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_response(head, b"GET")


@pytest.mark.parametrize("line", [b"", b"-1", b"+1", b"0x1", b"1;ext", b" 1", b"1 ", b"123456789"])
def test_a_chunk_length_with_anything_beside_digits_is_refused(line: bytes) -> None:
    with pytest.raises(BadRequest):
        chunk_length(line)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_head_or_refused(data: bytes) -> None:
    for head in (data, request(data), b"HTTP/1.1 200 OK\r\n" + data + b"\r\n\r\n"):
        for parse in (parse_request, lambda each: parse_response(each, b"GET")):
            try:
                parse(head)
            except (BadRequest, TooLarge):
                pass


NAMES = st.from_regex(rb"[a-z][a-z0-9-]{0,12}", fullmatch=True).filter(
    lambda name: name not in (b"host", b"content-length", b"transfer-encoding", b"connection")
)
VALUES = st.from_regex(rb"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=10))
def test_a_head_that_is_written_is_read_back_alike(headers: list[tuple[bytes, bytes]]) -> None:
    everything = [(b"host", b"node"), *headers]
    found = parse_request(request_head(b"GET", b"/a?b=c", everything))
    assert found.headers == tuple(everything)
    assert (found.path, found.query) == ("/a", "b=c")
    back = parse_response(response_head(200, "OK", headers), b"GET")
    assert back.headers == tuple(headers)
