"""How this machine joins a fleet, and how it leaves again."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from roost import __version__
from roost.broker.clock import SystemClock
from roost.errors import BadRequest, BrowserLost, NotFound, RoostError, Timeout, Unauthorized
from roost.fleet import ray_runtime
from roost.fleet.authority import certificate_request, client_context, fingerprint
from roost.fleet.config import PORT, GatewayConfig, host_name
from roost.fleet.node import NodeConfig
from roost.fleet.ray_runtime import RayConfig
from roost.fleet.streams import Hangup, Stream, exchange
from roost.fleet.tokens import JoinToken
from roost.local.home import read_secret, write_secret
from roost.vocabulary import KIB
from roost.wire.framing import decode, encode

REPLY_BYTES = 256 * KIB
REPLY_SECONDS = 20.0
DOOR_PORT = PORT + 2


async def verified_authority(host: str, port: int, expected: str) -> str:
    """Return the certificate of the gateway's authority, if it is the one that a token names.

    Nothing secret is sent on this connection: it proves nothing until the fingerprint is compared.
    """
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    stream = await _connected(host, port, unverified)
    try:
        headers = [(b"host", host_header(host, port))]
        response, pem = await exchange(
            stream,
            b"GET",
            b"/fleet/ca.pem",
            headers,
            b"",
            limit=REPLY_BYTES,
            timeout=REPLY_SECONDS,
        )
    finally:
        await stream.aclose()
    if response.status != 200 or fingerprint(pem) != expected:
        raise Unauthorized(
            f"The server at {host}:{port} is not the gateway that made the token.",
            hint="Check the address. If it is right, somebody may be listening in between.",
        )
    return pem.decode("ascii")


async def join(token: JoinToken, folder: Path, host: str | None, port: int) -> NodeConfig:
    """Join the fleet, and write what the node needs to the folder, and Ray if the fleet uses it.

    host: address of this machine for the gateway; None: the one that it reaches the gateway by.
    Raises ``Unauthorized`` for a token that is wrong, used or too old.
    """
    authority = await verified_authority(token.host, token.port, token.fingerprint)
    key, request = certificate_request()
    stream = await _connected(token.host, token.port, client_context(authority))
    try:
        here = stream.writer.get_extra_info("sockname")[0]
        machine = ray_runtime.resolved(host or here)
        asked = {
            "secret": token.secret,
            "request": request.decode(),
            "name": host_name(),
            "software": __version__,
            "host": machine,
            "versions": ray_runtime.software(),
            "wantsRay": RayConfig.read(folder) is None,
        }
        reply = await ask(stream, host_header(token.host, token.port), "/fleet/join", asked)
    finally:
        await stream.aclose()
    match reply:
        case {
            "id": str(id),
            "name": str(name),
            "certificate": str(certificate),
            "controlPort": int(control_port),
        }:
            config = NodeConfig(id, name, host or here, port, token.host, control_port)
        case _:
            raise BrowserLost("The gateway's answer is not valid.")
    write_secret(folder / "node-ca.pem", authority.encode())
    write_secret(folder / "node.pem", key + certificate.encode())
    if reply.get("ray") is not None:
        ray_runtime.accept(folder, reply["ray"], key, machine)
    config.write(folder)
    return config


async def ask(
    stream: Stream,
    host: bytes,
    path: str,
    order: dict[str, Any],
    token: str | None = None,
    seconds: float = REPLY_SECONDS,
) -> dict[str, Any]:
    """Send the gateway one order, and return its answer or raise its refusal."""
    headers = [(b"host", host), (b"content-type", b"application/json")]
    if token is not None:
        headers.append((b"authorization", b"Bearer " + token.encode()))
    response, data = await exchange(
        stream,
        b"POST",
        path.encode(),
        headers,
        encode(order),
        limit=REPLY_BYTES * 64,
        timeout=seconds,
    )
    try:
        reply = decode(data)
    except BadRequest:
        reply = None
    if not isinstance(reply, dict):
        raise BrowserLost("The gateway's answer is not valid.")
    if response.status != 200:
        raise RoostError.from_wire(reply)
    return reply


def leave(folder: Path) -> None:
    """Forget the fleet on this machine."""
    for name in ("node.json", "node.pem", "node-ca.pem", "epochs.json"):
        (folder / name).unlink(missing_ok=True)


async def _connected(host: str, port: int, context: ssl.SSLContext) -> Stream:
    try:
        return await Stream.connect(host, port, context, host)
    except ssl.SSLError as problem:
        raise Unauthorized(f"The gateway at {host}:{port} cannot be verified: {problem}.") from None
    except (TimeoutError, OSError, Hangup) as problem:
        raise BrowserLost(
            f"The gateway at {host}:{port} cannot be reached: {problem}.",
            hint="Check that it runs and that no firewall is in between.",
        ) from None


def host_header(host: str, port: int) -> bytes:
    """Return the Host header for that address."""
    return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode()


async def administer(folder: Path, order: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Give the gateway of this machine an administrator's order, and return its answer."""
    config, token = GatewayConfig.read(folder), read_secret(folder / "admin-token")
    if config is None or token is None:
        raise NotFound("There is no gateway on this machine.", hint="Run `roost fleet up`.")
    context = client_context(folder / "ca.pem")
    stream = await _connected(config.host, config.port, context)
    try:
        host = host_header(config.host, config.port)
        return await ask(stream, host, f"/fleet/admin/{order}", arguments, token.decode())
    finally:
        await stream.aclose()


async def say_goodbye(folder: Path, config: NodeConfig, seconds: float) -> None:
    """Have the gateway move this machine's sessions, and wait until it has none.

    Raises ``Timeout`` if sessions are left: other machines have no room for them.
    """
    context = client_context(folder / "node-ca.pem", folder / "node.pem")
    clock = SystemClock()
    until = clock.now() + seconds
    while True:
        stream = await _connected(config.gateway, config.control_port, context)
        try:
            left = (await ask(stream, b"gateway", "/leave", {})).get("sessionsLeft")
        finally:
            await stream.aclose()
        if not left:
            return
        if clock.now() >= until:
            raise Timeout(
                f"{left} sessions are still here: the other machines have no room for them.",
                hint="Add a machine, end sessions, or leave with --force.",
            )
        await clock.wait(1.0)
