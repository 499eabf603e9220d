"""Read requests: bounded bodies, valid JSON, and no unknown arguments."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.types import Receive

from roost.api.door import SESSION_HEADER
from roost.api.operations import OPERATIONS, Operation, SessionOpen, explained, parse
from roost.errors import BadRequest, Timeout, TooLarge
from roost.vocabulary import AGENT_FRAME_BYTES, CALL_SECONDS_MAX, NAME_PATTERN, JarPolicy
from roost.wire.framing import decode, encode
from roost.wire.weight import AGENT_VALUES

M = TypeVar("M", bound=BaseModel)
Op = TypeVar("Op", bound=Operation)
BODY_SECONDS = 60.0
NAME = f"^{NAME_PATTERN}$"


class _Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class SessionBody(_Body):
    """Which session to open or find."""

    session_id: str | None = Field(
        None, pattern=NAME, description="Found if it exists; without it a new one is made"
    )
    name: str | None = Field(None, max_length=80, description="Shown to the person")
    jar: JarPolicy | None = None
    profile: str | None = Field(None, max_length=64)
    browser: str | None = Field(None, max_length=32)


class PageBody(_Body):
    """Which page to open or find."""

    name: str = Field(pattern=NAME)
    url: str | None = Field(None, description="Where a new page goes")
    session_id: str | None = Field(
        None, pattern=NAME, description=f"Or the header {SESSION_HEADER}"
    )


async def body_of(request: Request, model: type[M], called: str) -> M:
    return _checked(model, called, await _object(request))


async def operation_of(request: Request, tool: str, session: str) -> Operation:
    """Return the operation that a route names, in the session that the route names."""
    operation = OPERATIONS.get(tool)
    if operation is None:
        parse(tool, {})  # raises an error that names the nearest tool
        raise AssertionError(tool)
    arguments = await _object(request)
    if names_session(operation):
        if "session" in arguments:
            raise BadRequest(
                "session: it stands in the path already.", hint="Leave it out.", field="session"
            )
        arguments["session"] = session
    return _checked(operation, tool, arguments)


def names_session(operation: type[Operation]) -> bool:
    """Return whether the path names the operation's session. (``SessionOpen`` names a new one.)"""
    return "session" in operation.model_fields and operation is not SessionOpen


def asked(operation: type[Op], **arguments: Any) -> Op:
    """Return the operation with arguments from the path. Raise ``BadRequest`` if one is wrong."""
    try:
        return operation.model_validate(arguments)
    except ValidationError as error:
        raise explained(operation, operation.op, error) from None


def timeout_of(request: Request) -> float | None:
    """Return the call's timeout from ``?timeoutMs=``, in seconds."""
    text = request.query_params.get("timeoutMs")
    if text is None:
        return None
    most = int(CALL_SECONDS_MAX * 1000)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= most and len(text) < 9):
        raise BadRequest(f"timeoutMs: expected a number from 1 to {most}.", field="timeoutMs")
    return int(text) / 1000


def session_named(request: Request, in_body: str | None = None) -> str | None:
    """Return the session that a request about a page names in its body, its query or its header."""
    names = {in_body, request.query_params.get("sessionId"), request.headers.get(SESSION_HEADER)}
    names.discard(None)
    if len(names) > 1:
        raise BadRequest(
            "sessionId: it is named twice, and not alike.",
            hint=f"Name it in the body or in {SESSION_HEADER}.",
            field="sessionId",
        )
    return names.pop() if names else None


def _checked(model: type[M], called: str, arguments: dict[str, Any]) -> M:
    """Validate strictly, because the OpenAPI description promises types: "5" is not a number.

    Validate JSON text, because in Python values strict mode refuses strings for enumerations.
    """
    try:
        return model.model_validate_json(encode(arguments), strict=True)
    except ValidationError as error:
        raise explained(model, called, error) from None


async def _object(request: Request) -> dict[str, Any]:
    data = await _read(request)
    if not data.strip():
        return {}
    try:
        value = decode(data, AGENT_VALUES)
    except BadRequest as error:
        message = error.message.replace("A frame", "body: it")
        raise BadRequest(message, hint="Send UTF-8 JSON.", field="body") from None
    except TooLarge:
        raise TooLarge(
            f"body: it holds more than {AGENT_VALUES} values.", limitValues=AGENT_VALUES
        ) from None
    if not isinstance(value, dict):
        raise BadRequest("body: expected a JSON object.", field="body")
    try:
        return {name: _whole(each) for name, each in value.items()}
    except RecursionError:
        raise BadRequest("body: it is nested too deep.", field="body") from None


def _whole(value: Any) -> Any:
    """Turn 5.0 into 5, because JSON Schema counts it as an integer and Python does not."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _whole(each) for name, each in value.items()}
        case list():
            return [_whole(each) for each in value]
        case _:
            return value


async def gone_away(receive: Receive) -> None:
    """Wait until the caller disconnects. Call this only after the body has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > AGENT_FRAME_BYTES:
        raise _too_large()
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > AGENT_FRAME_BYTES:
                    raise _too_large()
    except TimeoutError:
        raise Timeout(
            f"body: it did not come within {BODY_SECONDS:.0f} s.", hint="Send all of it at once."
        ) from None
    return bytes(data)


def _too_large() -> TooLarge:
    return TooLarge(
        f"body: it is larger than {AGENT_FRAME_BYTES} bytes.", limitBytes=AGENT_FRAME_BYTES
    )
