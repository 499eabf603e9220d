"""Run Debian's Firefox for Playwright, which speaks WebDriver BiDi to it.

Playwright starts this program in place of Firefox. It starts Firefox with the same arguments and
relays every message, except for commands that an extended support release does not know: it answers
those itself, because Playwright opens no page without them. Preferences set the colour scheme
instead (``tests/support/persons_browser.py``).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from contextlib import suppress

import websockets
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

ANSWERED_HERE = frozenset({"emulation.setMediaFeaturesOverride"})
LISTENS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


async def relay(playwright: ServerConnection, address: str) -> None:
    """Relay between Playwright and Firefox until one of them leaves."""
    async with connect(f"{address}/session", max_size=None, compression=None) as firefox:
        work = _answers(firefox, playwright)
        answers = asyncio.get_running_loop().create_task(work, name="answers")
        try:
            async for message in playwright:
                said = json.loads(message)
                if said["method"] in ANSWERED_HERE:
                    answer = {"type": "success", "id": said["id"], "result": {}}
                    await playwright.send(json.dumps(answer))
                else:
                    await firefox.send(message, text=True)
        finally:
            answers.cancel()
            await asyncio.gather(answers, return_exceptions=True)


async def _answers(firefox: ClientConnection, playwright: ServerConnection) -> None:
    with suppress(websockets.ConnectionClosed):
        async for message in firefox:
            await playwright.send(message, text=True)
    await playwright.close()


async def main() -> int:
    browser = os.environ["FIREFOX"]
    firefox = await asyncio.create_subprocess_exec(
        browser, *sys.argv[1:], stderr=asyncio.subprocess.PIPE
    )
    assert firefox.stderr is not None
    async for line in firefox.stderr:
        found = LISTENS.search(line)
        if found is not None:
            break
    else:
        return await firefox.wait()
    address = found[1].decode()

    async def relayed(connection: ServerConnection) -> None:
        await relay(connection, address)

    async with serve(relayed, "127.0.0.1", 0, max_size=None, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        sys.stderr.write(f"WebDriver BiDi listening on ws://127.0.0.1:{port}\n")
        sys.stderr.flush()
        async for _ in firefox.stderr:  # so that Firefox never waits for a full pipe
            pass
        return await firefox.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
