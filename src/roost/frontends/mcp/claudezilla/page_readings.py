"""Tools that read pages: their text, structure and screenshots."""

from __future__ import annotations

import contextlib
from typing import Any, Literal

from pydantic import Field

from roost.api import operations as ops
from roost.api.page_operations import CONTENT_CHARS
from roost.errors import BadRequest, Ownership
from roost.frontends.mcp.claudezilla.desk import Desk, number_of
from roost.frontends.mcp.claudezilla.page_actions import SELECTOR, SELECTOR_CHARS
from roost.frontends.mcp.claudezilla.states import difference, page_state
from roost.frontends.mcp.claudezilla.tool import ClaudezillaTool, TabTool
from roost.frontends.mcp.claudezilla.tree import tree_of
from roost.frontends.mcp.toolset import Image

TREE_CHARS = 1_000_000
PURPOSES = {
    "quick-glance": (30, 0.25),
    "read-text": (60, 0.5),
    "inspect-ui": (80, 0.75),
    "full-detail": (95, 1.0),
}
"""Quality and scale of a screenshot, by its purpose."""

ELEMENT = """(element) => {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const attributes = {};
  for (const { name, value } of element.attributes)
    attributes[name] = name === "value" && element.type === "password" ? "***" : value;
  return {
    tagName: element.tagName,
    attributes,
    text: (element.textContent || "").trim().slice(0, 500),
    visible: box.width > 0 && box.height > 0 && style.visibility === "visible",
    position: { x: box.x, y: box.y, width: box.width, height: box.height },
    styles: {
      display: style.display, visibility: style.visibility, opacity: style.opacity,
      color: style.color, backgroundColor: style.backgroundColor, fontSize: style.fontSize,
    },
  };
}"""
TAG = "(element) => element.tagName"


class GetContent(TabTool):
    """The page's text, or an element's; with includeHtml its HTML, too."""

    tool = "firefox_get_content"
    title = "Get the content"
    category = "inspection"
    read_only = True
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    include_html: bool = False
    max_length: int = Field(default=50_000, ge=1, le=CONTENT_CHARS)

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(self._content("text"))
        answer: dict[str, Any] = {"url": view.url, "title": view.title}
        if self.selector is not None:
            answer = {"selector": self.selector}
            with contextlib.suppress(Ownership):  # scripts may not run in another agent's tab
                answer["tagName"] = await desk.run(self.tab, TAG, self.selector)
        answer |= {"text": view.text, "textLength": view.length, "truncated": view.truncated}
        if self.include_html:
            answer["html"] = (await desk.ask(self._content("html"))).text
        return answer

    def _content(self, format: Literal["text", "html"]) -> ops.GetContent:
        return ops.GetContent(
            tab=self.tab, selector=self.selector, format=format, max_length=self.max_length
        )


class GetPageState(TabTool):
    """The page as data: headings, links, buttons, inputs, images, each with a ref to act on."""

    tool = "firefox_get_page_state"
    title = "Get the page's state"
    category = "core"
    read_only = True
    max_headings: int = Field(default=30, ge=0, le=1000)
    max_links: int = Field(default=50, ge=0, le=1000)
    max_buttons: int = Field(default=30, ge=0, le=1000)
    max_inputs: int = Field(default=30, ge=0, le=1000)
    max_images: int = Field(default=20, ge=0, le=1000)

    async def run(self, desk: Desk) -> dict[str, Any]:
        limits = ops.StateLimits(
            headings=self.max_headings,
            links=self.max_links,
            buttons=self.max_buttons,
            inputs=self.max_inputs,
            images=self.max_images,
        )
        return page_state((await desk.ask(ops.PageState(tab=self.tab, limits=limits))).state)


class DiffPageState(ClaudezillaTool):
    """What changed between two page states you were given before."""

    tool = "firefox_diff_page_state"
    title = "Compare page states"
    category = "inspection"
    read_only = True
    before: dict[str, Any]
    after: dict[str, Any]

    async def run(self, desk: Desk) -> dict[str, Any]:
        return difference(self.before, self.after)


