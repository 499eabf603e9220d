"""A tab or session that arrives after its caller has left is closed at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from roost.testing.waits import started, turn
from roost.vocabulary import TabHandle
from tests.drivers.played_chromium import Played

CREATE = "Target.createTarget"
ATTACH = "Target.attachToBrowserTarget"
INFO = {"targetId": "T", "type": "page", "url": "about:blank", "browserContextId": "default"}


class Ear:
    def answered(self, key: object, frame: bytes) -> None:
        raise AssertionError("nothing was asked")

    def heard(self, session: str, frame: bytes) -> None:
        raise AssertionError("nobody listens")

    def ended(self) -> None:
        raise AssertionError("it never began")


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


async def cancelled(call: Coroutine[Any, Any, object]) -> None:
    task = await started(call)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_the_session_of_a_client_that_left_while_it_waited_is_ended(played: Played) -> None:
    await played.start()
    await cancelled(played.driver.open_tap(Ear()))
    asked, spare = played.asked(ATTACH)
    played.link.says(id=asked["id"], result={"sessionId": "LEFT"})
    played.link.says(id=spare["id"], result={"sessionId": "SPARE"})
    await turn()

    ended = [one["params"]["sessionId"] for one in played.asked("Target.detachFromTarget")]
    assert ended == ["LEFT"], "and the one for the next client is kept"
    tap = await played.driver.open_tap(Ear())
    assert tap.session == "SPARE"


async def test_a_browser_that_ends_first_has_no_session_to_end(played: Played) -> None:
    await played.start()
    await cancelled(played.driver.open_tap(Ear()))
    played.link.ends()
    await turn()

    assert played.asked("Target.detachFromTarget") == []


@pytest.mark.parametrize("is_attached_first", [True, False])
async def test_the_tab_of_a_cancelled_call_is_closed_and_not_reported(
    played: Played, is_attached_first: bool
) -> None:
    await played.start()
    attached = {"sessionId": "S", "targetInfo": INFO, "waitingForDebugger": True}
    opening = await started(played.driver.open_tab("default"))
    if is_attached_first:
        played.link.says(method="Target.attachedToTarget", params=attached)
    opening.cancel()
    await asyncio.wait({opening})
    if not is_attached_first:
        played.link.says(method="Target.attachedToTarget", params=attached)
    played.link.says(id=played.asked(CREATE)[0]["id"], result={"targetId": "T"})
    await turn()

    assert [one["params"] for one in played.asked("Target.closeTarget")] == [{"targetId": "T"}]
    assert played.reports == []


async def test_a_page_that_came_by_itself_meanwhile_is_reported(played: Played) -> None:
    await played.start()
    await cancelled(played.driver.open_tab("default"))
    other = {"sessionId": "O", "targetInfo": INFO | {"targetId": "OTHER"}}
    played.link.says(method="Target.attachedToTarget", params=other)
    assert played.reports == [], "it might be the one that was asked for"
    failure = {"code": -32000, "message": "no"}
    played.link.says(id=played.asked(CREATE)[0]["id"], error=failure)
    await turn()

    assert [getattr(event, "handle", None) for event in played.reports] == [TabHandle("OTHER")]
