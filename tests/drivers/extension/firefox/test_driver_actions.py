"""Input in a person's own Firefox with a remote agent, against a scripted extension and host:
the order of the commands, and when no input is sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from roost.drivers.base import (
    Input,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
)
from roost.drivers.extension import OwnFirefoxDriver
from roost.drivers.extension.host_link import HostLink
from roost.errors import TabGone
from roost.local.home import Home
from roost.testing.waits import error_of, started
from roost.vocabulary import TabHandle
from tests.drivers.scripted_link import ScriptedLink

TAB = TabHandle("r.1")
FRAME = "77"
CLICK: list[Input] = [MouseMove(1, 1), MouseDown(), MouseUp()]
PRESS: list[Input] = [KeyDown("x"), KeyUp("x")]
HANDOVER = {"product": "Firefox/1", "pid": 7, "nextId": 1, "hasRemote": True}
SETTLED = {"changed": False, "hasActivation": True}


class Firefox(ScriptedLink):
    """A browser with one tab, whose page shows every beacon that the driver asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.held: set[str] = set()
        self.waiting: dict[str, Any] = {}
        self.is_told = asyncio.Event()

    def send(self, frame: bytes) -> None:
        super().send(frame)
        message = self.sent[-1]
        if message == ["remote", "open"]:
            self.keeper_says("remote", {"opened": True})
            return
        command = message[1] if isinstance(message, list) else message
        if command["method"] == "Page.given":
            self.is_told.set()
        if command["method"] in self.held:
            self.waiting[command["method"]] = message
        else:
            self.answer(message)

    def answer(self, message: Any) -> None:
        if isinstance(message, dict):
            self.says(id=message["id"], result=self._of_the_extension(message["method"]))
        else:
            result = self._of_the_remote(**message[1])
            self.keeper_says(
                "remote", {"id": message[1]["id"], "type": "success", "result": result}
            )

    def _of_the_extension(self, method: str) -> dict[str, Any]:
        tab = {"tab": TAB, "group": "s1", "url": "http://x/", "title": "", "jar": None}
        answers: dict[str, dict[str, Any]] = {
            "Roost.state": {"tabs": [tab]},
            "Page.frameOfOurs": {"frame": int(FRAME)},
            "Page.act": {"value": SETTLED},
        }
        return answers.get(method, {})

    def _of_the_remote(self, method: str, params: Any, id: int) -> dict[str, Any]:
        if method == "browsingContext.getTree":
            of_ours = params["root"] == FRAME
            return {"contexts": [{"parent": "ours" if of_ours else None, "children": []}]}
        return {"type": "success", "result": {"type": "string", "value": "1"}}

    def asked(self) -> list[str]:
        """Return the commands to page and remote agent since the last call."""
        commands = [one[1] if isinstance(one, list) else one for one in self.sent]
        self.sent.clear()
        return [one["method"] for one in commands if one != "open"]


async def linked(folder: Path) -> tuple[OwnFirefoxDriver, Firefox]:
    firefox, driver = Firefox(), OwnFirefoxDriver(HostLink(Home(folder), "mine-firefox"))
    driver.linked(firefox)
    starting = await started(driver.start(lambda event: None))
    firefox.keeper_says("handover", HANDOVER)
    await starting
    await driver.page(TAB).act(PRESS, None, {})  # by now its name with the remote is known
    assert driver.capabilities.trusted_input
    firefox.asked()
    return driver, firefox


async def test_a_click_waits_for_the_beacon_and_the_page_is_asked_at_once(tmp_path: Path) -> None:
    driver, firefox = await linked(tmp_path)
    assert await driver.page(TAB).act(CLICK, None, {}) == SETTLED
    looked = ["browsingContext.getTree", "script.callFunction"]
    given = ["Page.act", "input.performActions", "Page.end"]
    assert firefox.asked() == ["Page.begin", *looked, *given]


async def test_a_page_that_did_not_see_the_click_is_told_that_input_was_sent(
    tmp_path: Path,
) -> None:
    driver, firefox = await linked(tmp_path)
    firefox.held.add("Page.act")
    acting = await started(driver.page(TAB).act(CLICK, None, {}))
    async with asyncio.timeout(5):
        await firefox.is_told.wait()
    firefox.answer(firefox.waiting["Page.act"])
    assert await acting == SETTLED
    assert firefox.asked()[-1] == "Page.end"


async def test_no_input_is_sent_before_the_extension_says_that_the_tab_has_its_beacon(
    tmp_path: Path,
) -> None:
    """This holds although the page seems to show the beacon already."""
    for inputs in (CLICK, PRESS):
        driver, firefox = await linked(tmp_path)
        firefox.held.add("Page.begin")
        acting = await started(driver.page(TAB).act(inputs, None, {}))
        refusal = {"code": 404, "message": "There is no such tab."}
        firefox.says(id=firefox.waiting["Page.begin"]["id"], error=refusal)
        await error_of(TabGone, acting)
        assert not {"input.performActions", "Page.act"} & set(firefox.asked())


async def test_no_input_is_sent_to_a_tab_that_left_its_group(tmp_path: Path) -> None:
    for inputs in (CLICK, PRESS):
        driver, firefox = await linked(tmp_path)
        firefox.held.add("script.callFunction")
        acting = await started(driver.page(TAB).act(inputs, None, {}))
        firefox.answer(firefox.waiting["script.callFunction"])  # it was still theirs to give
        firefox.says(method="Tabs.moved", params={"tab": TAB, "group": None})
        await error_of(TabGone, acting)
        assert not {"input.performActions", "Page.act"} & set(firefox.asked())
