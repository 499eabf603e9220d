"""The state of one MCP client's conversation with the broker, across broker restarts.

The relay does no I/O: lines go in, and lines for either side come out in ``to_client`` and
``to_broker``. The relay knows which requests the client still waits for. After a broker restart, it
sends the client's ``initialize`` again and drops the second answer. It sends pending requests as
``{"repeat": …}``: the new broker repeats calls that only read and answers the others
``INTERRUPTED``. If no broker can be reached, the relay answers the requests with the error.

While there is no connection, the relay answers ``initialize`` and ``tools/list`` from a prepared
file. The broker then gets that ``initialize`` as a new broker does after a restart.

The broker limits the time of every call. For a broker that is stopped or hangs, the relay does: at
a call's deadline it pings the broker, and if the broker sends nothing it answers ``TIMEOUT``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from roost import __version__
from roost.errors import BadRequest, Interrupted, RoostError, Timeout, TooLarge
from roost.local.deadline import Deadline
from roost.shim.lines import TooLong
from roost.shim.prepared_answers import PreparedAnswers
from roost.vocabulary import BATCH_SECONDS, CALL_SECONDS, CALL_SECONDS_MAX
from roost.wire.framing import encode_line
from roost.wire.marks import error_text
from roost.wire.weight import AGENT_VALUES, is_light

TRIES: Final = 3
"""Maximum number of times a request is sent: the request itself may be what kills brokers."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
SIGN_SECONDS: Final = 5.0
"""Time that the broker has to send anything after a call's deadline."""
_WAITS: Final = ("time", "timeout", "waitSeconds")
"""Arguments that extend a call's deadline."""
_AGAIN: Final = "roost:initialize-again"
_META: Final = "io.modelcontextprotocol/"
"""In MCP 2026-07-28 and later, each message names its client in ``_meta`` under this prefix."""


@dataclass(slots=True)
class _Request:
    """A request that the client waits for."""

    message: dict[str, Any]
    line: bytes
    deadline: Deadline
    """When the broker should have answered."""
    sent: int = 0
    """Number of times the request was sent to a broker."""

    @property
    def is_call(self) -> bool:
        return bool(self.message["method"] == "tools/call")


