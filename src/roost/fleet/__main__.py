"""``python -m roost.fleet ROLE``: the fleet's processes. People use ``roost fleet``.

Supervisors run as long as the machine does, so each role imports only what it needs.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from roost.errors import BadRequest, Internal, RoostError
from roost.fleet.config import fleet_folder
from roost.fleet.supervisor import (
    CRASHED,
    DONE,
    FAILED,
    NODE,
    ROLES,
    keep,
)
from roost.local.broker_start import detach, report
from roost.local.home import Home

if TYPE_CHECKING:
    import asyncio

    from roost.fleet.ray_runtime import RayConfig

RAY_STOP_SECONDS = 3.0
logger = logging.getLogger("roost.fleet")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m roost.fleet", description=__doc__)
    parser.add_argument("role", choices=["do", "keep", *ROLES])
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("kept", nargs="?", choices=ROLES)
    options = parser.parse_intermixed_args()
    os.umask(0o077)
    if options.role == "do":
        return _do()
    if options.role == "keep":
        detach()
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    home = Home.find()
    try:
        folder = fleet_folder(home)
        if options.role == "keep":
            return keep(folder, options.kept or NODE, options.ready_fd)
        match options.role:
            case "gateway":
                return _run_gateway(folder, options.ready_fd)
            case "node":
                return _run_node(home, folder, options.ready_fd)
            case "ray":
                return _run_ray(home, folder, options.ready_fd)
            case _:
                return _run_engine(home, folder, options.ready_fd)
    except Exception as problem:
        error = problem if isinstance(problem, RoostError) else _bug(problem)
        logger.error("%s %s", error, error.hint)
        if options.ready_fd is None:
            return CRASHED
        try:
            report(options.ready_fd, error)
        except OSError:
            return CRASHED  # the process was reported as ready before
        return FAILED


def _do() -> int:
    """Perform the order on stdin, and write the answer to stdout."""
    from roost.fleet.orders import perform

    try:
        asked = json.load(sys.stdin)
        code, reply = DONE, perform(asked["order"], asked["arguments"])
    except Exception as problem:
        error = problem if isinstance(problem, RoostError) else _bug(problem)
        code, reply = FAILED, error.to_wire()
    sys.stdout.write(json.dumps(reply))
    return code


def _bug(problem: Exception) -> RoostError:
    logger.exception("the process failed")
    return Internal(f"{type(problem).__name__}: {problem}")


def _run_gateway(folder: Path, ready_fd: int | None) -> int:
    import asyncio

    from roost.fleet.config import GatewayConfig
    from roost.fleet.gateway import Gateway

    config = GatewayConfig.read(folder)
    if config is None:
        raise BadRequest("There is no gateway here.", hint="Run `roost fleet up`.")
    gateway = Gateway(folder, config)

    async def serve() -> None:
        await gateway.start()
        try:
            logger.info("the gateway serves %s, pid %d", gateway.config.address, os.getpid())
            await _until_told(ready_fd, asyncio.Event())
        finally:
            await gateway.aclose()

    asyncio.run(serve())
    return DONE


def _run_node(home: Home, folder: Path, ready_fd: int | None) -> int:
    import asyncio

    from roost.fleet.node import Node, NodeConfig

    config = NodeConfig.read(folder)
    if config is None:
        raise BadRequest("This machine is in no fleet.", hint="Run `roost fleet join TOKEN`.")

    async def serve() -> None:
        node = Node(home, folder, config)
        await node.start()
        try:
            logger.info("node %s listens on port %d, pid %d", config.name, node.port, os.getpid())
            await _until_told(ready_fd, node.dismissed)
        finally:
            await node.aclose()

    asyncio.run(serve())
    return DONE


def _run_ray(home: Home, folder: Path, ready_fd: int | None) -> int:
    """Run Ray until it ends or a signal comes. The supervisor starts Ray again if it ends."""
    from roost.fleet.ray_runtime import STARTED, end, run, scratch_folder

    config = _ray_config(folder)
    _end_at_signals()
    scratch = scratch_folder(home)
    started = run(folder, scratch, config)
    assert started.stdout is not None
    last = ""
    try:
        for line in started.stdout:
            last = line.decode("utf-8", "replace").strip() or last
            logger.info("%s", last)
            if STARTED in last and ready_fd is not None:
                report(ready_fd)
                ready_fd = None
    finally:
        end(started, scratch, RAY_STOP_SECONDS)
    raise Internal(f"Ray ended: {last}", hint="See its log, or run `roost fleet stop`.")


def _run_engine(home: Home, folder: Path, ready_fd: int | None) -> int:
    """Have Ray keep the nodes running, until a signal comes or Ray cannot be reached."""
    from roost.fleet.engine import LOOK_SECONDS, tend
    from roost.fleet.orders import administer
    from roost.fleet.ray_runtime import environment

    config = _ray_config(folder)
    os.environ.update(environment(folder, config))  # Ray reads its variables when it is imported
    from roost.fleet.ray_engine import RayEngine

    engine = RayEngine(config)
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    if ready_fd is not None:
        report(ready_fd)
    try:
        while not done.is_set():
            tend(
                engine,
                lambda: administer(home, "status", {}),
                lambda: str(administer(home, "invite", {})["token"]),
            )
            done.wait(LOOK_SECONDS)
    finally:
        engine.close()
    return DONE


def _ray_config(folder: Path) -> RayConfig:
    from roost.fleet.ray_runtime import RayConfig

    config = RayConfig.read(folder)
    if config is None:
        raise BadRequest("Ray is not part of the fleet here.", hint="Run `roost fleet up`.")
    return config


def _end_at_signals() -> None:
    """Have signals end the process as ``sys.exit`` does, so that what it started ends first."""

    def end_now(number: int, frame: object) -> None:
        raise SystemExit(DONE)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end_now)


async def _until_told(ready_fd: int | None, done: asyncio.Event) -> None:
    """Report that the process is ready, and wait for a signal or until it is done."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, done.set)
    if ready_fd is not None:
        report(ready_fd)
    await done.wait()


if __name__ == "__main__":
    sys.exit(main())
