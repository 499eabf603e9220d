"""A jar's localStorage, without visiting the sites: an unseen page that is given a blank document
at their addresses. Nothing leaves the browser, and no script of theirs runs.

https://w3c.github.io/webdriver-bidi/#command-network-provideResponse
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence

from roost.drivers.base import OriginStorage
from roost.drivers.firefox.connection import BidiConnection, BidiError, Json

VISIT_SECONDS = 5.0
BLANK_ANSWER: Json = {
    "statusCode": 200,
    "reasonPhrase": "OK",
    "headers": [{"name": "Content-Type", "value": {"type": "string", "value": "text/html"}}],
    "body": {"type": "string", "value": ""},
}


class UnseenPage:
    """A page of ours in that jar. Whatever it asks the network for is answered here."""

    def __init__(self, bidi: BidiConnection, context: str) -> None:
        self.context = context
        self._bidi = bidi
        self._intercept = self._stop = ""

    async def set_up(self) -> None:
        where = {"phases": ["beforeRequestSent"], "contexts": [self.context]}
        made = await self._bidi.call("network.addIntercept", where)
        self._intercept = made["intercept"]
        # A site's worker may answer before we can: what comes of it stops before its first script.
        stop = {"functionDeclaration": "() => window.stop()", "contexts": [self.context]}
        self._stop = (await self._bidi.call("script.addPreloadScript", stop))["script"]

    def close(self) -> None:
        self._bidi.tell("network.removeIntercept", {"intercept": self._intercept})
        self._bidi.tell("script.removePreloadScript", {"script": self._stop})
        self._bidi.tell("browsingContext.close", {"context": self.context})

    async def read(self, origins: Sequence[str]) -> list[OriginStorage]:
        found = []
        for origin in origins:
            items = await self._run(origin, "Object.entries(localStorage)")
            if items is not None:
                found.append(OriginStorage(origin, tuple((name, value) for name, value in items)))
        return found

    async def write(self, storage: Sequence[OriginStorage]) -> list[OriginStorage]:
        refused = []
        for one in storage:
            items = json.dumps(one.items)
            put = f"({items}.forEach(([name, value]) => localStorage.setItem(name, value)), [])"
            if await self._run(one.origin, put) is None:
                refused.append(one)
        return refused

    def heard(self, method: str, params: Json) -> None:
        if method == "network.beforeRequestSent" and params["isBlocked"]:
            answer = {"request": params["request"]["request"], **BLANK_ANSWER}
            self._bidi.tell("network.provideResponse", answer)

    async def _run(self, origin: str, expression: str) -> list[list[str]] | None:
        """The expression's value at that origin; None where there is no such place, or no room."""
        checked = f"location.origin === {json.dumps(origin)} ? JSON.stringify({expression}) : null"
        here = {"context": self.context}
        try:
            async with asyncio.timeout(VISIT_SECONDS):
                way = {"url": f"{origin}/", "wait": "interactive", **here}
                with contextlib.suppress(BidiError):  # a document that was stopped is there, too
                    await self._bidi.call("browsingContext.navigate", way)
                ask = {"expression": checked, "target": here, "awaitPromise": False}
                answer = await self._bidi.call("script.evaluate", ask)
        except (BidiError, TimeoutError):
            return None
        text = answer.get("result", {}).get("value")
        value: list[list[str]] | None = None if text is None else json.loads(text)
        return value
