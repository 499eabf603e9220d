"""Where the mouse of one tab is, and which buttons and keys input holds down between two calls."""

from __future__ import annotations

from collections.abc import Iterable

from roost.drivers.base import Input, KeyDown, KeyUp, MouseDown, MouseMove, MouseUp, Wheel


class HeldInput:
    """The state that the input given so far leaves behind in one tab."""

    def __init__(self) -> None:
        self.point = (0.0, 0.0)
        self.buttons: list[str] = []
        self.keys: list[str] = []
        self.dragged_to: tuple[float, float] | None = None
        """The last point of a move with a held button. None if no such move was made."""

    def follow(self, one: Input) -> None:
        """Note one input that is given to the tab."""
        match one:
            case MouseMove():
                self.point = one.x, one.y
                if self.buttons:
                    self.dragged_to = self.point
            case Wheel():
                self.point = one.x, one.y
            case MouseDown():
                self.dragged_to = None
                if one.button not in self.buttons:
                    self.buttons.append(one.button)
            case MouseUp():
                self.dragged_to = None
                if one.button in self.buttons:
                    self.buttons.remove(one.button)
            case KeyDown():
                if one.key not in self.keys:
                    self.keys.append(one.key)
            case KeyUp():
                if one.key in self.keys:
                    self.keys.remove(one.key)

    def effective(self, inputs: Iterable[Input]) -> list[Input]:
        """Return the inputs without releases of buttons and keys that are not held then.

        ``release`` may have let go of them already, because the tab was handed over meanwhile.
        """
        buttons, keys = set(self.buttons), set(self.keys)
        found: list[Input] = []
        for one in inputs:
            match one:
                case MouseDown():
                    buttons.add(one.button)
                case KeyDown():
                    keys.add(one.key)
                case MouseUp() if one.button not in buttons:
                    continue
                case MouseUp():
                    buttons.discard(one.button)
                case KeyUp() if one.key not in keys:
                    continue
                case KeyUp():
                    keys.discard(one.key)
            found.append(one)
        return found

    def lifts(self) -> list[MouseUp | KeyUp]:
        """Return the inputs that release everything, the newest first."""
        ups = [MouseUp(button) for button in reversed(self.buttons)]
        return [*ups, *(KeyUp(key) for key in reversed(self.keys))]
