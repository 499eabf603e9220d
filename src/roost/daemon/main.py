"""The broker process: one per ROOST_HOME, from lock to last goodbye."""

from __future__ import annotations

import argparse
import asyncio
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
from roost.daemon.settings import Settings, add_flags, load_settings
from roost.daemon.wiring import House, build
from roost.errors import Internal, RoostError
from roost.local.endpoint import Endpoint, read_endpoint, write_endpoint
from roost.local.home import Home, read_secret, socket_path, write_secret
from roost.local.lock import Lock
from roost.local.processes import identify
from roost.local.starting import detach, report
from roost.vocabulary import BROKER_IDLE_SECONDS, SWEEP_SECONDS, WIRE_VERSION, Lifetime

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until told to stop. The starter, if there is one, hears of success or failure."""
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
        # A broker that is just stopping gives its lock up within moments.
        with Lock(home.broker_lock, timeout_seconds=5):
            start = _start_of(home, options)
            settings = load_settings(start.flags, os.environ, home.config)
            _allow_many_files()
            write_secret(_record(home), start.model_dump_json().encode())
            asyncio.run(_live(home, settings, lingers=start.lingers, ready_fd=options.ready_fd))
            _record(home).unlink(missing_ok=True)
    except RoostError as error:
        logger.error("%s", error)
        if options.ready_fd is not None:
            report(options.ready_fd, error)
        return 1
    return 0


class Start(BaseModel):
    """How a broker was started. Kept until it ends in order: whoever has to bring a killed one back
    brings back the same one."""

    flags: dict[str, Any]
    lingers: bool


def _start_of(home: Home, options: argparse.Namespace) -> Start:
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


async def _live(home: Home, settings: Settings, *, lingers: bool, ready_fd: int | None) -> None:
    house = build(home, settings)
    house.broker.lingers = lingers
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, house.broker.stop_requested.set)
    try:
        house.broker.http = house.http.start()
        await house.socket.start()
        _announce(home, house.broker.http)
        logger.info("roost %s ready, pid %d, %s", __version__, os.getpid(), home.path)
        if ready_fd is not None:
            report(ready_fd)
        # Modules and tables stay: a collection that walks them all made clients wait, now and then.
        gc.freeze()
        if not lingers:
            house.mcp.begin()  # whoever started it to stay has agents coming
        async with asyncio.TaskGroup() as group:
            sweeping = group.create_task(_sweep(house, home), name="sweep")
            await house.broker.stop_requested.wait()
            sweeping.cancel()
    finally:
        logger.info("stopping")
        if _is_announced(home):
            home.endpoint.unlink()
        await house.http.aclose()
        await house.socket.aclose()
        await house.broker.aclose()


async def _sweep(house: House, home: Home) -> None:
    """Every minute: agents whose process is gone, and whether anybody still needs us."""
    broker = house.broker
    needed_at = broker.clock.now()
    while True:
        await broker.clock.wait(SWEEP_SECONDS)
        house.door.sweep()
        if not _is_announced(home):
            # Our folder or socket was removed, or another broker stands in our place: nobody can
            # find us any more, so whoever needs a broker will start one.
            logger.warning("this broker can no longer be found")
            broker.stop_requested.set()
        if not broker.lingers or is_needed(house):
            needed_at = broker.clock.now()
        elif broker.clock.now() - needed_at >= BROKER_IDLE_SECONDS:
            logger.info("nobody has needed this broker for a while")
            broker.stop_requested.set()


def is_needed(house: House) -> bool:
    """Whether a session is in use or was named to be kept."""
    state = house.broker.state
    return any(
        session.lifetime is Lifetime.NAMED or state.members_in(session.id)
        for session in state.sessions.values()
    )


def _is_announced(home: Home) -> bool:
    endpoint = read_endpoint(home)
    return endpoint is not None and endpoint.process.pid == os.getpid() and endpoint.socket.exists()


def _announce(home: Home, http: str) -> None:
    process = identify(os.getpid())
    if process is None:
        raise Internal("This process cannot be found in the process table.")
    write_endpoint(
        home,
        Endpoint(
            socket=socket_path(home),
            process=process,
            version=__version__,
            wire=WIRE_VERSION,
            http=http,
        ),
    )


def _allow_many_files() -> None:
    """Every connection is a file; take what the system allows us."""
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
    add_flags(parser)
    return parser.parse_args(argv)


def _flags(options: argparse.Namespace) -> dict[str, str | None]:
    return {name: getattr(options, name) for name in Settings.model_fields}
