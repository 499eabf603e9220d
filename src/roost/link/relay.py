"""The relay between one browser and the broker that serves this ROOST_HOME.

One loop serves the browser's wire and the broker's socket. While there is no broker, the relay
reads the browser's frames only into the memory. If no broker connects for ``away_seconds``, the
relay ends, and a keeper then ends its browser. On the broker's socket every frame ends with a
newline. A line that begins with ``[`` is a word between link and broker; every other line is the
browser's protocol.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roost import __version__
from roost.errors import RoostError
from roost.link.memory import Memory
from roost.link.wire import CHUNK, HungUp, Wire
from roost.local.broker_start import connect
from roost.local.deadline import Deadline
from roost.local.home import Home
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import JsonLines, Splitter, encode, encode_line
from roost.wire.hello import ClientKind, Hello

BROKER_UNREAD_BYTES = 2 * LINK_FRAME_BYTES
"""Above this much unsent data for the broker, the relay stops reading from the browser."""
RETRY_SECONDS = (1.0, 30.0)
"""The first and the longest pause between two tries to connect."""
GOOD_SECONDS = 60.0
"""A connection that lasted this long resets the backoff."""
OnBroker = Callable[[str, RoostError | None], None]
OnWord = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True)
class HeldBrowser:
    """A browser that runs and has answered."""

    pid: int
    wire: Wire
    memory: Memory
    about: dict[str, Any]
    """Facts for every broker's handover, such as the product's name and version."""


class Backoff:
    """Decides when to look for a broker next: at once, then after ever longer pauses.

    The pauses start over only after a connection of at least ``GOOD_SECONDS``. Otherwise a broker
    that ends every connection at once would make the link reconnect without a pause.
    """

    def __init__(self) -> None:
        self._next = Deadline(0)
        self._good = Deadline(0)
        self._tries = 0

    def is_due(self) -> bool:
        return self._next.has_passed()

    def remaining(self) -> float:
        return self._next.remaining()

    def hurry(self) -> None:
        """Make the next try due now, because a broker is probably there."""
        self._next = Deadline(0)

    def worked(self) -> None:
        self._good = Deadline(GOOD_SECONDS)

    def failed(self) -> None:
        shortest, longest = RETRY_SECONDS
        self._next = Deadline(min(shortest * 2 ** min(self._tries, 10), longest))
        self._tries += 1

    def ended(self) -> None:
        """Take note that the connection has ended."""
        if self._good.has_passed():
            self._tries = 0
            self.hurry()
        else:
            self.failed()


class Relay:
    """Relays until the browser ends, the broker sends ``end``, or the broker stays away too long.

    away_seconds: how long to run without a broker.
    on_broker: called with ``linked``, ``away``, or ``refused`` and the broker's error.
    on_word: called with every word of the broker except ``end``. Default: the memory's ``noted``.
    """

    def __init__(
        self,
        home: Home,
        browser: str,
        held: HeldBrowser,
        *,
        away_seconds: float,
        on_broker: OnBroker = lambda state, error: None,
        on_word: OnWord | None = None,
    ) -> None:
        self._home = home
        self._browser = browser
        self._pid = held.pid
        self._about = {**held.about, "pid": held.pid}
        self._wire = held.wire
        self._memory = held.memory
        self._away_seconds = away_seconds
        self._broker: socket.socket | None = None
        self._from_broker = Splitter(b"\n", LINK_FRAME_BYTES)
        self._to_broker = bytearray()
        self._on_broker = on_broker
        self._on_word = on_word or held.memory.noted
        self._away = Deadline(away_seconds)
        self._backoff = Backoff()
        self._over: str | None = None
        self._selector = selectors.DefaultSelector()
        self._awaiting: tuple[socket.socket | None, bool, bool, bool] | None = None

    def run(self) -> str:
        """Relay to the end. Return why it ended: ``browser``, ``end`` or ``away``."""
        self._wake_on_signals()
        while self._over is None:
            if self._broker is None and self._backoff.is_due():
                self._find_broker()
            self._await_what_can_happen()
            for key, _ in self._selector.select(self._patience()):
                key.data()
            self._pass_on()
            if self._broker is None and self._away.has_passed():
                self._over = self._over or "away"
        self.say("ended", self._over)
        if self._broker is not None:
            self._flush_broker()
        return self._over

    def stop(self) -> None:
        self._over = self._over or "end"

    def say(self, word: str, what: Any) -> None:
        """Send a word to the broker. Does nothing without a broker."""
        self.pass_word(word, encode(what))

    def pass_word(self, word: str, written: bytes) -> None:
        """Send a word whose value is JSON already, without parsing the value.

        A page may have written the value and nested it deeper than Python's parser can read.
        """
        if self._broker is not None:
            # In JSON a raw newline can only be whitespace; on the broker's socket it ends a frame.
            self._to_broker += b"[%s,%s]\n" % (encode(word), written.replace(b"\n", b" "))

    def attend(self, descriptor: int, work: Callable[[], None]) -> None:
        """Call ``work`` from the relay's loop whenever the descriptor is readable."""
        self._selector.register(descriptor, selectors.EVENT_READ, work)

    def forsake(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)

    # --- the browser ---------------------------------------------------------------------------

    def _serve_browser(self) -> None:
        try:
            if self._wire.has_unsent:
                self._wire.flush()
            for frame in self._wire.read():
                _remember(self._memory.from_browser, frame)
                if self._broker is not None:
                    self._to_broker += frame
                    self._to_broker += b"\n"
        except HungUp:
            self._over = self._over or "browser"

    # --- the broker ----------------------------------------------------------------------------

    def _find_broker(self) -> None:
        try:
            self._broker = greet(self._home, self._browser)
        except Refused as refused:
            self._backoff.failed()
            self._on_broker("refused", refused.error)
            return
        except (RoostError, OSError):
            self._backoff.failed()
            self._on_broker("away", None)
            return
        self._backoff.worked()
        self._from_broker = Splitter(b"\n", LINK_FRAME_BYTES)
        self._to_broker.clear()
        self._on_broker("linked", None)
        self.say("handover", {**self._about, **self._memory.handover()})

    def _read_broker(self) -> None:
        assert self._broker is not None
        try:
            data = self._broker.recv(CHUNK)
            if not data:
                raise ConnectionResetError
            for frame in self._from_broker.feed(data):
                self._said(frame)
        except BlockingIOError:
            return
        except (OSError, RoostError):
            self._lose_broker()

    def _said(self, frame: bytes) -> None:
        if frame.startswith(b"["):
            word, *what = json.loads(frame)
            if word == "end":
                self.stop()
            else:
                self._on_word(word, *what)
            return
        _remember(self._memory.from_broker, frame)
        self._wire.send(frame)

    def _flush_broker(self) -> None:
        assert self._broker is not None
        try:
            sent = self._broker.send(self._to_broker[:CHUNK])
        except BlockingIOError:
            return
        except OSError:
            self._lose_broker()
            return
        del self._to_broker[:sent]

    def _lose_broker(self) -> None:
        if self._broker is None:
            return
        with contextlib.suppress(KeyError):
            self._selector.unregister(self._broker)
        self._awaiting = None
        self._broker.close()
        self._broker = None
        self._backoff.ended()
        self._away = Deadline(self._away_seconds)
        self._on_broker("away", None)

    def _pass_on(self) -> None:
        """Send what this turn has read at once, which saves a turn of the loop each way.

        What the other side does not accept yet stays in the buffers.
        """
        if self._to_broker and self._broker is not None:
            self._flush_broker()
        try:
            if self._wire.has_unsent:
                self._wire.flush()
        except HungUp:
            self._over = self._over or "browser"

    # --- waiting -------------------------------------------------------------------------------

    def _await_what_can_happen(self) -> None:
        """Select for reading from the browser unless the broker is far behind, and for writing
        wherever data waits."""
        is_behind = len(self._to_broker) >= BROKER_UNREAD_BYTES
        now = self._broker, bool(self._to_broker), is_behind, self._wire.has_unsent
        if now == self._awaiting:
            return
        self._awaiting = now
        inlet, outlet = self._wire.inlet, self._wire.outlet
        wanted = {inlet: 0, outlet: 0}
        if not is_behind:
            wanted[inlet] |= selectors.EVENT_READ
        if self._wire.has_unsent:
            wanted[outlet] |= selectors.EVENT_WRITE
        for descriptor, events in wanted.items():
            self._listen(descriptor, events, self._serve_browser)
        if self._broker is not None:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._to_broker else 0)
            self._listen(self._broker, events, self._serve_broker)

    def _serve_broker(self) -> None:
        if self._to_broker:
            self._flush_broker()
        if self._broker is not None:
            self._read_broker()

    def _listen(self, what: Any, events: int, work: Callable[[], None]) -> None:
        known = self._selector.get_map().get(what)
        if known is None and events:
            self._selector.register(what, events, work)
        elif known is not None and not events:
            self._selector.unregister(what)
        elif known is not None and known.events != events:
            self._selector.modify(what, events, work)

    def _patience(self) -> float | None:
        """Return the timeout of the next ``select``. None (no timeout) while a broker is there."""
        if self._broker is not None:
            return None
        return min(self._backoff.remaining(), self._away.remaining())

    def _wake_on_signals(self) -> None:
        """Let signals wake the loop: SIGTERM, SIGUSR1 and SIGCHLD.

        SIGTERM ends the relay. SIGUSR1 comes from a new broker, so the relay connects at once.
        SIGCHLD tells of the browser's end. The wire alone may not show that end: a process that the
        browser started may still hold the wire open.
        """
        reads, writes = os.pipe()
        os.set_blocking(reads, False)
        os.set_blocking(writes, False)
        signal.set_wakeup_fd(writes)
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        for number in (signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

        def woken() -> None:
            with contextlib.suppress(BlockingIOError):
                os.read(reads, 64)
            self._backoff.hurry()
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self._pid, os.WNOHANG)[0]:
                    self._over = self._over or "browser"

        self._selector.register(reads, selectors.EVENT_READ, woken)


