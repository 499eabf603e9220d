"""One page verb on the socket: a call, and its answer as the text that the process prints.

The process sends ``{"op", "args", "as", "verb"}`` after its hello. ``as`` is ``text`` (what an MCP
client would read), ``json`` or ``raw``. The broker answers ``{"text", "code"}``, where ``code`` is
the exit code. Before that it may send ``{"progress"}`` while the browser starts. A process that
goes away cancels its call.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.door import Line
from roost.api.operations import Operation, parse_for_model
from roost.api.views import View
from roost.errors import BadRequest, Internal, RoostError, TooLarge
from roost.frontends.verbs.bare_values import bare_value
from roost.hints import Spelling
from roost.wire.hello import Hello
from roost.wire.marks import error_text, sendable

logger = logging.getLogger(__name__)
DONE, FAILED = 0, 1
PROGRESS_SECONDS: Final = 0.5
"""Tell the process of a verb after this time that the browser is starting, if it is."""
_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
"""Control characters, which a page could use to command a terminal, and how they are shown."""


class Verbs:
    """Page verbs as a language of the socket (``api.door.Language``).

    tell: returns the text that a model reads for a view.
    spell: how the caller of a verb performs the steps of a hint.
    """

    def __init__(self, tell: Callable[[View, Spelling], str], spell: Spelling) -> None:
        self._tell = tell
        self._spell = spell

    def prepared(self, hello: Hello) -> Callable[[BrokerApi, Line], VerbConversation]:
        return lambda api, line: VerbConversation(api, line, self._tell, self._spell)


class VerbConversation:
    """The conversation of one process. It makes one call."""

    def __init__(
        self, api: BrokerApi, line: Line, tell: Callable[[View, Spelling], str], spell: Spelling
    ) -> None:
        self._api = api
        self._line = line
        self._tell = tell
        self._spell = spell
        self._call: asyncio.Task[None] | None = None
        self._progress: asyncio.Task[None] | None = None

    def heard(self, message: dict[str, Any]) -> None:
        if self._call is None:
            loop = asyncio.get_running_loop()
            self._call = loop.create_task(self._answer(message), name="verb")

    def end(self) -> None:
        if self._call is not None:
            self._call.cancel()

    async def _answer(self, message: Mapping[str, Any]) -> None:
        form = message.get("as", "text")
        code = DONE
        try:
            operation = self._asked(message)
            view = await self._called(operation, message.get("timeoutMs"))
            text = self._told(view, form)
        except RoostError as error:
            error = error.spelled(self._spell)
            code = FAILED
            text = json.dumps(error.to_wire(), indent=2) if form == "json" else error_text(error)
        except Exception:  # a bug is answered like any error and logged with its traceback
            logger.exception("the answer to %s cannot be written as text", message.get("verb"))
            code, text = FAILED, error_text(Internal("The verb failed inside Roost."))
        if form == "text" or code != DONE or message.get("tty") is True:
            text = text.translate(_CONTROLS)
        self._send(text, code)

    def _asked(self, message: Mapping[str, Any]) -> Operation:
        name, given = message.get("op"), message.get("args", {})
        if not isinstance(name, str) or not isinstance(given, dict):
            raise BadRequest("op: expected a name, and args an object.", field="op")
        try:
            return parse_for_model(name, given)
        except BadRequest as error:
            verb = message.get("verb")
            if not isinstance(verb, str) or verb == "call":
                raise
            raise error.retold(hint=f"See `roost help {verb[:64]}`.") from None

    async def _called(self, operation: Operation, timeout_ms: object) -> View:
        timeout = timeout_ms / 1000 if isinstance(timeout_ms, int | float) else None
        loop = asyncio.get_running_loop()
        slow = loop.call_later(PROGRESS_SECONDS, self._is_slow)
        try:
            return await self._api.call(operation, timeout=timeout)  # type: ignore[arg-type]
        finally:
            slow.cancel()
            if self._progress is not None:
                self._progress.cancel()

    def _is_slow(self) -> None:
        loop = asyncio.get_running_loop()
        self._progress = loop.create_task(self._say_progress(), name="progress of a verb")

    async def _say_progress(self) -> None:
        if not await self._has_browser():
            self._line.send({"progress": "Starting the browser …"})

    async def _has_browser(self) -> bool:
        try:
            return bool((await self._api.call(ops.Status())).browsers)
        except RoostError:  # the caller may not call status
            return True

    def _told(self, view: View, form: object) -> str:
        view = view.spelled(self._spell)
        if form == "json":
            return json.dumps(view.to_wire(), indent=2)
        return sendable(bare_value(view)) if form == "raw" else self._tell(view, self._spell)

    def _send(self, text: str, code: int) -> None:
        try:
            self._line.send({"text": text, "code": code})
        except TooLarge as error:
            self._line.send({"text": error_text(error), "code": FAILED})
