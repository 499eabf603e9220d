from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.errors import BadRequest, RoostError, TooLarge
from roost.host.native import native_message
from roost.wire.framing import (
    LEVELS,
    JsonLines,
    NativeSplitter,
    Splitter,
    decode,
    encode,
    encode_line,
)

MIB = 1024 * 1024


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[Any]: ...


Format = tuple[Callable[[int], Decoder], Callable[[Any], bytes]]


class NativeValues:
    """Decodes native messages, as the broker decodes those that a host relays."""

    def __init__(self, limit: int) -> None:
        self._splitter = NativeSplitter(limit)

    def feed(self, data: bytes) -> Iterator[Any]:
        return map(decode, self._splitter.feed(data))


FORMATS: dict[str, Format] = {
    "lines": (JsonLines, encode_line),
    "native": (NativeValues, lambda value: native_message(encode(value))),
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),  # lone surrogates and control characters included
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    borders = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in zip(borders, borders[1:], strict=False)]


def fed(decoder: Decoder, chunks: list[bytes]) -> list[Any]:
    return [value for chunk in chunks for value in decoder.feed(chunk)]


def fed_until_failure(decoder: Decoder, data: bytes) -> tuple[list[Any], RoostError]:
    values: list[Any] = []

    def feed() -> None:
        for value in decoder.feed(data):
            values.append(value)

    with pytest.raises(RoostError) as caught:
        feed()
    return values, caught.value


@pytest.fixture(params=sorted(FORMATS))
def framing(request: pytest.FixtureRequest) -> Format:
    return FORMATS[request.param]


@settings(deadline=None)
@given(
    frames=st.lists(json_values, max_size=6),
    places=st.lists(st.integers(min_value=0), max_size=20),
    name=st.sampled_from(sorted(FORMATS)),
)
def test_any_frames_cut_anywhere_come_out_the_same(
    frames: list[Any], places: list[int], name: str
) -> None:
    decoder, encode = FORMATS[name]
    stream = b"".join(encode(frame) for frame in frames)

    assert fed(decoder(MIB), cut(stream, places)) == frames


def test_utf8_may_be_split_at_every_byte(framing: Format) -> None:
    decoder, encode = framing
    stream = encode({"ä€😀": "𝄞"})

    for place in range(len(stream)):
        assert fed(decoder(MIB), cut(stream, [place])) == [{"ä€😀": "𝄞"}]
    assert fed(decoder(MIB), [bytes([byte]) for byte in stream]) == [{"ä€😀": "𝄞"}]


def test_lines_may_end_in_crlf_and_blank_ones_are_skipped() -> None:
    assert fed(JsonLines(MIB), [b'{"a":1}\r\n\r\n\n  \n[2]\r', b"\n"]) == [{"a": 1}, [2]]


def test_half_a_frame_is_no_frame(framing: Format) -> None:
    decoder, encode = framing

    assert fed(decoder(MIB), [encode("whole"), encode("half")[:-1]]) == ["whole"]


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xfe",
        b"{",
        b"nonsense",
        b'{"a":1} {"b":2}',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"9" * 10_000,
        b"NaN",
        b"[-Infinity]",
        b"1e999",
    ],
    ids=lambda frame: repr(frame[:12]),
)
def test_a_frame_that_is_not_json_is_refused_after_the_good_frames_before_it(frame: bytes) -> None:
    decoder = JsonLines(MIB)

    values, error = fed_until_failure(decoder, b'{"good":1}\n[2]\n' + frame + b"\n[3]\n")

    assert values == [{"good": 1}, [2]]
    assert isinstance(error, BadRequest)


def test_a_frame_may_be_nested_to_the_same_depth_in_every_python() -> None:
    def nested(levels: int) -> bytes:
        return b'{"a": ' * (levels - 1) + b"[]" + b"}" * (levels - 1)

    assert decode(nested(LEVELS))
    assert decode(b'"%s"' % (b"[" * 10_000)) == "[" * 10_000
    for levels in (LEVELS + 1, 900, 40_000):
        with pytest.raises(BadRequest, match="nested too deep"):
            decode(nested(levels))


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    _, error = fed_until_failure(JsonLines(MIB), b'{"token": hunter2}\n')

    assert "hunter2" not in json.dumps(error.to_wire())


