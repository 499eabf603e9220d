"""A page's request for files is answered once, and forgotten when the page is left."""

from __future__ import annotations

import pytest

from roost.drivers.choosers import Chooser
from roost.drivers.events import ChooserClosed, ChooserOpened, DriverEvent
from roost.errors import NotFound
from roost.vocabulary import TabHandle

TAB = TabHandle("T")


def test_the_last_field_that_asked_gets_the_files_once() -> None:
    events: list[DriverEvent] = []
    chooser: Chooser[int] = Chooser(TAB, events.append)
    chooser.opened(0, multiple=False)
    chooser.opened(7, multiple=True)

    assert chooser.take() == 7
    opened = [ChooserOpened(handle=TAB, multiple=multiple) for multiple in (False, True)]
    assert events == [*opened, ChooserClosed(TAB)]
    with pytest.raises(NotFound):
        chooser.take()


def test_a_page_that_is_left_no_longer_asks() -> None:
    events: list[DriverEvent] = []
    chooser: Chooser[int] = Chooser(TAB, events.append)
    chooser.close()
    assert events == []
    chooser.opened(0, multiple=False)
    chooser.close()

    assert events[-1] == ChooserClosed(TAB)
    with pytest.raises(NotFound):
        chooser.take()
