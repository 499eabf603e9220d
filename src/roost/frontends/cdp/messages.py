"""Read and write protocol messages as Chromium does, and define the effects of a message."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from roost.errors import BadRequest, RoostError, TooLarge
from roost.wire.framing import decode
from roost.wire.weight import AGENT_VALUES

Json = dict[str, Any]
_START = re.compile(r'\s*\{\s*"id"\s*:\s*(\d{1,9})\s*,')
PROPERTIES = {"id", "method", "sessionId", "params"}
MAX_DEPTH = 200
"""Levels of lists and objects in a command's parameters. Chromium reads about 300 levels and never
answers a deeper command, which would then count as under way until its client goes."""
TOO_DEEP = f"params: nested more than {MAX_DEPTH} levels deep"
NOT_VALID = "JSON: not a valid message"

PARSE, INVALID, NO_METHOD, BAD_PARAMS, FAILED, NO_SESSION = (
    -32700, -32600, -32601, -32602, -32000, -32001,
)  # fmt: skip


class Refusal(Exception):
    """A command is not carried out. The exception is also the answer to the client."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @staticmethod
    def of(error: RoostError) -> Refusal:
        return Refusal(FAILED, f"{error.code}: {error.message}", error.hint)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A command of the client. Calls compare by identity, because a client may use an id twice."""

    id: int
    method: str
    params: Json
    session: str = ""

    def text(self, name: str) -> str | None:
        """Return a string parameter, or None. Raise ``Refusal`` if it is not a string."""
        value = self.params.get(name)
        if value is not None and not isinstance(value, str):
            raise Refusal(BAD_PARAMS, "Invalid parameters", f"{name}: string value expected")
        return value

    def check_depth(self) -> None:
        """Raise ``Refusal`` for parameters that are nested too deep for Chromium."""
        level: list[Any] = [self.params]
        for _ in range(MAX_DEPTH):
            level = [below for one in level for below in _inside(one)]
            if not level:
                return
        raise Refusal(BAD_PARAMS, "Invalid parameters", TOO_DEEP)


# --- effects -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteFrame:
    """Send the frame to the client."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """Send a command to the browser. The answer comes back with ``key``."""

    key: Hashable
    method: str
    params: Json = field(default_factory=dict)
    session: str = ""


@dataclass(frozen=True, slots=True)
class OpenTab:
    """Ask the broker to open a tab.

    ``Client`` reports the outcome of this order and of the next three to ``VisibleBrowser.done`` or
    ``VisibleBrowser.failed``.
    """

    call: Call
    context: str | None


@dataclass(frozen=True, slots=True)
class CloseTab:
    call: Call
    target: str


@dataclass(frozen=True, slots=True)
class MakeContext:
    call: Call
    proxy: str | None


@dataclass(frozen=True, slots=True)
class RemoveContext:
    call: Call
    context: str


@dataclass(frozen=True, slots=True)
class UseClipboard:
    """Send the call, a key event, while the tab's session has its turn on the clipboard.

    use: copy, cut or paste.
    """

    call: Call
    target: str
    use: str


@dataclass(frozen=True, slots=True)
class GoTo:
    """Navigate the tab. Nobody waits for the outcome."""

    target: str
    url: str


@dataclass(frozen=True, slots=True)
class Release:
    target: str


@dataclass(frozen=True, slots=True)
class GiveProxyPassword:
    """Send this ``Proxy-Authorization`` header to the proxy of that context. None: there is no
    password."""

    context: str | None
    password: str | None


@dataclass(frozen=True, slots=True)
class HangUp:
    pass


Order = OpenTab | CloseTab | MakeContext | RemoveContext
Effect = WriteFrame | Send | Order | UseClipboard | GoTo | Release | GiveProxyPassword | HangUp


# --- reading and writing -------------------------------------------------------------------------


def read(text: str | bytes) -> Call:
    """Read a client's message. Raise ``InvalidMessage`` where Chromium would refuse the message."""
    try:
        message = decode(text, AGENT_VALUES)
    except TooLarge as error:
        raise _invalid(text, FAILED, error.message) from None
    except BadRequest as error:
        if isinstance(error.__context__, RecursionError):
            raise _invalid(text, FAILED, TOO_DEEP) from None
        raise InvalidMessage(None, PARSE, NOT_VALID) from None
    if not isinstance(message, dict):
        raise InvalidMessage(None, INVALID, "Message must be an object")
    if message.keys() - PROPERTIES:
        wrong = "Message has property other than 'id', 'method', 'sessionId', 'params'"
        raise InvalidMessage(None, INVALID, wrong)
    number = message.get("id")
    if type(number) is not int or not -(2**31) <= number < 2**31:
        raise InvalidMessage(None, INVALID, "Message must have integer 'id' property")
    method, session, params = (message.get(name) for name in ("method", "sessionId", "params"))
    if not isinstance(method, str):
        raise InvalidMessage(number, INVALID, "Message must have string 'method' property")
    if session is not None and not isinstance(session, str):
        raise InvalidMessage(number, INVALID, "Message may have string 'sessionId' property")
    if params is not None and not isinstance(params, dict):
        raise InvalidMessage(number, INVALID, "Message may have object 'params' property")
    return Call(number, method, params or {}, session or "")


class InvalidMessage(Refusal):
    """The message is not a valid command. ``id`` is the message's id, or None if it has none."""

    def __init__(self, number: int | None, code: int, message: str) -> None:
        super().__init__(code, message)
        self.id = number


def _invalid(text: str | bytes, code: int, message: str) -> InvalidMessage:
    """Return the refusal of a message that was not parsed. The id is read if it comes first."""
    started = _START.match(text if isinstance(text, str) else text.decode(errors="replace"))
    if started is None:
        return InvalidMessage(None, PARSE, NOT_VALID)
    return InvalidMessage(int(started.group(1)), code, message)


def _inside(value: Any) -> list[Any]:
    """Return the lists and objects directly inside the list or object."""
    items = value.values() if isinstance(value, dict) else value
    return [one for one in items if isinstance(one, dict | list)]


def result(call: Call, value: Json) -> bytes:
    return _written({"id": call.id, "result": value}, call.session)


def refused(call: Call, refusal: Refusal) -> bytes:
    # Like Chromium, leave an unknown session out of the answer.
    session = "" if refusal.code == NO_SESSION else call.session
    return _written({"id": call.id, "error": _error(refusal)}, session)


def refused_invalid(refusal: InvalidMessage) -> bytes:
    message: Json = {} if refusal.id is None else {"id": refusal.id}
    return _written({**message, "error": _error(refusal)}, "")


def event(method: str, params: Json, session: str) -> bytes:
    return _written({"method": method, "params": params}, session)


def with_id(frame: bytes, number: int) -> bytes:
    """Replace the id in the browser's answer by the client's own, without parsing the rest."""
    return b'{"id":%d' % number + frame[frame.index(b",") :]


def _error(refusal: Refusal) -> Json:
    error: Json = {"code": refusal.code, "message": refusal.message}
    return error if refusal.data is None else {**error, "data": refusal.data}


def _written(message: Json, session: str) -> bytes:
    if session:
        message["sessionId"] = session
    return json.dumps(message, separators=(",", ":")).encode()
