"""A jar's localStorage, without visiting the sites: an unseen page that is given a blank document
at their addresses. Nothing leaves the browser, and no script of theirs runs.

https://chromedevtools.github.io/devtools-protocol/tot/Fetch/
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from roost.drivers.base import OriginStorage
from roost.drivers.chromium.connection import CdpConnection, CdpError, Json

BLANK_ANSWER: Json = {
    "responseCode": 200,
    "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
    "body": "",
}
VISIT_SECONDS = 5.0


class UnseenPage:
    """A page of ours in that jar. Whatever it asks the network for is answered here."""

    def __init__(self, cdp: CdpConnection, attached: Json) -> None:
        self._cdp = cdp
        self._session = attached["sessionId"]
        self._target = attached["targetInfo"]["targetId"]

    async def set_up(self) -> None:
        self._cdp.on_event(self._session, self._heard)
        tell = self._cdp.tell
        tell("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, self._session)
        tell("Network.enable", None, self._session)
        # A site's worker must not answer in our place: its page would come with its scripts.
        tell("Network.setBypassServiceWorker", {"bypass": True}, self._session)
        tell("Page.enable", None, self._session)
        await self._cdp.call("Runtime.runIfWaitingForDebugger", None, self._session)

    def close(self) -> None:
        self._cdp.tell("Target.closeTarget", {"targetId": self._target})

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
            put = f"{items}.forEach(([name, value]) => localStorage.setItem(name, value)), []"
            if await self._run(one.origin, put) is None:
                refused.append(one)
        return refused

    async def _run(self, origin: str, expression: str) -> list[list[str]] | None:
        """The expression's value at that origin; None where there is no such place, or no room."""
        checked = f"location.origin === {json.dumps(origin)} ? ({expression}) : null"
        try:
            async with asyncio.timeout(VISIT_SECONDS):
                await self._cdp.call("Page.navigate", {"url": f"{origin}/"}, self._session)
                answer = await self._cdp.call(
                    "Runtime.evaluate",
                    {"expression": checked, "returnByValue": True},
                    self._session,
                )
        except (CdpError, TimeoutError):
            return None
        value: list[list[str]] | None = answer["result"].get("value")
        return None if "exceptionDetails" in answer else value

    def _heard(self, method: str, params: Json) -> None:
        if method == "Fetch.requestPaused":
            answer = {"requestId": params["requestId"], **BLANK_ANSWER}
            self._cdp.tell("Fetch.fulfillRequest", answer, self._session)
