"""A page's requests, from BiDi's events to ours.

https://w3c.github.io/webdriver-bidi/#module-network — a redirected request keeps its id; each leg
of it has a beginning and an end of its own.
"""

from __future__ import annotations

from roost.drivers.base import RequestEnded, RequestSent
from roost.drivers.firefox.connection import Json
from roost.vocabulary import TabHandle

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
"""Addresses that are answered inside the browser."""


def has_left(params: Json) -> bool:
    """Whether the request left the browser at all."""
    return not params["request"]["url"].startswith(_NEVER_LEFT)


def request_sent(handle: TabHandle, params: Json) -> RequestSent:
    request = params["request"]
    by_initiator = _BY_INITIATOR.get(request.get("initiatorType") or "", "other")
    kind = _BY_DESTINATION.get(request.get("destination") or "", by_initiator)
    return RequestSent(
        handle=handle,
        request=request["request"],
        url=request["url"],
        method=request["method"],
        kind=kind,
    )


def response_started(handle: TabHandle, params: Json) -> RequestEnded:
    return _answered(handle, params, finished=False)


def response_completed(handle: TabHandle, params: Json) -> RequestEnded:
    return _answered(handle, params, finished=True)


def request_failed(handle: TabHandle, params: Json) -> RequestEnded:
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
    )
