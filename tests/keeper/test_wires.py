"""The pipe to a browser: frames are complete and in order, and one that is too large affects no
other."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.keeper.wires import BrowserFrames, PipeWire
from roost.link.wire import HungUp

LIMIT = 1000


@given(
    st.lists(st.binary(min_size=1, max_size=50).filter(lambda frame: b"\0" not in frame)),
    st.integers(1, 20),
)
def test_any_chunking_gives_the_same_frames(frames: list[bytes], chunk: int) -> None:
    data = b"".join(frame + b"\0" for frame in frames)
    cutter = BrowserFrames(LIMIT)
    cut = [
        frame
        for start in range(0, len(data), chunk)
        for frame in cutter.feed(data[start : start + chunk])
    ]

    assert cut == frames


def test_a_reply_that_is_too_large_becomes_an_error_for_its_caller() -> None:
    cutter = BrowserFrames(LIMIT)
    large = b'{"id":17,"result":{"data":"' + b"x" * LIMIT + b'"},"sessionId":"S1"}'
    frames = [
        frame
        for start in range(0, len(large) + 1, 100)
        for frame in cutter.feed((large + b"\0")[start : start + 100])
    ]

    (reply,) = map(json.loads, frames)
    assert (reply["id"], reply["sessionId"]) == (17, "S1")
    assert "error" in reply
    assert cutter.feed(b'{"id":18}\0') == [b'{"id":18}']


def test_an_event_that_is_too_large_is_dropped() -> None:
    cutter = BrowserFrames(LIMIT)
    large = b'{"method":"Page.x","params":"' + b"x" * LIMIT + b'"}'

    assert cutter.feed(large + b'\0{"id":1}\0') == [b'{"id":1}']


def test_bytes_that_the_browser_does_not_read_yet_are_kept() -> None:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    wire = PipeWire(ours_out, ours_in)
    frame = b"x" * (1 << 20)  # more than a pipe holds
    wire.send(frame)
    wire.flush()
    assert wire.has_unsent

    taken = b""
    while len(taken) < len(frame) + 1:
        taken += os.read(theirs_in, 1 << 16)
        wire.flush()
    assert taken == frame + b"\0"
    assert not wire.has_unsent
    for fd in (theirs_in, ours_out, ours_in, theirs_out):
        os.close(fd)


def test_a_browser_that_is_gone_has_hung_up() -> None:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    wire = PipeWire(ours_out, ours_in)
    assert wire.read() == []
    os.close(theirs_in)
    os.close(theirs_out)

    with pytest.raises(HungUp):
        wire.read()
    wire.send(b"{}")
    with pytest.raises(HungUp):
        wire.flush()
    os.close(ours_out)
    os.close(ours_in)