def _remember(look: Callable[[bytes], None], frame: bytes) -> None:
    """Show a frame to the memory, and relay it even if the memory cannot read it.

    Pages and DevTools clients write parts of frames. A malformed one must not end this process,
    which holds the browser of all sessions.
    """
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        look(frame)


class Refused(Exception):
    """The broker refused this link's hello."""

    def __init__(self, error: RoostError) -> None:
        super().__init__(str(error))
        self.error = error


def greet(home: Home, browser: str) -> socket.socket:
    """Connect to the broker and say hello. Return the socket, which is non-blocking.

    Raises ``Refused`` with the broker's error, ``RoostError`` or ``OSError`` if there is no broker.
    """
    broker = connect(home, timeout_seconds=1.0, wait=lambda seconds: None)
    try:
        hello = Hello(
            token=home.operator_token(),
            kind=ClientKind.LINK,
            software=__version__,
            name=browser,
            browser=browser,
        )
        broker.settimeout(5.0)
        broker.sendall(encode_line({"hello": hello.to_wire()}))
        welcome = JsonLines(LINK_FRAME_BYTES)
        # The broker sends nothing after its welcome until it has the handover.
        for message in welcome.feed(_line(broker)):
            if "error" in message:
                raise Refused(RoostError.from_wire(message["error"]))
        broker.setblocking(False)
    except BaseException:
        broker.close()
        raise
    return broker


def _line(broker: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        data = broker.recv(CHUNK)
        if not data:
            raise ConnectionResetError
        line += data
    return line
