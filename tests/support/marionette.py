"""The hands of a person at a Firefox: Marionette, for which no remote agent has to be there.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html: JSON behind its length, in
characters of text; ``[0, id, command, parameters]`` asks, ``[1, id, error, result]`` answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from own_browser import moment

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


@asynccontextmanager
async def marionette(port: int) -> AsyncIterator[Ask]:
    """A session of its own, which ends with this. Dialogs stay as they are; no command waits for a
    page to be there."""
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
        """All protocols of a Firefox share one session: another may have it for now."""
        try:
            await ask("WebDriver:NewSession", params)
        except AssertionError as error:
            if "Maximum number of active sessions" not in str(error):
                raise
            return False
        return True

    try:
        await heard()  # who it is
        wanted = {"unhandledPromptBehavior": "ignore", "pageLoadStrategy": "none"}
        capabilities = {"alwaysMatch": wanted}
        while not await is_ours({"capabilities": capabilities}):
            await moment()
        yield ask
        await ask("WebDriver:DeleteSession", {})
    finally:
        writer.close()
