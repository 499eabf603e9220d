"""Run JavaScript in a tab's frames.

A caller's function runs in the page's own world. The bundle runs in an isolated world.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from roost.drivers.base import Bundle
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.frames import Frame, Frames
from roost.drivers.connection import Json
from roost.drivers.navigation_errors import left_meanwhile
from roost.errors import BadRequest, NotFound, StaleRef
from roost.hints import Hint

WORLD = "roost"
DOCUMENT_TRIES = 10
BY_VALUE: Json = {"returnByValue": True, "awaitPromise": True}
_STALE = (
    "Cannot find context",
    "Execution context was destroyed",
    "Cannot find default",
    "Inspected target navigated or closed",
)
_NOT_BEGUN = ("Cannot find context", "Cannot find default")
_GONE = (*_STALE, "No frame for given id found", "No frame with given id found")


class Scripts:
    """Runs functions in one tab. Loads the bundle into a frame at its first use there."""

    def __init__(self, cdp: CdpConnection, frames: Frames, bundle: Bundle) -> None:
        self._cdp = cdp
        self._frames = frames
        self._bundle = bundle

    async def evaluate(self, function: str, frame_id: str | None, ref: str | None) -> Any:
        """Call the caller's function in the page's own world. ``ref``: element to pass to it."""
        frame = self._known(frame_id)
        try:
            if ref is None:
                params = {"expression": f"({function})()", "userGesture": True, **BY_VALUE}
                return await self._run("Runtime.evaluate", params, frame.session)
            element = await self._in_own_world(frame, await self.element(frame_id, ref))
            call = f"function(element) {{ return ({function})(element) }}"
            params = {"functionDeclaration": call, "userGesture": True, **BY_VALUE}
            params |= {"objectId": element, "arguments": [{"objectId": element}]}
            return await self._run("Runtime.callFunctionOn", params, frame.session)
        except StaleContext:
            raise BadRequest(
                "The page was left while the function ran.",
                hint=Hint("Look where the tab is now[, with {Snapshot}]."),
            ) from None

    async def call_bundle(
        self,
        frame_id: str | None,
        function: str,
        argument: Json,
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        """Call one of the bundle's functions in the frame's isolated world."""
        return await self._in_next_document(
            lambda: self._call_bundle(self._known(frame_id), function, argument, owner_of),
            once=once,
        )

    async def element(self, frame_id: str | None, ref: str) -> str:
        """Return the id of the ref's element in the isolated world. Raises ``StaleRef`` if the
        element is gone."""
        frame = self._known(frame_id)
        world = await self._world(frame)
        call = f"globalThis.__roost.element({json.dumps({'target': ref})})"
        answer = await self._cdp.call(
            "Runtime.evaluate", {"expression": call, "contextId": world}, frame.session
        )
        if answer["result"].get("subtype") != "node":
            raise StaleRef(f"{ref} is not on this page any more.", ref=ref)
        return str(answer["result"]["objectId"])

    async def _in_next_document(
        self, ask: Callable[[], Awaitable[Any]], *, once: bool = False
    ) -> Any:
        """Call ``ask``, and call it again in the next document if the document was replaced.

        ``once``: call again only if the script certainly did not start.
        """
        for _ in range(DOCUMENT_TRIES):
            try:
                return await ask()
            except StaleContext as stale:
                if once and stale.may_have_run:
                    raise left_meanwhile() from None
        raise BadRequest(
            "The page goes from one document to the next without rest.",
            hint=Hint("Wait for something on the page you want[, with {WaitFor}]."),
        )

    def session_of(self, frame_id: str | None) -> str:
        return self._known(frame_id).session

    async def _call_bundle(
        self, frame: Frame, function: str, argument: Json, owner_of: str | None
    ) -> Any:
        if owner_of is None:
            call = f"globalThis.__roost.{function}({json.dumps(argument)})"
            answer = await self._ask(frame, f"globalThis.__roost ? {call} : {json.dumps(_MISSING)}")
            if answer == _MISSING:
                frame.world = None
                raise StaleContext
            return answer
        world = await self._world(frame)
        owner = await self._cdp.call("DOM.getFrameOwner", {"frameId": owner_of}, frame.session)
        node = {"backendNodeId": owner["backendNodeId"], "executionContextId": world}
        element = (await self._cdp.call("DOM.resolveNode", node, frame.session))["object"]
        call = f"function(a) {{ return globalThis.__roost.{function}({{...a, element: this}}) }}"
        params = {"functionDeclaration": call, "arguments": [{"value": argument}], **BY_VALUE}
        params["objectId"] = element["objectId"]
        return await self._run("Runtime.callFunctionOn", params, frame.session)

    async def _ask(self, frame: Frame, expression: str) -> Any:
        params = {"expression": expression, "contextId": await self._world(frame), **BY_VALUE}
        return await self._run("Runtime.evaluate", params, frame.session)

    async def _run(self, method: str, params: Json, session: str) -> Any:
        try:
            answer = await self._cdp.call(method, params, session)
        except CdpError as error:
            if any(sign in str(error) for sign in _STALE):
                # This reply can arrive before the event that says that the context is gone.
                self._frames.contexts_cleared(session)
                may_have_run = not any(sign in str(error) for sign in _NOT_BEGUN)
                raise StaleContext(may_have_run=may_have_run) from None
            raise BadRequest(
                "The function failed.", field="function", page_said=str(error)
            ) from None
        if "exceptionDetails" in answer:
            thrown = described(answer["exceptionDetails"])
            raise BadRequest("The function threw an exception.", field="function", page_said=thrown)
        return answer["result"].get("value")

    async def _in_own_world(self, frame: Frame, element: str) -> str:
        """Return the id of the same element in the page's own world."""
        call, session = self._cdp.call, frame.session
        node = (await call("DOM.describeNode", {"objectId": element}, session))["node"]
        params = {"backendNodeId": node["backendNodeId"], "executionContextId": frame.main_context}
        return str((await call("DOM.resolveNode", params, session))["object"]["objectId"])

    def _known(self, frame: str | None) -> Frame:
        found = self._frames.get(frame)
        if found is None:
            raise NotFound("That frame is gone.")
        return found

    async def _world(self, frame: Frame) -> int:
        """Return the isolated world of the frame's document, with the bundle loaded."""
        if frame.world is None:
            world = await self._make_world(frame)
            frame.world = world
            return world
        return frame.world

    async def _make_world(self, frame: Frame) -> int:
        where = {"frameId": frame.id, "worldName": WORLD}
        try:
            made = await self._cdp.call("Page.createIsolatedWorld", where, frame.session)
            world: int = made["executionContextId"]
            bundle = {"expression": self._bundle.text, "contextId": world, "silent": True}
            await self._cdp.call("Runtime.evaluate", bundle, frame.session)
        except CdpError as error:
            if any(sign in str(error) for sign in _GONE):
                raise StaleContext from None
            raise
        return world


_MISSING = "roost: no bundle"
"""The answer of a world without the bundle.

A document in another process may have a context with the number that Roost's world had in the last
document, and the event that says so may come later than the call.
"""


class StaleContext(Exception):
    """The script's document is gone. ``may_have_run``: the script may have started before."""

    def __init__(self, *, may_have_run: bool = False) -> None:
        super().__init__()
        self.may_have_run = may_have_run


def described(details: Json) -> str:
    """Return a readable description of the thrown value."""
    exception = details.get("exception", {})
    text = exception.get("description") or json.dumps(exception.get("value", details["text"]))
    return str(text)
