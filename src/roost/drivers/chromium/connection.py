"""Commands, replies and events of the DevTools protocol over one link.

https://chromedevtools.github.io/devtools-protocol/ — sessions are flat: every message names the
session it belongs to, the browser itself being the empty one. A command dies with its session.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from roost.drivers.link import Link
from roost.errors import BrowserLost, RoostError, TabGone
from roost.wire.correlator import Correlator

logger = logging.getLogger(__name__)
Json = dict[str, Any]
Handler = Callable[[str, Json], None]
BROWSER = ""


class CdpError(Exception):
    """Chromium's own answer that it will not."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CdpConnection:
    """``on_word`` hears what the keeper itself says; ``on_end`` that the link is gone."""

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self._link = link
        self._on_word = on_word
        self._on_end = on_end
        self._pending: Correlator[asyncio.Future[Json]] = Correlator()
        self._handlers: dict[str, Handler] = {}
        self._loop = asyncio.get_running_loop()
        self._is_over = False
        link.start(self._received, self._ended)

    def resume_ids(self, next_id: int) -> None:
        """Go on counting where the last broker stopped: an id in flight cannot be used twice."""
        self._pending = Correlator(next_id)

    def call(self, method: str, params: Json | None = None, session: str = BROWSER) -> Pending:
        """Send a command; await what comes back. ``CdpError`` when Chromium refuses it, ``TabGone``
        when its session ends first, ``BrowserLost`` when the browser does. Commands leave in the
        order they are made, whether or not the earlier ones are awaited."""
        answer: Pending = self._loop.create_future()
        if self._is_over:
            answer.set_exception(BrowserLost("The browser ended."))
        else:
            call = self._pending.start(answer, label=method, owner=session)
            message: Json = {"id": call, "method": method}
            if session:
                message["sessionId"] = session
            if params:
                message["params"] = params
            self._link.send(json.dumps(message, separators=(",", ":")).encode())
        return answer

    def tell(self, method: str, params: Json | None = None, session: str = BROWSER) -> None:
        """Send a command nobody waits for; a refusal is only logged."""
        self.call(method, params, session).add_done_callback(_unheard)

    def on_event(self, session: str, handler: Handler) -> None:
        self._handlers[session] = handler

    def end_session(self, session: str, error: RoostError | None = None) -> None:
        """The session is gone: whoever waits on it is told."""
        self._handlers.pop(session, None)
        _fail(self._pending.fail_owner(session), error or TabGone("The tab was closed."))

    def interrupt(self, session: str, error: RoostError) -> None:
        """Answer every call of a session that lives on (its page crashed)."""
        _fail(self._pending.fail_owner(session), error)

    def say(self, word: str) -> None:
        """A word to the keeper itself."""
        self._link.send(json.dumps([word]).encode())

    def close(self) -> None:
        self._link.close()

    def _received(self, frame: bytes) -> None:
        message = json.loads(frame)
        if isinstance(message, list):
            self._on_word(message[0], message[1])
        elif "id" in message:
            self._answered(message)
        else:
            handler = self._handlers.get(message.get("sessionId", BROWSER))
            if handler is not None:
                handler(message["method"], message.get("params", {}))

    def _answered(self, message: Json) -> None:
        answer = self._pending.resolve(message["id"])
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is None:
            answer.set_result(message["result"])
        else:
            answer.set_exception(CdpError(error.get("code", 0), error.get("message", "")))

    def _ended(self) -> None:
        self._is_over = True
        _fail(self._pending.fail_all(), BrowserLost("The browser ended."))
        self._on_end()


Pending = asyncio.Future[Json]


def _fail(answers: list[Pending], error: RoostError) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)


def _unheard(answer: Pending) -> None:
    if not answer.cancelled() and (error := answer.exception()) is not None:
        logger.debug("a command nobody waits for failed: %s", error)
