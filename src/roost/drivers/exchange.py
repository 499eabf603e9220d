"""Commands out, answers back, over one link: what the protocols of all browsers have in common."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any

from roost.drivers.link import Link
from roost.errors import BrowserLost, RoostError
from roost.wire.correlator import Correlator
from roost.wire.framing import encode

logger = logging.getLogger(__name__)
Json = dict[str, Any]
Pending = asyncio.Future[Json]


class Exchange(ABC):
    """``on_word`` hears what the keeper itself says; ``on_end`` that the link is gone."""

    def __init__(
        self, link: Link, on_word: Callable[[str, Any], None], on_end: Callable[[], None]
    ) -> None:
        self._link = link
        self._on_word = on_word
        self._on_end = on_end
        self._pending: Correlator[Pending] = Correlator()
        self._loop = asyncio.get_running_loop()
        self._is_over = False

    def begin(self) -> None:
        """Begin to hear what the link delivers; what came before comes at once."""
        self._link.start(self._received, self._ended)

    def resume_ids(self, next_id: int) -> None:
        """Go on counting where the last broker stopped: an id in flight cannot be used twice."""
        self._pending = Correlator(next_id)

    def say(self, word: str, *what: Any) -> None:
        """A word to the keeper itself."""
        self._link.send(encode([word, *what]))

    def close(self) -> None:
        self._link.close()

    def fail(self, owner: Hashable, error: RoostError) -> None:
        """Answer all that waits under that owner."""
        _fail(self._pending.fail_owner(owner), error)

    def _ask(self, method: str, rest: Json, owner: Hashable) -> Pending:
        """Send a command. They leave in the order they are made, whether or not the earlier ones
        are awaited."""
        answer: Pending = self._loop.create_future()
        if self._is_over:
            answer.set_exception(BrowserLost("The browser ended."))
        else:
            call = self._pending.start(answer, label=method, owner=owner)
            self._write(call, method, rest)
        return answer

    def _write(self, call: int, method: str, rest: Json) -> int:
        frame = encode({"id": call, "method": method, **rest})
        self._link.send(frame)
        return len(frame)

    @abstractmethod
    def _heard(self, message: Json) -> None:
        """An event."""

    @abstractmethod
    def _refusal(self, message: Json) -> Exception | None:
        """The error that an answer is, if it is one."""

    def _received(self, frame: bytes) -> None:
        message = json.loads(frame)
        if isinstance(message, list):
            self._on_word(message[0], message[1])
        elif "id" in message:
            self._answered(message)
        else:
            self._hear(message)

    def _hear(self, message: Json) -> None:
        try:
            self._heard(message)
        except Exception:
            # The link's outermost handler: one event we do not understand must not end it. What it
            # says is not logged: it comes from pages, secrets included.
            logger.exception("an event was not understood: %s", message.get("method"))

    def _answered(self, message: Json) -> None:
        answer = self._pending.resolve(message["id"])
        if answer is None or answer.done():
            return
        refusal = self._refusal(message)
        if refusal is None:
            answer.set_result(message["result"])
        else:
            answer.set_exception(refusal)

    def _ended(self) -> None:
        self._is_over = True
        _fail(self._pending.fail_all(), BrowserLost("The browser ended."))
        self._on_end()


def unheard(answer: Pending) -> None:
    """For commands nobody waits for: a refusal is only logged."""
    if not answer.cancelled() and (error := answer.exception()) is not None:
        logger.debug("a command nobody waits for failed: %s", error)


def _fail(answers: list[Pending], error: RoostError) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)
