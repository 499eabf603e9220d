from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.errors import TooLarge
from roost.wire.framing import JsonLines, decode
from roost.wire.weight import (
    AGENT_VALUES,
    EVENT_STRING_BYTES,
    FEATHER_BYTES,
    WEIGHED_BYTES,
    _values,
    is_light,
    with_short_strings,
)

VALUES = 1000
FILL = b'"%s"' % (b"x" * FEATHER_BYTES)
HEAVY = {
    "empty lists": b"[%s]" % b",".join([b"[]"] * VALUES + [FILL]),
    "empty objects": b"[%s]" % b",".join([b"{}"] * VALUES + [FILL]),
    "numbers": b"[%s]" % b",".join([b"1"] * (VALUES + 1) + [FILL]),
    "strings": b"[%s]" % b",".join([b'""'] * (VALUES + 1) + [FILL]),
    "escaped strings": b"[%s]" % b",".join([rb'"\\\""'] * (VALUES + 1) + [FILL]),
    "keys": b"{%s}" % b",".join(b'"%d":1' % key for key in range(20 * VALUES)),
    "depth": b"[%s]" % b",".join([b"%s%s" % (b"[" * 100, b"]" * 100)] * 10 + [FILL]),
}
LIGHT = {
    "one string": b'"%s"' % (b"x" * 1_000_000),
    "one string of commas": b'"%s"' % (b",[{" * 100_000),
    "one string of quotes": b'"%s"' % (rb"\"," * 100_000),
    "one string of backslashes": b'"%s"' % (rb"\\," * 100_000),
    "one string that ends in a backslash": b'["%s\\\\",1]' % (b"," * 100_000),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='ab,[]{}":\\\n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='a,"\\'), inner),
    max_leaves=30,
)


@pytest.mark.parametrize("name", HEAVY)
def test_many_values_are_heavy_whatever_they_are(name: str) -> None:
    json.loads(HEAVY[name])
    assert not is_light(HEAVY[name], VALUES)


@pytest.mark.parametrize("name", LIGHT)
def test_the_content_of_strings_does_not_count_as_values(name: str) -> None:
    json.loads(LIGHT[name])
    assert is_light(LIGHT[name], VALUES)


def test_strings_are_not_looked_into_where_the_frame_is_small_or_too_large_for_it() -> None:
    assert is_light(b"[" * FEATHER_BYTES, 1)
    assert is_light(b'"%s"' % (b"," * (WEIGHED_BYTES - 2)), 1)
    assert not is_light(b'"%s"' % (b"," * WEIGHED_BYTES), 1)


def counted(value: Any) -> int:
    match value:
        case dict():
            return 1 + sum(counted(each) for each in value.values())
        case list():
            return 1 + sum(counted(each) for each in value)
        case _:
            return 1


@given(json_values)
def test_a_frame_never_holds_more_values_than_it_weighs(value: Any) -> None:
    weight = _values(json.dumps(value, ensure_ascii=False).encode(), 10_000)
    assert counted(value) <= weight + 1 <= 2 * counted(value)


def test_an_agents_frame_with_too_many_values_is_refused_before_it_is_read() -> None:
    frame = b"[%s1]" % (b"[]," * 100_000)
    with pytest.raises(TooLarge):
        decode(frame, AGENT_VALUES)
    with pytest.raises(TooLarge):
        decode(frame.decode(), AGENT_VALUES)
    with pytest.raises(TooLarge):
        next(JsonLines(len(frame), AGENT_VALUES).feed(frame + b"\n"))
    assert len(decode(frame)) == 100_001


@given(
    st.lists(
        st.tuples(
            st.text(alphabet='a"\\\n,é😀', min_size=1, max_size=9),
            st.integers(min_value=EVENT_STRING_BYTES // 9, max_value=EVENT_STRING_BYTES),
            st.integers(min_value=0, max_value=8),
        ),
        min_size=1,
        max_size=2,
    ),
    st.booleans(),
)
@settings(deadline=None)
def test_a_lightened_event_is_the_same_event_with_shorter_strings(
    strings: list[tuple[str, int, int]], ensure_ascii: bool
) -> None:
    texts = ["x" * shift + text * count for text, count, shift in strings]
    event = {"method": "Log.added", "params": {"texts": texts, "line": 7}, "sessionId": "s"}
    read = json.loads(with_short_strings(json.dumps(event, ensure_ascii=ensure_ascii).encode()))
    short = read["params"].pop("texts")
    assert read == {"method": "Log.added", "params": {"line": 7}, "sessionId": "s"}
    assert len(short) == len(texts)


@pytest.mark.parametrize("piece", ["a", "é", "😀", "\n", "\\", "\u2028", "a\\b"])
def test_a_string_without_quotation_marks_is_cut_to_its_beginning(piece: str) -> None:
    text = piece * EVENT_STRING_BYTES
    for ensure_ascii in (True, False):
        frame = json.dumps({"text": text}, ensure_ascii=ensure_ascii).encode()
        short = json.loads(with_short_strings(frame))["text"].encode("utf-16", "surrogatepass")
        assert text.encode("utf-16").startswith(short)
        is_all_backslashes = piece == "\\"
        assert is_all_backslashes or len(short) <= 2 * EVENT_STRING_BYTES + 2


@pytest.mark.parametrize("piece", [rb"\\", rb"\"", b"\\u0041", b"a", b'","'])
def test_an_event_of_megabytes_is_lightened_at_once(piece: bytes) -> None:
    for _ in range(20):  # byte by byte, this takes minutes
        with_short_strings(b'{"text":"%s"}' % (piece * (8_000_000 // len(piece))))
