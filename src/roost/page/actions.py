"""Actions in a page, such as clicking and typing.

Each action waits until its element exists and can be acted on, gives trusted input, and waits until
the page has settled. If the element is not ready within ``wait_ms``, the error says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from roost.errors import BadRequest
from roost.page.keys import MODIFIERS, parse_keys
from roost.page.page import Json, Page

DRAG_STEPS = 5


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
    double: bool = False,
    modifiers: Sequence[str] = (),
) -> Spot:
    spot = await find_spot(page, target, "click", wait_ms)
    presses: list[Input] = []
    for count in (1, 2) if double else (1,):
        presses += [MouseDown(button, count), MouseUp(button, count)]
    held = _checked_modifiers(modifiers)
    at = MouseMove(spot.x, spot.y)
    await page.act(spot.frame, [*map(KeyDown, held), at, *presses, *map(KeyUp, held)])
    return spot


async def hover(page: Page, target: str, *, wait_ms: int) -> Spot:
    spot = await find_spot(page, target, "hover", wait_ms)
    await page.act(spot.frame, [MouseMove(spot.x, spot.y)])
    return spot


async def drag(page: Page, start: str, end: str, *, wait_ms: int) -> tuple[Spot, Spot]:
    source = await find_spot(page, start, "drag", wait_ms)
    goal = await find_spot(page, end, "hover", wait_ms)
    await drag_between(page, (source.x, source.y), (goal.x, goal.y), goal.frame)
    return source, goal


async def drag_between(
    page: Page, start: tuple[float, float], end: tuple[float, float], frame: str | None = None
) -> None:
    """Press, move in steps, and release.

    The steps work for pages that track the mouse and for pages with HTML5 drag and drop.
    """
    (x, y), (end_x, end_y) = start, end
    steps = [
        MouseMove(x + (end_x - x) * step / DRAG_STEPS, y + (end_y - y) * step / DRAG_STEPS)
        for step in range(1, DRAG_STEPS + 1)
    ]
    await page.act(frame, [MouseMove(x, y), MouseDown(), *steps, steps[-1], MouseUp()])


async def type_text(
    page: Page,
    target: str,
    text: str,
    *,
    wait_ms: int,
    slowly: bool = False,
    submit: bool = False,
) -> Json:
    """Replace a field's text. With ``slowly``, type at the end of its text, key by key."""
    frame, field = await page.call_where(
        target, "focusForTyping", timeoutMs=wait_ms, replace=not slowly
    )
    typed: list[Input] = []
    if slowly:
        typed = [key for character in text for key in _strokes(character)]
    else:
        typed = [InsertText(text)] if text else _strokes("Delete")
    if submit:
        typed += _strokes("Enter")
    await page.act(frame, typed)
    return field


async def press_key(page: Page, key: str) -> None:
    modifiers, name = parse_keys(key)
    held: list[Input] = [KeyDown(modifier) for modifier in modifiers]
    let_go: list[Input] = [KeyUp(modifier) for modifier in reversed(modifiers)]
    await page.act(None, [*held, *_strokes(name), *let_go])


async def fill(page: Page, target: str, value: Any, *, wait_ms: int) -> Json:
    """Set the value of any kind of field, by typing, clicking or choosing as its kind needs."""
    frame, field = await page.call_where(target, "setValue", timeoutMs=wait_ms, value=value)
    given: list[Input] = []
    match field.get("next"):
        case "type":
            text = _as_typed(value)
            given = [InsertText(text)] if text else _strokes("Delete")
        case "click":
            x, y = await page.offset(frame)
            point = field["point"]
            given = [MouseMove(x + point["x"], y + point["y"]), MouseDown(), MouseUp()]
    await page.act(frame, given)
    return field


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
    frame, field = await page.call_where(target, "prepare", action="upload", timeoutMs=wait_ms)
    if not field.get("isFile"):
        raise BadRequest("target: not a field for files.", field="target")
    if len(paths) > 1 and not field.get("multiple"):
        raise BadRequest("paths: this field takes one file.", field="paths")
    await page.tab.set_files(frame, field["ref"], paths)
    await page.settle(frame)
    return field


async def find_spot(page: Page, target: str, action: str, wait_ms: int) -> Spot:
    """Wait until the element can be acted on. Return the point where a pointer reaches it."""
    frame, ready = await page.call_where(target, "prepare", action=action, timeoutMs=wait_ms)
    x, y = await page.offset(frame) if frame is not None else (0.0, 0.0)
    return Spot(x + ready["point"]["x"], y + ready["point"]["y"], ready, frame)


def _as_typed(value: Any) -> str:
    """Return the value as text. JSON has only one number type, so 12.0 means 12."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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
