"""The dialogs and file fields of one tab, over a protocol that a test plays."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from roost.drivers.connection import ProtocolError
from roost.drivers.dialogs import Field, TabDialogs
from roost.drivers.events import ChooserClosed, DialogClosed, DialogOpened, DriverEvent
from roost.errors import BadRequest, NotFound
from roost.vocabulary import TabHandle

TAB = TabHandle("T")
FIELD: Field = ("session", {"node": 7})


class Played(TabDialogs):
    """A protocol that does what it is told, or refuses everything."""

    def __init__(self) -> None:
        self.events: list[DriverEvent] = []
        super().__init__(TAB, self.events.append)
        self.given: list[tuple[Field, list[str]]] = []
        self.refuses = False

    def dismiss_dialog(self) -> None:
        self.dialog_closed()

    def opens(self, kind: str) -> None:
        self._dialog_opened(kind, "Sure?", "")

    async def _field(self, frame: str | None, ref: str) -> Field:
        return FIELD

    async def _give(self, field: Field, paths: Sequence[str]) -> None:
        self._check()
        self.given.append((field, list(paths)))

    async def _answer(self, accept: bool, text: str | None) -> None:
        self._check()

    async def _kept_body(self, request: str) -> bytes:
        self._check()
        return b"body"

    def _check(self) -> None:
        if self.refuses:
            raise ProtocolError("the page's own words")


def test_a_dialog_is_known_from_its_opening_to_its_end() -> None:
    tab = Played()
    assert not tab.has_dialog
    tab.opens("confirm")
    assert (tab.has_dialog, tab.asks_to_stay) == (True, False)
    tab.dismiss_dialog()
    assert not tab.has_dialog
    tab.dialog_closed()
    opened = DialogOpened(handle=TAB, kind="confirm", message="Sure?", default="")
    assert tab.events == [opened, DialogClosed(TAB)], "an end is told once"


def test_a_page_that_may_be_left_only_after_an_answer_asks_to_stay() -> None:
    tab = Played()
    tab.opens("beforeunload")
    assert tab.asks_to_stay


async def test_files_go_to_the_field_that_asked_and_to_the_field_that_is_named() -> None:
    tab = Played()
    tab.chooser.opened(FIELD, multiple=False)
    await tab.choose_files(["/a"])
    await tab.set_files(None, "e1", ["/b"])
    assert tab.given == [(FIELD, ["/a"]), (FIELD, ["/b"])]
    assert tab.events[-1] == ChooserClosed(TAB)


async def test_refusals_of_the_browser_say_what_the_caller_can_do() -> None:
    tab = Played()
    tab.refuses = True
    tab.chooser.opened(FIELD, multiple=False)
    with pytest.raises(NotFound, match="is gone") as gone:
        await tab.choose_files(["/a"])
    assert gone.value.page_said == "the page's own words"
    with pytest.raises(BadRequest, match="refused them") as refused:
        await tab.set_files(None, "e1", ["/a"])
    assert refused.value.details["field"] == "paths"
    with pytest.raises(NotFound, match="No dialog is open"):
        await tab.answer_dialog(accept=True, text=None)
    with pytest.raises(NotFound, match="no longer has that body"):
        await tab.body("1")
