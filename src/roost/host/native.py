"""Native messaging, as a wire of a relay: JSON behind its length, on the descriptors of a host.

https://developer.chrome.com/docs/extensions/develop/concepts/native-messaging — browsers take at
most 1 MB a message. A longer frame goes in parts, which ``extension/link.js`` joins. It is cut
between characters, never between bytes, and each part is ASCII on the wire.
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
from roost.link.wire import HungUp, Unsent
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import NativeSplitter

MESSAGE_BYTES: Final = 1024 * 1024
"""What a browser takes at once; above it, it hangs up."""
PIPE_BYTES: Final = 1024 * 1024
_PART_CHARS: Final = 512 * 1024
_PART_ROOM: Final = 128
"""What stands around a part's text."""


class NativeWire:
    """Of a host that was started with these descriptors."""

    def __init__(self, inlet: int, outlet: int) -> None:
        self.inlet, self.outlet = inlet, outlet
        self._frames = NativeSplitter(LINK_FRAME_BYTES)
        self._unsent = Unsent()
        self._streams = 0
        os.set_blocking(inlet, False)
        os.set_blocking(outlet, False)
        with contextlib.suppress(OSError, AttributeError):  # no pipe, or no Linux
            # A pipe holds 64 KiB: a picture would take turns with us a hundred times.
            fcntl.fcntl(inlet, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, frame: bytes) -> None:
        if len(frame) <= MESSAGE_BYTES:
            self._unsent += _message(frame)
            return
        self._streams += 1
        for part in in_parts(frame, self._streams):
            self._unsent += _message(part)

    def flush(self) -> None:
        try:
            self._unsent.sent(os.write(self.outlet, self._unsent.next()))
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise HungUp from None

    def read(self) -> list[bytes]:
        """Only objects: what is no JSON object is not for the broker, and an array would be taken
        for a word of ours."""
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
        # In JSON a line break can only stand between values; toward the broker it ends a frame.
        return [frame.replace(b"\n", b" ") for frame in frames if frame.startswith(b"{")]

    def close(self) -> None:
        os.close(self.outlet)


def in_parts(frame: bytes, stream: int, limit: int = MESSAGE_BYTES) -> list[bytes]:
    """The messages that carry a frame which is too long for one."""
    texts = list(_cut(frame.decode(), min(_PART_CHARS, limit), limit - _PART_ROOM))
    return [
        b'{"stream":%d,"part":%d,"of":%d,"text":%s}' % (stream, index, len(texts), text)
        for index, text in enumerate(texts)
    ]


def _cut(text: str, chars: int, room: int) -> Iterator[bytes]:
    """As JSON strings that fit: where escapes make one too long, it is halved."""
    for start in range(0, len(text), chars):
        piece = text[start : start + chars]
        written = json.dumps(piece).encode()
        if len(written) <= room:
            yield written
        else:
            yield from _cut(piece, (len(piece) + 1) // 2, room)


def _message(body: bytes) -> bytes:
    return pack("=I", len(body)) + body
