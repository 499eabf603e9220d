"""The SDK's own MCP client over Streamable HTTP. ``tests/e2e/mcp/mcp_clients.py`` has the client
over the shim's stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from roost.api.door import SESSION_HEADER
from tests.frontends.http.http_callers import Caller


@asynccontextmanager
async def client_of(
    caller: Caller, session: str | None = None, query: str = ""
) -> AsyncIterator[Client]:
    """Connect to ``/mcp`` with that token."""
    headers = {"authorization": f"Bearer {caller.token}"}
    if session is not None:
        headers[SESSION_HEADER] = session
    async with httpx2.AsyncClient(headers=headers, timeout=30, verify=False) as http:
        url = f"{caller.client.base_url}/mcp{query}"
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client
