"""Native messaging: frames that are split for the browser's limit are joined on the other side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.host.native import MESSAGE_BYTES, NativeWire, in_parts, native_message
from roost.link.wire import HungUp
from roost.wire.framing import NativeSplitter, encode

Wires = tuple[NativeWire, int, int]


@pytest.fixture
def wires() -> Iterator[Wires]:
    """Return a host's wire, and the browser's two ends."""
    (inlet, to_host), (from_host, outlet) = os.pipe(), os.pipe()
    yield NativeWire(inlet, outlet), to_host, from_host
    for descriptor in (inlet, outlet, to_host, from_host):
        os.close(descriptor)


def joined(parts: list[bytes]) -> bytes:
    """Join the parts as ``extension/link.js`` does."""
    messages = [json.loads(part) for part in parts]
    assert [message["part"] for message in messages] == list(range(len(messages)))
    assert {message["of"] for message in messages} == {len(messages)}
    return "".join(message["text"] for message in messages).encode()


TEXTS = st.text(st.characters(codec="utf-8"), max_size=400)


@given(text=TEXTS, limit=st.integers(160, 600))
def test_large_messages_are_split_only_between_characters(text: str, limit: int) -> None:
    frame = encode({"text": text + "☃😀é" * 30})

    parts = in_parts(frame, 1, limit)

    assert all(len(part) <= limit and part.isascii() for part in parts)
    assert joined(parts) == frame


def test_a_short_frame_is_sent_unchanged(wires: Wires) -> None:
    wire, _, from_host = wires
    wire.send(b'{"id":1}')
    wire.flush()

    assert list(NativeSplitter(100).feed(os.read(from_host, 100))) == [b'{"id":1}']
    assert not wire.has_unsent


def test_no_message_exceeds_the_browsers_limit(wires: Wires) -> None:
    wire, _, from_host = wires
    frame = encode({"text": "\U0001f426" * MESSAGE_BYTES})
    wire.send(frame)
    splitter, parts = NativeSplitter(MESSAGE_BYTES), list[bytes]()
    while wire.has_unsent:
        wire.flush()
        parts += splitter.feed(os.read(from_host, 1 << 20))

    assert len(parts) > 12
    assert joined(parts) == frame


@given(cuts=st.lists(st.integers(1, 60), max_size=20))
def test_messages_arrive_however_the_stream_is_split(cuts: list[int]) -> None:
    (inlet, to_host), (from_host, outlet) = os.pipe(), os.pipe()
    wire = NativeWire(inlet, outlet)
    data, sent = b"".join(native_message(encode({"é☃😀": n})) for n in range(4)), 0
    frames: list[bytes] = []
    for cut in [*cuts, len(data)]:
        piece = data[sent : sent + cut]
        sent += len(piece)
        if piece:
            os.write(to_host, piece)
            frames += wire.read()
    for descriptor in (inlet, outlet, to_host, from_host):
        os.close(descriptor)

    assert [json.loads(frame) for frame in frames] == [{"é☃😀": n} for n in range(4)]


def test_a_frame_that_looks_like_a_message_of_the_host_is_dropped(wires: Wires) -> None:
    wire, to_host, _ = wires
    for message in (["end", None], "end", 1, {"id": 1}):
        os.write(to_host, native_message(encode(message)))

    assert wire.read() == [b'{"id":1}']


def test_a_line_break_between_values_does_not_end_a_frame(wires: Wires) -> None:
    wire, to_host, _ = wires
    body = b'{\n"id":\n1}'
    os.write(to_host, len(body).to_bytes(4, "little") + body)

    assert wire.read() == [b'{ "id": 1}']


def test_a_browser_that_closes_its_end_has_hung_up(wires: Wires) -> None:
    wire, to_host, from_host = wires
    spare = os.dup(from_host)
    os.close(to_host)
    with pytest.raises(HungUp):
        wire.read()
    os.close(from_host)
    os.close(spare)
    wire.send(b"{}")
    with pytest.raises(HungUp):
        wire.flush()
    os.dup2(os.open(os.devnull, os.O_RDWR), to_host)
    os.dup2(to_host, from_host)
