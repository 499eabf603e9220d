"""Lines from a client that may send anything: a line that is too long is skipped and not
buffered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.shim.lines import ClientLines, TooLong


@given(st.lists(st.binary(max_size=20).filter(lambda b: b"\n" not in b), max_size=8), st.data())
def test_lines_come_out_as_they_went_in_however_the_stream_is_cut(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader = ClientLines(limit=100)

    read = [
        line
        for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for line in reader.feed(stream[start:end])
    ]

    assert read == lines
    assert list(reader.last()) == []


def test_a_last_line_that_nobody_ended_is_a_line() -> None:
    reader = ClientLines(limit=100)

    assert list(reader.feed(b"one\ntw")) == [b"one"]
    assert list(reader.feed(b"o")) == []
    assert list(reader.last()) == [b"two"]


@pytest.mark.parametrize("chunk", [1, 7, 1000, 100_000])
def test_a_line_too_long_is_skipped_and_the_next_is_read(chunk: int) -> None:
    stream = b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * 5000 + b'"}\nnext\n'
    reader = ClientLines(limit=1000)

    read = [
        line
        for start in range(0, len(stream), chunk)
        for line in reader.feed(stream[start : start + chunk])
    ]

    assert len(read) == 2
    assert isinstance(read[0], TooLong)
    assert read[0].size == len(stream) - len(b"\nnext\n")
    assert read[0].id == b"7"
    assert read[1] == b"next"
    assert len(reader._held) == 0


def test_a_line_of_exactly_the_limit_passes() -> None:
    reader = ClientLines(limit=10)

    assert list(reader.feed(b"0123456789\n")) == [b"0123456789"]
    assert [type(line) for line in reader.feed(b"0123456789A\n")] == [TooLong]


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (b'{"jsonrpc":"2.0","id":12,"method":"tools/call"', b"}}", b"12"),
        (b'{ "id" : "a-b", "jsonrpc"', b"}}", b'"a-b"'),
        (b'{"method":"tools/call","params":{', b'}},"jsonrpc":"2.0","id":3}', b"3"),
        (b'{"method":"tools/call","params":{', b'}},"id":"x","jsonrpc":"2.0"}\r', b'"x"'),
        (b'{"method":"m","params":{"id":9,', b'"id":9}}', None),
        (b'{"params":{"id":9,"x":"', b'"}}', None),
        (b"\xff\xfe", b"\x00", None),
    ],
)
def test_the_id_of_a_skipped_request_is_found_where_the_sdks_put_it_and_nowhere_else(
    start: bytes, end: bytes, found: bytes | None
) -> None:
    assert TooLong(99, start, end).id == found
