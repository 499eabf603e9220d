"""A fleet inside the test's process: a gateway and nodes, with brokers in processes of their own.

Nodes can be cut off or killed as a machine would be: without a goodbye.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from roost.fleet.authority import client_context
from roost.fleet.config import GatewayConfig, fleet_folder
from roost.fleet.gateway import Gateway
from roost.fleet.membership import join
from roost.fleet.node import Node, NodeConfig
from roost.fleet.tokens import JoinToken
from roost.local.home import Home

WAIT_SECONDS = 30.0


@dataclass
class Machine:
    """One node: its home, its configuration, and the running node."""

    home: Home
    config: NodeConfig
    node: Node | None = None

    async def start(self) -> None:
        self.node = Node(self.home, fleet_folder(self.home), self.config)
        await self.node.start()

    async def die(self) -> None:
        """End the node without a word to the gateway."""
        if self.node is not None:
            await self.node.aclose()
            self.node = None


@dataclass
class Fleet:
    """A running fleet, its administrator and its users."""

    folder: Path
    gateway: Gateway
    client: httpx.AsyncClient
    machines: list[Machine] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.gateway.config.address

    async def administer(self, order: str, **arguments: Any) -> dict[str, Any]:
        token = (self.folder / "admin-token").read_text()
        answer = await self.client.post(
            f"{self.address}/fleet/admin/{order}", json=arguments, headers=bearer(token)
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def user(self, name: str) -> str:
        token: str = (await self.administer("users/add", name=name))["token"]
        return token

    async def add(self, home: Home) -> Machine:
        token = JoinToken.parse((await self.administer("invite"))["token"])
        config = await join(token, fleet_folder(home), "127.0.0.1", 0)
        machine = Machine(home, config)
        await machine.start()
        self.machines.append(machine)
        return machine

    async def post(
        self,
        path: str,
        token: str,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        return await self.client.post(
            self.address + path, json=body or {}, headers=bearer(token) | (headers or {})
        )

    async def call(self, session: str, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its answer, which must be no error."""
        answer = await self.post(f"/session/{session}/tools/{tool}", token, arguments)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def owner(self, session: str) -> Machine:
        """Return the machine that has the session."""
        status = await self.administer("status")
        node = next(each["node"] for each in status["sessions"] if each["id"] == session)
        return next(each for each in self.machines if each.config.id == node)

    async def restart(self) -> None:
        """End the gateway and start it again from its journal, on the same ports."""
        config = self.gateway.config
        await self.gateway.aclose()
        self.gateway = Gateway(self.folder, config)
        await self.gateway.start()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def fleet_of(folder: Path, *homes: Home) -> AsyncIterator[Fleet]:
    """Run a gateway, and a node for each home. Waits until all nodes can take sessions."""
    gateway = Gateway(fleet_folder(Home(folder)), GatewayConfig("127.0.0.1", 0, 0))
    await gateway.start()
    async with AsyncExitStack() as stack:
        context = client_context(folder / "fleet" / "ca.pem")
        client = httpx.AsyncClient(verify=context, timeout=WAIT_SECONDS)
        fleet = Fleet(folder / "fleet", gateway, client)
        stack.push_async_callback(lambda: fleet.gateway.aclose())
        await stack.enter_async_context(client)
        for home in homes:
            machine = await fleet.add(home)
            stack.push_async_callback(machine.die)
        await wait_for(lambda: _are_ready(fleet, len(homes)))
        yield fleet


async def _are_ready(fleet: Fleet, count: int) -> bool:
    nodes = (await fleet.administer("status"))["nodes"]
    ready = [node for node in nodes if node["state"] == "ready" and node["slots"] > 0]
    return len(ready) == count


async def wait_for(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await is_so():
            waiting = asyncio.Event()
            asyncio.get_running_loop().call_later(0.05, waiting.set)
            await waiting.wait()
