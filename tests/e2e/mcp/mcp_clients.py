"""``roost mcp`` with the official Python SDK's client."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp import Client as SdkClient
from mcp import StdioServerParameters

from roost.local.home import Home

SECONDS = 30.0
"""No wait in these tests is longer; nothing waits this long in a run that passes."""


class Client:
    """An agent with its own shim."""

    def __init__(self, sdk: SdkClient, meta: Mapping[str, str] | None = None) -> None:
        self.sdk = sdk
        self.meta = meta
        """What the client adds to the ``_meta`` of each call."""
        self.told: list[str | None] = []
        """Progress messages."""

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        async with asyncio.timeout(SECONDS):
            return await self.sdk.call_tool(
                tool,
                arguments,
                progress_callback=self._progress,
                meta=None if self.meta is None else types.RequestParamsMeta(**self.meta),  # type: ignore[typeddict-item]
            )

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer that must not be an error."""
        result = await self.call(tool, **arguments)
        text = text_of(result)
        assert not result.is_error, text
        return text

    async def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return dict(result.structured_content)

    async def code(self, tool: str, **arguments: Any) -> str:
        """Return the code of an answer that must be an error."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return code_of(result)

    async def pid(self) -> int:
        """The shim's process."""
        found = re.search(r"^Agent \w+: pid (\d+)", await self.text("roost_status"), re.MULTILINE)
        assert found is not None
        return int(found[1])

    async def unmarked(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer without the numbers of its marks, for comparison."""
        return re.sub(r"id=[0-9a-f]+>", "id=N>", await self.text(tool, **arguments))

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append(message)


def code_of(result: types.CallToolResult) -> str:
    """Return the code of an error, which is text only."""
    assert result.structured_content is None
    return text_of(result).partition(":")[0]


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


@asynccontextmanager
async def client(
    home: Home, *flags: str, mode: str = "legacy", **environ: str
) -> AsyncIterator[Client]:
    """A client that has begun, with the environment MCP clients give: almost none. ``mode``: by the
    handshake (``legacy``), as most clients do; ``auto`` finds the newest way, which has none."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "roost", "mcp", *flags],
        env={"ROOST_HOME": os.fspath(home.path), **environ},
    )
    sdk = SdkClient(server, mode=mode, read_timeout_seconds=SECONDS)
    async with sdk:
        yield Client(sdk)
