"""When a page has drawn enough to be shown."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from roost.broker.browser.page_records import PageRecord
from roost.broker.work import shown_page
from roost.broker.work.page_use import InPage
from roost.drivers.events import RequestSent
from roost.testing.clock import FakeClock
from roost.vocabulary import AgentId, TabHandle

EMPTY = {"drawn": False, "mayDraw": True, "mayGrow": False}
DRAWN = {"drawn": True, "mayDraw": False, "mayGrow": False}
STATIC = {"drawn": False, "mayDraw": False, "mayGrow": False}


class Application:
    """A page that answers ``drawn`` as the test says; the last answer repeats."""

    def __init__(self, *answers: dict[str, bool], busy: bool = False) -> None:
        self._answers = list(answers)
        self.asked: list[int] = []
        self.record = PageRecord()
        if busy:
            sent = RequestSent(
                handle=TabHandle("tab"), request="1", url="http://x/", method="GET", kind="script"
            )
            self.record.hear(sent, 0.0)

    async def call(self, frame: str | None, function: str, **argument: Any) -> dict[str, bool]:
        self.asked.append(argument["timeoutMs"])
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def here(self) -> InPage:
        broker = SimpleNamespace(clock=FakeClock())
        return cast(InPage, SimpleNamespace(broker=broker, page=self, record=self.record))


@pytest.mark.parametrize("answer", [DRAWN, STATIC])
async def test_a_page_that_will_not_draw_more_is_shown_at_once(answer: dict[str, bool]) -> None:
    page = Application(answer)
    await shown_page.drawn(page.here())
    assert page.asked == [0]


async def test_an_empty_application_is_waited_for_until_it_draws() -> None:
    page = Application(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, DRAWN, busy=True)
    await shown_page.drawn(page.here())
    assert len(page.asked) == 6


async def test_an_empty_page_without_requests_is_given_up_soon() -> None:
    page = Application(EMPTY)
    await shown_page.drawn(page.here())
    assert len(page.asked) == 1 + shown_page.QUIET_STEPS


async def test_a_page_that_draws_nothing_is_given_up_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shown_page, "DRAWN_SECONDS", -math.inf)
    page = Application(EMPTY, busy=True)
    await shown_page.drawn(page.here())
    assert page.asked == [0]


def test_only_a_diff_comes_with_the_action_itself() -> None:
    looks = {show: shown_page.look(AgentId("a"), show) for show in ("none", "diff", "full")}
    assert [show for show, look in looks.items() if look is not None] == ["diff"]
