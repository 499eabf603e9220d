"""What passes between an MCP client and the broker, and what a new broker must be told again.

No I/O: lines go in, lines for either side come out in ``to_client`` and ``to_broker``. The relay
knows which requests the client still waits for. When the broker has restarted, it says
``initialize`` again for the client (whose answer the client has already), and gives the broker what
was under way as ``{"repeat": …}``: the broker knows which calls only read, and answers the rest
``INTERRUPTED``. When there is no broker to be had, the relay itself answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from roost.errors import BadRequest, Interrupted, RoostError, TooLarge
from roost.shim.lines import TooLong
from roost.wire.framing import encode_line

TRIES: Final = 3
"""So often is one request given to a broker: it may be what kills them."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
_AGAIN: Final = "roost:initialize-again"
_META: Final = "io.modelcontextprotocol/"
"""Messages of 2026-07-28 and later say who they are from in ``_meta``, each for itself."""


@dataclass(slots=True)
class _Request:
    """One the client waits for."""

    message: dict[str, Any]
    line: bytes
    sent: int = 0
    """How often it was given to a broker."""

    @property
    def is_call(self) -> bool:
        return bool(self.message["method"] == "tools/call")


class Relay:
    """One client, over any number of connections to brokers."""

    def __init__(self) -> None:
        self.to_client: list[bytes] = []
        self.to_broker: list[bytes] = []
        self.was_stopped = False
        """The broker said that it ends because the person wants it to."""
        self.client_name: str | None = None
        """What the client calls itself."""
        self._is_connected = False
        self._waiting: dict[str | int, _Request] = {}
        self._initialize: dict[str, Any] | None = None
        self._is_initialized = False
        self._software: str | None = None

    @property
    def waits(self) -> bool:
        """Whether the client waits for an answer."""
        return bool(self._waiting)

    # --- the client ---------------------------------------------------------------------------

    def from_client(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._too_long(line)
            return
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, BadRequest("A line is not JSON."))
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            request = _id_in(message) if isinstance(message, dict) else None
            hint = "Send JSON-RPC 2.0 messages, one a line; batches are not part of MCP any more."
            error = BadRequest("A line is no JSON-RPC 2.0 message.", hint=hint)
            self._refuse(request, INVALID_REQUEST, error)
            return
        self._note(message, line)

    def _note(self, message: dict[str, Any], line: bytes) -> None:
        method, request = message.get("method"), _id_in(message)
        if isinstance(method, str) and request is not None:
            self._waiting[request] = _Request(message, line, sent=int(self._is_connected))
            self.client_name = self.client_name or _name_in(message)
            if method == "initialize":
                self._initialize = message
        elif method == "notifications/initialized":
            self._is_initialized = True
        elif method == "notifications/cancelled":
            params = message.get("params")
            cancelled = _id_in(params, "requestId") if isinstance(params, dict) else None
            if cancelled is not None:
                self._waiting.pop(cancelled, None)  # what is cancelled is not answered
        if self._is_connected:
            self.to_broker.append(line)

    def _too_long(self, line: TooLong) -> None:
        request = None if line.id is None else json.loads(line.id)
        error = TooLarge(f"A line of {line.size} bytes is more than one call may have.")
        self._refuse(request, INVALID_REQUEST, error)

    # --- the broker ---------------------------------------------------------------------------

    def connected(self, software: str | None) -> None:
        """A broker has let us in: say what it must know, and what the client waits for."""
        is_other = self._software not in (None, software)
        self._is_connected, self._software, self.was_stopped = True, software, False
        initialize = self._initialize
        if initialize is not None and initialize["id"] not in self._waiting:
            self.to_broker.append(encode_line({**initialize, "id": _AGAIN}))
            if self._is_initialized:
                method = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                self.to_broker.append(encode_line(method))
            if is_other:  # another release may have other tools
                changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
                self.to_client.append(encode_line(changed))
        self._refuse_all(
            Interrupted(f"The broker went away {TRIES} times during this call."),
            [request for request, about in self._waiting.items() if about.sent >= TRIES],
        )
        for request in self._waiting.values():
            again = encode_line({"repeat": request.message}) if request.sent else request.line
            self.to_broker.append(again)
            request.sent += 1

    def from_broker(self, line: bytes) -> None:
        """``ValueError`` for what no broker says: the connection is of no use, then."""
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("a message is a JSON object")
        if "jsonrpc" not in message:
            self.was_stopped = self.was_stopped or "stopping" in message
            return
        request = _id_in(message)
        if "method" not in message and request is not None:
            if request == _AGAIN:
                return  # the client was answered long ago
            self._waiting.pop(request, None)
        self.to_client.append(line)

    def lost(self) -> None:
        """The connection is gone, and what was not sent yet with it."""
        self._is_connected = False
        self.to_broker.clear()

    def give_up(self, error: RoostError) -> None:
        """There is no broker to be had now: whoever waits is told why."""
        self._refuse_all(error, list(self._waiting))

    # --- our own answers ----------------------------------------------------------------------

    def _refuse_all(self, error: RoostError, requests: list[str | int]) -> None:
        for request in requests:
            about = self._waiting.pop(request)
            why = error
            if about.sent and not isinstance(error, Interrupted):
                why = Interrupted(f"The broker went away meanwhile. {error.message}")
            if about.is_call:
                result = _refused_call(why)
                answer = {"jsonrpc": "2.0", "id": request, "result": result}
                self.to_client.append(encode_line(answer))
            else:
                self._refuse(request, INTERNAL_ERROR, why)

    def _refuse(self, request: str | int | None, code: int, error: RoostError) -> None:
        told = {"code": code, "message": f"{error} {error.hint}", "data": error.to_wire()}
        self.to_client.append(encode_line({"jsonrpc": "2.0", "id": request, "error": told}))


def _refused_call(error: RoostError) -> dict[str, Any]:
    """A tool's error as every front end tells it (contract.md, "Errors")."""
    wire = error.to_wire()
    text = f"{error}\nhint: {error.hint}\n{json.dumps(wire, ensure_ascii=False)}"
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": wire,
        "isError": True,
        "resultType": "complete",
    }


def _id_in(message: dict[str, Any], key: str = "id") -> str | int | None:
    request = message.get(key)
    is_id = isinstance(request, str | int) and not isinstance(request, bool)
    return request if is_id else None


def _name_in(message: dict[str, Any]) -> str | None:
    """How a client calls itself: in ``initialize``, or in the ``_meta`` of any later request."""
    params = message.get("params")
    about: Any = None
    if isinstance(params, dict):
        meta = params.get("_meta")
        about = params.get("clientInfo")
        if about is None and isinstance(meta, dict):
            about = meta.get(_META + "clientInfo")
    name = about.get("name") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None
