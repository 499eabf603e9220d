"""Let DevTools clients share the one connection. Their frames pass through without parsing.

Every tap has a browser-level session (``Target.attachToBrowserTarget``). All sessions attached
through it belong to that tap. Chromium writes ``id`` or ``method`` first and ``sessionId`` last, so
the first and last bytes of a frame show whose it is. Only frames that begin or end a session are
parsed; a screenshot of 10 MB is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from typing import Any

from roost.drivers.base import ProtocolEar

Json = dict[str, Any]
_ANSWER = re.compile(rb'\{"id":(\d+),')
_BEGINS = b'{"method":"Target.attachedToTarget"'
_ENDS = b'{"method":"Target.detachedFromTarget"'
_LAST = re.compile(rb'"sessionId":"([^"\\]+)"\}$')
_LAST_BYTES = 160
"""Search this many bytes at the end of a frame for the session's id."""


CALL_BYTES = 512
"""Memory that tracks one command without a reply, in addition to the command's own size."""


class Tap:
    """One client's browser-level session. See ``drivers.base.ProtocolTap``."""

    def __init__(self, taps: Taps, session: str, ear: ProtocolEar) -> None:
        self.session = session
        self.ear = ear
        self.calls: dict[int, tuple[Hashable, str, int]] = {}
        """Commands without a reply: id on the pipe → the client's key, session and size."""
        self.unanswered_bytes = 0
        self._taps = taps

    def send(self, key: Hashable, method: str, params: Json, session: str = "") -> None:
        session = session or self.session
        sent = self._taps.send(method, session, params)
        if sent is not None:
            call, size = sent[0], sent[1] + CALL_BYTES
            self.calls[call] = key, session, size
            self.unanswered_bytes += size
            self._taps.calls[call] = self

    def ended(self, call: int) -> Hashable:
        """Remove a command that was answered or never will be. Return its key."""
        key, _, size = self.calls.pop(call)
        self.unanswered_bytes -= size
        return key


class Taps:
    """Assigns frames to taps. ``send``: sends a command and returns its id and size."""

    def __init__(self, send: Callable[[str, str, Json], tuple[int, int]]) -> None:
        self._send = send
        self._is_over = False
        self.sessions: dict[str, Tap] = {}
        self._above: dict[str, str] = {}
        """Each session's parent, through which it was attached and with which it ends."""
        self.calls: dict[int, Tap] = {}

    def open(self, session: str, ear: ProtocolEar) -> Tap:
        tap = Tap(self, session, ear)
        self.sessions[session] = tap
        return tap

    def close(self, tap: Tap) -> None:
        """Stop passing frames to the tap. Replies that still arrive are dropped."""
        for call in list(tap.calls):
            self.calls.pop(call, None)
            tap.ended(call)
        self._forget(tap, tap.session)

    def end(self) -> None:
        """Tell all taps that the browser is gone."""
        self._is_over = True
        taps = set(self.sessions.values())
        self.sessions.clear()
        self.calls.clear()
        for tap in taps:
            tap.ear.ended()

    def send(self, method: str, session: str, params: Json) -> tuple[int, int] | None:
        return None if self._is_over else self._send(method, session, params)

    def take(self, frame: bytes) -> bool:
        """Pass the frame on if it belongs to a tap. Return True if it does."""
        if not self.sessions:
            return False
        answer = _ANSWER.match(frame)
        if answer is not None:
            call = int(answer.group(1))
            tap = self.calls.pop(call, None)
            if tap is not None:
                tap.ear.answered(tap.ended(call), frame)
            return tap is not None
        last = _LAST.search(frame, max(0, len(frame) - _LAST_BYTES))
        session = "" if last is None else last.group(1).decode()
        tap = self.sessions.get(session)
        if tap is not None:
            self._track_sessions(tap, session, frame)
            tap.ear.heard(session, frame)
        return tap is not None

    def _track_sessions(self, tap: Tap, session: str, frame: bytes) -> None:
        if frame.startswith(_BEGINS):
            begun = json.loads(frame)["params"]["sessionId"]
            self.sessions[begun] = tap
            self._above[begun] = session
        elif frame.startswith(_ENDS):
            self._forget(tap, json.loads(frame)["params"]["sessionId"])

    def _forget(self, tap: Tap, session: str) -> None:
        """Forget an ended session, all sessions below it, and their unanswered commands."""
        for below in [one for one, above in self._above.items() if above == session]:
            self._forget(tap, below)
        self.sessions.pop(session, None)
        self._above.pop(session, None)
        for call in [one for one, (_, asked_in, _) in tap.calls.items() if asked_in == session]:
            self.calls.pop(call, None)
            tap.ended(call)
