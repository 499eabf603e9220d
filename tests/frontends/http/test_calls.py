"""The routes of the contract, as a caller with curl sees them."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

from roost.testing.waits import SECONDS, until
from roost.vocabulary import AGENT_FRAME_BYTES, LEASE_SECONDS
from tests.frontends.http.http_callers import URL, Caller, HttpDoor, http_door

# --- sessions ------------------------------------------------------------------------------------


async def test_a_session_is_opened_once_and_found_again_with_the_same_token(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        body = {"sessionId": "work", "name": "Work", "jar": "fresh"}
        opened = await here.operator.ask("POST", "/session", json=body)
        assert opened | {"createdAt": "", "token": ""} == {
            "sessionId": "work", "groupId": None, "groupName": "Work", "createdAt": "",
            "token": "", "tabs": [],
        }  # fmt: skip
        session = Caller(here.client, opened["token"], "work")
        await session.tool("browser_navigate", url=URL)
        for caller in (here.operator, session):
            found = await caller.ask("POST", "/session", json={"sessionId": "work"})
            assert (found["token"], [tab["url"] for tab in found["tabs"]]) == (session.token, [URL])
        shown = await here.operator.ask("POST", "/session/work/tools/session_show")
        assert (shown["named"], shown["lifetime"]) == (True, "named")


async def test_without_an_id_a_new_session_is_made_whose_token_works(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        opened = await here.operator.ask("POST", "/session", json={})
        session = Caller(here.client, opened["token"], opened["sessionId"])
        assert (await session.tool("session_show"))["id"] == opened["sessionId"]
        again = {"sessionId": opened["sessionId"]}
        assert (await session.ask("POST", "/session", json=again))["token"] == session.token


async def test_finding_a_session_needs_its_token_or_the_operators(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine, _ = await here.session("mine"), await here.session("other")
        for name in ("other", "no-one"):
            refused = await mine.refused("POST", "/session", json={"sessionId": name})
            assert refused == (404, "SESSION_GONE")
        assert await mine.refused("POST", "/session", json={}) == (403, "UNAUTHORIZED")
        assert set(here.house.state.sessions) == {"mine", "other"}


async def test_a_session_that_exists_is_not_opened_with_another_jar(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        await here.session("work")
        body = {"sessionId": "work", "jar": "shared"}
        assert await here.operator.refused("POST", "/session", json=body) == (400, "BAD_REQUEST")


async def test_removing_a_session_ends_its_tabs_and_its_token(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        await session.tool("browser_navigate", url=URL)
        gone = await session.ask("DELETE", "/session/work")
        assert gone == {"disposed": "work", "tabsClosed": 1}
        assert await session.refused("GET", "/session/work/tabs") == (401, "UNAUTHORIZED")
        assert not here.house.state.tabs
        refused = await here.operator.refused("DELETE", "/session/work")
        assert refused == (404, "SESSION_GONE")


# --- tabs and pages ------------------------------------------------------------------------------


async def test_the_tabs_of_a_session_are_listed(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        tab = (await session.tool("browser_navigate", url=URL))["tab"]
        for caller in (session, here.operator):
            listed = await caller.ask("GET", "/session/work/tabs")
            assert [(row["tab"], row["current"]) for row in listed["tabs"]] == [(tab, True)]


async def test_a_page_is_opened_found_and_closed_by_name(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        opened = await session.ask("POST", "/pages", json={"name": "cart", "url": URL})
        handle = here.house.handle(opened["tabId"])
        assert opened == {
            "tabId": opened["tabId"], "targetId": handle, "sessionId": "work", "url": URL,
        }  # fmt: skip
        header = {"X-DevBrowser-Session": "work"}
        for caller, more in (
            (session, {"json": {"name": "cart"}}),
            (session, {"json": {"name": "cart", "sessionId": "work"}}),
            (here.operator, {"json": {"name": "cart", "sessionId": "work"}}),
            (here.operator, {"json": {"name": "cart"}, "headers": header}),
        ):
            found = await caller.ask("POST", "/pages", **more)
            assert found["tabId"] == opened["tabId"]
        closed = await here.operator.ask("DELETE", "/pages/cart", headers=header)
        assert closed["closed"] == opened["tabId"]
        assert await session.refused("DELETE", "/pages/cart") == (404, "TAB_GONE")


async def test_a_page_of_another_session_gets_the_answer_of_a_missing_page(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine, other = await here.session("mine"), await here.session("other")
        await other.ask("POST", "/pages", json={"name": "cart"})
        assert await mine.refused("DELETE", "/pages/cart") == (404, "TAB_GONE")
        for session in ("other", "no-one"):
            header = {"X-DevBrowser-Session": session}
            gone = (404, "SESSION_GONE")
            assert await mine.refused("DELETE", "/pages/cart", headers=header) == gone
            body = {"name": "cart", "sessionId": session}
            assert await mine.refused("POST", "/pages", json=body) == gone
        assert here.house.state.page("other", "cart") is not None  # type: ignore[arg-type]


async def test_the_operator_must_name_the_session_of_a_page_once(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        await here.session("work")
        other = {"X-DevBrowser-Session": "other"}
        for body, headers in (({}, {}), ({"sessionId": "work"}, other)):
            body = {"name": "cart", **body}
            answer = await here.operator.send("POST", "/pages", json=body, headers=headers)
            assert (answer.status_code, answer.json()["field"]) == (400, "sessionId")


# --- tools ---------------------------------------------------------------------------------------


async def test_any_operation_can_be_called_by_its_name(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        assert await session.ask("POST", "/session/work/tools/ping") == {}
        tab = (await session.tool("browser_navigate", url=URL))["tab"]
        value = await session.tool("browser_evaluate", function="() => location.href")
        assert value == {"tab": tab, "value": URL}
        assert (await session.tool("session_dispose"))["disposed"] == "work"


async def test_an_operation_of_the_person_needs_the_persons_token(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        path = "/session/work/tools/broker_stop"
        assert await session.refused("POST", path) == (403, "UNAUTHORIZED")
        assert not here.house.broker.stop_requested.is_set()
        await here.operator.ask("POST", path)
        assert here.house.broker.stop_requested.is_set()


WRONG_BODIES: list[tuple[str | bytes, str]] = [
    ('{"url":', "body"),
    ("[1]", "body"),
    ("null", "body"),
    ('{"url": NaN}', "body"),
    ("\xff".encode("latin-1"), "body"),
    ("[" * 40_000, "body"),
    ("{}", "url"),
    ('{"url": 5}', "url"),
    ('{"url": "about:blank", "colour": "red"}', "colour"),
    ('{"url": "about:blank", "session": "work"}', "session"),
    ('{"url": "about:blank", "tab": "' + "t" * 33 + '"}', "tab"),
]


async def test_a_wrong_body_is_answered_with_the_field_that_is_wrong(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        path = "/session/work/tools/browser_navigate"
        for body, field in WRONG_BODIES:
            answer = await session.send("POST", path, content=body)
            assert (answer.status_code, answer.json()["code"]) == (400, "BAD_REQUEST"), body
            assert answer.json()["field"] == field


async def test_a_whole_number_may_be_written_with_a_point_and_no_other_may(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        path = "/session/work/tools/loop_start"
        for number in ("2.5", '"2"', "true"):
            body = f'{{"prompt": "go", "maxIterations": {number}}}'
            answer = await session.send("POST", path, content=body)
            assert (answer.status_code, answer.json()["field"]) == (400, "maxIterations"), number
        body = '{"prompt": "go", "maxIterations": 2.0}'
        assert (await session.ask("POST", path, content=body))["maxIterations"] == 2


async def test_an_unknown_tool_gets_a_suggestion(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        answer = await session.send("POST", "/session/work/tools/browser_navigat")
        assert answer.status_code == 400
        assert "browser_navigate" in answer.json()["hint"]


async def test_a_deadline_out_of_range_is_refused(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        for timeout in ("0", "-1", "x", "300001", "1.5", "9" * 50, "²"):
            params = {"timeoutMs": timeout}
            answer = await session.send("POST", "/session/work/tools/ping", params=params)
            assert (answer.status_code, answer.json()["field"]) == (400, "timeoutMs"), timeout


async def test_a_call_past_its_deadline_is_answered(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        here.house.driver.may_open.clear()
        path = "/session/work/tools/browser_navigate"
        answer = await session.send("POST", path, params={"timeoutMs": "50"}, json={"url": URL})
        assert (answer.status_code, answer.json()["code"]) == (408, "TIMEOUT")
        here.house.driver.may_open.set()


async def test_a_call_is_cancelled_when_its_caller_disconnects(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        here.house.driver.may_open.clear()
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        body = json.dumps({"url": URL}).encode()
        writer.write(
            b"POST /session/work/tools/browser_navigate HTTP/1.1\r\n"
            b"Host: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
            % (here.port, session.token.encode(), len(body), body)
        )
        await until(lambda: here.house.state.tabs)
        writer.close()
        await until(lambda: not here.house.state.tabs)
        here.house.driver.may_open.set()


async def test_a_body_above_the_limit_is_refused_and_the_next_request_answered(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        large = b'{"url": "' + b"x" * AGENT_FRAME_BYTES + b'"}'

        async def chunks() -> Any:
            for start in range(0, len(large), 1_000_000):
                yield large[start : start + 1_000_000]

        path = "/session/work/tools/browser_navigate"
        for content in (large, chunks()):
            assert await session.refused("POST", path, content=content) == (413, "TOO_LARGE")
        assert await session.ask("POST", "/session/work/tools/ping") == {}


async def test_no_path_causes_an_internal_error(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        odd = ("x" * 65, "..%2F", "%00", "%0a", "☃", "%ff", "-")
        for session, (method, path) in itertools.product(
            odd,
            (
                ("DELETE", "/session/{}"),
                ("GET", "/session/{}/tabs"),
                ("GET", "/session/{}/events"),
                ("POST", "/session/{}/heartbeat"),
                ("POST", "/session/{}/tools/ping"),
                ("DELETE", "/pages/{}?sessionId=x"),
            ),
        ):
            status, _ = await here.operator.refused(method, path.format(session))
            assert status in (400, 404), (path, session, status)


# --- leases --------------------------------------------------------------------------------------


async def test_a_heartbeat_keeps_the_sessions_agent_alive(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        beat = await session.ask("POST", "/session/work/heartbeat")
        assert beat["expiresInMs"] >= LEASE_SECONDS * 1000
        agents = set(here.house.state.agents)
        for _ in range(3):
            here.house.clock.advance(LEASE_SECONDS - 2)
            await session.ask("POST", "/session/work/heartbeat")
        assert set(here.house.state.agents) == agents
        here.house.clock.advance(LEASE_SECONDS + 2)
        assert not here.house.state.agents
        beat = await here.operator.ask("POST", "/session/work/heartbeat")
        assert beat == {"session": "work", "expiresInMs": None}


async def test_a_tokens_calls_go_on_in_the_next_broker(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        tab = (await session.ask("POST", "/pages", json={"name": "cart", "url": URL}))["tabId"]
        port = here.port
    async with http_door(tmp_path) as here:
        assert here.port == port
        again = Caller(here.client, session.token, "work")
        assert (await again.ask("POST", "/pages", json={"name": "cart"}))["tabId"] == tab


async def test_many_callers_at_once_are_all_answered(tmp_path: Path) -> None:
    async def come_and_go(here: HttpDoor, number: int) -> None:
        session = await here.session(f"work-{number}")
        opened = await session.ask("POST", "/pages", json={"name": "cart", "url": URL})
        assert opened["sessionId"] == session.session
        await session.ask("DELETE", f"/session/{session.session}")

    async with http_door(tmp_path, pool=0) as here:
        async with asyncio.timeout(2 * SECONDS), asyncio.TaskGroup() as group:
            for number in range(40):
                group.create_task(come_and_go(here, number))
        assert not here.house.state.sessions
