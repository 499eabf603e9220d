"""Frames between one browser and whichever broker serves this ROOST_HOME.

One loop over the browser's wire and the broker's socket. While no broker is there the browser is
drained and its state remembered; a broker that stays away too long ends the browser. Toward the
broker frames end with a newline. A line that begins with ``[`` is a word between link and broker;
all else is the browser's protocol.
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
RETRY_SECONDS = (1.0, 30.0)
GOOD_SECONDS = 60.0
OnBroker = Callable[[str, RoostError | None], None]
OnWord = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True)
class Held:
    """A browser that runs and has answered: what every broker is told about it, and its state."""

    pid: int
    wire: Wire
    memory: Memory
    about: dict[str, Any]


class Backoff:
    """When to look for a broker next: at once, then ever later. Only a connection that was good for
    a minute is a reason to begin anew, else one that ends at once would be sought without rest."""

    def __init__(self) -> None:
        self._next = Deadline(0)
        self._good = Deadline(0)
        self._tries = 0

    def is_due(self) -> bool:
        return self._next.has_passed()

    def remaining(self) -> float:
        return self._next.remaining()

    def hurry(self) -> None:
        """There is reason to believe that it would work now."""
        self._next = Deadline(0)

    def worked(self) -> None:
        self._good = Deadline(GOOD_SECONDS)

    def failed(self) -> None:
        shortest, longest = RETRY_SECONDS
        self._next = Deadline(min(shortest * 2 ** min(self._tries, 10), longest))
        self._tries += 1

    def ended(self) -> None:
        """What worked is over."""
        if self._good.has_passed():
            self._tries = 0
            self.hurry()
        else:
            self.failed()


class Relay:
    """Runs until the browser ends, the broker says ``end``, or the broker stays away. ``on_broker``
    hears of it: ``linked``, ``away``, or ``refused`` and why. ``on_word`` hears the broker's words
    but for ``end``: if nobody else, then its memory."""

    def __init__(
        self,
        home: Home,
        browser: str,
        held: Held,
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
        """Why it is over: ``browser``, ``end`` or ``away``."""
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
        """A word to the broker, if one is there."""
        self.pass_word(word, encode(what))

    def pass_word(self, word: str, written: bytes) -> None:
        """A word to the broker whose value is JSON already. It is not parsed on the way: a page may
        have written it, and nested it deeper than we can read."""
        if self._broker is not None:
            # In JSON a line break can only stand between values; toward the broker it ends a frame.
            self._to_broker += b"[%s,%s]\n" % (encode(word), written.replace(b"\n", b" "))

    def attend(self, descriptor: int, work: Callable[[], None]) -> None:
        """Do that work, too, whenever something can be read there."""
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
        """What has come goes out at once, which saves a turn of the loop each way; what is not
        taken waits until there is room."""
        if self._to_broker and self._broker is not None:
            self._flush_broker()
        try:
            if self._wire.has_unsent:
                self._wire.flush()
        except HungUp:
            self._over = self._over or "browser"

    # --- waiting -------------------------------------------------------------------------------

    def _await_what_can_happen(self) -> None:
        """Read from the browser unless the broker is far behind; write where something waits."""
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
        """How long to wait for something to happen: for ever, once a broker is there."""
        if self._broker is not None:
            return None
        return min(self._backoff.remaining(), self._away.remaining())

    def _wake_on_signals(self) -> None:
        """SIGTERM ends; SIGUSR1 (a new broker is up) looks for it at once; SIGCHLD is the browser's
        end, which its wire does not show while a process it started still holds it."""
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
    """Show a frame to the memory. A frame that the memory cannot read is relayed like any other:
    pages and DevTools clients write into frames, and this process holds everybody's browser."""
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        look(frame)


class Refused(Exception):
    """A broker is there and will not have us."""

    def __init__(self, error: RoostError) -> None:
        super().__init__(str(error))
        self.error = error


def greet(home: Home, browser: str) -> socket.socket:
    """A connection to the broker that has taken our hello, not blocking from here on."""
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
        # The broker says nothing after its welcome until it has our handover.
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