class GetAccessibilitySnapshot(TabTool):
    """The page as a tree of roles and names, with refs that firefox_click and others take."""

    tool = "firefox_get_accessibility_snapshot"
    title = "Read the page"
    category = "devtools"
    read_only = True
    max_depth: int = Field(default=5, ge=1, le=100)
    max_nodes: int = Field(default=200, ge=1, le=10_000)
    selector: str = Field(default="body", max_length=SELECTOR_CHARS)

    async def run(self, desk: Desk) -> dict[str, Any]:
        target = None if self.selector == "body" else self.selector
        view = await desk.ask(
            ops.Snapshot(tab=self.tab, target=target, depth=self.max_depth, max_chars=TREE_CHARS)
        )
        tree, count, is_cut = tree_of(view.snapshot, self.max_nodes)
        return {
            "url": view.url,
            "title": view.title,
            "tree": tree,
            "nodeCount": count,
            "maxNodes": self.max_nodes,
            "truncated": is_cut or view.truncated,
        }


class GetElement(TabTool):
    """An element's attributes, text, place and looks."""

    tool = "firefox_get_element"
    title = "Look at an element"
    category = "inspection"
    read_only = True
    selector: str = Field(max_length=SELECTOR_CHARS, description=SELECTOR)

    async def run(self, desk: Desk) -> dict[str, Any]:
        about: dict[str, Any] = await desk.run(self.tab, ELEMENT, self.selector)
        return {"selector": self.selector, **about}


class WaitFor(TabTool):
    """Wait for an element, a text or an address (with *), across navigations."""

    tool = "firefox_wait_for"
    title = "Wait"
    category = "inspection"
    read_only = True
    shown = frozenset({"timeout"})
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    text: str | None = Field(default=None, max_length=1000)
    url: str | None = Field(default=None, max_length=2000)
    timeout: float = Field(default=10_000, gt=0, le=240_000, description="ms")

    def seconds(self) -> float:
        return self.timeout / 1000 + 10  # time for the other operations of this call

    async def run(self, desk: Desk) -> dict[str, Any]:
        if [self.selector, self.text, self.url].count(None) != 2:
            raise BadRequest("selector: give one of selector, text, url.", field="selector")
        view = await desk.ask(
            ops.WaitFor(
                tab=self.tab,
                selector=self.selector,
                text=self.text,
                url=self.url,
                timeout=self.timeout / 1000,
            )
        )
        answer: dict[str, Any] = {"found": True, "elapsed": view.waited_ms, "url": view.url}
        if self.selector is not None:
            about = await desk.run(self.tab, ELEMENT, self.selector)
            return answer | {"visible": about["visible"], "position": about["position"]}
        return answer | {"matched": self.text or self.url}


class Screenshot(TabTool):
    """Take a picture of the tab, in the background, once the page has come to rest."""

    tool = "firefox_screenshot"
    title = "Take a screenshot"
    category = "core"
    read_only = True
    purpose: Literal["quick-glance", "read-text", "inspect-ui", "full-detail"] | None = None
    quality: int | None = Field(default=None, ge=1, le=100)
    scale: float | None = Field(default=None, ge=0.25, le=1)
    format: Literal["jpeg", "png"] = "jpeg"
    max_wait: int = Field(default=10_000, ge=0, le=60_000, description="ms for it to come to rest")
    wait_for_images: bool = True
    skip_readiness: bool = False
    annotate: bool = Field(default=False, description="Draw refs on what can be operated")

    async def run(self, desk: Desk) -> dict[str, Any]:
        quality, scale = PURPOSES[self.purpose or "read-text"]
        view = await desk.ask(
            ops.TakeScreenshot(
                tab=self.tab,
                type=self.format,
                quality=self.quality or quality,
                scale=self.scale or scale,
                annotate=self.annotate,
                max_wait_ms=0 if self.skip_readiness else self.max_wait,
            )
        )
        wire = view.to_wire()
        wire["tabId"] = number_of(wire.pop("tab"))
        return wire

    def images(self, answer: dict[str, Any]) -> list[Image]:
        return [Image(answer.pop("data"), answer["mimeType"])]
