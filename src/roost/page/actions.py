"""Actions in a page, such as clicking and typing.

Each action waits until its element exists and can be acted on, gives trusted input, and waits until
the page has settled. If the element is not ready within ``wait_ms``, the error says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Wheel,
)
from roost.errors import BadRequest, NotActionable, NotFound, StaleRef
from roost.hints import Hint
from roost.page.keys import MODIFIERS, parse_held_keys, parse_keys
from roost.page.page import Json, Miss, Page

R = TypeVar("R")
DRAG_STEPS = 5
RETRY_MS = (0, 20, 100, 100, 500)
"""Pauses before input that missed its target is given again."""
CHECKED_MS = 1000
"""How long to wait until a box that was clicked has its new state."""
LIST_MS = 500
"""How long to wait for the list of suggestions of a text field."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The point of an action in the tab's viewport, and the element at that point."""

    x: float
    y: float
    about: Json
    """The bundle's answer about the element."""
    frame: str | None


async def click(
    page: Page,
    target: str,
    *,
    wait_ms: int,
    button: str = "left",
    count: int = 1,
    modifiers: Sequence[str] = (),
) -> Spot:
    presses, held = _presses(button, count), _checked_modifiers(modifiers)

    async def try_once(left_ms: int) -> tuple[Spot, Miss | None]:
        spot = await find_spot(page, target, "click", left_ms)
        inputs = _while_held(held, [MouseMove(spot.x, spot.y), *presses])
        return spot, await page.act(spot.frame, inputs)

    return await _until_hit(page, try_once, wait_ms)


async def click_at(
    page: Page,
    point: tuple[float, float],
    *,
    button: str = "left",
    count: int = 1,
    modifiers: Sequence[str] = (),
) -> None:
    held = _checked_modifiers(modifiers)
    await page.act(None, _while_held(held, [MouseMove(*point), *_presses(button, count)]))


async def hover(page: Page, target: str, *, wait_ms: int) -> Spot:
    async def try_once(left_ms: int) -> tuple[Spot, Miss | None]:
        spot = await find_spot(page, target, "hover", left_ms)
        return spot, await page.act(spot.frame, [MouseMove(spot.x, spot.y)])

    return await _until_hit(page, try_once, wait_ms)


async def drag(page: Page, start: str, end: str, *, wait_ms: int) -> tuple[Spot, Spot]:
    """Drag one element to another.

    The pointer first moves to the start, because the page may change its layout then. After that
    both places are final.
    """
    await hover(page, start, wait_ms=wait_ms)

    async def try_once(left_ms: int) -> tuple[tuple[Spot, Spot], Miss | None]:
        source, goal = await _both_spots(page, start, end, left_ms)
        path = _drag_path((source.x, source.y), (goal.x, goal.y))
        return (source, goal), await page.act(source.frame, path)

    return await _until_hit(page, try_once, wait_ms)


async def _both_spots(page: Page, start: str, end: str, wait_ms: int) -> tuple[Spot, Spot]:
    """Return the points of both elements, which must be in view at the same time."""
    known: Spot | None = None
    for _ in range(3):
        goal = await find_spot(page, end, "drop", wait_ms)  # may scroll the start away
        source = await find_spot(page, start, "drag", wait_ms)  # may scroll the goal away
        if known is not None and (known.x, known.y) == (goal.x, goal.y):
            return source, goal
        known = goal
    raise NotActionable(
        "The two elements cannot be in view at the same time.",
        reason="outside viewport",
        hint=Hint("Make the page larger[ with {Resize}], or drag in smaller steps."),
    )


async def drag_along(
    page: Page, path: Sequence[tuple[float, float]], *, modifiers: Sequence[str] = ()
) -> None:
    """Drag from the first point through the others to the last."""
    await page.act(None, _while_held(_checked_modifiers(modifiers), _drag_path(*path)))


def _drag_path(start: tuple[float, float], *way: tuple[float, float]) -> list[Input]:
    """Press, move in steps, and release.

    The steps work for pages that track the mouse and for pages with HTML5 drag and drop.
    """
    moves: list[Input] = []
    x, y = start
    for to_x, to_y in way:
        moves += [
            MouseMove(x + (to_x - x) * step / DRAG_STEPS, y + (to_y - y) * step / DRAG_STEPS)
            for step in range(1, DRAG_STEPS + 1)
        ]
        x, y = to_x, to_y
    return [MouseMove(*start), MouseDown(), *moves, moves[-1], MouseUp()]


