"""Translate CDP's console and network events into the events of ``drivers.base``."""

from __future__ import annotations

import json
from collections.abc import Iterator

from roost.drivers.chromium.scripts import described
from roost.drivers.connection import Json
from roost.drivers.events import (
    ConsoleSaid,
    RequestEnded,
    RequestSent,
)
from roost.vocabulary import TabHandle

_LEVELS = {"warning": "warn", "assert": "error"}


def request_sent(tab: TabHandle, params: Json) -> Iterator[RequestSent | RequestEnded]:
    """Yield the events of a sent request. A redirect ends one request and sends the next under the
    same id."""
    redirect = params.get("redirectResponse")
    if redirect is not None:
        yield RequestEnded(
            handle=tab,
            request=params["requestId"],
            status=redirect["status"],
            headers=_headers(redirect),
        )
    yield RequestSent(
        handle=tab,
        request=params["requestId"],
        url=params["request"]["url"],
        method=params["request"]["method"],
        kind=params.get("type", "Other").lower(),
        headers=_headers(params["request"]),
    )


def response_received(tab: TabHandle, params: Json) -> RequestEnded:
    response = params["response"]
    return RequestEnded(
        handle=tab,
        request=params["requestId"],
        status=response["status"],
        mime_type=response["mimeType"],
        finished=False,
        headers=_headers(response),
    )


def _headers(message: Json) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in message.get("headers", {}).items())


def request_finished(tab: TabHandle, params: Json) -> RequestEnded:
    return RequestEnded(handle=tab, request=params["requestId"], error=params.get("errorText"))


def console_called(tab: TabHandle, params: Json) -> ConsoleSaid:
    text = " ".join(_as_text(argument) for argument in params["args"])
    return _said(tab, params["type"], text, params.get("stackTrace"))


def exception_thrown(tab: TabHandle, params: Json) -> ConsoleSaid:
    details = params["exceptionDetails"]
    return _said(tab, "error", described(details), details.get("stackTrace"))


def _said(tab: TabHandle, level: str, text: str, trace: Json | None) -> ConsoleSaid:
    top = ((trace or {}).get("callFrames") or [{}])[0]
    return ConsoleSaid(
        handle=tab,
        level=_LEVELS.get(level, level),
        text=text,
        url=top.get("url", ""),
        line=top.get("lineNumber", -1) + 1,
    )


def _as_text(argument: Json) -> str:
    if "value" in argument:
        value = argument["value"]
        return value if isinstance(value, str) else json.dumps(value)
    named = argument.get("description") or argument.get("unserializableValue")
    return str(named or argument["type"])
