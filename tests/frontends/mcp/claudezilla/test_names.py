"""Claudezilla's tools on a fake browser: names, sharing, loops, refusals. Page work is proven in a
real one, in tests/e2e/pages/test_firefox_tools.py."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api.door import Admission
from roost.errors import BadRequest, Ownership, PoolFull, TabGone, Unsupported
from roost.frontends.mcp.claudezilla.desk import number_of, pool_of, tab_of
from roost.frontends.mcp.claudezilla.devtools import REQUESTS_KEPT
from roost.frontends.mcp.claudezilla.names import TOOLS, firefox_names
from roost.frontends.mcp.claudezilla.page_actions import SELECTOR_CHARS
from roost.frontends.mcp.claudezilla.page_readings import PURPOSES
from roost.frontends.mcp.claudezilla.settings import DEVICES
from roost.frontends.mcp.claudezilla.tab_space import GrantTabSpace
from roost.frontends.mcp.claudezilla.tool import TIMEOUT_MS
from roost.frontends.mcp.claudezilla.windows import CloseTab, CloseWindow
from roost.frontends.mcp.conversation import toolset_for
from roost.frontends.mcp.toolset import Toolset
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of
from roost.vocabulary import Reads
from roost.wire.hello import ClientKind

CONTRACT = """
firefox_create_window firefox_navigate firefox_click firefox_type firefox_press_key firefox_scroll
firefox_screenshot firefox_get_content firefox_get_page_state firefox_diff_page_state
firefox_get_accessibility_snapshot firefox_get_element firefox_get_tabs firefox_close_tab
firefox_close_window firefox_wait_for firefox_evaluate firefox_get_console firefox_get_network
firefox_set_viewport firefox_resize_window firefox_request_tab_space firefox_grant_tab_space
firefox_get_slot_requests firefox_start_loop firefox_stop_loop firefox_loop_status
firefox_set_config firefox_set_private_mode firefox_handle_consent firefox_activate
firefox_diagnose
""".split()
URL = "https://site.test/"


class Agent:
    """One agent that knows Claudezilla's tools."""

    def __init__(self, admission: Admission) -> None:
        self.api = admission.api
        self.id = admission.agent
        self.tools: Toolset = firefox_names()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        reply = await self.tools.call(self.api, f"firefox_{tool}", arguments)
        said = reply.text.splitlines()
        line = said[1] if said[0].startswith("<page-content") else said[0]
        answer: dict[str, Any] = json.loads(line)
        assert reply.structured in (None, answer)
        return answer


def agent(house: FakeHouse, name: str = "ada") -> Agent:
    return Agent(house.admit(replace(house.hello(ClientKind.MCP), name=name)))


def test_every_name_of_the_contract_is_a_tool_and_no_other() -> None:
    assert sorted(row.tool for row in TOOLS) == sorted(CONTRACT)


def test_the_list_is_less_than_half_of_what_claudezilla_sends() -> None:
    shown = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in firefox_names().tools
    ]
    assert len(json.dumps(shown, separators=(",", ":"))) < 22_818 / 2


def test_what_cannot_be_undone_is_marked() -> None:
    marked = {row for row in TOOLS if row.destructive}
    assert marked == {CloseTab, CloseWindow, GrantTabSpace}


def test_what_can_be_chosen_is_what_people_know() -> None:
    shown = {tool.name: tool.input_schema["properties"] for tool in firefox_names().tools}
    assert shown["firefox_screenshot"]["purpose"]["enum"] == list(PURPOSES)
    assert len(DEVICES) == 10
    assert all(name in shown["firefox_set_viewport"]["device"]["description"] for name in DEVICES)


def test_a_part_of_them_can_be_asked_for_by_category_and_name() -> None:
    names = [tool.name for tool in toolset_for("firefox", ("loop", "firefox_click")).tools]
    assert names == [
        "firefox_click", "firefox_start_loop", "firefox_stop_loop", "firefox_loop_status",
    ]  # fmt: skip
    with pytest.raises(BadRequest, match="fierfox_click"):
        firefox_names(("fierfox_click",))


def test_times_are_cut_to_what_claudezilla_allows() -> None:
    row = next(row for row in TOOLS if row.tool == "firefox_get_tabs")
    given = [1, 60_000, 10**9]
    assert [row.model_validate({"timeout": ms}).seconds() for ms in given] == [5, 60, 300]
    assert row().seconds() == TIMEOUT_MS[1] / 1000


