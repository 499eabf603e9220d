"""The open dialog and the file chooser of one tab, and its responses' bodies, in every protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from roost.drivers.choosers import Chooser
from roost.drivers.connection import Json, ProtocolError
from roost.drivers.events import DialogClosed, DialogOpened, DriverEvent
from roost.errors import BadRequest, NotFound
from roost.vocabulary import TabHandle

Field = tuple[str, Json]
"""A file field: its protocol session or context, and the parameters that name the field there."""


class TabDialogs(ABC):
    """Answers one tab's dialogs and requests for files. ``report`` gets their events.

    This class remembers what is open, and turns the browser's refusals into errors that a caller
    understands. A subclass sends the commands of its protocol.
    """

    def __init__(self, handle: TabHandle, report: Callable[[DriverEvent], None]) -> None:
        self._handle = handle
        self._report = report
        self.chooser: Chooser[Field] = Chooser(handle, report)
        self.dialog: DialogOpened | None = None
        """The open dialog, as it was reported."""

    @property
    def has_dialog(self) -> bool:
        return self.dialog is not None

    @property
    def asks_to_stay(self) -> bool:
        """True while the page asks whether to leave it."""
        return self.dialog is not None and self.dialog.kind == "beforeunload"

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        field = await self._field(frame, ref)
        try:
            await self._give(field, paths)
        except ProtocolError as error:
            raise BadRequest(
                "paths: the browser refused them.", field="paths", page_said=str(error)
            ) from None

    async def choose_files(self, paths: Sequence[str]) -> None:
        field = self.chooser.take()
        try:
            await self._give(field, paths)
        except ProtocolError as error:
            raise NotFound(
                "The field that asked for files is gone.", page_said=str(error)
            ) from None

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        try:
            await self._answer(accept, text)
        except ProtocolError:
            raise NotFound(
                "No dialog is open in this tab.", hint="There is nothing to answer; continue."
            ) from None

    async def body(self, request: str) -> bytes:
        try:
            return await self._kept_body(request)
        except ProtocolError:
            raise NotFound("The browser no longer has that body.", request=request) from None

    @abstractmethod
    def dismiss_dialog(self) -> None:
        """Dismiss the dialog, as Escape does. Do not wait: the page may open the next at once."""

    def _dialog_opened(self, kind: str, message: str, default: str) -> None:
        self.dialog = DialogOpened(handle=self._handle, kind=kind, message=message, default=default)
        self._report(self.dialog)

    def dialog_closed(self) -> None:
        if self.dialog is not None:
            self.dialog = None
            self._report(DialogClosed(self._handle))

    @abstractmethod
    async def _field(self, frame: str | None, ref: str) -> Field:
        """Return the file field with that ref."""

    @abstractmethod
    async def _give(self, field: Field, paths: Sequence[str]) -> None:
        """Give the field these files. Raises ``ProtocolError`` if the browser refuses."""

    @abstractmethod
    async def _answer(self, accept: bool, text: str | None) -> None:
        """Answer the open dialog. Raises ``ProtocolError`` if there is none."""

    @abstractmethod
    async def _kept_body(self, request: str) -> bytes:
        """Return a response's body. Raises ``ProtocolError`` if the browser has dropped it."""
