"""Act as the person at a Firefox through Marionette, which needs no remote agent.

The protocol (https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html) is JSON text
after its length in characters. ``[0, id, command, parameters]`` is a request and ``[1, id, error,
result]`` a response.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.support.own_browser import moment

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


@asynccontextmanager
async def marionette(port: int) -> AsyncIterator[Ask]:
    """Open a session that ends with the context, and yield a function that sends commands.

    Dialogs stay open, and no command waits for a page to load.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def heard() -> Any:
        length = (await reader.readuntil(b":")).decode().removesuffix(":")
        return json.loads(await reader.readexactly(int(length)))

    async def ask(command: str, params: dict[str, Any]) -> Any:
        text = json.dumps([0, 1, command, params])
        writer.write(f"{len(text)}:{text}".encode())
        _, _, error, result = await heard()
        assert error is None, error
        return result

    async def is_ours(params: dict[str, Any]) -> bool:
        """Return whether we got the session, which all protocols of a Firefox share."""
        try:
            await ask("WebDriver:NewSession", params)
        except AssertionError as error:
            if "Maximum number of active sessions" not in str(error):
                raise
            return False
        return True

    try:
        await heard()  # skip Marionette's greeting
        wanted = {"unhandledPromptBehavior": "ignore", "pageLoadStrategy": "none"}
        capabilities = {"alwaysMatch": wanted}
        while not await is_ours({"capabilities": capabilities}):
            await moment()
        yield ask
        await ask("WebDriver:DeleteSession", {})
    finally:
        writer.close()