def test_a_decoder_that_failed_stays_failed() -> None:
    failed = JsonLines(MIB)

    _, first = fed_until_failure(failed, b'"\xff"\n')
    values, second = fed_until_failure(failed, encode_line("fine"))

    assert values == []
    assert second is first


def test_a_failure_is_kept_even_if_the_frames_are_not_looked_at() -> None:
    decoder = JsonLines(MIB)

    decoder.feed(b"1\nnonsense\n")

    assert isinstance(fed_until_failure(decoder, b"2\n")[1], BadRequest)


def test_a_frame_of_exactly_the_limit_passes(framing: Format) -> None:
    decoder, encode = framing

    assert fed(decoder(10), [encode("x" * 8)]) == ["x" * 8]
    values, error = fed_until_failure(decoder(10), encode("ok") + encode("x" * 9))
    assert values == ["ok"]
    assert isinstance(error, TooLarge)


@pytest.mark.parametrize("delimiter", [b"\n", b"\0"])
def test_too_large_is_known_before_the_frame_has_ended(delimiter: bytes) -> None:
    splitter = Splitter(delimiter, 10)

    assert list(splitter.feed(b"0123456789")) == []
    with pytest.raises(TooLarge):
        list(splitter.feed(b"x"))
    with pytest.raises(TooLarge):
        splitter.feed(delimiter)


def test_an_oversized_tail_does_not_cost_the_frames_before_it() -> None:
    values, error = fed_until_failure(JsonLines(10), b"[1]\n[2]\n" + b"x" * 11)

    assert values == [[1], [2]]
    assert isinstance(error, TooLarge)
    assert error.details == {"limitBytes": 10}


def test_an_oversized_frame_that_ends_in_a_later_chunk_is_refused() -> None:
    decoder = JsonLines(10)

    assert fed(decoder, [b'"12345']) == []
    values, error = fed_until_failure(decoder, b'67890"\n[1]\n')
    assert values == []
    assert isinstance(error, TooLarge)


def test_a_two_gigabyte_native_length_is_refused_at_once() -> None:
    decoder = NativeValues(64 * MIB)

    values, error = fed_until_failure(
        decoder, native_message(b"[1]") + struct.pack("=I", 2**31) + b"x"
    )

    assert values == [[1]]
    assert isinstance(error, TooLarge)


def test_a_failed_native_splitter_stays_failed() -> None:
    splitter = NativeSplitter(10)
    with pytest.raises(TooLarge):
        list(splitter.feed(struct.pack("=I", 11)))

    with pytest.raises(TooLarge):
        splitter.feed(b"")


def test_a_splitter_gives_raw_frames_to_relays() -> None:
    splitter = Splitter(b"\0", MIB)

    assert list(splitter.feed(b"{}\0\0not json\0{")) == [b"{}", b"", b"not json"]
    assert list(splitter.feed(b"}\0")) == [b"{}"]


@settings(deadline=None)
@given(json_values)
def test_an_encoded_value_holds_its_delimiter_only_at_the_end(value: Any) -> None:
    assert encode_line(value).index(b"\n") == len(encode_line(value)) - 1
    assert b"\0" not in encode(value)


def test_encoding_is_compact_and_keeps_letters_readable() -> None:
    assert encode_line({"a": [1, "ä\n"]}) == '{"a":[1,"ä\\n"]}\n'.encode()


def test_half_a_surrogate_pair_survives_the_wire() -> None:
    assert fed(JsonLines(MIB), [encode_line("\ud83d!")]) == ["\ud83d!"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinities_are_refused_as_the_callers_mistake(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode_line([number])


class CountingBytes(bytes):
    """Bytes that count how much of them is searched."""

    searched = 0

    def split(self, sep: bytes | None = None, maxsplit: int = -1) -> list[bytes]:  # type: ignore[override]
        CountingBytes.searched += len(self)
        return super().split(sep, maxsplit)


def test_a_large_frame_in_small_chunks_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountingBytes, "searched", 0)
    stream = encode_line("x" * (10 * MIB - 2))
    splitter = Splitter(b"\n", 10 * MIB)

    frames = [
        frame
        for start in range(0, len(stream), 4096)
        for frame in splitter.feed(CountingBytes(stream[start : start + 4096]))
    ]

    assert frames == [stream[:-1]]
    assert CountingBytes.searched == len(stream)
