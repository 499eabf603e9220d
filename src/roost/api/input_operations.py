"""Operations on the mouse by points of the viewport, and on the keyboard at the focus."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from roost.api import page_views as views
from roost.api.operation import Answers, Audience
from roost.api.page_operations import ActionOperation, Modifier, optional_target, target_field

__all__ = [
    "Drop", "HoldKey", "KeyDown", "KeyUp", "MouseClickXy", "MouseDown", "MouseDragXy",
    "MouseMoveXy", "MouseUp", "MouseWheel", "Point", "PressSequentially", "Swipe", "Tap",
]  # fmt: skip

HOLD_SECONDS = 30.0
PATH_POINTS = 100
Button = Literal["left", "right", "middle"]


class Point(BaseModel):
    """A point of the viewport, in CSS pixels."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    x: float
    y: float


class MouseClickXy(ActionOperation, Answers[views.ActionView]):
    """Click at a point of the viewport."""

    op = "browser_mouse_click_xy"
    title = "Click at a point"
    audience = Audience.ALL
    x: float
    y: float
    button: Button = "left"
    click_count: int = Field(default=1, ge=1, le=3)
    modifiers: list[Modifier] = Field(default_factory=list, max_length=4)


class MouseMoveXy(ActionOperation, Answers[views.ActionView]):
    """Move the mouse to a point of the viewport."""

    op = "browser_mouse_move_xy"
    title = "Move the mouse"
    audience = Audience.ALL
    x: float
    y: float


class MouseDown(ActionOperation, Answers[views.ActionView]):
    """Press a mouse button and hold it until it is released."""

    op = "browser_mouse_down"
    title = "Press a mouse button"
    audience = Audience.ALL
    x: float | None = Field(default=None, description="Default: where the mouse is")
    y: float | None = None
    button: Button = "left"


class MouseUp(ActionOperation, Answers[views.ActionView]):
    """Release a mouse button that is held."""

    op = "browser_mouse_up"
    title = "Release a mouse button"
    audience = Audience.ALL
    x: float | None = Field(default=None, description="Default: where the mouse is")
    y: float | None = None
    button: Button = "left"


class MouseDragXy(ActionOperation, Answers[views.ActionView]):
    """Drag from one point of the viewport to another."""

    op = "browser_mouse_drag_xy"
    title = "Drag between points"
    audience = Audience.ALL
    start_x: float
    start_y: float
    end_x: float
    end_y: float
    via: list[Point] = Field(
        default_factory=list, max_length=PATH_POINTS, description="Points on the way"
    )
    modifiers: list[Modifier] = Field(default_factory=list, max_length=4)


class MouseWheel(ActionOperation, Answers[views.ActionView]):
    """Turn the mouse wheel at a point of the viewport."""

    op = "browser_mouse_wheel"
    title = "Turn the wheel"
    audience = Audience.ALL
    x: float = 0
    y: float = 0
    delta_x: float = 0
    delta_y: float = 0


class PressSequentially(ActionOperation, Answers[views.ActionView]):
    """Type text where the focus is, without replacing what is there."""

    op = "browser_press_sequentially"
    title = "Type at the focus"
    audience = Audience.ALL
    text: str = Field(max_length=1_000_000)
    submit: bool = Field(default=False, description="Press Enter afterwards")


class HoldKey(ActionOperation, Answers[views.ActionView]):
    """Hold a key or several for some seconds: Shift, ArrowRight, w+d."""

    op = "browser_hold_key"
    title = "Hold a key"
    audience = Audience.ALL
    key: str = Field(min_length=1, max_length=200)
    seconds: float = Field(default=1.0, gt=0, le=HOLD_SECONDS)

    def waits(self) -> float:
        return self.seconds


class KeyDown(ActionOperation, Answers[views.ActionView]):
    """Press a key and hold it until it is released."""

    op = "browser_keydown"
    title = "Press a key down"
    audience = Audience.ALL
    key: str = Field(min_length=1, max_length=64)


class KeyUp(ActionOperation, Answers[views.ActionView]):
    """Release a key that is held."""

    op = "browser_keyup"
    title = "Release a key"
    audience = Audience.ALL
    key: str = Field(min_length=1, max_length=64)


class Tap(ActionOperation, Answers[views.ActionView]):
    """Tap an element, or a point of the viewport, with a finger."""

    op = "browser_tap"
    title = "Tap"
    audience = Audience.ALL
    audited = ("target",)
    target: str | None = optional_target()
    x: float | None = None
    y: float | None = None


class Swipe(ActionOperation, Answers[views.ActionView]):
    """Swipe with a finger from an element, a point or the middle of the viewport."""

    op = "browser_swipe"
    title = "Swipe"
    audience = Audience.ALL
    direction: Literal["up", "down", "left", "right"] = Field(
        description="Where the finger moves: up shows what is below"
    )
    target: str | None = optional_target()
    x: float | None = None
    y: float | None = None
    distance: float = Field(default=300, ge=1, le=10_000, description="Pixels")


class Drop(ActionOperation, Answers[views.ActionView]):
    """Drop files, or data of some MIME types, on an element, as from another window."""

    op = "browser_drop"
    title = "Drop files or data"
    audience = Audience.ALL
    audited = ("target", "paths")
    conduct = ("act", "upload")
    target: str = target_field()
    paths: list[str] = Field(
        default_factory=list, max_length=100, description="Below your working directory"
    )
    data: dict[str, str] = Field(
        default_factory=dict, max_length=20, description='{"text/plain": "words"}'
    )
    text: str | None = Field(default=None, max_length=1_000_000, description="As text/plain")
