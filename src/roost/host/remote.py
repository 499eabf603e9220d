"""A Firefox's remote agent, if it was started with one, for as long as a broker wants it.

It gives out one session at a time, and one whose client dies without ending it stays taken until
Firefox restarts; so it is held here, as by a keeper, and ended whenever the broker is gone. Between
host and broker all of it goes as the word ``remote``: ``open`` asks for it, objects are BiDi.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
from typing import TYPE_CHECKING, Any, Final

from roost.errors import RoostError
from roost.link.relay import Relay
from roost.link.wire import HungUp
from roost.local.deadline import Deadline
from roost.local.remotes import remote_port

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from roost.link.websocket import WebSocketWire

WORD: Final = "remote"
OPEN_SECONDS: Final = 5.0
SEND_SECONDS: Final = 5.0
END_SECONDS: Final = 1.0
_END_ID: Final = 2**53 - 1
"""A command's id that no broker gets to."""
# Dialogs, and windows to choose files in, are the person's: nothing may answer them unasked.
_SESSION: Final = {"alwaysMatch": {"unhandledPromptBehavior": {"default": "ignore"}}}


class Remote:
    """Of the browser ``pid``. What it says goes through ``relay``."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._relay: Relay | None = None
        self._wire: WebSocketWire | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._opening: Future[WebSocketWire] | None = None
        self._heard = self._bell = -1
        """The two ends of a pipe, which tells the relay that it was opened, or not."""

    def serve(self, relay: Relay) -> None:
        self._relay = relay

    def said(self, word: str, what: Any = None) -> None:
        """A word of the broker's."""
        if word != WORD:
            return
        if what == "open":
            self._open()
        elif self._wire is not None:
            self._send(self._wire, json.dumps(what).encode())

    def close(self) -> None:
        """Let go of it, so that another may have it: in the thread, for which the process waits at
        its end."""
        opening, self._opening = self._opening, None
        wire = self._wire
        if self._worker is None:
            return
        self._forget()
        if opening is not None:
            assert self._relay is not None
            self._relay.forsake(self._heard)
            if not opening.cancel():
                self._worker.submit(lambda: _let_go(opening.result()))
        if wire is not None:
            self._worker.submit(_let_go, wire)

    def _open(self) -> None:
        """In a thread: whoever else is spoken to through this host does not wait for it."""
        self.close()
        if self._worker is None:
            from concurrent.futures import ThreadPoolExecutor

            self._worker = ThreadPoolExecutor(1)  # one: sessions are ended before others are begun
            self._heard, self._bell = os.pipe()
        assert self._relay is not None
        self._relay.attend(self._heard, self._opened)
        self._opening = self._worker.submit(self._connected)
        self._opening.add_done_callback(lambda _: os.write(self._bell, b"!"))

    def _opened(self) -> None:
        os.read(self._heard, 64)
        opening, relay = self._opening, self._relay
        assert relay is not None
        if opening is None or not opening.done():
            return  # it rang for an earlier one
        self._opening = None
        relay.forsake(self._heard)
        try:
            self._wire = opening.result()
        except RoostError as error:
            self._say({"refused": error.message})
        except (OSError, HungUp) as problem:
            self._say({"refused": f"Firefox's remote agent cannot be spoken to: {problem!r}"})
        else:
            relay.attend(self._wire.inlet, self._serve)
            self._say({"opened": True})

    def _connected(self) -> WebSocketWire:
        # Brings websockets, which all other hosts can do without.
        from websockets.exceptions import WebSocketException

        from roost.link.websocket import ask, connect

        port = remote_port(self._pid)
        if port is None:
            raise ConnectionRefusedError("it does not listen")
        deadline = Deadline(OPEN_SECONDS)
        try:
            wire = connect(port, deadline)
        except WebSocketException as problem:
            raise ConnectionRefusedError(str(problem)) from None
        try:
            ask(wire, 1, "session.new", {"capabilities": _SESSION}, deadline)
        except BaseException:
            wire.close()
            raise
        return wire

    def _serve(self) -> None:
        if self._wire is None:
            return  # let go of in the same turn
        try:
            assert self._relay is not None
            for frame in self._wire.read():
                self._relay.pass_word(WORD, frame)
        except HungUp:
            self._lost()

    def _send(self, wire: WebSocketWire, frame: bytes) -> None:
        """What is sent is short, and read at once; one that does not read it is given up."""
        deadline = Deadline(SEND_SECONDS)
        wire.send(frame)
        try:
            wire.flush()
            while wire.has_unsent:
                if not select.select([], [wire.outlet], [], deadline.remaining())[1]:
                    raise HungUp
                wire.flush()
        except HungUp:
            self._lost()

    def _lost(self) -> None:
        wire = self._wire
        self._forget()
        if wire is not None:
            wire.close()
        self._say({"closed": True})

    def _forget(self) -> None:
        if self._wire is not None and self._relay is not None:
            self._relay.forsake(self._wire.inlet)
        self._wire = None

    def _say(self, what: Any) -> None:
        assert self._relay is not None
        self._relay.say(WORD, what)


def _let_go(wire: WebSocketWire) -> None:
    from roost.link.websocket import ask

    with contextlib.suppress(RoostError, OSError, HungUp):
        ask(wire, _END_ID, "session.end", {}, Deadline(END_SECONDS))
    wire.close()