async def _until_hit(
    page: Page, try_once: Callable[[int], Awaitable[tuple[R, Miss | None]]], wait_ms: int
) -> R:
    """Give input again until it reaches its target, for up to ``wait_ms``.

    A page may move its layout when the pointer moves. The page bundle then stops the press, so that
    it reaches nothing else (``press_guard.ts``).
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + wait_ms / 1000
    for pause in itertools.chain(RETRY_MS, itertools.repeat(RETRY_MS[-1])):
        result, miss = await try_once(max(0, int((ends_at - loop.time()) * 1000)))
        if miss is None:
            return result
        if not miss.retry or loop.time() + pause / 1000 >= ends_at:
            raise miss.error
        await page.call(None, "pause", ms=pause)
    raise AssertionError("the pauses never end")


async def type_text(
    page: Page,
    target: str,
    text: str,
    *,
    wait_ms: int,
    slowly: bool = False,
    submit: bool = False,
) -> Json:
    """Replace a field's text, at once or key by key (``slowly``)."""
    frame, field = await page.call_where(target, "focusForTyping", timeoutMs=wait_ms)
    typed = _strokes("Delete") if not text else [InsertText(text)]
    if text and slowly:
        typed = [key for character in text for key in _strokes(character)]
    if submit:
        typed += _strokes("Enter")
    await page.act(frame, typed)
    return field


async def press_key(page: Page, key: str) -> None:
    modifiers, name = parse_keys(key)
    held: list[Input] = [KeyDown(modifier) for modifier in modifiers]
    let_go: list[Input] = [KeyUp(modifier) for modifier in reversed(modifiers)]
    await page.act(None, [*held, *_strokes(name), *let_go])


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """The inputs that press keys and that release them again."""

    downs: list[Input]
    ups: list[Input]


def keys_to_hold(text: str) -> HeldKeys:
    names = parse_held_keys(text)
    return HeldKeys([KeyDown(key) for key in names], [KeyUp(key) for key in reversed(names)])


async def type_at_focus(page: Page, text: str, *, submit: bool) -> None:
    """Insert text at the caret of the field that has the focus."""
    inserted: list[Input] = [InsertText(text)] if text else []
    await page.act(None, [*inserted, *(_strokes("Enter") if submit else [])])


async def fill(page: Page, target: str, value: Any, *, wait_ms: int) -> Json:
    """Set the value of any kind of field, by typing, clicking or choosing as its kind needs.

    Raises ``NotActionable`` if a box does not change although it was clicked.

    The answer has ``unchosen`` if the field's own list of suggestions is open and nothing in it is
    chosen.
    """

    async def try_once(left_ms: int) -> tuple[tuple[str | None, Json], Miss | None]:
        frame, field = await page.call_where(target, "setValue", timeoutMs=left_ms, value=value)
        if field.get("hasList") or field["next"] == "press":
            page.look = None  # read the changes after the value is chosen
        given: list[Input] = []
        match field.get("next"):
            case "type":
                text = _as_typed(value)
                given = [InsertText(text)] if text else _strokes("Delete")
            case "click":
                x, y = await _in_tab(page, frame, field, "click", left_ms)
                given = [MouseMove(x, y), MouseDown(), MouseUp()]
            case "press":
                given = _strokes(field["key"])
        return (frame, field), await page.act(frame, given)

    look = page.look
    frame, field = await _until_hit(page, try_once, wait_ms)
    page.look = look
    if field["next"] == "press":
        field = await page.call(frame, "setValue", target=field["ref"], value=value, isPressed=True)
        await page.settle(frame)
    if field["next"] == "click" and not page.has_left:
        # The element may be gone: some pages draw their boxes anew after each click.
        with contextlib.suppress(StaleRef, NotFound):
            box = {"target": field["ref"], "value": value, "timeoutMs": CHECKED_MS}
            await page.call(frame, "whenChecked", **box)
    if field.get("hasList") and value != "":
        field |= await _choose(page, frame, field["ref"], _as_typed(value), wait_ms)
    return field


