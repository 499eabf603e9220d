"""What goes on in a tab's page, told in the words of ``drivers.base``; nothing is decided here.

https://w3c.github.io/webdriver-bidi/#module-log, …#module-network and the download events of
#module-browsingContext.
"""

from __future__ import annotations

from collections.abc import Callable

from roost.drivers.base import ConsoleSaid, DownloadBegan, DownloadEnded, DriverEvent
from roost.drivers.firefox import network
from roost.drivers.firefox.connection import Json
from roost.vocabulary import TabHandle

Event = Callable[[TabHandle, Json], DriverEvent]


def report_of(handle: TabHandle, method: str, params: Json) -> DriverEvent | None:
    """The event for its owner, if it is one to be told."""
    tell = _EVENTS.get(method)
    if tell is None or (method.startswith("network.") and not network.has_left(params)):
        return None
    return tell(handle, params)


def _console_said(handle: TabHandle, params: Json) -> ConsoleSaid:
    trace = (params.get("stackTrace") or {}).get("callFrames") or [{}]
    level = params["level"]
    if params["type"] == "console":
        level = {"assert": "error"}.get(params["method"], params["method"])
    return ConsoleSaid(
        handle=handle,
        level=level,
        text=params["text"] or "",
        url=trace[0].get("url", ""),
        line=trace[0].get("lineNumber", -1) + 1,
    )


def _download_began(handle: TabHandle, params: Json) -> DownloadBegan:
    return DownloadBegan(
        handle=handle,
        download=_download_id(params),
        url=params["url"],
        name=params["suggestedFilename"],
    )


def _download_ended(handle: TabHandle, params: Json) -> DownloadEnded:
    path = params.get("filepath") if params["status"] == "complete" else None
    return DownloadEnded(handle=handle, download=_download_id(params), path=path)


def _download_id(params: Json) -> str:
    """A download has the id of the navigation it came of; one that came of none, its address."""
    return params["navigation"] or f"{params['context']} {params['url']}"


_EVENTS: dict[str, Event] = {
    "log.entryAdded": _console_said,
    "network.beforeRequestSent": network.request_sent,
    "network.responseStarted": network.response_started,
    "network.responseCompleted": network.response_completed,
    "network.fetchError": network.request_failed,
    "browsingContext.downloadWillBegin": _download_began,
    "browsingContext.downloadEnd": _download_ended,
}
