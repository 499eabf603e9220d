"""The dashboard over HTTP, on a fake browser.

Tests ``roost.frontends.dashboard.mount``, its ``server`` and
``roost.frontends.dashboard.viewer_socket``.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import AsyncMock

import httpx
import pytest
import websockets

from roost.broker.doors.viewers import INPUTS, Viewers
from roost.drivers.base import Input, Picture, Shot
from roost.drivers.fake.page import FakePageDriver
from roost.drivers.repeated_shots import RepeatedShots
from roost.errors import TabCrashed
from roost.frontends.dashboard import viewer_socket
from roost.frontends.dashboard.viewer_socket import CALLS
from roost.testing.waits import until
from tests.frontends.dashboard.dashboard_page import DashboardPage, new_code, open_page, socket_of
from tests.frontends.http.http_callers import URL, HttpDoor, http_door

ASSET_BYTES = 150 * 1000


async def refusal(house: HttpDoor, message: str | bytes, **headers: str) -> str:
    """Say this first, and return the code of the error before the socket is closed."""
    async with socket_of(house, **headers) as socket:
        await socket.send(message)
        page = DashboardPage(socket)
        answer = await page.hear()
        with pytest.raises(websockets.ConnectionClosed):
            await page.hear()
    assert list(answer) == ["error"]
    return str(answer["error"]["code"])


async def test_the_files_need_no_token_and_hold_no_data(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        await house.session("secret-name")
        total = 0
        for name in ("", "app.js", "style.css", "icon.svg"):
            answer = await house.client.get(f"/dashboard/{name}")
            assert answer.status_code == 200
            assert b"secret-name" not in answer.content
            total += len(answer.content)
        assert total <= ASSET_BYTES


async def test_the_page_may_load_nothing_from_elsewhere_and_be_framed_by_nobody(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as house:
        headers = (await house.client.get("/dashboard/")).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.test"}, {"origin": "https://evil.test"}, {"origin": "null"}],
    ids=["another host", "another origin", "an opaque origin"],
)
async def test_web_pages_reach_neither_the_files_nor_the_socket(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with http_door(tmp_path) as house:
        answer = await house.client.get("/dashboard/", headers=headers)
        assert answer.status_code == 403
        with pytest.raises(websockets.InvalidStatus):
            async with socket_of(house, **headers):
                pass


async def test_the_socket_says_nothing_without_a_login(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        session = await house.session("one")
        operator = house.operator.token
        for login in (
            {},
            {"code": "wrong"},
            {"token": "1.2.3"},
            {"token": operator},
            {"token": session.token},
            {"code": operator},
            {"token": "9999999999.aa." + "0" * 64},
        ):
            assert await refusal(house, json.dumps(login)) == "UNAUTHORIZED"


@pytest.mark.parametrize("garbage", ["", "no json", "[]", "{" * 5000, b"\x00\x01"])
async def test_garbage_closes_the_socket_that_sent_it(tmp_path: Path, garbage: str | bytes) -> None:
    async with http_door(tmp_path) as house:
        assert await refusal(house, garbage) == "BAD_REQUEST"
        async with open_page(house) as page:
            await page.socket.send(garbage)
            with pytest.raises(websockets.ConnectionClosed):
                await page.hear_until(lambda: False)


async def test_a_code_is_good_for_one_login_within_a_minute(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        code = await new_code(house)
        async with open_page(house, code=code):
            pass
        assert await refusal(house, json.dumps({"code": code})) == "UNAUTHORIZED"
        late = await new_code(house)
        house.house.clock.advance(61)
        assert await refusal(house, json.dumps({"code": late})) == "UNAUTHORIZED"


async def test_the_token_lets_the_page_back_in_until_it_is_old(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        async with open_page(house) as page:
            first = page.token
        async with open_page(house, token=first) as page:
            assert page.token != first
        house.house.clock.advance(12 * 3600 + 1)
        assert await refusal(house, json.dumps({"token": first})) == "UNAUTHORIZED"


async def test_an_agent_is_given_no_code(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        agent = await house.session("one")
        path = f"/session/{agent.session}/tools/dashboard_open"
        assert (await agent.refused("POST", path, json={}))[1] == "UNAUTHORIZED"


async def test_the_wall_follows_sessions_and_their_pages(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        await agent.tool("browser_navigate", url=URL)
        await page.hear_until(lambda: page.tile("shopper").get("current"))
        tile = page.tile("shopper")
        assert tile["tabs"][0]["url"] == URL
        assert tile["state"] == "idle"
        assert (await page.call(1, "session_pause", session="shopper"))["result"]["paused"]
        await page.hear_until(lambda: page.tile("shopper")["state"] == "paused")
        await page.call(2, "session_dispose", session="shopper")
        await page.hear_until(lambda: not page.tile("shopper"))


async def test_secrets_in_addresses_are_not_shown(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        await agent.tool("browser_navigate", url=f"{URL}?token=topsecretvalue")
        await page.hear_until(lambda: page.tile("shopper").get("current") and page.lines)
        assert "topsecretvalue" not in json.dumps([page.walls, page.lines])


async def test_the_feed_tells_what_was_done_before_and_what_is_done_now(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        agent = await house.session("shopper")
        await agent.tool("browser_navigate", url=f"{URL}before")
        async with open_page(house) as page:
            await page.hear_until(lambda: any("before" in one.get("url", "") for one in page.lines))
            await agent.tool("browser_navigate", url=f"{URL}after")
            await page.hear_until(lambda: any("after" in one.get("url", "") for one in page.lines))


async def test_a_film_shows_the_tab_that_was_asked_for_and_no_other(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        await page.say({"films": [{"number": 7, "tab": tab, "kind": "tile"}]})
        await page.hear_until(lambda: page.pictures)
        assert page.pictures[0][:4] == (7).to_bytes(4, "big")
        assert page.pictures[0][12:14] == b"\xff\xd8"
        await page.say({"films": [{"number": 8, "tab": "t999", "kind": "large"}]})
        assert (await page.call(1, "ping"))["result"] == {}
        assert {picture[:4] for picture in page.pictures} == {(7).to_bytes(4, "big")}


async def test_the_page_is_told_why_a_film_has_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = AsyncMock(side_effect=TabCrashed("The page crashed."))
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        with monkeypatch.context() as patched:
            patched.setattr(FakePageDriver, "capture", refuse)
            await page.say({"films": [{"number": 7, "tab": tab, "kind": "tile"}]})
            await page.hear_until(lambda: page.misses)
        assert page.misses[0] == {"missed": 7, "why": "The page crashed."}
        await page.hear_until(lambda: page.pictures)


def _timers() -> list[object]:
    """Return what the loop would call later for viewers or their films."""
    waiting = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    owners = [getattr(one._callback, "__self__", None) for one in waiting if not one.cancelled()]
    return [owner for owner in owners if isinstance(owner, Viewers | RepeatedShots)]


async def test_nothing_is_captured_and_no_timer_runs_while_nobody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures: list[Shot] = []
    capture = FakePageDriver.capture

    async def counted(self: FakePageDriver, shot: Shot) -> Picture:
        captures.append(shot)
        return await capture(self, shot)

    monkeypatch.setattr(FakePageDriver, "capture", counted)
    async with http_door(tmp_path) as house:
        agent = await house.session("shopper")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        viewers = house.house.door._viewers
        assert (captures, _timers()) == ([], [])
        async with open_page(house) as page:
            await page.say({"films": [{"number": 1, "tab": tab, "kind": "tile"}]})
            await page.hear_until(lambda: page.pictures)
            await page.say({"seen": 1})
            assert await page.call(1, "ping")
            assert {type(owner) for owner in _timers()} == {Viewers, RepeatedShots}
            await page.say({"films": []})  # the dashboard's tab is in the background
            assert await page.call(2, "ping")
            assert {type(owner) for owner in _timers()} == {Viewers}
        await until(lambda: not viewers._open)
        assert _timers() == []
        assert house.house.broker.audit._listeners == []


async def test_a_viewer_that_stops_reading_is_disconnected_and_delays_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_socket, "SEND_SECONDS", 0.5)
    async with http_door(tmp_path) as house, open_page(house) as reader:
        viewers, audit = house.house.door._viewers, house.house.broker.audit
        address = f"ws://127.0.0.1:{house.port}/dashboard/live"
        async with websockets.connect(
            address, max_size=None, max_queue=1, close_timeout=0
        ) as silent:
            await silent.send(json.dumps({"token": reader.token}))
            await until(lambda: len(viewers._open) == 2)
            agent = await house.session("shopper")
            for number in range(100):  # far more than the buffers of a connection hold
                audit.write(0.0, "call", {"session": "any", "op": "x" * 300_000})
                if number % 10 == 0:
                    assert await reader.call(number + 1, "ping")
                    assert await agent.tool("browser_navigate", url=URL)
            await until(lambda: len(viewers._open) == 1)
        assert (await reader.call(5000, "ping"))["result"] == {}


async def test_thousands_of_inputs_of_a_viewer_wait_within_bounds_and_delay_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    may_go_on = asyncio.Event()

    async def slow(self: FakePageDriver, inputs: Sequence[Input]) -> None:
        sent.append(len(inputs))
        await may_go_on.wait()

    monkeypatch.setattr(FakePageDriver, "send_input", slow)
    async with http_door(tmp_path) as house, open_page(house) as page, open_page(house) as beside:
        agent, other = await house.session("taken"), await house.session("other")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        await page.say({"id": 1, "take": "taken"})
        await page.hear_until(lambda: 1 in page.answers)
        moves = [{"kind": "move", "x": number, "y": 1} for number in range(100)]
        for _ in range(50):
            await page.say({"tab": tab, "inputs": moves})
        assert await other.tool("browser_navigate", url=URL)
        assert (await beside.call(1, "ping"))["result"] == {}
        assert (await page.call(2, "ping"))["result"] == {}
        (viewer,) = [one for one in house.house.door._viewers._open if one._inputs]
        assert len(viewer._inputs) == INPUTS
        may_go_on.set()
        await until(lambda: not viewer._inputs)
        assert sum(sent) <= 2 * INPUTS


async def test_operations_of_a_page_are_the_operators_and_errors_are_answers(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        assert (await page.call(1, "session_pause", session="nobody"))["error"]["code"] == (
            "SESSION_GONE"
        )
        assert (await page.call(2, "no_such_operation"))["error"]["code"] == "BAD_REQUEST"
        assert (await page.call(3, "roost_status"))["result"]["broker"]["version"]


async def test_a_page_with_too_many_calls_is_told_so_and_stays(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        await house.session("held")
        await page.call(1, "session_pause", session="held")
        waits = {"op": "session_list", "arguments": {"waitSeconds": 60}}  # while a person has it
        for number in range(2, CALLS + 3):
            await page.say({"id": number, **waits})
        await page.hear_until(lambda: CALLS + 2 in page.answers)
        assert page.answers[CALLS + 2]["error"]["code"] == "BAD_REQUEST"
        assert len(page.answers) == 2
        await house.operator.ask("POST", "/session/held/tools/session_resume", json={})
        await page.hear_until(lambda: len(page.answers) == CALLS + 2)
        assert (await page.call(99, "ping"))["result"] == {}


async def test_a_page_that_reads_no_answers_is_disconnected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_socket, "REPLIES", 0)
    async with http_door(tmp_path) as house, open_page(house) as page:
        wrong = json.dumps({"tab": "t1", "inputs": []})

        async def flood() -> None:
            for _ in range(1000):
                await page.socket.send(wrong)
            await page.hear_until(lambda: False)

        with pytest.raises(websockets.ConnectionClosed):
            await flood()


async def test_too_many_viewers_are_refused(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as first:
        sockets = []
        for _ in range(7):
            context = open_page(house, token=first.token)
            await context.__aenter__()
            sockets.append(context)
        assert await refusal(house, json.dumps({"token": first.token})) == "UNAUTHORIZED"
        for context in sockets:
            await context.__aexit__(None, None, None)


async def test_other_paths_below_the_dashboard_hold_nothing(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        for path in (
            "/dashboard/../token",
            "/dashboard/%2e%2e/token",
            "/dashboard/x",
            "/dashboard",
        ):
            answer = await house.client.get(httpx.URL(house.client.base_url).join(path))
            assert answer.status_code in (401, 404), path


async def test_a_drawing_reaches_the_agent(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        shape = {"kind": "box", "x": 1, "y": 2, "toX": 30, "toY": 40}
        picture = base64.b64encode(b"\xff\xd8\xff").decode()
        drawing = {"tab": tab, "text": "Here", "shapes": [shape], "picture": picture}
        await page.say({"id": 1, "draw": drawing})
        await page.say({"id": 2, "draw": {**drawing, "shapes": "none"}})
        await page.hear_until(lambda: 2 in page.answers)
        assert page.answers[1]["result"] == {}
        assert page.answers[2]["error"]["code"] == "BAD_REQUEST"
        (drawn,) = (await agent.tool("browser_drawings"))["drawings"]
        assert drawn["text"] == "Here"


async def test_the_feed_is_read_back_for_one_session(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house:
        one, other = await house.session("one"), await house.session("other")
        await one.tool("browser_navigate", url=f"{URL}first")
        await other.tool("browser_navigate", url=f"{URL}second")
        async with open_page(house) as page:
            await page.say({"id": 1, "feed": {"session": "one"}})
            await page.say({"id": 2, "feed": {}})
            await page.say({"id": 3, "feed": {"before": "nonsense"}})
            await page.hear_until(lambda: {1, 2, 3} <= set(page.answers))
        lines = page.answers[1]["result"]["lines"]
        assert {line["session"] for line in lines} == {"one"}
        assert [line["url"] for line in lines if "url" in line] == [f"{URL}first"]
        assert len(page.answers[2]["result"]["lines"]) > len(lines)
        assert page.answers[3]["error"]["code"] == "BAD_REQUEST"


async def test_the_house_says_what_is_used_and_set(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        await page.say({"id": 1, "house": True})
        await page.hear_until(lambda: 1 in page.answers)
        found = page.answers[1]["result"]
        (broker,) = [one for one in found["processes"] if one["name"] == "broker"]
        assert broker["memoryBytes"] > 1_000_000
        assert "processor" not in broker, "there is nothing to compare the first look with"
        assert found["settings"]["browser"] == "fake"
        assert found["consents"] == []
        await page.say({"id": 2, "house": True})
        await page.hear_until(lambda: 2 in page.answers)
        assert page.answers[2]["result"]["processes"][0]["processor"] >= 0
        await page.say({"id": 3, "forbid": {"browser": "mine-firefox", "name": "x"}})
        await page.hear_until(lambda: 3 in page.answers)
        assert page.answers[3]["error"]["code"] == "NOT_FOUND"


async def test_doctors_findings_are_shown(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        await page.say({"id": 1, "doctor": True})
        await page.hear_until(lambda: 1 in page.answers)
        names = [one["name"] for one in page.answers[1]["result"]["findings"]]
        assert {"python", "home", "disk"} <= set(names)


def _files_named(folder: Path, name: str) -> list[Path]:
    return list(folder.rglob(name))


async def test_files_come_in_parts_and_only_to_a_session_that_was_taken(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        agent = await house.session("shopper")
        tab = (await agent.tool("browser_navigate", url=URL))["tab"]
        paper = {"file": tab, "name": "../../paper.txt", "bytes": 6}
        await page.say({"id": 1, **paper})
        await page.say({"id": 2, "take": "shopper"})
        await page.hear_until(lambda: 2 in page.answers)
        assert page.answers[1]["error"]["code"] == "BAD_REQUEST"
        await page.say({"id": 3, **paper})
        await page.say({"id": 4, **paper})
        await page.socket.send(b"sig")
        await page.socket.send(b"ned")
        await page.say({"id": 5, **paper, "bytes": 2**31})
        await page.say({"id": 6, "choose": tab})
        await page.hear_until(lambda: 6 in page.answers)
        assert page.answers[3]["result"] == {}
        assert page.answers[4]["error"]["code"] == "BAD_REQUEST", "the first file has not ended"
        assert page.answers[5]["error"]["code"] == "TOO_LARGE"
        (kept,) = _files_named(tmp_path, "paper.txt")
        assert kept.parent.parent.name == "shopper"
        assert kept.parent.parent.parent.name == "person-files"
        assert await asyncio.to_thread(kept.read_text, encoding="utf-8") == "signed"
        await page.call(7, "session_dispose", session="shopper")
        await until(lambda: not _files_named(tmp_path, "paper.txt"))


async def test_bytes_that_belong_to_no_file_close_the_socket(tmp_path: Path) -> None:
    async with http_door(tmp_path) as house, open_page(house) as page:
        await page.socket.send(b"bytes")
        with pytest.raises(websockets.ConnectionClosed):
            await page.hear_until(lambda: False)
