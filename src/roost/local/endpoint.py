"""endpoint.json names the socket and the process of the running broker of a home."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from roost.errors import RoostError
from roost.local.home import Home, read_secret, write_secret
from roost.local.processes import Process


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One broker's address. It may be stale: only a connection proves that the broker runs."""

    socket: Path
    process: Process
    version: str
    """The broker's release."""
    wire: int
    """The newest wire version that the broker speaks."""
    http: str | None = None


def write_endpoint(home: Home, endpoint: Endpoint) -> None:
    """Publish the endpoint. The broker does this once it listens."""
    fields = {
        "socket": str(endpoint.socket),
        "pid": endpoint.process.pid,
        "processStarted": endpoint.process.started,
        "version": endpoint.version,
        "wire": endpoint.wire,
        "http": endpoint.http,
    }
    write_secret(home.endpoint, json.dumps(fields, indent=1).encode() + b"\n")


def read_endpoint(home: Home) -> Endpoint | None:
    """Return the endpoint that the last broker wrote, or None if it is missing or not valid."""
    try:
        text = read_secret(home.endpoint)
        fields = json.loads(text or b"null")
    except (RoostError, ValueError, RecursionError):
        return None
    match fields:
        case {
            "socket": str(socket),
            "pid": int(pid),
            "processStarted": str(started),
            "version": str(version),
            "wire": int(wire),
            "http": str() | None as http,
        }:
            return Endpoint(Path(socket), Process(pid, started), version, wire, http)
    return None
