"""Report the downloads of one Chromium. The browser stores each file under an id as its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from roost.drivers.base import SHARED_JAR
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.tab import CdpTab
from roost.drivers.connection import Json
from roost.drivers.events import (
    DownloadBegan,
    DownloadEnded,
    DriverEvent,
)


class Downloads:
    """Turns the browser's download events into reports.

    tab_of: finds the tab of a frame.
    browser: returns the connection to the browser.
    """

    def __init__(
        self,
        tab_of: Callable[[str], CdpTab | None],
        report: Callable[[DriverEvent], None],
        browser: Callable[[], CdpConnection],
    ) -> None:
        self._tab_of = tab_of
        self._report = report
        self._browser = browser
        self._running: dict[str, CdpTab] = {}

    def began(self, params: Json) -> None:
        tab = self._tab_of(params["frameId"])
        if tab is None:
            return
        self._running[params["guid"]] = tab
        self._report(
            DownloadBegan(
                handle=tab.handle,
                download=params["guid"],
                url=params["url"],
                name=params["suggestedFilename"],
                cancel=partial(self._cancel, tab, params["guid"]),
            )
        )
        tab.side_effects.download_began()

    def _cancel(self, tab: CdpTab, download: str) -> None:
        context = {} if tab.jar == SHARED_JAR else {"browserContextId": tab.jar}
        self._browser().tell("Browser.cancelDownload", {"guid": download, **context})

    def went_on(self, params: Json) -> None:
        if params["state"] == "inProgress":
            return
        # The tab may be gone: Chromium closes a popup that only started a download.
        tab = self._running.pop(params["guid"], None)
        if tab is not None:
            path = params.get("filePath") if params["state"] == "completed" else None
            self._report(DownloadEnded(handle=tab.handle, download=params["guid"], path=path))


async def put_downloads(cdp: CdpConnection, context: Json, folder: str | None) -> None:
    """Set the download folder, or refuse downloads. Files are named by an id, because a name
    that a server chose must not reach the disk."""
    how: Json = {"behavior": "deny"}
    if folder is not None:
        how = {"behavior": "allowAndName", "downloadPath": folder, "eventsEnabled": True}
    await cdp.call("Browser.setDownloadBehavior", {**context, **how})
