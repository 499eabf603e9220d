"""A broker's socket for keepers and native hosts, in tests without a broker."""

from __future__ import annotations

import os
from collections.abc import Callable

from roost.api.door import Admission, LinkEnd
from roost.errors import Unauthorized
from roost.frontends.socket.server import SocketServer
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import Peer, identify
from roost.vocabulary import OPERATOR, WIRE_VERSION
from roost.wire.hello import Hello, Welcome


class LinkDoor:
    """Admits links and nobody else. ``on_link`` gets each link."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._on_link: Callable[[LinkEnd], None] | None = None
        self._links: list[LinkEnd] = []
        self._server: SocketServer | None = None

    async def open(self, on_link: Callable[[LinkEnd], None]) -> None:
        if self._server is None:
            self._on_link = on_link
            self.home.create()
            self.home.operator_token()
            path = socket_path(self.home)
            self._server = SocketServer(self, path)
            await self._server.start()
            process = identify(os.getpid())
            assert process is not None
            write_endpoint(self.home, Endpoint(path, process, "test", WIRE_VERSION))

    async def close(self) -> None:
        if self._server is not None:
            await self._server.aclose()
            self._server = None

    def cut(self) -> None:
        for link in self._links:
            link.close()

    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        raise Unauthorized("Only links here.")

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        assert self._on_link is not None
        self._links.append(link)
        self._on_link(link)
        return Welcome(version=WIRE_VERSION, agent=OPERATOR)

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        raise AssertionError("nobody was admitted")
