"""Snappy blocks, built by hand from the format description."""

from __future__ import annotations

import pytest

from roost.profiles.snappy import unpacked


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        (b"\x00", b""),
        (b"\x03\x08abc", b"abc"),
        (b"\x3d\xf0\x3c" + b"x" * 61, b"x" * 61),
        # A copy of one byte back, longer than what is there yet.
        (b"\x09\x00a\x11\x01", b"a" * 9),
        # Two and four bytes of offset.
        (b"\x06\x08abc\x0a\x03\x00", b"abcabc"),
        (b"\x06\x08abc\x0b\x03\x00\x00\x00", b"abcabc"),
    ],
)
def test_every_kind_of_element_is_understood(packed: bytes, plain: bytes) -> None:
    assert unpacked(packed) == plain


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\x05\x08abc",
        b"\x06\x08abc\x0a\x04\x00",
        b"\x06\x08abc\x0a\x00\x00",
        b"\xff\xff\xff\xff\x7f",
        b"\x80",
    ],
    ids=["nothing", "too short", "from before the start", "from nowhere", "huge", "cut"],
)
def test_a_damaged_block_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpacked(packed)
