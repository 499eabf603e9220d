"""Pages that a killed broker had asked for are closed by the next broker, and popups are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost.drivers.events import (
    TabOpened,
)
from roost.testing.waits import turn, until
from tests.drivers.played_chromium import HANDOVER, NEXT_ID, Played

JAR = "JAR"
OLD_CALL = NEXT_ID - 1


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


def page(target: str, **info: str) -> dict[str, Any]:
    """A page that waits for the debugger, as a keeper hands it over and as Chromium reports it."""
    return {
        "sessionId": f"S-{target}",
        "parent": "",
        "targetInfo": {"targetId": target, "type": "page", "browserContextId": JAR, **info},
        "waiting": True,
        "waitingForDebugger": True,
        "created": False,
    }


async def take_over(played: Played, *sessions: dict[str, Any], early: bool = False) -> None:
    """``early``: Chromium reports the sessions, and answers the old call, while the start waits."""
    starting = await played.begin()
    handed = [] if early else list(sessions)
    asked = {"sessions": handed, "creating": [OLD_CALL], "watches": True}
    played.link.keeper_says("handover", {**HANDOVER, **asked})
    await until(lambda: played.link.sent)
    if early:
        for session in sessions:
            played.link.says(method="Target.attachedToTarget", params=session)
        answer_old_call(played)
    played.link.says(id=NEXT_ID, result={"browserContextIds": [JAR]})
    assert (await starting).tabs == frozenset()
    await turn()


def answer_old_call(played: Played) -> None:
    played.link.says(id=OLD_CALL, result={"targetId": "STRAY"})


def closed(played: Played) -> list[str]:
    return [one["params"]["targetId"] for one in played.asked("Target.closeTarget")]


def reported(played: Played) -> list[tuple[str, str | None]]:
    return [(one.handle, one.jar) for one in played.reports if isinstance(one, TabOpened)]


async def test_a_page_that_was_created_and_never_ran_is_closed(played: Played) -> None:
    await take_over(played, page("STRAY") | {"created": True})

    assert (closed(played), reported(played)) == (["STRAY"], [])


async def test_a_page_whose_creation_is_answered_to_the_next_broker_is_closed(
    played: Played,
) -> None:
    await take_over(played, page("STRAY"))
    assert (closed(played), reported(played)) == ([], []), "the answer decides whose it is"
    answer_old_call(played)
    await turn()

    assert (closed(played), reported(played)) == (["STRAY"], [])


async def test_a_page_that_attaches_after_the_take_over_is_closed(played: Played) -> None:
    await take_over(played)
    played.link.says(method="Target.attachedToTarget", params=page("STRAY"))
    answer_old_call(played)
    await turn()

    assert (closed(played), reported(played)) == (["STRAY"], [])


async def test_events_during_the_take_over_are_not_lost(
    played: Played,
) -> None:
    await take_over(played, page("STRAY"), page("POPUP", openerId="T"), early=True)

    assert (closed(played), reported(played)) == (["STRAY"], [("POPUP", JAR)])


async def test_a_popup_is_reported_also_while_an_answer_is_awaited(played: Played) -> None:
    await take_over(played, page("POPUP", openerId="T"), page("CTRL-CLICKED"))
    assert reported(played) == [("POPUP", JAR)]
    answer_old_call(played)
    await turn()

    assert closed(played) == []
    assert reported(played) == [("POPUP", JAR), ("CTRL-CLICKED", JAR)]


async def test_a_browser_that_ends_first_leaves_nothing_to_close(played: Played) -> None:
    await take_over(played, page("STRAY"))
    played.link.ends()
    await turn()

    assert (closed(played), reported(played)) == ([], [])
