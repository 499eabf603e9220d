"""A relay's wire to the extension: native messaging, which is JSON prefixed with its length.

Browsers accept at most 1 MB per message, so the host sends a longer frame in parts, which
``extension/link.js`` joins. Frames are cut between characters, and each part is ASCII on the wire.
https://developer.chrome.com/docs/extensions/develop/concepts/native-messaging
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from struct import pack
from typing import Final

from roost.errors import RoostError
from roost.link.wire import HungUp, SendBuffer
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import NativeSplitter

MESSAGE_BYTES: Final = 1024 * 1024
"""Longest message that a browser accepts. It closes the pipe at a longer one."""
PIPE_BYTES: Final = 1024 * 1024
_PART_CHARS: Final = 512 * 1024
_PART_ROOM: Final = 128
"""Bytes reserved for the JSON around a part's text."""


class NativeWire:
    """Native messaging on a host's stdin (``inlet``) and stdout (``outlet``)."""

    def __init__(self, inlet: int, outlet: int) -> None:
        self.inlet, self.outlet = inlet, outlet
        self._frames = NativeSplitter(LINK_FRAME_BYTES)
        self._unsent = SendBuffer()
        self._streams = 0
        os.set_blocking(inlet, False)
        os.set_blocking(outlet, False)
        with contextlib.suppress(OSError, AttributeError):  # not a pipe, or not Linux
            # A pipe holds 64 KiB by default, so a picture would take a hundred reads.
            fcntl.fcntl(inlet, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, frame: bytes) -> None:
        if len(frame) <= MESSAGE_BYTES:
            self._unsent += native_message(frame)
            return
        self._streams += 1
        for part in in_parts(frame, self._streams):
            self._unsent += native_message(part)

    def flush(self) -> None:
        try:
            self._unsent.sent(os.write(self.outlet, self._unsent.next()))
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise HungUp from None

    def read(self) -> list[bytes]:
        """Read what the extension sent. Return only JSON objects and drop everything else.

        The broker would take an array for a word of the link.
        """
        try:
            data = os.read(self.inlet, PIPE_BYTES)
        except BlockingIOError:
            return []
        if not data:
            raise HungUp
        try:
            frames = list(self._frames.feed(data))
        except RoostError:
            raise HungUp from None
        # In JSON a raw newline can only be whitespace; on the broker's socket it ends a frame.
        return [frame.replace(b"\n", b" ") for frame in frames if frame.startswith(b"{")]

    def close(self) -> None:
        os.close(self.outlet)


def in_parts(frame: bytes, stream: int, limit: int = MESSAGE_BYTES) -> list[bytes]:
    """Return the messages that together carry a frame which is too long for one message."""
    texts = list(_cut(frame.decode(), min(_PART_CHARS, limit), limit - _PART_ROOM))
    return [
        b'{"stream":%d,"part":%d,"of":%d,"text":%s}' % (stream, index, len(texts), text)
        for index, text in enumerate(texts)
    ]


def _cut(text: str, chars: int, room: int) -> Iterator[bytes]:
    """Yield the text as JSON strings that fit. Halve a piece that its escapes make too long."""
    for start in range(0, len(text), chars):
        piece = text[start : start + chars]
        written = json.dumps(piece).encode()
        if len(written) <= room:
            yield written
        else:
            yield from _cut(piece, (len(piece) + 1) // 2, room)


def native_message(body: bytes) -> bytes:
    """Return the body as one message: its length in native byte order, then its bytes."""
    return pack("=I", len(body)) + body
