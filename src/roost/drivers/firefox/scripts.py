"""Run JavaScript in a tab's contexts.

A caller's function runs in the page's own realm. The bundle runs in a sandbox: it sees the page's
DOM but not what the page's scripts changed in the built-ins, and the page does not see the sandbox.
https://w3c.github.io/webdriver-bidi/#module-script
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from roost.drivers.base import Bundle
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.navigation import Documents
from roost.drivers.firefox.values import SERIALIZATION, plain
from roost.drivers.navigation_errors import left_meanwhile
from roost.errors import BadRequest, NotFound, StaleRef, TooLarge
from roost.hints import Hint
from roost.wire.framing import decode
from roost.wire.weight import ANSWER_VALUES

SANDBOX = "roost"
DOCUMENT_TRIES = 10
TITLE_CHARS = 1000
LOAD_MS = 5000
"""After ``DOMContentLoaded``, wait at most this long for ``load``."""

# Call the bundle first, and load it only if it is missing or of another version. So only a new
# document needs a second round trip, and nothing has to track realms.
_CALL = """async (version, name, json, element) => {
  if (globalThis.__roost?.version !== version) return null;
  const argument = JSON.parse(json);
  if (element) argument.element = element;
  return JSON.stringify(await globalThis.__roost[name](argument));
}"""
_ELEMENT = "(target) => globalThis.__roost ? globalThis.__roost.element({ target }) : null"
# An element named "title" hides ``document.title``, so use the prototype's getter.
_TITLE = 'Object.getOwnPropertyDescriptor(Document.prototype, "title").get.call(document)'
_TITLE += f".slice(0, {TITLE_CHARS})"
_ARRIVED = """(limit) => new Promise((resolve) => {
  const tell = () => resolve(TITLE);
  if (document.readyState === "complete") return tell();
  const isParsed = () => setTimeout(tell, limit);
  if (document.readyState === "interactive") isParsed();
  else document.addEventListener("DOMContentLoaded", (e) => e.isTrusted && isParsed());
  window.addEventListener("load", (e) => e.isTrusted && e.target === document && tell());
})""".replace("TITLE", _TITLE)


class DocumentGone(Exception):
    """The script's document is gone."""


@dataclass(frozen=True, slots=True)
class SentScript:
    """A script that was sent. ``count``: ``Documents.count`` at that time."""

    answer: Pending
    frame: str | None
    count: int


