"""Read and write a jar's localStorage and IndexedDB without loading the sites.

An unseen page goes to each site's address and gets a blank document from us. Nothing leaves the
browser, and no script of the site runs.

https://w3c.github.io/webdriver-bidi/#command-network-provideResponse
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from roost.drivers.base import BLANK, OriginStorage
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.navigation import start_of
from roost.drivers.firefox.scripts import SANDBOX
from roost.drivers.firefox.tab import (
    CRASH_PAGE,
)
from roost.drivers.storage_visitor import Items
from roost.errors import RoostError, TabCrashed, TabGone
from roost.wire.framing import decode
from roost.wire.weight import ANSWER_VALUES

BLANK_ANSWER: Json = {
    "statusCode": 200,
    "reasonPhrase": "OK",
    "headers": [{"name": "Content-Type", "value": {"type": "string", "value": "text/html"}}],
    "body": {"type": "string", "value": ""},
}


async def read_page_storage(
    bidi: BidiConnection, context: str, origin: str
) -> OriginStorage | None:
    """Return the localStorage of a document of that origin, or None if the document has another.

    The script runs in a sandbox, which has its own built-ins, so the page cannot replace them.
    """
    # Firefox derives ``location.origin`` from the address. ``window.origin`` is the real origin.
    stored = "window.origin === %s ? JSON.stringify(Object.entries(localStorage)) : null"
    ask = {
        "expression": stored % json.dumps(origin),
        "target": {"context": context, "sandbox": SANDBOX},
        "awaitPromise": False,
    }
    try:
        answer = await bidi.call("script.evaluate", ask, context)
    except BidiError:
        return None
    text = answer.get("result", {}).get("value")
    if text is None:
        return None
    return OriginStorage(
        origin, tuple((name, value) for name, value in decode(text, ANSWER_VALUES))
    )


class UnseenPage:
    """A page that Roost does not treat as a tab. It answers all its network requests itself, with a
    blank document."""

    def __init__(self, bidi: BidiConnection, context: str) -> None:
        self.context = context
        self._bidi = bidi
        self._intercept = self._stop = ""
        self._begun: tuple[str, str] | None = None

    async def set_up(self) -> None:
        where = {"phases": ["beforeRequestSent"], "contexts": [self.context]}
        made = await self._bidi.call("network.addIntercept", where, self.context)
        self._intercept = made["intercept"]
        # A site's service worker may answer before us. Stop its page before the first script runs.
        stop = {"functionDeclaration": "() => window.stop()", "contexts": [self.context]}
        made = await self._bidi.call("script.addPreloadScript", stop, self.context)
        self._stop = made["script"]

    def close(self) -> None:
        self._bidi.tell("network.removeIntercept", {"intercept": self._intercept})
        self._bidi.tell("script.removePreloadScript", {"script": self._stop})
        self._bidi.tell("browsingContext.close", {"context": self.context})

    async def run(self, origin: str, expression: str) -> Items | None:
        """See ``drivers.storage_visitor.Visitor``."""
        value_of = f"JSON.stringify(await {expression})"
        checked = f"(async () => window.origin === {json.dumps(origin)} ? {value_of} : null)()"
        here = {"context": self.context}
        way = {"url": f"{origin}/", "wait": "interactive", **here}
        target = {"sandbox": SANDBOX, **here}
        ask = {"expression": checked, "target": target, "awaitPromise": True}
        try:
            with contextlib.suppress(BidiError):  # a stopped document can run the script as well
                await self._bidi.call("browsingContext.navigate", way, self.context)
            answer = await self._bidi.call("script.evaluate", ask, self.context)
        except BidiError:
            return None
        text = answer.get("result", {}).get("value")
        value: Items | None = None if text is None else decode(text, ANSWER_VALUES)
        return value

    async def run_active(self, expression: str) -> Any:
        """See ``drivers.clipboard.OwnPage``."""
        target = {"sandbox": SANDBOX, "context": self.context}
        ask = {"expression": expression, "target": target, "awaitPromise": False}
        try:
            answer = await self._bidi.call(
                "script.evaluate", {**ask, "userActivation": True}, self.context
            )
        except BidiError as error:
            raise TabGone("The page is gone.", page_said=str(error)) from None
        return answer.get("result", {}).get("value")

    def heard(self, method: str, params: Json) -> None:
        match method:
            case "network.beforeRequestSent" if params["isBlocked"]:
                answer = {"request": params["request"]["request"], **BLANK_ANSWER}
                self._bidi.tell("network.provideResponse", answer)
            case "browsingContext.navigationStarted" if params["context"] == self.context:
                self._begun = start_of(params)
            case "browsingContext.navigationCommitted" if params["context"] == self.context:
                self._committed(params)

    def gone(self) -> None:
        self._fail(TabGone("The page was closed."))

    def _committed(self, params: Json) -> None:
        """Detect a crash, for which BiDi has no event. Firefox replaces a crashed page by a blank
        page or its crash page, without starting a navigation."""
        begun, self._begun = self._begun, None
        to = params["url"]
        if (to == BLANK or to.startswith(CRASH_PAGE)) and start_of(params) != begun:
            self._fail(TabCrashed("The page's process died."))

    def _fail(self, error: RoostError) -> None:
        self._bidi.fail(self.context, error)
