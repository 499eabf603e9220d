"""``python -m roost.fleet ROLE``: the fleet's processes. People use ``roost fleet``."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path

from roost.errors import BadRequest, Internal, RoostError
from roost.fleet.config import GatewayConfig, fleet_folder
from roost.fleet.gateway import Gateway
from roost.fleet.node import Node, NodeConfig
from roost.fleet.orders import perform
from roost.fleet.supervisor import DONE, GATEWAY, NODE, keep
from roost.local.broker_start import detach, report
from roost.local.home import Home

FAILED = 1
logger = logging.getLogger("roost.fleet")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m roost.fleet", description=__doc__)
    parser.add_argument("role", choices=["do", "keep", GATEWAY, NODE])
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("kept", nargs="?", choices=[GATEWAY, NODE])
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
        serve = _serve_gateway if options.role == GATEWAY else _serve_node
        return asyncio.run(serve(home, folder, options.ready_fd))
    except Exception as problem:
        error = problem if isinstance(problem, RoostError) else _bug(problem)
        logger.error("%s %s", error, error.hint)
        if options.ready_fd is not None:
            try:
                report(options.ready_fd, error)
            except OSError:
                pass  # the process had already reported that it is ready
        return FAILED


def _do() -> int:
    """Perform the order on stdin, and write the answer to stdout."""
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


async def _serve_gateway(home: Home, folder: Path, ready_fd: int | None) -> int:
    config = GatewayConfig.read(folder)
    if config is None:
        raise BadRequest("There is no gateway here.", hint="Run `roost fleet up`.")
    gateway = Gateway(folder, config)
    await gateway.start()
    try:
        logger.info("the gateway serves %s, pid %d", gateway.config.address, os.getpid())
        await _until_told(ready_fd, asyncio.Event())
    finally:
        await gateway.aclose()
    return DONE


async def _serve_node(home: Home, folder: Path, ready_fd: int | None) -> int:
    config = NodeConfig.read(folder)
    if config is None:
        raise BadRequest("This machine is in no fleet.", hint="Run `roost fleet join TOKEN`.")
    node = Node(home, folder, config)
    await node.start()
    try:
        logger.info("node %s listens on port %d, pid %d", config.name, node.port, os.getpid())
        await _until_told(ready_fd, node.dismissed)
    finally:
        await node.aclose()
    return DONE


async def _until_told(ready_fd: int | None, done: asyncio.Event) -> None:
    """Report that the process is ready, and wait for a signal or until it is done."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, done.set)
    if ready_fd is not None:
        report(ready_fd)
    await done.wait()


if __name__ == "__main__":
    sys.exit(main())