class Relay:
    """Relays one client's messages over any number of connections to brokers.

    prepared: answers that need no broker. None: the broker answers everything.
    """

    def __init__(
        self,
        prepared: PreparedAnswers | None = None,
        deadline: Callable[[float], Deadline] = Deadline,
    ) -> None:
        self._prepared = prepared
        self._deadline = deadline
        self.to_client: list[bytes] = []
        self.to_broker: list[bytes] = []
        self.was_stopped = False
        """The broker announced that it ends because the person stopped it."""
        self.client_name: str | None = None
        """The client's own name, from its requests."""
        self._is_connected = False
        self._waiting: dict[str | int, _Request] = {}
        self._initialize: dict[str, Any] | None = None
        self._is_initialized = False
        self._software: str | None = None
        self._answers_pings = False
        self._sign: Deadline | None = None
        """Deadline for the broker to send anything. None: no call is late."""
        self._remark: str | None = None
        """A note to add to the next answer to a call."""

        self._is_introduced = False
        """The client has said who it is, and no connection was tried since."""

    @property
    def waits(self) -> bool:
        """True if the client waits for an answer."""
        return bool(self._waiting)

    @property
    def wants_broker(self) -> bool:
        """True if the pump should connect: for an answer, or to make the agent known."""
        return self.waits or self._is_introduced

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
        if not is_light(line, AGENT_VALUES):
            request = _id_in(message) if isinstance(message, dict) else None
            too_much = TooLarge(f"A line of more than {AGENT_VALUES} values is more than one call.")
            self._refuse(request, INVALID_REQUEST, too_much)
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
            if self._answered_at_once(message, request):
                return
            deadline = self._deadline(CALL_SECONDS + _waits(message))
            sent = int(self._is_connected)
            self._waiting[request] = _Request(message, line, deadline, sent=sent)
            self.client_name = self.client_name or _name_in(message)
            if method == "initialize":
                self._initialize = message
        elif method == "notifications/initialized":
            self._is_initialized = True
        elif method == "notifications/cancelled":
            params = message.get("params")
            cancelled = _id_in(params, "requestId") if isinstance(params, dict) else None
            if cancelled is not None:
                self._waiting.pop(cancelled, None)  # a cancelled request gets no answer
        if self._is_connected:
            self.to_broker.append(line)

    def _answered_at_once(self, message: dict[str, Any], request: str | int) -> bool:
        """Answer from the prepared file while there is no broker. Return whether that was possible.

        A client that never sends ``initialize`` speaks a version of MCP that the file does not.
        """
        method = message["method"]
        is_known = self._initialize is not None or method == "initialize"
        if self._prepared is None or self._is_connected or not is_known:
            return False
        result = self._prepared.to(method, message.get("params"))
        if result is None:
            return False
        if method == "initialize":
            self._initialize, self.client_name = message, _name_in(message)
            self._is_introduced = True
            self._software = __version__  # another release of the broker may have other tools
        self.to_client.append(encode_line({"jsonrpc": "2.0", "id": request, "result": result}))
        return True

    def _too_long(self, line: TooLong) -> None:
        request = None if line.id is None else json.loads(line.id)
        error = TooLarge(f"A line of {line.size} bytes is more than one call may have.")
        self._refuse(request, INVALID_REQUEST, error)

    # --- the broker ---------------------------------------------------------------------------

    def connected(
        self, software: str | None, *, answers_pings: bool = False, note: str | None = None
    ) -> None:
        """Bring a newly connected broker up to date and send it the pending requests.

        software: the broker's release.
        answers_pings: the broker answers pings.
        note: a text to add to the next answer to a call.
        """
        is_other = self._software not in (None, software)
        self._is_introduced = False
        self._is_connected, self._software, self.was_stopped = True, software, False
        self._answers_pings, self._sign, self._remark = answers_pings, None, note
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
        """Take one line from the broker.

        Raises ``ValueError`` for a line that no broker sends; then close the connection.
        """
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("a message is a JSON object")
        self._sign_of_life()
        if "jsonrpc" not in message:
            self.was_stopped = self.was_stopped or "stopping" in message
            return
        request = _id_in(message)
        if "method" not in message and request is not None:
            if request == _AGAIN:
                return  # the client already has the answer to its own ``initialize``
            about = self._waiting.pop(request, None)
            if about is None:
                return  # the answer is late, or the request was cancelled
            if self._remark is not None and about.is_call and _add_note(message, self._remark):
                line, self._remark = encode_line(message), None
        self.to_client.append(line)

    # --- a broker that is silent --------------------------------------------------------------

    @property
    def patience(self) -> float | None:
        """Seconds until the next call of ``check``; None: not before the next message."""
        if not self._waiting:
            return None
        if self._sign is not None:
            return self._sign.remaining()
        return min(request.deadline.remaining() for request in self._waiting.values())

    def check(self) -> None:
        """Ping a broker that is late. If it sends nothing, answer its late calls ``TIMEOUT``.

        Calls that are late while no broker is connected are answered at once.
        """
        late = [id for id, about in self._waiting.items() if about.deadline.has_passed()]
        if not late:
            return
        if not self._is_connected:
            error = Timeout("No broker could be reached in time.", hint="Try again.")
            for request in late:
                self._answer_with(error, request, self._waiting.pop(request))
        elif self._sign is None:
            self._sign = self._deadline(SIGN_SECONDS)
            if self._answers_pings:
                self.to_broker.append(encode_line({"ping": True}))
        elif self._sign.has_passed():
            self._sign = None
            error = Timeout(
                "The broker does not answer, and nobody knows whether this was done.",
                hint="It hangs or is stopped: the person can look with `roost doctor`.",
            )
            for request in late:
                self._answer_with(error, request, self._waiting.pop(request))

    def _sign_of_life(self) -> None:
        """Give late calls more time: a broker that works will answer them itself."""
        if self._sign is not None:
            self._sign = None
            for request in self._waiting.values():
                if request.deadline.has_passed():
                    request.deadline = self._deadline(SIGN_SECONDS)

    def lost(self) -> None:
        """Take note that the connection is gone. Drop what was not sent yet."""
        self._is_connected = False
        self._sign = None
        self.to_broker.clear()

    def give_up(self, error: RoostError) -> None:
        """Answer all pending requests with ``error``: no broker can be reached."""
        self._is_introduced = False
        self._refuse_all(error, list(self._waiting))

    # --- our own answers ----------------------------------------------------------------------

    def _refuse_all(self, error: RoostError, requests: list[str | int]) -> None:
        for request in requests:
            about = self._waiting.pop(request)
            why = error
            if about.sent and not isinstance(error, Interrupted):
                why = Interrupted(f"The broker went away meanwhile. {error.message}")
            self._answer_with(why, request, about)

    def _answer_with(self, error: RoostError, request: str | int, about: _Request) -> None:
        if about.is_call:
            answer = {"jsonrpc": "2.0", "id": request, "result": _refused_call(error)}
            self.to_client.append(encode_line(answer))
        else:
            self._refuse(request, INTERNAL_ERROR, error)

    def _refuse(self, request: str | int | None, code: int, error: RoostError) -> None:
        told = {"code": code, "message": f"{error} {error.hint}", "data": error.to_wire()}
        self.to_client.append(encode_line({"jsonrpc": "2.0", "id": request, "error": told}))


def _refused_call(error: RoostError) -> dict[str, Any]:
    """Return a tool's error result in the form of the MCP front end."""
    return {
        "content": [{"type": "text", "text": error_text(error)}],
        "isError": True,
        "resultType": "complete",
    }


def _waits(message: dict[str, Any]) -> float:
    """Return how many seconds a call asks to wait.

    Tools under Claudezilla's names count in milliseconds, so a large number means milliseconds.
    """
    params = message.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    if not isinstance(arguments, dict):
        return 0.0
    is_batch = isinstance(arguments.get("steps"), list)
    seconds = BATCH_SECONDS - CALL_SECONDS if is_batch else 0.0
    for name in _WAITS:
        asked = arguments.get(name)
        if isinstance(asked, int | float) and asked > 0:
            seconds += asked / 1000 if asked > CALL_SECONDS_MAX else asked
    return min(seconds, CALL_SECONDS_MAX)


def _add_note(answer: dict[str, Any], note: str) -> bool:
    """Add a line to a tool's answer. Return whether the answer has content to add it to."""
    result = answer.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, list):
        return False
    content.append({"type": "text", "text": f"note: {note}"})
    return True


def _id_in(message: dict[str, Any], key: str = "id") -> str | int | None:
    request = message.get(key)
    is_id = isinstance(request, str | int) and not isinstance(request, bool)
    return request if is_id else None


def _name_in(message: dict[str, Any]) -> str | None:
    """Return the client's name from ``initialize``, or from the ``_meta`` of another request."""
    params = message.get("params")
    about: Any = None
    if isinstance(params, dict):
        meta = params.get("_meta")
        about = params.get("clientInfo")
        if about is None and isinstance(meta, dict):
            about = meta.get(_META + "clientInfo")
    name = about.get("name") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None
