"""A relay's wire to Chromium: its debugging pipe."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from roost.link.wire import CHUNK, HungUp, SendBuffer
from roost.vocabulary import LINK_FRAME_BYTES, MIB

_ID = re.compile(rb'\{"id":(\d+)')
_SESSION = re.compile(rb'"sessionId":"([^"]+)"\}$')


class PipeWire:
    """Chromium's debugging pipe, with NUL-terminated frames both ways."""

    def __init__(self, pipe_in: int, pipe_out: int) -> None:
        self.inlet, self.outlet = pipe_out, pipe_in
        self._frames = BrowserFrames(LINK_FRAME_BYTES)
        self._unsent = SendBuffer()
        os.set_blocking(pipe_in, False)
        os.set_blocking(pipe_out, False)

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, frame: bytes) -> None:
        self._unsent += frame + b"\0"

    def flush(self) -> None:
        try:
            self._unsent.sent(os.write(self.outlet, self._unsent.next()))
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise HungUp from None

    def read(self) -> list[bytes]:
        try:
            data = os.read(self.inlet, CHUNK)
        except BlockingIOError:
            return []
        if not data:
            raise HungUp
        return self._frames.feed(data)

    def close(self) -> None:
        os.close(self.outlet)


class BrowserFrames:
    """Cuts Chromium's output into NUL-terminated frames.

    A frame above the limit is dropped, and the call it answers gets an error. So a picture that is
    too large does not end the connection for all sessions.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, data: bytes) -> list[bytes]:
        *ends, rest = data.split(b"\0")
        frames = []
        for end in ends:
            self._add(end)
            frames.extend(self._whole())
        self._add(rest)
        return frames

    def _add(self, part: bytes) -> None:
        if not part:
            return
        if not self._parts:
            self._head = part[:64]
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts = [part[-256:]]  # the end of the frame holds the session id for the error

    def _whole(self) -> list[bytes]:
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        if not size:
            return []
        frame = b"".join(parts)
        return [frame] if size <= self._limit else self._refused(frame)

    def _refused(self, tail: bytes) -> list[bytes]:
        call = _ID.match(self._head)
        if call is None:
            return []  # an event, so no call waits for it
        session = _SESSION.search(tail)
        error = {"code": -32000, "message": f"larger than {self._limit // MIB} MiB"}
        reply: dict[str, Any] = {"id": int(call.group(1)), "error": error}
        if session is not None:
            reply["sessionId"] = session.group(1).decode()
        return [json.dumps(reply, separators=(",", ":")).encode()]
