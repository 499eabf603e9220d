"""Send commands over a link and match their replies. All browsers' protocols share this code.

``Connection`` numbers commands and reads frames. ``SessionConnection`` adds the protocol sessions
that CDP and the extension have: every message names its session, and messages of the browser itself
name none.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final

from roost.drivers.link import Link
from roost.errors import BrowserLost, Internal, RoostError, TabGone, TooLarge
from roost.wire.correlator import Correlator
from roost.wire.framing import encode
from roost.wire.weight import (
    ANSWER_BYTES,
    ANSWER_VALUES,
    EVENT_VALUES,
    PICTURE_BYTES,
    is_light,
    with_short_strings,
)

logger = logging.getLogger(__name__)
Json = dict[str, Any]
Pending = asyncio.Future[Json]
Handler = Callable[[str, Json], None]
BROWSER: Final = ""
"""The session of messages that concern the browser itself."""
ENDS_BYTES: Final = 64
"""Search only this many bytes at each end of a frame for the id of the call it answers."""
METHOD_BYTES: Final = 200
PASSED_OVER: Final = "larger than "
"""How an error begins that stands in place of a too large reply: of the keeper
(``keeper/wires.py``), or of the extension (``extension/link.js``)."""
_WORD: Final = b"["
_EVENT: Final = (b'{"method":', b'{"type":"event"')
# CDP and the extension write the id first; BiDi writes it after the type. Text that a page chose
# comes later in the frame.
_FIRST_ID: Final = re.compile(rb'\{\s*(?:"type"\s*:\s*"\w+"\s*,\s*)?"id"\s*:\s*(\d+)\s*,')
_LAST_ID: Final = re.compile(rb'[^}]\s*,\s*"id"\s*:\s*(\d+)\s*\}\s*\Z')
_METHOD: Final = re.compile(rb'"method"\s*:\s*"([\w.]+)"')


class ProtocolError(Exception):
    """The browser, or the extension in it, refused a command."""


class Connection(ABC):
    """One connection to a browser.

    ``on_word`` gets the messages of the keeper itself. ``on_end`` is called when the link ends.

    An unreadable reply fails only the call it answers. An unreadable event is dropped. Pages
    choose the contents of frames, so no frame may end the link that all tabs share.
    """

    pictures: ClassVar[frozenset[str]] = frozenset()
    """Commands whose replies are one long string. These replies have a higher size limit."""
    inventories: ClassVar[frozenset[str]] = frozenset()
    """Commands whose replies list tabs or frames. Each page chooses an address in that list, of up
    to two megabytes. Long strings are cut, so that one page cannot make the list unreadable."""

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self.link = link
        self._on_word = on_word
        self._on_end = on_end
        self._pending: Correlator[Pending] = Correlator()
        self._loop = asyncio.get_running_loop()
        self._is_over = False

    def begin(self) -> None:
        """Begin to receive frames. Frames that arrived earlier are delivered at once."""
        self.link.start(self._received, self._ended)

    def resume_ids(self, next_id: int) -> None:
        """Continue the last broker's ids, because its commands may still be in flight."""
        self._pending = Correlator(next_id)

    def expect(self, call: int, method: str) -> Pending:
        """Return a future for the reply to a command that the last broker sent."""
        answer: Pending = self._loop.create_future()
        if self._is_over:
            answer.set_exception(BrowserLost("The browser ended."))
        else:
            self._pending.expect(call, answer, label=method)
        return answer

    def say(self, word: str, *what: Any) -> None:
        """Send a message to the keeper itself, not to the browser."""
        self.link.send(encode([word, *what]))

    def close(self) -> None:
        self.link.close()

    def fail(self, owner: Hashable, error: RoostError) -> None:
        """Fail all pending calls of that owner."""
        _fail(self._pending.fail_owner(owner), error)

    def _ask(self, method: str, rest: Json, owner: Hashable) -> Pending:
        """Send a command and return a future for its reply. Commands are sent at once, in the
        order of the calls, even if nobody awaits the futures."""
        answer: Pending = self._loop.create_future()
        if self._is_over:
            answer.set_exception(BrowserLost("The browser ended."))
        else:
            call = self._pending.start(answer, label=method, owner=owner)
            self._write(call, method, rest)
        return answer

    def _write(self, call: int, method: str, rest: Json) -> int:
        frame = encode({"id": call, "method": method, **rest})
        self.link.send(frame)
        return len(frame)

    @abstractmethod
    def _heard(self, message: Json) -> None:
        """Handle an event."""

    @abstractmethod
    def _refusal(self, message: Json) -> Exception | None:
        """Return the error that a reply reports, or None for a successful reply."""

    def _received(self, frame: bytes) -> None:
        is_word = frame.startswith(_WORD)
        try:
            if frame.startswith(_EVENT):
                frame = with_short_strings(frame)
                if not self._is_plain(frame):
                    _check_light(frame, EVENT_VALUES)
            elif not is_word:
                frame = self._checked_answer(frame)
            message = _read(frame)
        except RoostError as error:
            self._unreadable(frame, error)
            return
        if is_word:
            self._on_word(message[0], message[1])
        elif "id" in message:
            self._answered(message)
        else:
            self._hear(message)

    def _checked_answer(self, frame: bytes) -> bytes:
        """Return the reply, shortened if need be. Raises ``TooLarge`` if parsing would take so
        long that other callers wait."""
        if len(frame) > ANSWER_BYTES:
            call = _id_in(frame)
            command = None if call is None else self._pending.label(call)
            if command in self.inventories:
                frame = with_short_strings(frame)
            limit = PICTURE_BYTES if command in self.pictures else ANSWER_BYTES
            if len(frame) > limit:
                raise too_much(f"it has {len(frame)} bytes, and {limit} are the most")
            if command in self.pictures:
                return frame
        _check_light(frame, ANSWER_VALUES)
        return frame

    def _is_plain(self, frame: bytes) -> bool:
        """Return True for an event in which pages choose strings but not the number of values, so
        that its values need not be counted."""
        return False

    def _unreadable(self, frame: bytes, error: RoostError) -> None:
        call = _id_in(frame)
        if call is not None:
            answer = self._pending.resolve(call)
            if answer is not None and not answer.done():
                answer.set_exception(error)
            return
        # Log only the method: the rest comes from pages and may contain secrets.
        method = _METHOD.search(frame, 0, METHOD_BYTES)
        name = "an event" if method is None else method.group(1).decode()
        logger.warning("%s of %d bytes was dropped: %s", name, len(frame), error.message)

    def _hear(self, message: Json) -> None:
        try:
            self._heard(message)
        except Exception:
            # This is the link's outermost handler: one bad event must not end the link. Log only
            # the method: the rest comes from pages and may contain secrets.
            logger.exception("an event was not understood: %s", message.get("method"))

    def _answered(self, message: Json) -> None:
        answer = self._pending.resolve(message["id"])
        if answer is None or answer.done():
            return
        try:
            refusal, result = self._refusal(message), message.get("result")
        except (LookupError, TypeError, AttributeError):
            refusal, result = None, None
        if refusal is not None:
            answer.set_exception(refusal)
        elif isinstance(result, dict):
            answer.set_result(result)
        else:
            answer.set_exception(Internal("The browser sent an answer without a result."))

    def _ended(self) -> None:
        self._is_over = True
        _fail(self._pending.fail_all(), BrowserLost("The browser ended."))
        self._on_end()


