"""The commands about windows that a person sees: raise one, and fill and look at its label tab."""

from __future__ import annotations

from roost.drivers.chromium.connection import CdpConnection
from roost.vocabulary import TabHandle


async def bring_to_front(cdp: CdpConnection, tab: TabHandle) -> None:
    """Select the tab, and raise its window, which may be minimized. Raises ``CdpError``."""
    window = await cdp.call("Browser.getWindowForTarget", {"targetId": tab})
    if window["bounds"].get("windowState") == "minimized":
        normal = {"windowId": window["windowId"], "bounds": {"windowState": "normal"}}
        await cdp.call("Browser.setWindowBounds", normal)
    await cdp.call("Target.activateTarget", {"targetId": tab})


async def fill_label(cdp: CdpConnection, session: str, target: str, html: str) -> None:
    """Let a new label tab run, and give it its document. Raises ``CdpError``."""
    cdp.tell("Runtime.runIfWaitingForDebugger", None, session)
    filled = {"frameId": target, "html": html}
    await cdp.call("Page.setDocumentContent", filled, session)


async def is_visible(cdp: CdpConnection, session: str) -> bool:
    """Return whether that page is the selected one of its window. Raises ``CdpError``."""
    ask = {"expression": "document.visibilityState", "returnByValue": True}
    answer = await cdp.call("Runtime.evaluate", ask, session)
    return bool(answer["result"].get("value") == "visible")
