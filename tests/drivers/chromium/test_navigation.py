"""Navigations whose document never arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from roost.errors import TabCrashed
from roost.testing.waits import SECONDS, error_of, started, turn
from roost.vocabulary import TabHandle
from tests.drivers.played_chromium import Played

TAB, SESSION = TabHandle("T"), "S"
PAGE = {"targetId": TAB, "type": "page", "url": "about:blank", "browserContextId": "default"}
FRAME = {"id": TAB, "loaderId": "L0", "url": "about:blank"}
ANSWERS: dict[str, Any] = {
    "Target.createTarget": {"targetId": TAB},
    "Target.getTargetInfo": {"targetInfo": PAGE | {"title": ""}},
    "Page.getFrameTree": {
        "frameTree": {"frame": {"id": TAB, "loaderId": "L0", "url": "about:blank"}}
    },
    "Page.navigate": {"frameId": TAB, "loaderId": "L1"},
    "Runtime.evaluate": {"result": {"value": 0}},
    "Page.addScriptToEvaluateOnNewDocument": {"identifier": "1"},
}


class AnsweringBrowser:
    """A browser that answers every command of the driver."""

    def __init__(self, played: Played) -> None:
        self._link = played.link
        self._answered = len(played.link.sent)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(SECONDS):
            while not condition():
                for command in self._link.sent[self._answered :]:
                    self._answer(command)
                await turn()

    def _answer(self, command: dict[str, Any]) -> None:
        self._answered += 1
        if command["method"] == "Target.createTarget":
            attached = {"sessionId": SESSION, "targetInfo": PAGE, "waitingForDebugger": True}
            self._link.says(method="Target.attachedToTarget", params=attached)
        self._link.says(id=command["id"], result=ANSWERS.get(command["method"], {}))


async def test_a_navigation_whose_new_process_dies_does_not_count_as_an_arrival(
    tmp_path: Path,
) -> None:
    """The old page's process stays alive, so Chromium reports no crash; loading just stops."""
    played = Played(tmp_path)
    await played.start()
    browser = AnsweringBrowser(played)
    opening = await started(played.driver.open_tab("default"))
    await browser.until(opening.done)
    assert opening.result() == TAB

    navigating = await started(played.driver.page(TAB).navigate("http://a.test/"))
    await browser.until(lambda: played.asked("Page.navigate"))
    for event, params in (
        ("Page.frameStartedNavigating", {"url": "http://a.test/", "loaderId": "L1"}),
        ("Page.frameStoppedLoading", {}),
    ):
        played.link.says(method=event, params={"frameId": TAB, **params}, sessionId=SESSION)
    await browser.until(navigating.done)
    await error_of(TabCrashed, navigating)