class SessionConnection(Connection):
    """A connection whose messages name their protocol session. When a session ends, its pending
    commands fail. Frames are received from the start."""

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self._handlers: dict[str, Handler] = {}
        super().__init__(link, on_word, on_end)
        self.begin()

    def call(self, method: str, params: Json | None = None, session: str = BROWSER) -> Pending:
        """Send a command and return a future for its reply."""
        rest: Json = {}
        if session:
            rest["sessionId"] = session
        if params:
            rest["params"] = params
        return self._ask(method, rest, session)

    def tell(self, method: str, params: Json | None = None, session: str = BROWSER) -> None:
        """Send a command without waiting for its reply. An error is only logged."""
        self.call(method, params, session).add_done_callback(log_failure)

    def on_event(self, session: str, handler: Handler) -> None:
        self._handlers[session] = handler

    def end_session(self, session: str, error: RoostError | None = None) -> None:
        """Fail all pending calls of a session that ended, and drop its handler."""
        self._handlers.pop(session, None)
        self.fail(session, error or TabGone("The tab was closed."))

    def interrupt(self, session: str, error: RoostError) -> None:
        """Fail all pending calls of a session that continues, because its page crashed."""
        self.fail(session, error)

    @abstractmethod
    def _refused(self, code: int, message: str) -> Exception:
        """Return the error that means this refusal."""

    def _refusal(self, message: Json) -> Exception | None:
        error = message.get("error")
        if error is None:
            return None
        why = str(error.get("message", ""))
        if why.startswith(PASSED_OVER):
            return too_much(f"it is {why}")
        return self._refused(error.get("code", 0), why)

    def _heard(self, message: Json) -> None:
        handler = self._handlers.get(message.get("sessionId", BROWSER))
        if handler is not None:
            handler(message["method"], message.get("params", {}))


def _id_in(frame: bytes) -> int | None:
    """Return the id of the call that the frame answers, or None if the frame is not a reply."""
    last = max(0, len(frame) - ENDS_BYTES)
    found = _FIRST_ID.match(frame, 0, ENDS_BYTES) or _LAST_ID.search(frame, last)
    return None if found is None else int(found.group(1))


def _check_light(frame: bytes, values: int) -> None:
    if not is_light(frame, values):
        raise too_much(f"it has more than {values} values")


def _read(frame: bytes) -> Any:
    """Parse the frame: an object from the browser, or a list from the keeper itself."""
    try:
        message = json.loads(frame)
    except RecursionError:
        raise too_much("it is nested too deep") from None
    except ValueError:
        raise Internal("The browser sent an answer that is not JSON.") from None
    is_word = isinstance(message, list) and len(message) > 1 and frame.startswith(_WORD)
    if not isinstance(message, dict) and not is_word:
        raise Internal("The browser sent an answer that is not an object.")
    return message


def too_much(why: str) -> TooLarge:
    return TooLarge(
        f"The browser's answer is too large to be read: {why}.",
        hint="Ask for less at a time: return a part of the data, or a text made of it.",
    )


def log_failure(answer: Pending) -> None:
    """Log the error of a command that nobody awaits. Use this as a done callback."""
    if not answer.cancelled() and (error := answer.exception()) is not None:
        logger.debug("a command nobody waits for failed: %s", error)


def _fail(answers: list[Pending], error: RoostError) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)
