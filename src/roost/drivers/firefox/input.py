"""Deliver clicks, keys and text to the right frame of one tab.

BiDi delivers input only to the context that a command names. A frame of another site has its own
process. So first find the frame under the pointer or with the focus, and name its context. A tab
without frames needs no such search. While a mouse button is held, the pointer stays with the frame
in which the button was pressed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from copy import deepcopy

from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    MouseDown,
    MouseMove,
    MouseUp,
    Wheel,
)
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.default_actions import (
    AFTER_DRAG,
    AFTER_KEYS,
    AFTER_WHEEL,
    CANCEL_DRAG,
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
    stays_down,
    strokes,
)
from roost.drivers.firefox.scripts import DocumentGone, Scripts
from roost.drivers.firefox.values import plain
from roost.drivers.held_input import HeldInput
from roost.errors import BadRequest, NotFound, Unsupported

_DEEPEST = 20
NO_DROPS = "Firefox cannot be given a drop from outside of the page: BiDi has no command for it."
_PRESSES = (MouseDown, MouseUp)
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
        self._held = HeldInput()
        self._grabbed: tuple[str, tuple[float, float]] | None = None
        """The context in which the held mouse button was pressed, and where its viewport begins."""

    @property
    def held_keys(self) -> Sequence[str]:
        return self._held.keys

    @property
    def holds_button(self) -> bool:
        return bool(self._held.buttons)

    def effective(self, inputs: Sequence[Input]) -> list[Input]:
        """Return the inputs that change something (see ``HeldInput.effective``)."""
        return self._held.effective(inputs)

    async def send(self, inputs: Sequence[Input]) -> None:
        for part in parts(inputs):
            if isinstance(part, InsertText):
                await self._insert(part.text)
            else:
                await self._perform(part)

    async def forget(self) -> None:
        """Release everything that Firefox knows to be held in this tab. That includes what the
        input of an earlier broker pressed."""
        with contextlib.suppress(BidiError):
            await self._bidi.call("input.releaseActions", {"context": self._tab}, self._tab)

    async def release(self) -> None:
        """Release all held buttons and keys. The mouse moves to the page's corner first, so that
        the release does not click the pressed element, and a drag is cancelled."""
        lifts = self._held.lifts()
        if not lifts:
            return
        context, offset = self._grabbed or (self._tab, (0.0, 0.0))
        gestures: list[Gesture] = [*lifts]
        if self._held.buttons:
            await self._look(context, CANCEL_DRAG)
            gestures.insert(0, MouseMove(*offset))
        await self._give(context, gestures, offset)

    async def _perform(self, gestures: list[Gesture]) -> None:
        missing = {one.key for one in gestures if isinstance(one, KeyDown)} & NO_SUCH_KEYS
        if missing:
            raise Unsupported(f"Firefox cannot be given the key {min(missing)}.")
        if first_point(gestures) is None and any(isinstance(one, _PRESSES) for one in gestures):
            gestures = [MouseMove(*self._held.point), *gestures]
        point = first_point(gestures)
        if point is None:
            await self._press(gestures)
            return
        context, offset = self._grabbed or (self._tab, (0.0, 0.0))
        if self._has_frames() and self._grabbed is None:
            context, offset = await self._under(point)
        end, is_pressed = drag_end(gestures, self._held), stays_down(gestures)
        if is_pressed:
            self._grabbed = context, offset
        if is_pressed or (end is not None and not self._held.buttons):
            await self._look(context, WATCH_DRAG)
        is_turned = any(isinstance(one, Wheel) for one in gestures)
        if is_turned:
            await self._look(context, WATCH_WHEEL)
        await self._give(context, gestures, offset)
        if is_turned:
            await self._look(context, AFTER_WHEEL)
        if end is not None:
            await self._look(context, AFTER_DRAG, *numbers(end[0] - offset[0], end[1] - offset[1]))

    async def _give(
        self, context: str, gestures: Sequence[Gesture], offset: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Give the gestures to that context and note what they hold. If Firefox refuses them
        halfway, nothing stays pressed that they pressed."""
        before, grabbed = deepcopy(self._held), self._grabbed
        for one in gestures:
            self._held.follow(one)
        if not self._held.buttons:
            self._grabbed = None
        try:
            await self._act(context, sources(gestures, offset))
        except BadRequest:
            self._held, self._grabbed = before, grabbed
            if any(isinstance(one, MouseDown | KeyDown) for one in gestures):
                self._held, self._grabbed = HeldInput(), None
                await self.forget()
            raise

    async def _press(self, gestures: Sequence[Gesture]) -> None:
        context = self._tab
        if self._has_frames():
            context, _ = await self._focused()
        is_watched = is_press(gestures) and plain(await self._look(context, WATCH_KEYS))
        await self._give(context, gestures)
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
