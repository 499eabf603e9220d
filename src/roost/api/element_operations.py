"""Operations that ask about one element, or show it to the person."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from roost.api import page_views as views
from roost.api.operation import Answers, Audience, PageOperation
from roost.api.page_operations import CONTENT_CHARS, optional_target, target_field

__all__ = ["Get", "Highlight", "Is"]


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