def test_tabs_are_numbers_and_our_own_names_are_understood() -> None:
    assert [tab_of(given) for given in (7, "7", "t7", None)] == ["t7", "t7", "t7", None]
    assert (number_of("t7"), number_of(None)) == (7, None)
    for nonsense in ("x", "", "t-1", "t" + "9" * 99):
        with pytest.raises(BadRequest, match="tabId"):
            tab_of(nonsense)
    assert pool_of("3/∞") == {"tabCount": 3, "maxTabs": 0}


async def test_a_tab_is_opened_listed_and_closed_with_the_replies_people_know(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        ada = agent(house)
        opened = await ada.call("create_window", url=URL)
        assert opened == {
            "windowId": 1, "tabId": 1, "ownerId": ada.id[:12], "tabCount": 1, "maxTabs": 12,
            "isNewWindow": True, "isPrivate": True, "privateFallback": False,
            "closedOldestTab": None, "message": "Opened tab 1.",
        }  # fmt: skip
        second = await ada.call("create_window", url=URL, private=True)
        assert (second["tabId"], second["isNewWindow"]) == (2, False)
        went = await ada.call("navigate", url=URL + "next", tabId=1)
        assert (went["tabId"], went["url"], went["navigated"]) == (1, URL + "next", True)
        listed = await ada.call("get_tabs")
        assert [(tab["tabId"], tab["ownerId"]) for tab in listed["tabs"]] == [
            (1, ada.id[:12]), (2, ada.id[:12]),
        ]  # fmt: skip
        closed = await ada.call("close_tab", tabId=2)
        assert closed == {
            "closed": 2, "tabCount": 1, "maxTabs": 12, "message": "Closed tab 2.",
            "slotFreed": False, "reservationCreated": False,
        }  # fmt: skip
        assert (await ada.call("close_window"))["tabsClosed"] == 1
        assert (await ada.call("get_tabs"))["tabs"] == []


async def test_other_agents_tabs_are_not_there(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = agent(house), agent(house, "bob")
        await ada.call("create_window", url=URL)
        assert (await bob.call("get_tabs"))["tabs"] == []
        for tool, more in (("navigate", {"url": URL}), ("close_tab", {}), ("evaluate", JS)):
            foreign = await error_of(TabGone, bob.call(tool, tabId=1, **more))
            absent = await error_of(TabGone, bob.call(tool, tabId=99, **more))
            assert str(foreign).replace("t1", "t99") == str(absent)
        assert (await bob.call("close_window"))["tabsClosed"] == 0, "not even by closing the window"
        assert len((await ada.call("get_tabs"))["tabs"]) == 1


JS = {"expression": "1"}


async def test_with_shared_reads_others_are_seen_and_not_touched(tmp_path: Path) -> None:
    async with fake_house(tmp_path, reads=Reads.SHARED) as house:
        ada, bob = agent(house), agent(house, "bob")
        await ada.call("create_window", url=URL)
        await bob.call("create_window", url=URL)
        owners = [tab["ownerId"] for tab in (await bob.call("get_tabs"))["tabs"]]
        assert owners == [ada.id[:12], bob.id[:12]]
        refusal = await error_of(Ownership, bob.call("navigate", tabId=1, url=URL))
        assert str(refusal) == f"OWNERSHIP: Cannot navigate tab t1 (owned by {ada.id[:12]}...)"
        assert (await bob.call("close_window"))["tabsClosed"] == 1
        assert len((await ada.call("get_tabs"))["tabs"]) == 1


async def test_a_reservation_truly_holds_its_slot(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        ada, bob, eve = agent(house), agent(house, "bob"), agent(house, "eve")
        await ada.call("create_window", url=URL)
        full = await error_of(PoolFull, bob.call("create_window"))
        assert "firefox_request_tab_space" in full.hint
        assert "firefox_get_slot_requests" in full.hint
        asked = await bob.call("request_tab_space")
        assert (asked["queued"], asked["position"], asked["youHaveReservation"]) == (True, 1, False)
        seen = await bob.call("get_slot_requests")
        assert (len(seen["pendingRequests"]), seen["youHaveReservation"]) == (1, False)
        granted = await ada.call("grant_tab_space")
        assert (granted["granted"], granted["closedTabId"]) == (True, 1)
        assert granted["reservationCreated"]

        await error_of(PoolFull, eve.call("create_window"))
        mine = await bob.call("get_slot_requests")
        assert mine["youHaveReservation"]
        assert 0 < mine["reservationExpiresInMs"] <= 30_000
        assert len(mine["activeReservations"]) == 1
        taken = await bob.call("create_window", url=URL)
        assert (taken["tabCount"], taken["maxTabs"]) == (1, 1)


async def test_closing_a_tab_tells_that_somebody_got_the_slot(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        ada, bob = agent(house), agent(house, "bob")
        await ada.call("create_window", url=URL)
        await bob.call("request_tab_space")
        closed = await ada.call("close_tab", tabId=1)
        assert (closed["slotFreed"], closed["reservationCreated"]) == (True, True)


async def test_a_full_pool_costs_the_callers_own_oldest_tab_and_says_which(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=2) as house:
        ada = agent(house)
        for _ in range(2):
            await ada.call("create_window", url=URL)
        third = await ada.call("create_window", url=URL)
        assert (third["closedOldestTab"], third["tabCount"]) == (1, 2)
        assert "closed your tab 1" in third["message"]


async def test_loops_run_by_the_words_people_know(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = agent(house)
        started = await ada.call("start_loop", prompt="go on", completionPromise="DONE")
        assert (started["active"], started["maxIterations"]) == (True, 0)
        status = await ada.call("loop_status")
        assert (status["iteration"], status["completionPromise"]) == (0, "DONE")
        stopped = await ada.call("stop_loop")
        assert (stopped["stopped"], stopped["active"]) == (True, False)
        assert (await ada.call("stop_loop"))["stopped"] is False


async def test_what_is_chosen_at_the_start_cannot_be_changed_and_says_how(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = agent(house)
        assert (await ada.call("set_private_mode", enabled=True))["privateMode"] is True
        refusal = await error_of(Unsupported, ada.call("set_private_mode", enabled=False))
        assert "--jar shared" in refusal.hint
        mode = await error_of(BadRequest, ada.call("create_window", private=False))
        assert "--jar shared" in mode.hint
        domains = ada.call("set_config", allowedDomains=["a.test", "b.test"])
        assert "--allow a.test,b.test" in (await error_of(Unsupported, domains)).hint
        config = await ada.call("set_config", allowedDomains=[], handleConsent=True)
        assert config["config"] == {"allowedDomains": [], "handleConsent": True}


async def test_the_gateway_and_the_diagnosis_answer(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = agent(house)
        assert (await ada.call("activate", category="loop"))["tools"] == [
            "firefox_start_loop", "firefox_stop_loop", "firefox_loop_status",
        ]  # fmt: skip
        assert (await ada.call("activate", category="all"))["count"] == len(CONTRACT)
        assert (await ada.call("diagnose"))["summary"] == "healthy"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("click", {}, "selector"),
        ("click", {"selektor": "x"}, "selektor"),
        ("click", {"selector": "x" * (SELECTOR_CHARS + 1)}, "selector"),
        ("get_network", {"limit": REQUESTS_KEPT + 1}, "limit"),
        ("screenshot", {"scale": 3}, "scale"),
        ("set_viewport", {"device": "abacus"}, "device"),
        ("set_viewport", {"width": 100}, "device"),
        ("wait_for", {"selector": "a", "text": "b"}, "selector"),
        ("no_such_tool", {}, "tool"),
    ],
)
async def test_wrong_arguments_are_refused_by_field(
    tool: str, arguments: dict[str, Any], field: str, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        refusal = await error_of(BadRequest, agent(house).call(tool, **arguments))
        assert refusal.details["field"] == field
        assert refusal.hint


async def test_what_only_reads_may_be_repeated_and_nothing_else() -> None:
    tools = firefox_names()
    assert tools.only_reads("firefox_get_tabs", {})
    assert not tools.only_reads("firefox_click", {"selector": "a"})
    assert tools.only_reads("firefox_get_console", {})
    assert not tools.only_reads("firefox_get_console", {"clear": True})
    assert not tools.only_reads("firefox_get_network", {"clear": True})


async def test_an_agent_is_told_what_it_should_know_whatever_it_asked(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=6) as house:
        ada, bob = agent(house), agent(house, "bob")
        for _ in range(6):
            await ada.call("create_window")
        await bob.call("request_tab_space")
        reply = await ada.tools.call(ada.api, "firefox_loop_status", {})
        assert "Note: " in reply.text
