"""The SDK's own MCP client, through Roost's two doors for it: Streamable HTTP here; the shim on
stdio is in ``tests/e2e/mcp/mcp_clients.py``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from roost.frontends.mcp.streamable import SESSION_HEADER
from tests.frontends.http.http_house import Caller


@asynccontextmanager
async def client_of(
    caller: Caller, session: str | None = None, query: str = ""
) -> AsyncIterator[Client]:
    """``/mcp``, as whoever holds the token."""
    headers = {"authorization": f"Bearer {caller.token}"}
    if session is not None:
        headers[SESSION_HEADER.decode()] = session
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        url = f"{caller.client.base_url}/mcp{query}"
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client
