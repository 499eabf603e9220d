"""Read and write a jar's localStorage and IndexedDB without loading the sites.

An unseen page goes to each site's address and gets a blank document from us. Nothing leaves the
browser, and no script of the site runs.

https://chromedevtools.github.io/devtools-protocol/tot/Fetch/
"""

from __future__ import annotations

import json
import logging
from typing import Any

from roost.drivers.base import OriginStorage
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.connection import Json
from roost.drivers.storage_visitor import Items
from roost.drivers.stores import Stores
from roost.errors import TabCrashed, TabGone

BLANK_ANSWER: Json = {
    "responseCode": 200,
    "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
    "body": "",
}

logger = logging.getLogger(__name__)
# The processes that hold the cookies and the localStorage of all jars, as Chromium names them.
COOKIES_PROCESS = "network.mojom.NetworkService"
STORAGE_PROCESS = "storage.mojom.StorageService"


async def read_page_storage(cdp: CdpConnection, session: str, origin: str) -> OriginStorage | None:
    """Return the localStorage of a document of that origin, or None if the document has another.

    Chromium compares the document's storage key with the origin's first-party key. A sandboxed
    document, an error page or a frame of another site has another key.
    https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/
    """
    where = {"storageKey": f"{origin}/", "isLocalStorage": True}
    try:
        found = await cdp.call("DOMStorage.getDOMStorageItems", {"storageId": where}, session)
    except CdpError:
        return None
    return OriginStorage(origin, tuple((name, value) for name, value in found["entries"]))


class UnseenPage:
    """A page that Roost does not treat as a tab. It answers all its network requests itself, with a
    blank document."""

    def __init__(self, cdp: CdpConnection, attached: Json) -> None:
        self.session: str = attached["sessionId"]
        self._cdp = cdp
        self.target: str = attached["targetInfo"]["targetId"]
        cdp.on_event(self.session, self._heard)

    async def set_up(self) -> None:
        tell = self._cdp.tell
        tell("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, self.session)
        tell("Network.enable", None, self.session)
        # A site's service worker must not answer instead of us: its page would run scripts.
        tell("Network.setBypassServiceWorker", {"bypass": True}, self.session)
        tell("Page.enable", None, self.session)
        await self._cdp.call("Runtime.runIfWaitingForDebugger", None, self.session)

    def close(self) -> None:
        self._cdp.tell("Target.closeTarget", {"targetId": self.target})

    async def run(self, origin: str, expression: str) -> Items | None:
        """See ``drivers.storage_visitor.Visitor``."""
        checked = f"location.origin === {json.dumps(origin)} ? ({expression}) : null"
        ask = {"expression": checked, "returnByValue": True, "awaitPromise": True}
        try:
            await self._cdp.call("Page.navigate", {"url": f"{origin}/"}, self.session)
            answer = await self._cdp.call("Runtime.evaluate", ask, self.session)
        except CdpError:
            return None
        value: Items | None = answer["result"].get("value")
        return None if "exceptionDetails" in answer else value

    async def run_active(self, expression: str) -> Any:
        """See ``drivers.clipboard.OwnPage``."""
        self._cdp.tell("Emulation.setFocusEmulationEnabled", {"enabled": True}, self.session)
        ask = {"expression": expression, "userGesture": True, "returnByValue": True}
        try:
            answer = await self._cdp.call("Runtime.evaluate", ask, self.session)
        except CdpError as error:
            raise TabGone("The page is gone.", page_said=str(error)) from None
        return answer["result"].get("value")

    def _heard(self, method: str, params: Json) -> None:
        if method == "Fetch.requestPaused":
            answer = {"requestId": params["requestId"], **BLANK_ANSWER}
            self._cdp.tell("Fetch.fulfillRequest", answer, self.session)
        elif method == "Inspector.targetCrashed":
            self._cdp.interrupt(self.session, TabCrashed("The page's process died."))


async def stores_of(cdp: CdpConnection) -> Stores:
    """Return the processes that hold the cookies and the localStorage of all jars."""
    try:
        answer = await cdp.call("SystemInfo.getProcessInfo")
    except CdpError as error:  # this browser lacks the command: then no loss is detected
        logger.debug("the browser does not tell its processes: %s", error)
        return Stores()
    pids = {one["type"]: int(one["id"]) for one in answer["processInfo"]}
    return Stores(cookies=pids.get(COOKIES_PROCESS, 0), storage=pids.get(STORAGE_PROCESS, 0))
