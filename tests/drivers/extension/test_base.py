"""The driver of a person's own browser, against a scripted extension."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from roost.drivers.base import NO_BUNDLE, Group, RunningBrowser
from roost.drivers.events import (
    DownloadBegan,
    DownloadEnded,
    DriverEvent,
    GroupClosed,
    PersonSaid,
    TabClosed,
    TabMoved,
    TabOpened,
)
from roost.drivers.extension import OwnChromiumDriver
from roost.drivers.extension.host_link import HostLink
from roost.drivers.panel import Panel
from roost.errors import BrowserLost, JarUnavailable, TabGone, Unsupported
from roost.local.home import Home, write_secret
from roost.local.processes import identify
from roost.testing.waits import error_of, started
from roost.vocabulary import Color, JarPolicy, TabHandle
from tests.drivers.scripted_link import ScriptedLink

GROUP = Group("s1", "Ann", Color.BLUE)
HANDOVER: dict[str, Any] = {
    "product": "Chromium/1",
    "pid": 7,
    "nextId": 1,
    "sessions": [],
    "dialogs": [],
    "choosers": [],
    "requests": [],
    "crashed": [],
}


class Extension(ScriptedLink):
    """Answers as the extension does, except for the methods that the test handles itself."""

    def __init__(self, *tabs: str) -> None:
        super().__init__()
        self.tabs = [
            {"tab": t, "group": "s1", "url": f"http://{t}/", "title": "", "jar": None} for t in tabs
        ]
        self.held: set[str] = set()
        self.made = 0

    def send(self, frame: bytes) -> None:
        super().send(frame)
        message = self.sent[-1]
        if message["method"] not in self.held:
            self.answer(message)

    def answer(self, message: Any) -> None:
        result: dict[str, Any] = {}
        match message["method"]:
            case "Roost.state":
                result = {"tabs": self.tabs}
            case "Tabs.create":
                self.made += 1
                result = {"tab": f"r.{self.made}"}
            case "Debugger.attach":
                handle = message["params"]["tab"]
                info = {"targetId": "F", "type": "page", "url": ""}
                params = {"sessionId": handle, "targetInfo": info, "waitingForDebugger": False}
                self.says(method="Target.attachedToTarget", params=params)
            case "Page.getFrameTree":
                frame = {"id": "F", "url": "http://x/", "loaderId": "L"}
                result = {"frameTree": {"frame": frame}}
            case "Target.getTargetInfo":
                result = {"targetInfo": {"title": "X"}}
            case "Runtime.evaluate":
                result = {"result": {"value": 6}}
        self.says(id=message["id"], result=result)

    def methods(self) -> list[str]:
        return [message["method"] for message in self.sent]

    def last(self, method: str) -> Any:
        return next(one for one in reversed(self.sent) if one["method"] == method)


class Desk:
    def __init__(self, folder: Path, *tabs: str, idle_seconds: float = 60.0) -> None:
        self.home = Home(folder)
        self.host = HostLink(self.home, "mine-chromium")
        self.driver = OwnChromiumDriver(self.host, NO_BUNDLE, idle_seconds=idle_seconds)
        self.extension = Extension(*tabs)
        self.events: list[DriverEvent] = []

    async def start(self, **handover: Any) -> RunningBrowser:
        self.driver.linked(self.extension)
        starting = await started(self.driver.start(self.events.append))
        self.extension.keeper_says("handover", {**HANDOVER, **handover})
        return await starting


async def test_a_start_knows_the_tabs_their_groups_and_addresses(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "r.1", "r.2")
    told = await desk.start()

    assert (told.version, told.pid, told.headless, told.resumed) == ("Chromium/1", 7, False, False)
    assert told.groups == {"r.1": "s1", "r.2": "s1"}
    assert told.places == {"r.1": "http://r.1/", "r.2": "http://r.2/"}
    assert (await Desk(tmp_path).start(nextId=9)).resumed


async def test_a_browser_that_is_not_linked_says_what_to_do(tmp_path: Path) -> None:
    driver = Desk(tmp_path).driver
    for call in (driver.start(print), driver.open_tab("default", GROUP)):
        error = await error_of(BrowserLost, call)
        assert error.hint


async def test_a_second_link_never_replaces_the_first(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.start()
    with pytest.raises(Unsupported, match="another profile"):
        desk.driver.linked(Extension())
    desk.extension.ends()
    desk.driver.linked(Extension())  # the first is gone: now the other may


async def test_a_waiting_host_is_woken_when_a_broker_starts(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.home.create()
    (tmp_path / "hosts").mkdir(mode=0o700)
    gone = tmp_path / "hosts" / "mine-chromium.1.json"
    write_secret(gone, json.dumps({"pid": 1, "processStarted": "never"}).encode())
    await error_of(BrowserLost, desk.driver.start(print))
    assert not gone.exists()

    woken = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, woken.set)
    try:
        me = identify(os.getpid())
        assert me is not None
        record = {"pid": me.pid, "processStarted": me.started}
        write_secret(
            tmp_path / "hosts" / f"mine-chromium.{me.pid}.json", json.dumps(record).encode()
        )
        starting = await started(desk.driver.start(desk.events.append))
        async with asyncio.timeout(5):
            await woken.wait()
        desk.driver.linked(desk.extension)
        while "_on_frame" not in vars(desk.extension):
            await asyncio.wait({starting}, timeout=0.01)
        desk.extension.keeper_says("handover", HANDOVER)
        assert (await starting).version
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)


async def test_events_meant_for_the_last_broker_are_not_reported(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "r.1")
    desk.extension.held.add("Roost.state")
    desk.driver.linked(desk.extension)
    starting = await started(desk.driver.start(desk.events.append))
    desk.extension.keeper_says("handover", HANDOVER)
    await asyncio.wait({starting}, timeout=0.01)
    desk.extension.says(method="Tabs.removed", params={"tab": "r.0"})
    desk.extension.answer(desk.extension.last("Roost.state"))

    assert (await starting).tabs == {"r.1"}
    assert desk.events == []


async def test_what_the_person_does_is_reported(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "r.1", "r.2", "r.3")
    await desk.start()
    says = desk.extension.says
    appeared = {"tab": "r.4", "group": "s1", "opener": "r.1", "jar": None, "url": "u"}
    says(method="Tabs.appeared", params=appeared)
    says(method="Tabs.moved", params={"tab": "r.1", "group": "s2"})
    says(method="Tabs.moved", params={"tab": "r.2", "group": None})
    says(method="Groups.closed", params={"key": "s1"})
    says(method="Tabs.removed", params={"tab": "r.3"})
    says(method="Person.said", params={"what": "pause", "group": None})

    handle, opener = TabHandle("r.4"), TabHandle("r.1")
    assert desk.events == [
        TabOpened(handle=handle, opener=opener, jar="default", url="u", group="s1"),
        TabMoved(opener, "s2"),
        TabMoved(TabHandle("r.2"), None),
        GroupClosed("s1"),
        TabClosed(TabHandle("r.3")),
        PersonSaid("pause", None),
    ]


async def test_a_tab_dragged_out_is_gone_for_calls_under_way_and_for_later_ones(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, "r.1")
    await desk.start()
    tab = TabHandle("r.1")
    page = desk.driver.page(tab)
    assert await page.evaluate("() => 6") == 6
    desk.extension.held.add("Runtime.evaluate")
    call = await started(page.evaluate("() => 6"))
    desk.extension.says(method="Tabs.moved", params={"tab": "r.1", "group": None})
    sent = len(desk.extension.sent)

    await error_of(TabGone, call)
    await error_of(TabGone, page.evaluate("() => 6"))
    with pytest.raises(TabGone):
        desk.driver.page(tab)
    assert len(desk.extension.sent) == sent


async def test_a_tab_that_the_extension_refuses_is_gone(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "r.1")
    await desk.start()
    desk.extension.held.add("Debugger.attach")
    call = await started(desk.driver.page(TabHandle("r.1")).evaluate("() => 6"))
    asked = desk.extension.last("Debugger.attach")
    desk.extension.says(id=asked["id"], error={"code": 404, "message": "There is no such tab."})

    await error_of(TabGone, call)


async def test_a_tab_is_attached_at_its_first_use_and_detached_when_idle(tmp_path: Path) -> None:
    desk = Desk(tmp_path, idle_seconds=0.01)
    await desk.start()
    tab = await desk.driver.open_tab("default", GROUP)
    assert "Debugger.attach" not in desk.extension.methods()
    await desk.driver.page(tab).evaluate("() => 6")
    while "Debugger.detach" not in desk.extension.methods():
        await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.01)
    await desk.driver.page(tab).evaluate("() => 6")

    methods = desk.extension.methods()
    assert methods.count("Debugger.attach") == 2
    assert "Emulation.setFocusEmulationEnabled" in methods


async def test_a_tab_taken_away_as_it_opens_is_gone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.start()
    desk.extension.held.add("Tabs.create")
    call = await started(desk.driver.open_tab("default", GROUP))
    desk.extension.answer(desk.extension.last("Tabs.create"))
    desk.extension.says(method="Tabs.moved", params={"tab": "r.1", "group": None})

    await error_of(TabGone, call)


async def test_the_tab_of_a_cancelled_call_is_closed_once_it_is_open(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.start()
    desk.extension.held.add("Tabs.create")
    call = await started(desk.driver.open_tab("default", GROUP))
    call.cancel()
    await asyncio.wait({call})
    desk.extension.answer(desk.extension.last("Tabs.create"))
    await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.01)

    assert desk.extension.last("Tabs.close")["params"] == {"tab": "r.1"}


async def test_a_panel_that_was_sent_while_disconnected_is_shown_after_the_reconnection(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.driver.show(Panel(questions=("Ann",)))
    desk.driver.forget_group("s9")
    await desk.start()

    assert desk.extension.last("Panel.show")["params"]["questions"] == ["Ann"]
    assert desk.extension.last("Groups.forget")["params"] == {"key": "s9"}


async def test_an_ended_sessions_group_that_is_shown_again_can_still_be_closed(
    tmp_path: Path,
) -> None:
    """If the group were forgotten before its tabs are closed, they would become the person's and
    stay open."""
    desk = Desk(tmp_path, "r.1")
    desk.driver.forget_group("s1")
    assert (await desk.start()).tabs == {"r.1"}
    await desk.driver.close_tab(TabHandle("r.1"))

    assert "Groups.forget" not in desk.extension.methods()
    assert desk.extension.last("Tabs.close")["params"] == {"tab": "r.1"}


async def test_cookies_and_other_jars_of_the_persons_browser_are_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.start()
    for policy in (JarPolicy.FRESH, JarPolicy.CLONE):
        error = await error_of(JarUnavailable, desk.driver.make_jar(policy))
        assert "managed browser" in error.hint
    jar = await desk.driver.make_jar(JarPolicy.SHARED)
    for call in (
        desk.driver.read_cookies(jar),
        desk.driver.write_cookies(jar, []),
        desk.driver.delete_cookies(jar, []),
        desk.driver.read_storage(jar, []),
        desk.driver.write_storage(jar, []),
    ):
        await error_of(Unsupported, call)
    await error_of(JarUnavailable, desk.driver.make_jar(JarPolicy.SHARED, proxy="127.0.0.1:1"))


async def test_a_download_is_reported_for_the_tab_that_began_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "r.1")
    await desk.start()
    for tab in ("r.1", "r.99"):
        began = {"tab": tab, "download": "g", "url": "u", "name": "n"}
        desk.extension.says(method="Downloads.began", params=began)
    ended = {"tab": "r.1", "download": "g", "path": "/d/n"}
    desk.extension.says(method="Downloads.ended", params=ended)

    handle = TabHandle("r.1")
    assert desk.events == [
        DownloadBegan(handle=handle, download="g", url="u", name="n"),
        DownloadEnded(handle=handle, download="g", path="/d/n"),
    ]
