"""Run the broker process. There is one per ROOST_HOME."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from roost import __version__
from roost.core import events as ev
from roost.daemon.announcement import Announcement
from roost.daemon.log import Log, Shortage, redact_log
from roost.daemon.wiring import House, build
from roost.errors import Internal, RoostError, Timeout
from roost.local.broker_start import cannot_start, detach, report, running_broker
from roost.local.core_files import write_no_core_files
from roost.local.deadline import Deadline
from roost.local.home import Home, read_secret, write_secret
from roost.local.lock import Lock
from roost.local.settings import SETTINGS, Settings, load_settings
from roost.vocabulary import BROKER_IDLE_SECONDS, SWEEP_SECONDS, Lifetime

logger = logging.getLogger(__name__)
LOCK_SECONDS = 5.0
"""How long a new broker waits until one that is stopping releases the lock."""
KEY_SECONDS = 10.0
"""How often the broker looks for a missing key."""
LOOK_SECONDS = 1.0
"""How often the broker checks its announced files and the size of its log."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal or ``roost stop``, and return the exit code.

    With ``--ready-fd``, report to the starter that the broker is ready or why it failed.
    """
    options = _parsed(argv)
    if options.ready_fd is not None:
        detach()
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    home = Home.find()
    try:
        home.create()
        os.umask(0o077)
        write_no_core_files()
        lock = _lock_of(home)
        if lock is None:
            # Another broker was faster. Report success: the starter can use that broker.
            logger.info("another broker serves %s already", home.path)
            if options.ready_fd is not None:
                report(options.ready_fd)
            return 0
        try:
            start = _start_of(home, options)
            settings = load_settings(start.flags, os.environ, home.config)
            _allow_many_files()
            write_secret(_record(home), start.model_dump_json().encode())
            if asyncio.run(_live(home, lock, settings, start, options)) and lock.is_current():
                _record(home).unlink(missing_ok=True)
        finally:
            lock.release()
    except Exception as problem:
        # Report every error: without a report, the starter assumes that the broker was killed.
        error = _reason(home, problem)
        if options.ready_fd is not None:
            report(options.ready_fd, error)
        return 1
    return 0


def _reason(home: Home, problem: Exception) -> RoostError:
    if isinstance(problem, RoostError):
        logger.error("%s", problem)
        return problem
    if isinstance(problem, OSError):
        error = cannot_start(home, problem)
        logger.error("%s", error)
        return error
    logger.exception("the broker failed")
    return Internal(f"It ended before it was ready: {type(problem).__name__}: {problem}")


def _lock_of(home: Home) -> Lock | None:
    """Take the broker's lock. Returns None if another broker serves this home.

    A broker that is stopping has removed its endpoint file and releases its lock soon, so wait for
    it. Raises ``Timeout`` if it does not within ``LOCK_SECONDS``.
    """
    lock, deadline = Lock(home.broker_lock), Deadline(LOCK_SECONDS)
    while not lock.try_acquire():
        if running_broker(home) is not None:
            return None
        if deadline.has_passed():
            raise Timeout(
                f"Another process has held {home.broker_lock} for {LOCK_SECONDS:g} s.",
                hint=f"See who it is: fuser -v {home.broker_lock}",
            )
        deadline.pause()
    return lock


class Start(BaseModel):
    """How a broker was started. Stored until the broker stops in order, so that a killed broker is
    started again with the same flags."""

    flags: dict[str, Any]
    lingers: bool


def _start_of(home: Home, options: argparse.Namespace) -> Start:
    """Return the flags to start with. If an agent starts the broker without flags after an earlier
    one was killed, return the flags of that one."""
    flags = {name: value for name, value in _flags(options).items() if value is not None}
    killed = read_secret(_record(home))
    if killed is not None and options.linger and not flags:
        try:
            return Start.model_validate_json(killed)
        except ValidationError:
            logger.warning("%s cannot be read", _record(home))
    return Start(flags=flags, lingers=options.linger)


def _record(home: Home) -> Path:
    return home.path / "started.json"


async def _live(
    home: Home, lock: Lock, settings: Settings, start: Start, options: argparse.Namespace
) -> bool:
    """Serve until a stop is requested. Returns False if the browsers keep running for the next
    broker, and True if they were ended."""
    token = home.operator_token()

    def reread() -> Settings:
        return load_settings(start.flags, os.environ, home.config)

    house = build(home, settings, reread=reread)
    broker = house.broker
    broker.lingers = start.lingers
    redact_log(broker.redactor.text)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(Shortage(house.socket.make_room))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, broker.stop_requested.set)
    announcement: Announcement | None = None
    with contextlib.suppress(RoostError, OSError):  # ``_seal_stored`` tries again, and reports it
        await broker.secrets.register_stored()  # before any reply, which may show a secret
    try:
        broker.http = house.http.start()
        await house.socket.start()
        announcement = Announcement(home, lock, house.socket, token=token, http=broker.http)
        announcement.publish()
        broker.hear(ev.BrokerListens())
        logger.info("roost %s ready, pid %d, %s", __version__, os.getpid(), home.path)
        if options.ready_fd is not None:
            report(options.ready_fd)
            options.ready_fd = None
        # Modules and tables live as long as the process. Without the freeze, full garbage
        # collections walk them all and delay replies.
        gc.freeze()
        if not start.lingers:
            house.mcp.begin()  # `roost up` started it, so agents will follow: load the MCP server
        async with asyncio.TaskGroup() as group:
            sweeping = group.create_task(_sweep(house), name="sweep")
            looking = group.create_task(_stay_found(house, home, announcement), name="look")
            sealing = group.create_task(_seal_stored(house), name="seal")
            await broker.stop_requested.wait()
            sealing.cancel()
            sweeping.cancel()
            looking.cancel()
    except BaseException:
        broker.leaves_browsers = True  # an error of the broker must not cost agents their pages
        raise
    finally:
        logger.info("stopping")
        if announcement is not None:
            announcement.withdraw()
        await house.http.aclose()
        await house.socket.aclose(for_good=not broker.leaves_browsers)
        await broker.aclose(end_browsers=not broker.leaves_browsers)
    return not broker.leaves_browsers


async def _stay_found(house: House, home: Home, announcement: Announcement) -> None:
    """Every second, restore removed files and limit the log. Stop if another broker took over."""
    broker, log = house.broker, Log(home)
    while True:
        await broker.clock.wait(LOOK_SECONDS)
        log.bound()
        if not await announcement.renew():
            logger.warning("another broker has %s now; leaving, the browsers stay", home.path)
            broker.leaves_browsers = True
            broker.stop_requested.set()
            return
        broker.keep_files()


async def _sweep(house: House) -> None:
    """Every ``SWEEP_SECONDS``, disconnect agents whose process is gone, and stop a lingering broker
    that nobody has needed for ``BROKER_IDLE_SECONDS``."""
    broker = house.broker
    needed_at = broker.clock.now()
    while True:
        await broker.clock.wait(SWEEP_SECONDS)
        house.door.sweep()
        if not broker.lingers or is_needed(house):
            needed_at = broker.clock.now()
        elif broker.clock.now() - needed_at >= BROKER_IDLE_SECONDS:
            logger.info("nobody has needed this broker for a while")
            broker.stop_requested.set()


async def _seal_stored(house: House) -> None:
    """As soon as the key is here, register the values of the vault, so that they are removed from
    replies, and seal what earlier releases stored in plain text.

    Look for a missing key every ``KEY_SECONDS``: the person may unlock their keyring later.
    """
    broker = house.broker
    while not await asyncio.to_thread(broker.sealer.load_key):
        await broker.clock.wait(KEY_SECONDS)
    try:
        await broker.secrets.register_stored()
        profiles = await asyncio.to_thread(broker.profiles.seal_all)
        backups = broker.jar_backups.seal_all()
    except (OSError, RoostError) as error:
        logger.warning("what is stored could not be read or sealed: %s", error)
        return
    if profiles or backups:
        logger.info("sealed %d profiles and %d copies of jars", profiles, backups)


def is_needed(house: House) -> bool:
    """Return True if any session has members or is named."""
    state = house.broker.state
    return any(
        session.lifetime is Lifetime.NAMED or state.members_in(session.id)
        for session in state.sessions.values()
    )


def _allow_many_files() -> None:
    """Raise the limit of open files to the system's maximum: each connection needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m roost.daemon", description=__doc__)
    parser.add_argument("--ready-fd", type=int, help="where to report that the broker is ready")
    parser.add_argument(
        "--linger", action="store_true", help="end some time after the last session"
    )
    for setting in SETTINGS.values():
        action = "append" if setting.has_several else "store"
        parser.add_argument(setting.flag, help=setting.help, action=action)
    return parser.parse_args(argv)


def _flags(options: argparse.Namespace) -> dict[str, str | None]:
    return {name: getattr(options, name) for name in SETTINGS}
