"""The orders of ``roost fleet`` on this machine. Each order returns what the command prints.

The command line runs ``python -m roost.fleet do`` and sends an order as JSON, because front ends
may not import this room. Tokens are sent over the pipe, so that no process list shows them.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from pathlib import Path
from typing import Any

from roost.errors import BadRequest, NotFound, Timeout
from roost.fleet import membership, ray_runtime, supervisor
from roost.fleet.config import PORT, GatewayConfig, fleet_folder, is_loopback
from roost.fleet.node import NodeConfig
from roost.fleet.ray_runtime import RayConfig
from roost.fleet.tokens import JoinToken
from roost.local.deadline import Deadline
from roost.local.home import Home

LEAVE_SECONDS = 120.0
NODE_SECONDS = 90.0
LOOK_SECONDS = 0.2
Reply = dict[str, Any]


def perform(order: str, arguments: dict[str, Any]) -> Reply:
    """Perform an order of this machine, or have the gateway of this machine perform it."""
    own = _ORDERS.get(order)
    if own is not None:
        return own(Home.find(), **arguments)
    return administer(Home.find(), order, arguments)


def administer(home: Home, order: str, arguments: dict[str, Any]) -> Reply:
    return asyncio.run(membership.administer(fleet_folder(home), order, arguments))


def up(
    home: Home, address: str | None, ray: str | None, without_ray: bool, redis: str | None
) -> Reply:
    """Start the gateway, and Ray, and make a join token.

    ray: HOST:PORT of a running Ray to use. None: start Ray, if it is installed and other machines
        can reach this one.
    """
    folder = fleet_folder(home)
    config = GatewayConfig.read(folder)
    was_running = supervisor.running(folder, supervisor.GATEWAY) is not None
    if address is not None or config is None:
        host, port = parsed_address(address or "127.0.0.1", PORT)
        wanted = GatewayConfig(host, port, port + 1 if port else 0)
        if was_running and wanted != config:
            raise BadRequest(
                "address: the gateway runs at another address.",
                hint="Stop it first with `roost fleet stop`.",
                field="address",
            )
        wanted.write(folder)
    if ray is not None and without_ray:
        raise BadRequest("ray: `--ray` and `--no-ray` exclude each other.", field="ray")
    supervisor.start(home, folder, supervisor.GATEWAY)
    engine = None if without_ray else _start_ray(home, folder, ray, redis)
    invitation = administer(home, "invite", {})
    status = administer(home, "status", {})
    return {
        "address": status["address"],
        "joinToken": invitation["token"],
        "isLoopback": invitation["isLoopback"],
        "wasRunning": was_running,
        "ray": None if engine is None else engine.address,
        "rayVersion": ray_runtime.installed_ray(),
    }


def _start_ray(
    home: Home, folder: Path, cluster: str | None, redis: str | None
) -> RayConfig | None:
    """Start Ray's head and the engine, or only the engine if Ray runs elsewhere."""
    config, gateway = RayConfig.read(folder), GatewayConfig.read(folder)
    assert gateway is not None
    if ray_runtime.installed_ray() is None:
        if cluster is None and redis is None:
            return None
        raise BadRequest(
            "ray: Ray is not installed here.",
            hint="Install it with Roost: `uv tool install 'roost[fleet]'`.",
            field="ray",
        )
    if cluster is not None:
        config = ray_runtime.use_ray_of_others(folder, cluster)
    elif is_loopback(gateway.host):
        return None
    elif config is None or not config.is_head or redis != config.redis:
        config = ray_runtime.set_up_head(folder, gateway.host, redis)
    if config.is_head:
        supervisor.start(home, folder, supervisor.RAY)
    supervisor.start(home, folder, supervisor.ENGINE)
    return config


def join(home: Home, token: str, address: str | None) -> Reply:
    """Join a fleet, and start the node."""
    folder = fleet_folder(home)
    if NodeConfig.read(folder) is not None:
        raise BadRequest(
            "This machine is in a fleet already.", hint="Leave it first with `roost fleet leave`."
        )
    given = JoinToken.parse(token)
    host, port = None, membership.DOOR_PORT
    if address is not None:
        host, port = parsed_address(address, port)
    config = asyncio.run(membership.join(given, folder, host, port))
    ray = RayConfig.read(folder)
    if ray is not None and ray.runs_node:
        supervisor.start(home, folder, supervisor.RAY)
        _wait_for_node(folder)
    else:
        supervisor.start(home, folder, supervisor.NODE)
    return {"id": config.id, "name": config.name, "gateway": config.gateway}


def _wait_for_node(folder: Path) -> None:
    """Wait until Ray has started the node on this machine."""
    deadline = Deadline(NODE_SECONDS)
    while supervisor.running(folder, supervisor.NODE) is None:
        if deadline.has_passed():
            raise Timeout(
                "This machine has joined, but Ray has not started the node.",
                hint=f"See {folder / 'ray.log'}, and engine.log on the gateway's machine.",
            )
        select.select([], [], [], LOOK_SECONDS)


def leave(home: Home, force: bool) -> Reply:
    """Move this machine's sessions away, stop the node and forget the fleet."""
    folder = fleet_folder(home)
    config = NodeConfig.read(folder)
    if config is None:
        raise NotFound("This machine is in no fleet.", hint="There is nothing to leave.")
    if not force:
        asyncio.run(membership.say_goodbye(folder, config, LEAVE_SECONDS))
    ray = RayConfig.read(folder)
    if ray is not None and ray.runs_node:
        supervisor.stop(folder, supervisor.RAY)  # else Ray starts the node again
        ray_runtime.forget(home, folder)
    supervisor.stop(folder, supervisor.NODE)
    membership.leave(folder)
    return {"left": config.name}


def stop(home: Home) -> Reply:
    """Stop the gateway, and Ray's head if the gateway started it."""
    folder = fleet_folder(home)
    supervisor.stop(folder, supervisor.ENGINE)
    ray = RayConfig.read(folder)
    if ray is not None and ray.is_head:
        supervisor.stop(folder, supervisor.RAY)
        ray_runtime.remove_scratch(home)
    return {"stopped": supervisor.stop(folder, supervisor.GATEWAY)}


_ORDERS: dict[str, Callable[..., Reply]] = {"up": up, "join": join, "leave": leave, "stop": stop}


def parsed_address(text: str, port: int) -> tuple[str, int]:
    """Return host and port of HOST, HOST:PORT or [HOST]:PORT."""
    host, colon, digits = text.rpartition(":")
    if text.endswith("]") or not colon or (":" in host and not host.endswith("]")):
        host, digits = text, str(port)
    if not host or not digits.isdigit() or int(digits) > 65535:
        raise BadRequest("address: expected HOST or HOST:PORT.", field="address")
    return host.strip("[]"), int(digits)
