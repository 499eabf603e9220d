"""Responses: JSON bodies, and errors in one shape, each with a fitting status."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

from starlette.responses import Response

from roost import errors
from roost.errors import RoostError, TooLarge
from roost.frontends.http.hints import spell
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import encode

JSON = "application/json"
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
STATUS: dict[type[RoostError], int] = {
    errors.TabGone: 404,
    errors.SessionGone: 404,
    errors.Ownership: 403,
    errors.TabCrashed: 409,
    errors.PoolFull: 429,
    errors.MutexBusy: 429,
    errors.SessionLimit: 429,
    errors.JarUnavailable: 409,
    errors.ProfileNotFound: 404,
    errors.UrlBlocked: 403,
    errors.StaleRef: 409,
    errors.NotFound: 404,
    errors.NotActionable: 409,
    errors.DialogOpen: 409,
    errors.Timeout: 408,
    errors.BrowserLost: 503,
    errors.Interrupted: 503,
    errors.Paused: 423,
    errors.ApprovalPending: 423,
    errors.PolicyDenied: 403,
    errors.Unsupported: 422,
    errors.Unauthorized: 403,
    errors.BadRequest: 400,
    errors.TooLarge: 413,
    errors.LoopActive: 409,
    errors.VaultLocked: 503,
    errors.Internal: 500,
}
NO_TOKEN = 401
"""Status of an ``Unauthorized`` from the gate, which does not know the caller. A call's
``Unauthorized`` means that the known caller lacks the right, and has status 403."""


def reply(value: Any) -> Response:
    body = encode(value)
    if len(body) > LINK_FRAME_BYTES:
        return refusal(TooLarge("The reply is larger than 64 MiB.", bytes=len(body)))
    return Response(body, media_type=JSON, headers=HEADERS)


def refusal(
    error: RoostError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    more = dict(headers or {})
    if error.retry_after_ms is not None:
        more["retry-after"] = str(ceil(error.retry_after_ms / 1000))
    if status == NO_TOKEN:
        more["www-authenticate"] = "Bearer"
    return Response(
        encode(error.spelled(spell).to_wire()),
        status_code=STATUS[type(error)] if status is None else status,
        media_type=JSON,
        headers=HEADERS | more,
    )


def head_of(status: int, length: int) -> bytes:
    """Return the head of an answer to something that never became a request."""
    fields = {**HEADERS, "content-type": JSON, "content-length": length, "connection": "close"}
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()