class Scripts:
    """Runs functions in one tab. ``documents``: knows why a document is gone."""

    def __init__(
        self, bidi: BidiConnection, tab: str, bundle: Bundle, documents: Documents
    ) -> None:
        self._bidi = bidi
        self._tab = tab
        self._bundle = bundle
        self._documents = documents

    async def evaluate(self, function: str, frame: str | None, ref: str | None) -> Any:
        """Call the caller's function in the page's own realm. ``ref``: element to pass to it."""
        given = [] if ref is None else [{"sharedId": await self.element(frame, ref)}]
        try:
            # Evaluate it as an expression: then a syntax error is an exception of the page.
            if not given:
                return plain(await self._evaluate(f"({function}\n)()", frame))
            call = f"(...given) => ({function}\n)(...given)"
            return plain(await self._call(call, frame, given, sandbox=None))
        except DocumentGone:
            raise BadRequest(
                "The page was left while the function ran.",
                hint=Hint("Look where the tab is now[, with {Snapshot}]."),
            ) from None

    async def arrived(self) -> str:
        """Wait until the main document has loaded, and return its title."""
        limit = {"type": "number", "value": LOAD_MS}
        return str(plain(await self._in_next_document(lambda: self.ask(None, _ARRIVED, limit))))

    def title(self) -> Pending:
        """Ask for the main document's title. The caller need not await the reply."""
        target = self._target(None, SANDBOX)
        ask = {"expression": _TITLE, "awaitPromise": False, "target": target}
        return self._bidi.call("script.evaluate", ask, self._tab)

    def stop_loading(self) -> None:
        """Stop the navigation of the main document, as the browser's own stop button does."""
        target = self._target(None, SANDBOX)
        stop = {"expression": "window.stop()", "awaitPromise": False, "target": target}
        self._bidi.tell("script.evaluate", stop, self._tab)

    async def call_bundle(
        self,
        frame: str | None,
        function: str,
        argument: Json,
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        """Call one of the bundle's functions in the sandbox of that context."""
        if once:
            try:
                return await self.call_bundle_once(frame, function, argument)
            except DocumentGone:
                raise left_meanwhile() from None
        return await self._in_next_document(
            lambda: self.call_bundle_once(frame, function, argument, owner_of)
        )

    async def element(self, frame: str | None, ref: str) -> str:
        """Return the ref's element as a shared id, which is valid in all realms. Raises
        ``StaleRef`` if the element is gone."""
        try:
            found = await self._call(_ELEMENT, frame, [_text(ref)])
        except (BadRequest, DocumentGone):
            found = {}
        if found.get("type") != "node":
            raise StaleRef(f"{ref} is not on this page any more.", ref=ref)
        return str(found["sharedId"])

    async def ask(self, frame: str | None, function: str, *given: Json) -> Json:
        """Call one of our own functions in the sandbox. Return its result as a BiDi value."""
        return await self._call(function, frame, list(given))

    async def _in_next_document(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Call ``ask``, and call it again in the next document if the document was replaced."""
        for _ in range(DOCUMENT_TRIES):
            with contextlib.suppress(DocumentGone):
                return await ask()
        raise BadRequest(
            "The page goes from one document to the next without rest.",
            hint=Hint("Wait for something on the page you want[, with {WaitFor}]."),
        )

    async def call_bundle_once(
        self, frame: str | None, function: str, argument: Json, owner_of: str | None = None
    ) -> Any:
        """Like ``call_bundle``, but raise ``DocumentGone`` if the current document is replaced."""
        given = self._bundle_call(function, argument)
        if owner_of is not None:
            given.append({"sharedId": await self._owner(frame, owner_of)})
        answer = plain(await self._call(_CALL, frame, given))
        if answer is None:
            await self._evaluate(self._bundle.text, frame, sandbox=SANDBOX)
            answer = plain(await self._call(_CALL, frame, given))
        if answer is None:
            raise DocumentGone
        return decode(answer, ANSWER_VALUES)

    def ask_settled(self, frame: str | None, argument: Json) -> SentScript:
        """Call the bundle's ``settled`` before the input is sent. ``settled`` below awaits it."""
        params = self._params(_CALL, frame, self._bundle_call("settled", argument), SANDBOX)
        sent = self._send("script.callFunction", params, frame)
        sent.answer.add_done_callback(log_failure)
        return sent

    async def settled(self, frame: str | None, argument: Json, sent: SentScript | None) -> Json:
        """Wait until the page has handled the input that was sent, and return what the bundle says.

        ``sent``: the call of ``ask_settled``, if there was one.
        """
        if sent is not None:
            if not sent.answer.done():
                # The input may have gone to another document than the one that waits for it.
                await self.call_bundle_once(frame, "delivered", {})
            answer = plain(await self._result(sent))
            if answer is not None:
                found: Json = decode(answer, ANSWER_VALUES)
                return found
        settled: Json = await self.call_bundle_once(frame, "settled", argument)
        return settled

    async def _owner(self, frame: str | None, child: str) -> str:
        """Return the element in the parent document that holds the child context."""
        locator = {"type": "context", "value": {"context": child}}
        try:
            found = await self._bidi.call(
                "browsingContext.locateNodes",
                {"context": frame or self._tab, "locator": locator},
                self._tab,
            )
            return str(found["nodes"][0]["sharedId"])
        except (BidiError, LookupError):
            raise frame_gone() from None

    async def _evaluate(
        self, expression: str, frame: str | None, *, sandbox: str | None = None
    ) -> Json:
        params: Json = {"expression": expression, "target": self._target(frame, sandbox)}
        return await self._result(self._send("script.evaluate", params, frame))

    async def _call(
        self, function: str, frame: str | None, given: list[Json], *, sandbox: str | None = SANDBOX
    ) -> Json:
        params = self._params(function, frame, given, sandbox)
        return await self._result(self._send("script.callFunction", params, frame))

    def _params(
        self, function: str, frame: str | None, given: list[Json], sandbox: str | None
    ) -> Json:
        target = self._target(frame, sandbox)
        return {"functionDeclaration": function, "arguments": given, "target": target}

    def _bundle_call(self, function: str, argument: Json) -> list[Json]:
        return [_text(self._bundle.version), _text(function), _text(json.dumps(argument))]

    def _send(self, method: str, params: Json, frame: str | None) -> SentScript:
        params |= {"awaitPromise": True, "userActivation": "sandbox" not in params["target"]}
        params["serializationOptions"] = SERIALIZATION
        answer = self._bidi.call(method, params, self._tab)
        return SentScript(answer, frame, self._documents.count)

    async def _result(self, sent: SentScript) -> Json:
        try:
            answer = await sent.answer
        except BidiError as error:
            if error.is_document_gone:
                await self._gone(sent.frame, sent.count)
            raise BadRequest(
                "The function failed.", field="function", page_said=str(error)
            ) from None
        if answer["type"] == "exception":
            thrown = _described(answer["exceptionDetails"])
            raise BadRequest("The function threw an exception.", field="function", page_said=thrown)
        result: Json = answer["result"]
        return result

    async def _gone(self, frame: str | None, count: int) -> None:
        if frame is not None and frame != self._tab:
            await self._check_frame(frame)
        else:
            await self._documents.known_since(count)
        raise DocumentGone

    async def _check_frame(self, frame: str) -> None:
        try:
            root = {"root": frame, "maxDepth": 0}
            await self._bidi.call("browsingContext.getTree", root, self._tab)
        except BidiError:
            raise frame_gone() from None

    def _target(self, frame: str | None, sandbox: str | None) -> Json:
        target: Json = {"context": frame or self._tab}
        return target if sandbox is None else {**target, "sandbox": sandbox}


def frame_gone() -> NotFound:
    return NotFound("That frame is gone.")


def _text(value: str) -> Json:
    return {"type": "string", "value": value}


def _described(details: Json) -> str:
    """Return a readable description of the thrown value. Use Firefox's own words where the value
    cannot be read: the caller must learn that the function threw."""
    thrown = details["exception"]
    if thrown["type"] in ("object", "array", "string", "number", "boolean"):
        with contextlib.suppress(BadRequest, TooLarge):
            return json.dumps(plain(thrown), ensure_ascii=False)
    return str(details["text"])
