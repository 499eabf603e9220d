"""The orders of ``roost fleet`` on this machine. Each order returns what the command prints.

The command line runs ``python -m roost.fleet do`` and sends an order as JSON, because front ends
may not import this room. Tokens are sent over the pipe, so that no process list shows them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from roost.errors import BadRequest, NotFound
from roost.fleet import membership, supervisor
from roost.fleet.config import PORT, GatewayConfig, fleet_folder
from roost.fleet.node import NodeConfig
from roost.fleet.tokens import JoinToken
from roost.local.home import Home

LEAVE_SECONDS = 120.0
Reply = dict[str, Any]


def perform(order: str, arguments: dict[str, Any]) -> Reply:
    """Perform an order of this machine, or have the gateway of this machine perform it."""
    own = _ORDERS.get(order)
    if own is not None:
        return own(Home.find(), **arguments)
    return administer(Home.find(), order, arguments)


def administer(home: Home, order: str, arguments: dict[str, Any]) -> Reply:
    return asyncio.run(membership.administer(fleet_folder(home), order, arguments))


def up(home: Home, address: str | None) -> Reply:
    """Start the gateway, and make a join token."""
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
    supervisor.start(home, folder, supervisor.GATEWAY)
    invitation = administer(home, "invite", {})
    status = administer(home, "status", {})
    return {
        "address": status["address"],
        "joinToken": invitation["token"],
        "isLoopback": invitation["isLoopback"],
        "wasRunning": was_running,
    }


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
    supervisor.start(home, folder, supervisor.NODE)
    return {"id": config.id, "name": config.name, "gateway": config.gateway}


def leave(home: Home, force: bool) -> Reply:
    """Move this machine's sessions away, stop the node and forget the fleet."""
    folder = fleet_folder(home)
    config = NodeConfig.read(folder)
    if config is None:
        raise NotFound("This machine is in no fleet.", hint="There is nothing to leave.")
    if not force:
        asyncio.run(membership.say_goodbye(folder, config, LEAVE_SECONDS))
    supervisor.stop(folder, supervisor.NODE)
    membership.leave(folder)
    return {"left": config.name}


def stop(home: Home) -> Reply:
    """Stop the gateway."""
    return {"stopped": supervisor.stop(fleet_folder(home), supervisor.GATEWAY)}


_ORDERS: dict[str, Callable[..., Reply]] = {"up": up, "join": join, "leave": leave, "stop": stop}


def parsed_address(text: str, port: int) -> tuple[str, int]:
    """Return host and port of HOST, HOST:PORT or [HOST]:PORT."""
    host, colon, digits = text.rpartition(":")
    if text.endswith("]") or not colon or (":" in host and not host.endswith("]")):
        host, digits = text, str(port)
    if not host or not digits.isdigit() or int(digits) > 65535:
        raise BadRequest("address: expected HOST or HOST:PORT.", field="address")
    return host.strip("[]"), int(digits)
