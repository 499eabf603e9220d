"""The session with a Firefox's remote agent, which the host holds while a broker wants it.

The agent gives out one session at a time. If a client dies without ending its session, no other
client gets one until Firefox restarts. So the host holds the session, like a keeper, and ends it
when the broker is gone. All traffic between host and broker uses the word ``remote``: the value
``open`` asks for the session, and objects are BiDi messages.
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
"""Id of the command that ends the session. No broker ever counts this far."""
# Dialogs and file pickers belong to the person, so the agent must not answer them by itself.
_SESSION: Final = {"alwaysMatch": {"unhandledPromptBehavior": {"default": "ignore"}}}


class Remote:
    """The remote agent of the browser ``pid``. Its messages go to the broker through the relay."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._relay: Relay | None = None
        self._wire: WebSocketWire | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._opening: Future[WebSocketWire] | None = None
        self._heard = self._bell = -1
        """A pipe's read and write end, by which the worker thread wakes the relay."""

    def serve(self, relay: Relay) -> None:
        self._relay = relay

    def said(self, word: str, what: Any = None) -> None:
        """Handle a word from the broker."""
        if word != WORD:
            return
        if what == "open":
            self._open()
        elif self._wire is not None:
            self._send(self._wire, json.dumps(what).encode())

    def close(self) -> None:
        """End the session in the worker thread, so that another client can open one.

        The process waits for that thread before it exits.
        """
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
        """Open a session in the worker thread, so that the relay's other traffic does not wait."""
        self.close()
        if self._worker is None:
            from concurrent.futures import ThreadPoolExecutor

            self._worker = ThreadPoolExecutor(1)  # one thread: end a session before the next opens
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
            return  # the pipe told of an earlier session
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
        # Imported here because it loads websockets, which all other hosts do not need.
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
            return  # closed earlier in the same turn of the loop
        try:
            assert self._relay is not None
            for frame in self._wire.read():
                self._relay.pass_word(WORD, frame)
        except HungUp:
            self._lost()

    def _send(self, wire: WebSocketWire, frame: bytes) -> None:
        """Send a frame and wait until Firefox takes it. Close the session if it does not.

        Blocking is fine: frames are short, and Firefox normally reads them at once.
        """
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
