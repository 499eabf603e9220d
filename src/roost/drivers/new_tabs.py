"""Tell the tabs that a driver's own commands create from all other new tabs.

A browser reports a new tab before it answers the command that created the tab. So while such a
command is pending, nobody can tell whether a new tab without an opener is the driver's own. The
reply tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from roost.drivers.connection import Json, Pending, ProtocolError
from roost.errors import JarUnavailable, RoostError, TabGone


class NewTabs:
    """The new tabs of one browser.

    ``field``: the field that names the tab in the reply to the command that creates a tab.
    ``came``: called with the browser's event for each tab that no command of ours created.
    ``close``: closes a tab that no call waits for any more.
    """

    def __init__(
        self, field: str, came: Callable[[Json], None], close: Callable[[str], None]
    ) -> None:
        self._field = field
        self._came = came
        self._close = close
        self._pending = 0
        """Commands of ours that create a tab and are not answered yet."""
        self._undecided: dict[str, Json] = {}
        """The events of new tabs that are ours or not; a reply will tell."""

    def __contains__(self, name: str) -> bool:
        return name in self._undecided

    def may_be_ours(self, name: str, event: Json) -> bool:
        """Return True if the new tab may be ours. Its event is kept until a reply decides."""
        if self._pending:
            self._undecided[name] = event
        return bool(self._pending)

    async def created(self, making: Pending) -> Json:
        """Wait for the reply to a command that creates a tab, and return the tab's event. If the
        caller is cancelled, the tab is closed as soon as it exists."""
        self._pending += 1
        try:
            await asyncio.wait({making})
        except asyncio.CancelledError:
            making.add_done_callback(self._close_unwanted)
            raise
        try:
            event = self._claim(making)
        except ProtocolError as error:
            raise JarUnavailable("No tab can be opened there.", page_said=str(error)) from None
        if event is None:
            raise TabGone("The tab was closed as it opened.")
        return event

    def close_when_created(self, making: Pending) -> None:
        """Close the tab of a command that an earlier broker sent: no call waits for it."""
        self._pending += 1
        making.add_done_callback(self._close_unwanted)

    def gone(self, name: str) -> None:
        self._undecided.pop(name, None)

    def clear(self) -> None:
        """Forget the undecided tabs of a browser that ended. The pending commands fail a moment
        later, and these tabs would seem to be tabs of the next browser then."""
        self._undecided.clear()

    def _claim(self, making: Pending) -> Json | None:
        """Return the event of the tab that ``making`` created; None if the tab is gone. If no other
        command is pending, all remaining tabs are not ours."""
        self._pending -= 1
        try:
            return self._undecided.pop(making.result()[self._field], None)
        finally:
            if not self._pending:
                undecided, self._undecided = self._undecided, {}
                for event in undecided.values():
                    self._came(event)

    def _close_unwanted(self, making: Pending) -> None:
        with suppress(ProtocolError, RoostError):  # no tab was created
            if self._claim(making) is not None:
                self._close(making.result()[self._field])
