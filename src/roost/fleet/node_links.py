"""The gateway's connections to its nodes, and the orders that it gives them."""

from __future__ import annotations

import ssl
from typing import Any

from roost.errors import BrowserLost, RoostError
from roost.fleet.authority import node_host
from roost.fleet.connection_pool import ConnectionPool
from roost.fleet.node_door import MISDIRECTED, Misdirected
from roost.fleet.rows import Node
from roost.fleet.streams import Stream, exchange
from roost.vocabulary import MIB
from roost.wire.framing import decode, encode

ORDER_SECONDS = 90.0
"""A placement may have to start a browser and load pages."""
REPLY_BYTES = 16 * MIB


class NodeLink:
    """One node, as the gateway reaches it. Its certificate must name the node's id."""

    def __init__(self, node: Node, context: ssl.SSLContext) -> None:
        self.node = node
        self._context = context
        self.pool = ConnectionPool(self._connect)

    async def order(self, path: str, order: dict[str, Any]) -> dict[str, Any]:
        """Give an order and return the answer.

        Raises ``Misdirected``, the error that the node answers, or ``BrowserLost`` if the node does
        not answer.
        """
        try:
            async with self.pool.lend() as lent:
                response, data = await exchange(
                    lent.stream,
                    b"POST",
                    path.encode(),
                    [(b"host", b"node")],
                    encode(order),
                    limit=REPLY_BYTES,
                    timeout=ORDER_SECONDS,
                )
                lent.finished(response)
        except OSError as problem:
            raise BrowserLost(f"Node {self.node.name} cannot be reached: {problem}.") from None
        reply = decode(data)
        if not isinstance(reply, dict):
            raise BrowserLost(f"Node {self.node.name} does not answer as it should.")
        if response.status == MISDIRECTED:
            raise Misdirected(is_lasting=reply.get("isLasting") is True)
        if response.status != 200:
            raise RoostError.from_wire(reply)
        return reply

    async def _connect(self) -> Stream:
        return await Stream.connect(
            self.node.host, self.node.port, self._context, node_host(self.node.id)
        )


class Nodes:
    """The links to all nodes, made when they are first needed."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._links: dict[str, NodeLink] = {}

    def link(self, node: Node) -> NodeLink:
        """Return the link to the node. A node that has moved to another address gets a new one."""
        link = self._links.get(node.id)
        if link is None or (link.node.host, link.node.port) != (node.host, node.port):
            self.cut(node.id)
            link = self._links[node.id] = NodeLink(node, self._context)
        return link

    def cut(self, node: str) -> None:
        """End all connections to a node, also those in use."""
        link = self._links.pop(node, None)
        if link is not None:
            link.pool.cut()

    def close(self) -> None:
        for node in list(self._links):
            self.cut(node)
