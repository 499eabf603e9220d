"""A node: one machine of the fleet. It keeps its broker running, holds a lease and obeys orders."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from roost import __version__
from roost.broker.clock import Clock, SystemClock
from roost.broker.tasks import Tasks
from roost.errors import BadRequest, BrowserLost, Internal, RoostError, SessionGone, Unauthorized
from roost.fleet.authority import client_context, server_context
from roost.fleet.clock import now
from roost.fleet.config import read_config
from roost.fleet.connection_pool import ConnectionPool
from roost.fleet.lease import RENEW_SECONDS, Lease
from roost.fleet.local_broker import LocalBroker, Sighting
from roost.fleet.node_door import Misdirected, NodeDoor
from roost.fleet.placement import Capacity
from roost.fleet.streams import Hangup, Stream, exchange
from roost.local.home import Home, read_secret, write_secret
from roost.vocabulary import MIB
from roost.wire.framing import decode, encode

LOOK_SECONDS = 1.0
"""How often the node looks at its broker, and sends what sessions would need elsewhere."""
ACTIVE_SECONDS = 4.0
"""How long a session may still change after a call: the broker reads jars up to a second later."""
ATTEMPTS = 4
"""Renewals under way at a time. A new one does not wait for one that got no answer."""
RENEWAL_SECONDS = 3.0
SEND_SECONDS = 20.0
ANSWER_BYTES = 8 * MIB
BROKER_RETRY_SECONDS = 2.0
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """What a machine remembers of the fleet that it has joined.

    id: the machine's identity in the fleet.
    host, port: where the node's door listens.
    gateway, control_port: where the gateway hears nodes.
    """

    id: str
    name: str
    host: str
    port: int
    gateway: str
    control_port: int

    def write(self, folder: Path) -> None:
        write_secret(folder / "node.json", encode(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> NodeConfig | None:
        """Return what ``write`` wrote, or None. Raises ``Internal`` if it cannot be read."""
        return read_config(cls, folder / "node.json", hint="Leave the fleet and join it again.")


class Node:
    """The node of one ROOST_HOME. ``folder`` holds its certificate and its configuration."""

    def __init__(
        self, home: Home, folder: Path, config: NodeConfig, clock: Clock | None = None
    ) -> None:
        self._folder = folder
        self._config = config
        self._clock = clock or SystemClock()
        self._broker = LocalBroker(home)
        self._lease = Lease()
        self._opened = self._remembered()
        """The epoch under which each session was opened in the broker. Kept in a file."""
        for session, epoch in self._opened.items():
            self._lease.take(session, epoch, 0)
        self._door = NodeDoor(
            self._broker,
            check=self._check,
            used=self._use,
            orders={
                "/node/place": self._place,
                "/node/release": self._release,
                "/node/end": self._end,
            },
        )
        context = client_context(folder / "node-ca.pem", folder / "node.pem")
        self._gateway = ConnectionPool(
            lambda: Stream.connect(config.gateway, config.control_port, context)
        )
        self._tasks = Tasks()
        self._attempts = 0
        self._report = Capacity(node=config.id, slots=0)
        self._problem: str | None = "The broker starts."
        self._used_at: dict[str, float] = {}
        self._packed: dict[str, bytes] = {}
        """Digest of what was last sent of each session."""
        self._busy: set[str] = set()
        """Sessions that are being opened or closed now."""
        self._gone: dict[str, tuple[int, bool]] = {}
        """Sessions that the broker no longer has: their epoch, and whether somebody ended them."""
        self._broker_pid: int | None = None
        self._port = config.port
        self.dismissed = asyncio.Event()
        """Set when the gateway says that this machine is not in the fleet."""

    @property
    def port(self) -> int:
        return self._port

    async def start(self) -> None:
        """Listen, and begin to ask for a lease. The broker is started in the background."""
        listening = _listen(self._config.host, self._config.port)
        self._port = listening.getsockname()[1]
        await self._door.start(
            listening, server_context(self._folder / "node.pem", self._folder / "node-ca.pem")
        )
        self._tasks.spawn(self._renew_for_ever(), name="renew the lease")
        self._tasks.spawn(self._watch_broker(), name="watch the broker")
        self._tasks.spawn(self._send_luggage(), name="send luggage")

    async def aclose(self) -> None:
        await self._door.aclose()
        await self._tasks.aclose()
        self._gateway.cut()
        await self._broker.aclose()

    # --- the lease -----------------------------------------------------------------------------

    async def _renew_for_ever(self) -> None:
        while True:
            if self._attempts < ATTEMPTS:
                self._attempts += 1
                self._tasks.spawn(self._renew(), name="renewal")
            if not self._lease.is_valid(now()):
                self._door.cut()
            await self._clock.wait(RENEW_SECONDS)

    async def _renew(self) -> None:
        """Ask for the lease once. If that fails, the lease keeps its end."""
        try:
            await self._ask_for_lease()
        except (OSError, RoostError, Hangup) as error:
            logger.debug("no renewal: %s", error)
        finally:
            self._attempts -= 1

    async def _ask_for_lease(self) -> None:
        gone = dict(self._gone)
        question = {
            "host": self._config.host,
            "port": self._port,
            "version": self._lease.version,
            "software": __version__,
            "problem": self._problem,
            "report": _to_wire(self._report),
            "gone": [[session, epoch, is_ended] for session, (epoch, is_ended) in gone.items()],
        }
        asked_at = now()
        reply = await self._tell("/renew", encode(question), RENEWAL_SECONDS)
        match reply:
            case {"version": int(version), "epochs": dict() | None as epochs}:
                dropped = self._lease.renew(asked_at, version, epochs)
            case _:
                raise BrowserLost("The gateway's answer is not valid.")
        for session, what in gone.items():
            if self._gone.get(session) == what:
                del self._gone[session]
        for session in dropped:
            self._tasks.spawn(self._discard(session), name=f"discard {session}")
        asyncio.get_running_loop().call_later(
            max(0.0, self._lease.until - now()), self._cut_if_over
        )

    def _cut_if_over(self) -> None:
        if not self._lease.is_valid(now()):
            self._door.cut()

    async def _tell(self, path: str, body: bytes, timeout: float) -> Any:
        """Send the gateway something, and return its answer."""
        async with self._gateway.lend() as lent:
            response, data = await exchange(
                lent.stream,
                b"POST",
                path.encode(),
                [(b"host", b"gateway")],
                body,
                limit=ANSWER_BYTES,
                timeout=timeout,
            )
            lent.finished(response)
        if response.status == 403:
            logger.error("the gateway says that this machine is not in the fleet")
            self.dismissed.set()
            raise Unauthorized("This machine is not in the fleet.")
        if response.status != 200:
            raise BrowserLost(f"The gateway answers {response.status}.")
        return decode(data)

    # --- orders of the gateway -----------------------------------------------------------------

    async def _place(self, order: dict[str, Any]) -> dict[str, Any]:
        """Open a session here, with what it had elsewhere."""
        match order:
            case {
                "session": str(session),
                "epoch": int(epoch),
                "version": int(version),
                "wish": dict(wish),
                "luggage": dict() | None as luggage,
            }:
                pass
            case _:
                raise BadRequest("This is not an order to place a session.", field="body")
        if self._problem is not None:
            raise BrowserLost(self._problem)
        if session in self._busy or not self._lease.is_valid(now()):
            raise Misdirected(is_lasting=False)
        if not self._lease.take(session, epoch, version):
            raise Misdirected(is_lasting=True)
        self._busy.add(session)
        try:
            notes = await self._open(session, epoch, wish, luggage)
        except BaseException:
            self._lease.forget(session, epoch)
            raise
        finally:
            self._busy.discard(session)
        return {"notes": notes}

    async def _open(
        self, session: str, epoch: int, wish: dict[str, str], luggage: dict[str, Any] | None
    ) -> list[str]:
        if self._opened.get(session) != epoch:
            # If the broker has a session of that id, it is left over from an earlier placement.
            with suppress(SessionGone):
                await self._broker.dispose(session)
        await self._broker.open(session, wish)
        notes = [] if luggage is None else await self._broker.unpack(session, luggage)
        self._opened[session] = epoch
        self._remember()
        return notes

    async def _release(self, order: dict[str, Any]) -> dict[str, Any]:
        """Let a session go to another node, and answer what it needs there."""
        session, epoch = self._own(order)
        self._busy.add(session)
        self._lease.forget(session, epoch)  # from here on, the door refuses its requests
        try:
            luggage = await self._broker.pack(session)
            self._tasks.spawn(self._discard(session), name=f"discard {session}")
        finally:
            self._busy.discard(session)
        return {"luggage": luggage}

    async def _end(self, order: dict[str, Any]) -> dict[str, Any]:
        session, epoch = self._own(order)
        self._lease.forget(session, epoch)
        closed = 0
        with suppress(SessionGone):
            closed = await self._broker.dispose(session)
        self._forget(session)
        return {"disposed": session, "tabsClosed": closed}

    def _own(self, order: dict[str, Any]) -> tuple[str, int]:
        match order:
            case {"session": str(session), "epoch": int(epoch)}:
                self._check(session, epoch)
                return session, epoch
        raise BadRequest("This is not an order about a session.", field="body")

    def _check(self, session: str, epoch: int) -> None:
        """Raise ``Misdirected`` if this node may not answer for the session under the epoch."""
        if not self._lease.is_valid(now()) or session in self._busy:
            raise Misdirected(is_lasting=False)
        if not self._lease.answers(session, epoch, now()):
            raise Misdirected(is_lasting=True)

    async def _discard(self, session: str) -> None:
        """Close a session that is no longer this node's."""
        if session in self._busy or session in self._lease.given:
            return
        try:
            await self._broker.dispose(session)
        except SessionGone:
            pass
        except RoostError as error:
            logger.warning("session %s could not be closed: %s", session, error)
            return  # its epoch is still in the file, so the next placement here closes it
        self._forget(session)

    def _forget(self, session: str) -> None:
        if session not in self._lease.given:
            self._opened.pop(session, None)
            self._packed.pop(session, None)
            self._used_at.pop(session, None)
            self._remember()

    # --- the broker ----------------------------------------------------------------------------

    async def _watch_broker(self) -> None:
        """Keep the broker running, and note what it has."""
        while True:
            try:
                await self._broker.ensure()
                if not self._report.slots:
                    self._report = await self._measured()
                self._note(await self._broker.look())
                self._problem = None
                pause = LOOK_SECONDS
            except RoostError as error:
                if self._problem != error.message:
                    logger.error("the broker: %s %s", error, error.hint)
                self._problem = error.message
                pause = BROKER_RETRY_SECONDS
            await self._clock.wait(pause)

    async def _measured(self) -> Capacity:
        """Start the browser, and return what this machine can take."""
        browser = await self._broker.start_browser()
        return replace(
            self._report,
            slots=browser.capacity,
            browsers=frozenset({browser.id, *self._broker.installed()}),
            profiles=await self._broker.profiles(),
        )

    def _note(self, seen: Sighting) -> None:
        """Note load, and which sessions the broker no longer has."""
        default = seen.status.browsers[0] if seen.status.browsers else None
        memory, load = machine_load()
        self._report = replace(
            self._report,
            tabs=0 if default is None else default.tabs,
            waiting=len(seen.status.requests),
            memory_free=memory,
            load=load,
        )
        is_new = self._broker_pid not in (None, seen.broker)
        self._broker_pid = seen.broker
        for session, given in list(self._lease.given.items()):
            opened = self._opened.get(session) == given.epoch and session not in self._busy
            if opened and session not in seen.sessions:
                # A broker that was started again may have lost its journal. The same broker has
                # ended the session because somebody asked for it.
                self._gone[session] = (given.epoch, not is_new)
                self._lease.forget(session, given.epoch)
                self._forget(session)

    # --- what sessions would need elsewhere ----------------------------------------------------

    def _use(self, session: str) -> None:
        self._used_at[session] = now()

    async def _send_luggage(self) -> None:
        """At most once a second, send what has changed in the sessions that were used."""
        while True:
            await self._clock.wait(LOOK_SECONDS)
            oldest = now() - ACTIVE_SECONDS
            for session, used in list(self._used_at.items()):
                if used < oldest:
                    del self._used_at[session]
                await self._send(session)

    async def _send(self, session: str) -> None:
        given = self._lease.given.get(session)
        if given is None or session in self._busy:
            return
        try:
            luggage = await self._broker.pack(session)
            digest = hashlib.sha256(encode(luggage)).digest()
            if self._packed.get(session) != digest:
                message = {"session": session, "epoch": given.epoch, "luggage": luggage}
                await self._tell("/luggage", encode(message), SEND_SECONDS)
                self._packed[session] = digest
        except (RoostError, OSError, Hangup) as error:
            logger.debug("no luggage of %s: %s", session, error)

    # --- the file of epochs --------------------------------------------------------------------

    def _remembered(self) -> dict[str, int]:
        data = read_secret(self._folder / "epochs.json", ANSWER_BYTES)
        try:
            found = json.loads(data or b"{}")
        except ValueError:
            return {}  # the file is damaged, so sessions are opened anew from the gateway's copies
        return {session: epoch for session, epoch in found.items() if isinstance(epoch, int)}

    def _remember(self) -> None:
        write_secret(self._folder / "epochs.json", encode(self._opened))


def machine_load() -> tuple[float, float]:
    """Return the free part of the memory, and the load per processor."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines)}
        return found["MemAvailable"] / found["MemTotal"], load
    except (OSError, ValueError, LookupError):
        return 1.0, load


def _to_wire(report: Capacity) -> dict[str, Any]:
    wire = asdict(report)
    return wire | {name: sorted(wire[name]) for name in ("profiles", "browsers")}


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
        listening.setblocking(False)
    except OSError as problem:
        listening.close()
        raise Internal(
            f"The door cannot listen on {host}:{port}: {problem.strerror}.",
            hint="Join with --address HOST:PORT to choose another.",
        ) from None
    return listening
