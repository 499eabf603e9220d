"""Deliver clicks, keys and text to the right frame of one tab.

BiDi delivers input only to the context that a command names. A frame of another site has its own
process. So first find the frame under the pointer or with the focus, and name its context. A tab
without frames needs no such search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    Wheel,
)
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.default_actions import (
    AFTER_DRAG,
    AFTER_KEYS,
    AFTER_WHEEL,
    WATCH_DRAG,
    WATCH_KEYS,
    WATCH_WHEEL,
    click_at,
    is_press,
    numbers,
)
from roost.drivers.firefox.input_translation import (
    NO_SUCH_KEYS,
    Gesture,
    drag_end,
    first_point,
    parts,
    sources,
    strokes,
)
from roost.drivers.firefox.scripts import DocumentGone, Scripts
from roost.drivers.firefox.values import plain
from roost.errors import BadRequest, NotFound, Unsupported

_DEEPEST = 20
# Both scripts search open shadow roots and stop at a frame's element. BiDi describes a returned
# window by the id of its context. A frame's viewport begins inside its border and padding.
_UNDER = """(x, y) => {
  let found = document.elementFromPoint(x, y);
  for (let inner = found; inner; found = inner ?? found) {
    inner = found.shadowRoot?.elementFromPoint(x, y);
    if (inner === found) break;
  }
  if (!found?.contentWindow) return null;
  const box = found.getBoundingClientRect(), style = getComputedStyle(found);
  const left = box.x + found.clientLeft + parseFloat(style.paddingLeft);
  return [found.contentWindow, left, box.y + found.clientTop + parseFloat(style.paddingTop)];
}"""
_FOCUSED = """(text) => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  if (found?.contentWindow) return found.contentWindow;
  if (!found || (found === document.body && !found.isContentEditable)) return "nothing";
  if (found instanceof HTMLInputElement || found instanceof HTMLTextAreaElement) {
    if (text) document.execCommand("insertText", false, text);
    return "field";
  }
  if (!text.includes("\\n")) return "editor";
  // Firefox ignores ``clipboardData`` here and has these two of its own.
  const init = { dataType: "text/plain", data: text, bubbles: true, cancelable: true };
  if (!found.dispatchEvent(new ClipboardEvent("paste", { ...init, composed: true }))) return "done";
  const isDone = found.isContentEditable && document.execCommand("insertText", false, text);
  return isDone ? "done" : "editor";
}"""


class TabInput:
    """Sends input to one tab. ``has_frames``: returns True if the tab has child contexts."""

    def __init__(
        self, bidi: BidiConnection, tab: str, scripts: Scripts, has_frames: Callable[[], bool]
    ) -> None:
        self._bidi = bidi
        self._tab = tab
        self._scripts = scripts
        self._has_frames = has_frames

    async def send(self, inputs: Sequence[Input]) -> None:
        for part in parts(inputs):
            if isinstance(part, InsertText):
                await self._insert(part.text)
            else:
                await self._perform(part)

    async def _perform(self, gestures: Sequence[Gesture]) -> None:
        missing = {one.key for one in gestures if isinstance(one, KeyDown)} & NO_SUCH_KEYS
        if missing:
            raise Unsupported(f"Firefox cannot be given the key {min(missing)}.")
        point = first_point(gestures)
        if point is None:
            await self._press(gestures)
            return
        context, offset = self._tab, (0.0, 0.0)
        if self._has_frames():
            context, offset = await self._under(point)
        end = drag_end(gestures)
        if end is not None:
            await self._look(context, WATCH_DRAG)
        is_turned = any(isinstance(one, Wheel) for one in gestures)
        if is_turned:
            await self._look(context, WATCH_WHEEL)
        await self._act(context, sources(gestures, offset))
        if is_turned:
            await self._look(context, AFTER_WHEEL)
        if end is not None:
            await self._look(context, AFTER_DRAG, *numbers(end[0] - offset[0], end[1] - offset[1]))

    async def _press(self, gestures: Sequence[Gesture]) -> None:
        context = self._tab
        if self._has_frames():
            context, _ = await self._focused()
        is_watched = is_press(gestures) and plain(await self._look(context, WATCH_KEYS))
        await self._act(context, sources(gestures))
        point = plain(await self._look(context, AFTER_KEYS)) if is_watched else None
        if point is not None:
            await self._act(context, sources(click_at(*point)))

    async def _act(self, context: str, actions: list[Json]) -> None:
        params = {"context": context, "actions": actions}
        try:
            await self._bidi.call("input.performActions", params, self._tab)
        except BidiError as error:
            if error.code == "move target out of bounds":
                raise BadRequest("That point is outside of the page's window.") from None
            if not error.is_document_gone:
                raise BadRequest("The input was refused.", page_said=str(error)) from None
            # The input was delivered, and the page was left: ``_settle`` waits for the next page.

    async def _insert(self, text: str) -> None:
        """Insert text as an input method does. BiDi has no command for that.

        In text fields, ``execCommand`` inserts the text at once, with trusted events. Other editors
        need an event before each change, which Firefox sends only for keys. So type the text there.
        A text of several lines is pasted first, because no key is right for a new line everywhere:
        Enter sends the message in chat editors, Shift+Enter runs the cell in notebooks, and code
        editors indent after Enter. An editor that handles the paste event has taken the text, and
        ``execCommand`` inserts it into a plain editable element.
        """
        context, focused = await self._focused(text)
        if focused == "editor":
            await self._act(context, sources(strokes(text)))

    async def _focused(self, text: str = "") -> tuple[str, str]:
        """Return the context with the focus, and the kind of the focused element there: a field
        (which gets the text), another editor, or nothing."""
        context = self._tab
        for _ in range(_DEEPEST):
            found = await self._look(context, _FOCUSED, {"type": "string", "value": text})
            if found["type"] != "window":
                return context, str(plain(found))
            context = found["value"]["context"]
        return context, "nothing"

    async def _under(self, point: tuple[float, float]) -> tuple[str, tuple[float, float]]:
        """Return the context under a point of the tab, and the position of its viewport."""
        context, (left, top) = self._tab, (0.0, 0.0)
        for _ in range(_DEEPEST):
            at = numbers(point[0] - left, point[1] - top)
            found = await self._look(context, _UNDER, *at)
            if found["type"] != "array":
                break
            window, x, y = found["value"]
            context = window["value"]["context"]
            left, top = left + plain(x), top + plain(y)
        return context, (left, top)

    async def _look(self, context: str, function: str, *given: Json) -> Json:
        try:
            return await self._scripts.ask(context, function, *given)
        except (DocumentGone, NotFound):
            return {"type": "null"}  # the page is navigating: use the context found so far