async def _choose(page: Page, frame: str | None, ref: str, value: str, wait_ms: int) -> Json:
    """Choose the value in the list that the page opened under a text field, if exactly one option
    has that text. Otherwise return the open list as ``unchosen``."""
    found = await page.call(frame, "openOptions", target=ref, value=value, timeoutMs=LIST_MS)
    if not found["options"]:
        return {}
    if "exact" in found:
        with contextlib.suppress(StaleRef, NotActionable):
            await click(page, found["exact"], wait_ms=wait_ms)
            return {}
    return {"unchosen": found}


async def select_options(page: Page, target: str, values: Sequence[str], *, wait_ms: int) -> Json:
    frame, field = await page.call_where(
        target, "setValue", timeoutMs=wait_ms, value=list(values), kind="select"
    )
    await page.settle(frame)
    return field


async def scroll(
    page: Page, *, target: str | None, x: float | None, y: float | None, direction: str | None
) -> Json:
    if target is None:
        return await page.call(None, "scroll", x=x, y=y, direction=direction)
    _, moved = await page.call_where(target, "scroll", direction=direction)
    return moved


async def wheel(page: Page, x: float, y: float, dx: float, dy: float) -> None:
    await page.act(None, [MouseMove(x, y), Wheel(x, y, dx, dy)])


async def upload(page: Page, target: str, paths: Sequence[str], *, wait_ms: int) -> Json:
    """Give files to a file field, its label, or an element that contains one file field.

    Return the field. For any other element, return its description without giving it files:
    ``isFile`` is false then.
    """
    frame, field = await page.call_where(target, "prepare", action="upload", timeoutMs=wait_ms)
    if not field["isFile"]:
        return field
    if len(paths) > 1 and not field.get("multiple"):
        raise BadRequest("paths: this field takes one file.", field="paths")
    await page.tab.set_files(frame, field["ref"], paths)
    await page.settle(frame)
    return field


async def find_spot(page: Page, target: str, action: str, wait_ms: int) -> Spot:
    """Wait until the element can be acted on. Return the point where a pointer reaches it."""
    frame, ready = await page.call_where(target, "prepare", action=action, timeoutMs=wait_ms)
    x, y = await _in_tab(page, frame, ready, action, wait_ms)
    return Spot(x, y, ready, frame)


async def _in_tab(
    page: Page, frame: str | None, ready: Json, action: str, wait_ms: int
) -> tuple[float, float]:
    """Return the point of a prepared element in the tab's viewport.

    Where the layout may move another frame under the pointer, that frame stops the press.
    """
    x, y = ready["point"]["x"], ready["point"]["y"]
    presses = action in ("click", "drag")
    if frame is not None:
        left, top = await page.reach(frame, (x, y), presses=presses, wait_ms=wait_ms)
        return left + x, top + y
    if presses and ready.get("framesInView"):
        await page.stop_presses_in_child_frames()
    return x, y


def _as_typed(value: Any) -> str:
    """Return the value as text. JSON has only one number type, so 12.0 means 12."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _presses(button: str, count: int) -> list[Input]:
    """Return the presses of a click, double click or triple click."""
    presses: list[Input] = []
    for number in range(1, count + 1):
        presses += [MouseDown(button, number), MouseUp(button, number)]
    return presses


def _while_held(keys: Sequence[str], inputs: Sequence[Input]) -> list[Input]:
    return [*map(KeyDown, keys), *inputs, *map(KeyUp, keys)]


def _strokes(key: str) -> list[Input]:
    return [KeyDown(key), KeyUp(key)]


def _checked_modifiers(names: Sequence[str]) -> list[str]:
    spelt = {"ControlOrMeta": "Control", **{name: name for name in MODIFIERS}}
    wrong = next((name for name in names if name not in spelt), None)
    if wrong is not None:
        raise BadRequest(
            f"modifiers: {wrong[:40]} is none of {', '.join(MODIFIERS)}.", field="modifiers"
        )
    return [spelt[name] for name in names]
