"""Enter and Space on buttons, in tabs that are not in front.

Firefox gives such a tab the key events, but a button, checkbox, radio button or summary does what
the key means only where the browser's focus is (``HandleKeyboardActivation`` in its source). So it
is watched whether the page let the key pass, and then the element gets its click; a trusted one,
from the pointer, if the pointer reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.drivers.base import KeyDown, MouseDown, MouseMove, MouseUp
from roost.drivers.firefox.keyboard import Gesture

PRESS = 4
"""Gestures of one press, with a modifier at most; more of them are text being typed."""

WATCH = """() => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  const pressed = "button, summary, input:is([type=button], [type=submit], [type=reset], "
    + "[type=image], [type=color], [type=file])";
  const checked = "input:is([type=checkbox], [type=radio])";
  if (document.hasFocus() || !found?.matches(`${pressed}, ${checked}`)) return false;
  const watch = globalThis.__pressed = { element: found, isDue: false };
  const heard = (event) => {
    if (!event.isTrusted || event.composedPath()[0] !== found) return;
    if (event.defaultPrevented) return watch.stop();
    if (event.key === "Enter" && event.type === "keypress") watch.isDue ||= found.matches(pressed);
    if (event.key === " " && event.type === "keyup") watch.isDue = true;
  };
  const kinds = ["keydown", "keypress", "keyup"];
  watch.stop = () => kinds.forEach((kind) => window.removeEventListener(kind, heard));
  kinds.forEach((kind) => window.addEventListener(kind, heard));
  return true;
}"""
DUE = """() => {
  const { element, isDue, stop } = globalThis.__pressed ?? {};
  stop?.();
  if (!isDue || !element.isConnected) return null;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const box = element.getBoundingClientRect();
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  if (element.contains(element.getRootNode().elementFromPoint(x, y))) return [x, y];
  element.click();
  return null;
}"""


def is_press(gestures: Sequence[Gesture]) -> bool:
    """Whether these may operate what has the focus."""
    keys = {gesture.key for gesture in gestures if isinstance(gesture, KeyDown)}
    is_command = keys & {"Control", "Alt", "Meta"}
    return len(gestures) <= PRESS and bool(keys & {"Enter", " "}) and not is_command


def click_at(x: float, y: float) -> list[Gesture]:
    return [MouseMove(x, y), MouseDown(), MouseUp()]
