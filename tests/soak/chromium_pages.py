"""Chromium's own list of its pages, read through its debugging port and not through Roost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

DOOR = "--remote-debugging-port=0"
"""The flag that opens the door; Chromium writes the port into its profile."""


@dataclass(frozen=True, slots=True)
class Page:
    target: str
    url: str
    context: str


@dataclass(frozen=True, slots=True)
class Pages:
    pages: list[Page]
    contexts: list[str]
    """The contexts, with pages or without: each is a jar."""


async def pages_of(profile: Path) -> Pages:
    """Return the browser's pages. Raises ``OSError``, ``ValueError`` or ``WebSocketException`` if
    no browser answers."""
    port, path = (profile / "DevToolsActivePort").read_text(encoding="ascii").split()
    async with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as socket:

        async def ask(method: str) -> Any:
            await socket.send(json.dumps({"id": 1, "method": method}))
            while "id" not in (message := json.loads(await socket.recv())):
                pass
            return message["result"]

        targets = (await ask("Target.getTargets"))["targetInfos"]
        contexts = (await ask("Target.getBrowserContexts"))["browserContextIds"]
    pages = [
        Page(one["targetId"], one["url"], one["browserContextId"])
        for one in targets
        if one["type"] == "page"
    ]
    return Pages(pages, contexts)
