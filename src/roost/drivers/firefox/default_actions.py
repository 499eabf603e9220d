"""Perform the default actions of input that Firefox omits in background tabs.

Firefox delivers trusted events to a background tab, but performs some default actions only in the
tab that has the focus. In a background tab, Enter and Space do not operate buttons
(``HandleKeyboardActivation`` in Firefox's source), keys and the wheel do not scroll, sliders do not
follow the pointer, and a drag never ends in a drop.

So these scripts watch whether the page prevents the event's default action. If not, they perform
the action: click the button with a trusted pointer, scroll the page, set the slider, or dispatch
the events of a drop. The events of sliders and drops are then not trusted.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.drivers.base import (
    KeyDown,
    MouseDown,
    MouseMove,
    MouseUp,
)
from roost.drivers.connection import Json
from roost.drivers.firefox.input_translation import Gesture

PRESS = 4
"""The most gestures that one key press with one modifier has. More gestures are typed text."""
_SCROLLING = {"ArrowDown", "ArrowUp", "End", "Home", "PageDown", "PageUp"}

WATCH_KEYS = """() => {
  let found = document.activeElement ?? document.body;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  const pressed = "button, summary, input:is([type=button], [type=submit], [type=reset], "
    + "[type=image], [type=color], [type=file])";
  const checked = "input:is([type=checkbox], [type=radio])";
  const isOperated = found?.matches(`${pressed}, ${checked}`);
  const written = "input, textarea, select, audio, video";
  const isWritten = found?.isContentEditable || found?.matches(written);
  if (document.hasFocus() || !found || (isWritten && !isOperated)) return false;
  const watch = globalThis.__watched = { element: found, click: false, scroll: null };
  const heard = ({ isTrusted, defaultPrevented, key, shiftKey, type }) => {
    if (!isTrusted) return;
    if (defaultPrevented) return watch.stop();
    const isClick = key === "Enter" ? type === "keypress" && found.matches(pressed)
      : key === " " && type === "keyup";
    if (isOperated && isClick) watch.click = true;
    if (type === "keydown" && !(isOperated && key === " "))
      watch.scroll = key === " " && shiftKey ? "PageUp" : key;
  };
  const kinds = ["keydown", "keypress", "keyup"];
  watch.stop = () => kinds.forEach((kind) => window.removeEventListener(kind, heard));
  kinds.forEach((kind) => window.addEventListener(kind, heard));
  return true;
}"""
AFTER_KEYS = """() => {
  const { element, click, scroll, stop } = globalThis.__watched ?? {};
  stop?.();
  if (!element?.isConnected) return null;
  const scrolls = (it) => it.scrollHeight > it.clientHeight
    && /auto|scroll/.test(getComputedStyle(it).overflowY);
  let scrolled = element;
  while (scrolled && !scrolls(scrolled)) scrolled = scrolled.parentElement;
  scrolled ??= document.scrollingElement;
  const page = scrolled.clientHeight * 0.9, all = scrolled.scrollHeight;
  const ways = { ArrowDown: 40, ArrowUp: -40, PageDown: page, " ": page, PageUp: -page };
  const top = { ...ways, End: all, Home: -all }[scroll];
  if (top) scrolled.scrollBy({ top, behavior: "instant" });
  if (!click) return null;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const box = element.getBoundingClientRect();
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  if (element.contains(element.getRootNode().elementFromPoint(x, y))) return [x, y];
  element.click();
  return null;
}"""
WATCH_DRAG = """() => {
  const watch = globalThis.__dragged = { source: null, slider: null, data: [], effect: "all" };
  const dragged = (event) => {
    if (!event.isTrusted || event.defaultPrevented) return;
    const { dataTransfer } = event;
    watch.source = event.composedPath()[0];
    watch.data = Array.from(dataTransfer.types, (type) => [type, dataTransfer.getData(type)]);
    watch.effect = dataTransfer.effectAllowed;
    event.preventDefault();  // else the browser waits for a drop that never comes
  };
  const pressed = (event) => {
    const [target] = event.composedPath();
    const isSlider = target instanceof HTMLInputElement && target.type === "range";
    if (event.isTrusted && !event.defaultPrevented && isSlider && !target.disabled)
      watch.slider = target;
  };
  window.addEventListener("dragstart", dragged);
  window.addEventListener("mousedown", pressed);
  watch.stop = () => {
    window.removeEventListener("dragstart", dragged);
    window.removeEventListener("mousedown", pressed);
  };
}"""
AFTER_DRAG = """(x, y) => {
  const { source, slider, data, effect, stop } = globalThis.__dragged ?? {};
  stop?.();
  if (slider?.isConnected && !document.hasFocus()) {
    const box = slider.getBoundingClientRect(), thumb = Math.min(box.width, box.height);
    const [from, to] = [slider.min || 0, slider.max || 100].map(Number);
    let part = (x - box.x - thumb / 2) / Math.max(1, box.width - thumb);
    if (box.height > box.width) part = 1 - (y - box.y - thumb / 2) / (box.height - thumb);
    if (slider.matches(":dir(rtl)")) part = 1 - part;
    slider.value = from + (to - from) * Math.min(1, Math.max(0, part));
    slider.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }
  if (!source?.isConnected) return;
  const dataTransfer = new DataTransfer();
  for (const [type, value] of data) dataTransfer.setData(type, value);
  dataTransfer.effectAllowed = effect;
  const tell = (where, kind) => {
    const about = { bubbles: true, cancelable: true, composed: true, view: window };
    const event = new DragEvent(kind, { ...about, clientX: x, clientY: y, dataTransfer });
    return !where.dispatchEvent(event);
  };
  tell(source, "drag");
  const goal = document.elementFromPoint(x, y);
  if (goal) {
    tell(goal, "dragenter");
    if (tell(goal, "dragover")) tell(goal, "drop");
    else tell(goal, "dragleave");
  }
  tell(source, "dragend");
}"""
CANCEL_DRAG = """() => {
  const { source, stop } = globalThis.__dragged ?? {};
  globalThis.__dragged = null;
  stop?.();
  source?.dispatchEvent(new DragEvent("dragend", { bubbles: true, composed: true, view: window }));
}"""

WATCH_WHEEL = """async () => {
  if (!document.hidden) {
    // Firefox looks for the wheel's target in what it has drawn.
    for (const _ of "12") await new Promise((drawn) => {
      requestAnimationFrame(drawn);
      setTimeout(drawn, 100);
    });
    return;
  }
  // Firefox looks for the event's target in the layout it has, which is old in a hidden page.
  document.documentElement.getBoundingClientRect();
  const turns = globalThis.__turned = [];
  const heard = (event) => event.isTrusted && turns.push([event, event.composedPath()]);
  turns.stop = () => window.removeEventListener("wheel", heard, true);
  window.addEventListener("wheel", heard, { capture: true, passive: true });
}"""
AFTER_WHEEL = """async () => {
  if (!document.hidden) {
    // Firefox scrolls first and tells the page with one of the next frames.
    for (const _ of "123") await new Promise((drawn) => {
      requestAnimationFrame(drawn);
      setTimeout(drawn, 100);
    });
    return;
  }
  const turns = globalThis.__turned ?? [];
  globalThis.__turned = null;
  turns.stop?.();
  const moves = (it, left, top) => {
    const { overflowX, overflowY } = getComputedStyle(it);
    const fits = it === document.scrollingElement ? /visible|auto|scroll/ : /auto|scroll/;
    const [x, y] = [it.scrollLeft, it.scrollTop];
    const by = { left: fits.test(overflowX) ? left : 0, top: fits.test(overflowY) ? top : 0 };
    it.scrollBy({ ...by, behavior: "instant" });
    return it.scrollLeft !== x || it.scrollTop !== y;
  };
  for (const [event, path] of turns) {
    if (event.defaultPrevented || event.ctrlKey) continue;
    const { deltaX, deltaY } = event;
    path.filter((one) => one instanceof Element).find((one) => moves(one, deltaX, deltaY));
  }
}"""


def is_press(gestures: Sequence[Gesture]) -> bool:
    """Return True if these key gestures may operate the focused element or scroll."""
    keys = {gesture.key for gesture in gestures if isinstance(gesture, KeyDown)}
    is_command = keys & {"Control", "Alt", "Meta"}
    is_telling = bool(keys & {"Enter", " ", *_SCROLLING})
    return len(gestures) <= PRESS and is_telling and not is_command


def click_at(x: float, y: float) -> list[Gesture]:
    return [MouseMove(x, y), MouseDown(), MouseUp()]


def numbers(*values: float) -> list[Json]:
    return [{"type": "number", "value": value} for value in values]
