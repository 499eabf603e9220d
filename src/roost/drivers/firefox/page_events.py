"""Translate BiDi's console, network and download events into the events of ``drivers.base``.

https://w3c.github.io/webdriver-bidi/#module-log, …#module-network and the download events of
#module-browsingContext. A redirected request keeps its id, and each redirect reports a start and an
end.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from roost.drivers.connection import Json
from roost.drivers.events import (
    ConsoleSaid,
    DownloadBegan,
    DownloadEnded,
    DriverEvent,
    RequestEnded,
    RequestSent,
)
from roost.vocabulary import TabHandle

Event = Callable[[TabHandle, Json], DriverEvent]

_BY_DESTINATION = {
    "audio": "media",
    "document": "document",
    "embed": "document",
    "font": "font",
    "frame": "document",
    "iframe": "document",
    "image": "image",
    "manifest": "manifest",
    "object": "document",
    "report": "ping",
    "script": "script",
    "serviceworker": "script",
    "sharedworker": "script",
    "style": "stylesheet",
    "track": "media",
    "video": "media",
    "worker": "script",
}
_BY_INITIATOR = {"fetch": "fetch", "xmlhttprequest": "xhr", "beacon": "ping"}
_NEVER_LEFT = ("data:", "chrome:", "resource:", "moz-", "about:")
"""Addresses that the browser itself answers, without the network."""


def report_of(handle: TabHandle, method: str, params: Json) -> DriverEvent | None:
    """Return the driver event for a BiDi event, or None if it is not reported."""
    tell = _EVENTS.get(method)
    if tell is None or (method.startswith("network.") and not _has_left(params)):
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
    """Return the id of the download's navigation, or its context and address if it has none."""
    return params["navigation"] or f"{params['context']} {params['url']}"


def _has_left(params: Json) -> bool:
    """Return True if the request left the browser."""
    return not params["request"]["url"].startswith(_NEVER_LEFT)


def kind_of(request: Json) -> str:
    """Return the kind of a request: document, script, image, xhr, …"""
    by_initiator = _BY_INITIATOR.get(request.get("initiatorType") or "", "other")
    return _BY_DESTINATION.get(request.get("destination") or "", by_initiator)


def _request_sent(handle: TabHandle, params: Json) -> RequestSent:
    request = params["request"]
    return RequestSent(
        handle=handle,
        request=request["request"],
        url=request["url"],
        method=request["method"],
        kind=kind_of(request),
        headers=headers_of(request),
    )


def headers_of(message: Json) -> tuple[tuple[str, str], ...]:
    """Return the headers of a request or response."""
    found = []
    for one in message.get("headers", ()):
        value = one["value"]
        is_text = value["type"] == "string"
        text = value["value"] if is_text else base64.b64decode(value["value"]).decode("latin-1")
        found.append((one["name"], text))
    return tuple(found)


def _response_started(handle: TabHandle, params: Json) -> RequestEnded:
    return _answered(handle, params, finished=False)


def _response_completed(handle: TabHandle, params: Json) -> RequestEnded:
    return _answered(handle, params, finished=True)


def _request_failed(handle: TabHandle, params: Json) -> RequestEnded:
    return RequestEnded(
        handle=handle, request=params["request"]["request"], error=params["errorText"]
    )


def _answered(handle: TabHandle, params: Json, *, finished: bool) -> RequestEnded:
    response = params["response"]
    return RequestEnded(
        handle=handle,
        request=params["request"]["request"],
        status=response["status"] or None,
        mime_type=response["mimeType"].split(";")[0] or None,
        finished=finished,
        headers=headers_of(response),
    )


_EVENTS: dict[str, Event] = {
    "log.entryAdded": _console_said,
    "network.beforeRequestSent": _request_sent,
    "network.responseStarted": _response_started,
    "network.responseCompleted": _response_completed,
    "network.fetchError": _request_failed,
    "browsingContext.downloadWillBegin": _download_began,
    "browsingContext.downloadEnd": _download_ended,
}
