"""Tools that act in pages with the browser's own trusted input, also in background tabs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roost.api import operations as ops
from roost.api.page_operations import SELECTOR_CHARS
from roost.errors import NotFound
from roost.frontends.mcp.claudezilla.desk import Desk, number_of
from roost.frontends.mcp.claudezilla.tool import TabTool
from roost.frontends.mcp.claudezilla.windows import answer_consent

SELECTOR = "CSS selector, text=…, or a ref of the accessibility snapshot"

ABOUT = """(element) => ({
  tagName: element.tagName,
  text: (element.textContent || "").trim().slice(0, 100),
  id: element.id || null,
  className: typeof element.className === "string" ? element.className : null,
})"""
VALUE = """(element) =>
  element.type === "password" ? null : "value" in element ? element.value : element.textContent"""
VALUE_TO_APPEND_TO = (
    """(element) => "value" in element ? element.value : element.textContent || "" """
)
FOCUS = "(element) => { element.focus(); return element.tagName; }"
FOCUSED = "() => document.activeElement ? document.activeElement.tagName : null"
WHERE = """() => ({
  position: { x: scrollX, y: scrollY },
  pageHeight: document.documentElement.scrollHeight,
  viewportHeight: innerHeight,
})"""


class Click(TabTool):
    """Click an element, once it can be clicked."""

    tool = "firefox_click"
    title = "Click"
    category = "core"
    selector: str = Field(max_length=SELECTOR_CHARS, description=SELECTOR)
    auto_wait: bool = True
    wait_timeout: float = 5000

    async def run(self, desk: Desk) -> dict[str, Any]:
        try:
            about = await desk.run(self.tab, ABOUT, self.selector)
        except NotFound:
            about = {}  # the element is not there yet; the click waits for it
        view = await desk.ask(ops.Click(tab=self.tab, target=self.selector, snapshot="none"))
        opened = [number_of(tab) for tab in view.opened or ()]
        return {
            "selector": self.selector,
            "clicked": True,
            **about,
            "url": view.url,
            **({"opened": opened} if opened else {}),
            **({"dialog": view.dialog.to_wire()} if view.dialog else {}),
        }


class Type(TabTool):
    """Type text into a field."""

    tool = "firefox_type"
    title = "Type text"
    category = "core"
    selector: str = Field(max_length=SELECTOR_CHARS, description=SELECTOR)
    text: str = Field(max_length=1_000_000)
    clear: bool = Field(default=True, description="false: add to what is there")
    auto_wait: bool = True
    wait_timeout: float = 5000

    async def run(self, desk: Desk) -> dict[str, Any]:
        text = self.text
        if not self.clear:
            text = f"{await desk.run(self.tab, VALUE_TO_APPEND_TO, self.selector)}{text}"
        await desk.ask(ops.Type(tab=self.tab, target=self.selector, text=text, snapshot="none"))
        value = await desk.run(self.tab, VALUE, self.selector)
        # Never report the content of a password field.
        shown = {"currentValue": value} if value is not None else {"currentValue": "***"}
        return {"selector": self.selector, "typed": True, **shown}


class PressKey(TabTool):
    """Press a key, with modifiers, in the focused element or the one given."""

    tool = "firefox_press_key"
    title = "Press a key"
    category = "core"
    key: str = Field(min_length=1, max_length=32, description="Enter, Tab, ArrowDown, a …")
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    ctrl_key: bool = False
    shift_key: bool = False
    alt_key: bool = False
    meta_key: bool = False

    async def run(self, desk: Desk) -> dict[str, Any]:
        function = FOCUSED if self.selector is None else FOCUS
        tag = await desk.run(self.tab, function, self.selector)
        held = {
            "ctrlKey": ("Control", self.ctrl_key),
            "shiftKey": ("Shift", self.shift_key),
            "altKey": ("Alt", self.alt_key),
            "metaKey": ("Meta", self.meta_key),
        }
        keys = "+".join([*(name for name, is_held in held.values() if is_held), self.key])
        await desk.ask(ops.PressKey(tab=self.tab, key=keys, snapshot="none"))
        return {
            "key": self.key,
            "selector": self.selector,
            "targetTag": tag,
            "modifiers": {name: is_held for name, (_, is_held) in held.items()},
        }


class Scroll(TabTool):
    """Scroll to an element or a point; without either, say where the page stands."""

    tool = "firefox_scroll"
    title = "Scroll"
    category = "core"
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    x: float | None = None
    y: float | None = None
    behavior: Literal["smooth", "instant"] = "instant"

    async def run(self, desk: Desk) -> dict[str, Any]:
        if self.selector is None and self.x is None and self.y is None:
            where: dict[str, Any] = await desk.run(self.tab, WHERE)
            return where
        view = await desk.ask(ops.Scroll(tab=self.tab, target=self.selector, x=self.x, y=self.y))
        return {
            "scrolledTo": self.selector or {"x": view.x, "y": view.y},
            "noEffect": not view.moved,
            "position": {"x": view.x, "y": view.y},
            "pageHeight": view.page_height,
        }


class HandleConsent(TabTool):
    """Answer a cookie banner: reject if it can be, else accept."""

    tool = "firefox_handle_consent"
    title = "Answer a cookie banner"
    category = "config"
    scan_timeout: float = Field(default=3000, ge=1000, le=10_000)

    async def run(self, desk: Desk) -> dict[str, Any]:
        return await answer_consent(desk, self.tab)
