"""The page's request for files, in every browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from roost.drivers.events import ChooserClosed, ChooserOpened, DriverEvent
from roost.errors import NotFound
from roost.vocabulary import TabHandle

F = TypeVar("F")


class Chooser(Generic[F]):
    """Remembers the field of one tab that asked for files last. ``report`` gets the events."""

    def __init__(self, handle: TabHandle, report: Callable[[DriverEvent], None]) -> None:
        self._handle = handle
        self._report = report
        self.field: F | None = None
        """The field as the browser's protocol names it. None: no field asks for files."""

    def opened(self, field: F, *, multiple: bool) -> None:
        self.field = field
        self._report(ChooserOpened(handle=self._handle, multiple=multiple))

    def close(self) -> None:
        """Forget the field, which got its files or whose page was left."""
        if self.field is not None:
            self.field = None
            self._report(ChooserClosed(self._handle))

    def take(self) -> F:
        """Return the field, to give it files. Raises ``NotFound`` if none asks for files."""
        field = self.field
        if field is None:
            raise NotFound(
                "The page has not asked for files.",
                hint="Click its upload button first, or name the field with target.",
            )
        self.close()
        return field
