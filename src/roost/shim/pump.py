"""The I/O of the shim: stdin, stdout and the broker's socket, with one ``poll``.

Buffers are bounded: while one side does not read, the pump does not read from the other side.
Stdout stays blocking, because other processes may share it. So the pump writes only pieces of
``PIPE_BUF`` bytes, which a ready pipe takes without blocking.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from roost import __version__
from roost.errors import Internal, Interrupted, RoostError
from roost.shim.broker_connection import ShimConnection
from roost.shim.lines import ClientLines
from roost.shim.relay import Relay
from roost.vocabulary import AGENT_FRAME_BYTES, KIB, LINK_FRAME_BYTES, MIB
from roost.wire.framing import Splitter, encode_line
from roost.wire.hello import difference

STDIN, STDOUT = 0, 1
READ_BYTES: Final = 256 * KIB
UNSENT_BYTES: Final = 16 * MIB
"""While more than this waits for one side, the pump does not read from the other side."""
REPEAT_BYTES: Final = KIB
"""Room for the ``{"repeat": …}`` around a line that is sent again."""
TRIES: Final = 3
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Pump:
    """Moves bytes between the client, the relay and the broker until the client is gone.

    reach: connects to a broker, or raises why it cannot.
    prepare: called once at the start; work that speeds up the first ``reach``.
    Both may take long, so they run in a thread. The pump goes on with the client meanwhile.
    """

    def __init__(
        self, relay: Relay, reach: Callable[[], ShimConnection], prepare: Callable[[], None]
    ) -> None:
        self._relay = relay
        self._reach = reach
        self._prepare = prepare
        self._lines = ClientLines(AGENT_FRAME_BYTES - REPEAT_BYTES)
        self._frames = Splitter(b"\n", LINK_FRAME_BYTES)
        self._sock: socket.socket | None = None
        self._for_client = bytearray()
        self._for_broker = bytearray()
        self._has_input = True
        self._fruitless = 0
        """Connections in a row that ended before the broker sent anything."""
        self._told_of: str | None = None
        """The broker release that the person was last told about, because it differs from ours."""
        self._is_ending = False
        self._is_busy = False
        """The thread runs ``prepare`` or ``reach``."""
        self._outcome: ShimConnection | RoostError | None = None
        """What the thread's last ``reach`` ended with."""
        self._woken, self._waker = os.pipe()

    def run(self) -> None:
        """Run until a signal, a closed stdout, or the last answer after the end of stdin."""
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, self._signalled)
        self._in_thread(self._prepare)
        try:
            while not self._is_ending and (
                self._has_input or self._relay.waits or self._for_client
            ):
                self._turn()
        except BrokenPipeError:
            pass
        finally:
            self._goodbye()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._is_ending = True  # the wakeup descriptor ends the poll

    def _in_thread(self, work: Callable[[], ShimConnection | None]) -> None:
        """Run the work in a thread, which ends with this process."""

        def run() -> None:
            try:
                self._outcome = work()
            except RoostError as error:
                self._outcome = error
            except Exception as error:  # a bug; the client must not wait for ever
                self._outcome = Internal(f"roost mcp failed: {type(error).__name__}: {error}.")
            self._is_busy = False
            with suppress(OSError):  # the pipe is full, so the poll ends anyway
                os.write(self._waker, b"\0")

        self._is_busy = True
        start_new_thread(run, ())  # the module ``threading`` would cost memory in every shim

    # --- one turn -----------------------------------------------------------------------------

    def _turn(self) -> None:
        if not self._is_busy and self._sock is None:
            if self._outcome is not None:
                self._connected_or_not()
            elif self._relay.wants_broker:
                self._in_thread(self._reach)
            self._take()
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        # Registered even with nothing to write, because poll reports when the reader is gone.
        poll.register(STDOUT, select.POLLOUT if self._for_client else 0)
        if self._has_input and len(self._for_broker) < UNSENT_BYTES:
            poll.register(STDIN, select.POLLIN)
        if self._sock is not None:
            wanted = select.POLLOUT if self._for_broker else 0
            if len(self._for_client) < UNSENT_BYTES:
                wanted |= select.POLLIN
            poll.register(self._sock, wanted)
        patience = self._relay.patience
        ready = dict(poll.poll(None if patience is None else patience * 1000 + 1))
        if self._woken in ready:
            os.read(self._woken, READ_BYTES)
        self._relay.check()
        if ready.get(STDOUT, 0) & _GONE:
            raise BrokenPipeError
        if STDOUT in ready:
            self._write_client()
        if STDIN in ready:
            self._read_client()
        if self._sock is not None and self._sock.fileno() in ready:
            self._serve_socket(ready[self._sock.fileno()])
        self._take()

    def _take(self) -> None:
        """Move the relay's outgoing lines into the buffers."""
        for line in self._relay.to_client:
            self._for_client += line.rstrip(b"\n") + b"\n"
        for line in self._relay.to_broker:
            self._for_broker += line.rstrip(b"\n") + b"\n"
        self._relay.to_client.clear()
        self._relay.to_broker.clear()

    def _write_client(self) -> None:
        written = os.write(STDOUT, self._for_client[: select.PIPE_BUF])
        del self._for_client[:written]

    def _read_client(self) -> None:
        data = os.read(STDIN, READ_BYTES)
        self._has_input = bool(data)
        for line in self._lines.feed(data) if data else self._lines.last():
            self._relay.from_client(line)

    # --- the socket ---------------------------------------------------------------------------

    def _serve_socket(self, ready: int) -> None:
        assert self._sock is not None
        try:
            if ready & select.POLLOUT:
                sent = self._sock.send(self._for_broker)
                del self._for_broker[:sent]
            if ready & (select.POLLIN | _GONE):
                data = self._sock.recv(READ_BYTES)
                if not data:
                    raise ConnectionResetError
                self._heard(data)
        except BlockingIOError:
            pass
        except (ConnectionError, RoostError, ValueError):
            self._lost()

    def _heard(self, data: bytes) -> None:
        self._fruitless = 0
        for line in self._frames.feed(data):
            self._relay.from_broker(line)

    def _lost(self) -> None:
        assert self._sock is not None
        self._sock.close()
        self._sock = None
        self._for_broker.clear()
        self._relay.lost()
        if self._relay.was_stopped:
            # The person stopped the broker, so only the client's next request starts one again.
            self._relay.give_up(Interrupted("The broker was stopped."))
        elif self._fruitless >= TRIES:
            self._relay.give_up(Interrupted(f"The broker went away {TRIES} times at once."))
        elif not self._is_ending:
            # Now and not at the next request: the grace period is running.
            self._in_thread(self._reach)

    def _connected_or_not(self) -> None:
        """Take over the connection that the thread made, or tell the client why there is none."""
        reached, self._outcome = self._outcome, None
        assert reached is not None
        if isinstance(reached, RoostError):
            sys.stderr.write(f"roost mcp: {reached}\nhint: {reached.hint}\n")
            self._relay.give_up(reached)
            return
        self._sock = reached.sock
        self._sock.setblocking(False)
        self._fruitless += 1
        self._frames = Splitter(b"\n", LINK_FRAME_BYTES)
        note = difference(__version__, reached.software)
        if note is not None and reached.software != self._told_of:
            self._told_of = reached.software
            sys.stderr.write(f"roost mcp: {note}\n")
        else:
            note = None
        self._relay.connected(reached.software, answers_pings=reached.answers_pings, note=note)

    def _goodbye(self) -> None:
        """Tell the broker to end the agent now and not after the grace period.

        The kernel delivers the message after this process has ended.
        """
        if isinstance(self._outcome, ShimConnection):  # the thread has just connected
            self._sock = self._outcome.sock
        if self._sock is None:
            return
        try:
            self._sock.send(bytes(self._for_broker) + encode_line({"goodbye": True}))
        except OSError:
            pass
        self._sock.close()
