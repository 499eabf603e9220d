"""The gateway: builds its parts, listens, and ends them."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

from roost.broker.audit import Audit
from roost.broker.clock import Clock, SystemClock
from roost.errors import BadRequest, Internal
from roost.fleet import ray_runtime
from roost.fleet.administration import Administration
from roost.fleet.authority import Authority, client_context, server_context
from roost.fleet.clock import now
from roost.fleet.config import GatewayConfig, kept_secret
from roost.fleet.control_door import ControlDoor
from roost.fleet.journal import FleetJournal
from roost.fleet.node_links import Nodes
from roost.fleet.public_door import PublicDoor
from roost.fleet.registry import Registry
from roost.fleet.sessions import Sessions
from roost.fleet.streams import Stream

BACKLOG = 4096
LOCAL_NAMES = ("localhost", "127.0.0.1")


class Gateway:
    """One running gateway. ``folder`` holds its journal, keys and tokens."""

    def __init__(self, folder: Path, config: GatewayConfig, clock: Clock | None = None) -> None:
        self._folder = folder
        self._config = config
        self._clock = clock or SystemClock()
        self._servers: list[asyncio.Server] = []

    @property
    def config(self) -> GatewayConfig:
        """Where the gateway listens, with the ports that it got."""
        return self._config

    @property
    def sessions(self) -> Sessions:
        return self._sessions

    async def start(self) -> None:
        """Read the journal and listen. Raises ``Internal`` or ``BadRequest``."""
        journal = FleetJournal(self._folder / "registry.sqlite")
        self._journal = journal
        public = _listen(self._config.host, self._config.port)
        control = _listen(self._config.host, self._config.control_port)
        self._config = replace(
            self._config,
            port=public.getsockname()[1],
            control_port=control.getsockname()[1],
        )
        authority = Authority.of(self._folder)
        names = frozenset({self._config.host, public.getsockname()[0], *LOCAL_NAMES})
        authority.sign_gateway(self._folder, sorted(names))
        secret = kept_secret(self._folder, "fleet.key")
        identity, ca = self._folder / "gateway.pem", self._folder / "ca.pem"
        registry = Registry(journal.rows(), journal.next_generation(), now())
        self._nodes = Nodes(client_context(ca, identity))
        self._audit = Audit(self._folder / "audit.jsonl")
        self._sessions = Sessions(
            registry, journal, self._nodes, self._audit, self._clock, now, secret
        )
        problems: dict[str, str] = {}
        administration = Administration(
            self._config,
            registry,
            self._sessions,
            self._nodes,
            authority,
            self._clock,
            now,
            problems,
            lambda asked: ray_runtime.terms(self._folder, asked),
        )
        admin = kept_secret(self._folder, "admin-token").decode()
        self._public = PublicDoor(
            self._config,
            names,
            registry,
            self._sessions,
            administration,
            secret,
            admin,
            self._clock.wait,
        )
        self._control = ControlDoor(registry, self._sessions, now, problems)
        self._config.write(self._folder)
        self._sessions.start()
        self._servers = [
            await Stream.listen(self._public.serve, public, server_context(identity, None)),
            await Stream.listen(self._control.serve, control, server_context(identity, ca)),
        ]

    async def aclose(self) -> None:
        for server in self._servers:
            server.close()
        await self._sessions.aclose()
        self._public.cut()
        self._control.cut()
        self._nodes.close()
        self._audit.close()
        self._journal.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise BadRequest(f"address: {host} is not a known address.", field="address") from None
    listening = socket.socket(found[0], socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(found[4])
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as problem:
        listening.close()
        raise Internal(
            f"The gateway cannot listen on {host}:{port}: {problem.strerror}.",
            hint="Choose another address with `roost fleet up --address HOST:PORT`.",
        ) from None
    return listening
