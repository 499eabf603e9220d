"""Operations that ask about one element, show it to the person, or read an address as text."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roost.api import page_views as views
from roost.api.operation import Answers, Audience, PageOperation
from roost.api.page_operations import CONTENT_CHARS, optional_target, target_field
from roost.api.views import ValueView

__all__ = ["Get", "Highlight", "Is", "Read", "WebMcpCall", "WebMcpList"]


class Get(PageOperation, Answers[views.ElementValueView]):
    """Get one value of an element, or the title or address of the page. Waits for the element."""

    op = "browser_get"
    title = "Get a value"
    audience = Audience.ALL
    read_only = True
    what: Literal["text", "html", "value", "attr", "count", "box", "styles", "title", "url"]
    target: str | None = optional_target()
    name: str | None = Field(default=None, max_length=200, description="For attr: its name")
    names: list[str] = Field(
        default_factory=list, max_length=100, description="For styles: properties"
    )
    max_length: int = Field(default=50_000, ge=1, le=CONTENT_CHARS)


class Is(PageOperation, Answers[views.ElementStateView]):
    """Ask whether an element is in a state. Only visible and hidden do not wait for the element."""

    op = "browser_is"
    title = "Ask for a state"
    audience = Audience.ALL
    read_only = True
    state: Literal["visible", "hidden", "enabled", "disabled", "checked", "editable"]
    target: str = target_field()


class Highlight(PageOperation, Answers[views.ElementStateView]):
    """Draw a frame around an element for the person who watches, or remove it."""

    op = "browser_highlight"
    title = "Highlight an element"
    audience = Audience.ALL
    target: str | None = optional_target("Element; none removes the frame")
    label: str | None = Field(default=None, max_length=80, description="Words beside the frame")
    seconds: float = Field(default=5.0, ge=0.1, le=60)


class Read(PageOperation, Answers[views.WebTextView]):
    """Read an address as Markdown or as an outline of its headings, without opening it and without
    your cookies. Without an address: the page that is open."""

    op = "browser_read"
    title = "Read an address"
    audience = Audience.ALL
    read_only = True
    audited = ("url",)
    url: str | None = Field(default=None, max_length=8192)
    format: Literal["markdown", "outline"] = "markdown"
    max_length: int = Field(default=50_000, ge=1, le=CONTENT_CHARS)


class WebMcpList(PageOperation, Answers[views.PageToolsView]):
    """List the tools that the page itself offers to agents (WebMCP). The page chose their words."""

    op = "browser_webmcp_list"
    title = "List the page's tools"
    audience = Audience.ALL
    read_only = True


class WebMcpCall(PageOperation, Answers[ValueView]):
    """Call a tool that the page offers. The page's own code runs, and its answer is untrusted."""

    op = "browser_webmcp_call"
    title = "Call a page's tool"
    audience = Audience.ALL
    audited = ("name",)
    name: str = Field(min_length=1, max_length=200)
    input: dict[str, Any] | str = Field(
        default_factory=dict, max_length=100_000, description="The tool's arguments, as JSON"
    )
