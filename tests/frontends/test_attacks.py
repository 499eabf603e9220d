"""Every operation, attacked through every interface: foreign things get the same answer as missing
ones.

The interfaces are real: the socket, HTTP with a session's token, the shim ``roost mcp`` on stdio,
and ``/mcp`` with a session's token.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from mcp import Client as McpClient

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.operations import OPERATIONS, Audience
from roost.errors import RoostError, Unauthorized
from roost.frontends.http import connection
from roost.testing.attacks import (
    CANARY,
    NO_SESSION,
    Answer,
    Attacker,
    Victim,
    attacks,
    check_attack,
    check_silence,
)
from roost.testing.samples import sample
from roost.testing.waits import answer_of
from tests.e2e.mcp.mcp_clients import client as over_stdio
from tests.frontends.http.http_callers import Caller, HttpDoor, http_door
from tests.frontends.mcp.mcp_doors import client_of

VICTIM_URL = f"https://site.test/{CANARY}"
OWN_URL = "https://site.test/mine"
Reply = tuple[int, bytes]


class OverSocket:
    def __init__(self, api: BrokerApi) -> None:
        self._api = api

    async def attempt(self, op: str, arguments: Mapping[str, Any]) -> Answer:
        operation = OPERATIONS[op].model_validate(dict(arguments))
        try:
            view = await self._api.call(operation)  # type: ignore[arg-type, var-annotated]
        except RoostError as error:
            return Answer(False, error.to_wire())
        return Answer(True, view.to_wire())


class OverHttp:
    """Sends thousands of requests over one connection, without an HTTP client."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    async def attempt(self, op: str, arguments: Mapping[str, Any]) -> Answer:
        body = dict(arguments)
        session = self.caller.session
        if op != ops.SessionOpen.op:
            session = body.pop("session", session)
        status, answer = await self.post(f"/session/{session}/tools/{op}", body)
        return Answer(status < 400, {**json.loads(answer), "status": status})

    async def post(
        self, path: str, body: Mapping[str, Any] = MappingProxyType({}), *headers: str
    ) -> Reply:
        url, content = self.caller.client.base_url, json.dumps(dict(body)).encode()
        if not hasattr(self, "_stream"):
            self._stream = await asyncio.open_connection(url.host, url.port)
        reader, writer = self._stream
        lines = (
            f"POST {path} HTTP/1.1",
            f"Host: {url.host}:{url.port}",
            f"Authorization: Bearer {self.caller.token}",
            f"Content-Length: {len(content)}",
            *headers,
        )
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        head = (await answer_of(reader.readuntil(b"\r\n\r\n"))).decode()
        (length,) = re.findall(r"content-length: (\d+)", head)
        return int(head.split()[1]), await answer_of(reader.readexactly(int(length)))

    def close(self) -> None:
        if hasattr(self, "_stream"):
            self._stream[1].close()


class OverMcp:
    def __init__(self, client: McpClient) -> None:
        self._client = client

    async def attempt(self, op: str, arguments: Mapping[str, Any]) -> Answer:
        result = await answer_of(self._client.call_tool(op, dict(arguments)))
        whole = result.model_dump(mode="json")
        if not result.is_error:
            return Answer(True, whole)
        text = result.content[0]
        assert text.type == "text"
        return Answer(False, {"code": text.text.partition(":")[0], "whole": whole})


@asynccontextmanager
async def over_socket(here: HttpDoor) -> AsyncIterator[Attacker]:
    client = await here.house.client(replace(here.house.hello(), name="mallory"))
    try:
        await client.call(ops.Navigate(url=OWN_URL))
        yield OverSocket(client)
    finally:
        await client.aclose()


@asynccontextmanager
async def over_http(here: HttpDoor) -> AsyncIterator[Attacker]:
    caller = await here.session("mallory")
    await caller.tool("browser_navigate", url=OWN_URL)
    with closing(OverHttp(caller)) as attacker:
        yield attacker


@asynccontextmanager
async def over_mcp(here: HttpDoor) -> AsyncIterator[Attacker]:
    """Start the shim as an MCP client does. Attack every operation that agents are shown; the
    others must not exist."""
    async with over_stdio(here.house.home, "--name", "mallory", "--tools", "all") as client:
        await client.text("browser_navigate", url=OWN_URL)
        yield OverMcp(client.sdk)


@asynccontextmanager
async def over_mcp_http(here: HttpDoor) -> AsyncIterator[Attacker]:
    async with client_of(await here.session("mallory"), query="?tools=all") as client:
        await client.call_tool("browser_navigate", {"url": OWN_URL})
        yield OverMcp(client)


async def settle(here: HttpDoor) -> Victim:
    """Start a victim that works, and an agent that waits, so that there is something to take."""
    victim = await here.session(f"{CANARY}-shop")
    page = f"{CANARY}-page"
    opened = await victim.ask("POST", "/pages", json={"name": page, "url": VICTIM_URL})
    (agent,) = here.house.state.agents
    return Victim(victim.session, opened["tabId"], page, opened["targetId"], agent)


def belongings(here: HttpDoor, victim: Victim) -> list[Any]:
    """Return everything that belongs to the victim, as the core has it."""
    state = here.house.state
    session = state.sessions[victim.session]  # type: ignore[index]
    tabs = [replace(tab, used=0) for tab in state.tabs_in(session.id)]
    return [session, tabs, state.members_in(session.id), state.loops.get(session.id)]


Way = Callable[[HttpDoor], Any]
WAYS = [over_socket, over_http, over_mcp, over_mcp_http]
KINDS = {
    "foreign tab", "guessed tab", "foreign page", "foreign session", "guessed session",
    "foreign both", "operator only",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("way", WAYS)
async def test_every_attack_is_refused_and_tells_nothing(way: Way, tmp_path: Path) -> None:
    async with http_door(tmp_path, pool=2) as here:
        victim = await settle(here)
        async with way(here) as attacker:
            waiting = await here.session("waiting")
            await waiting.tool("tab_space_request")
            before = belongings(here, victim)
            done = set[tuple[str, str]]()
            for attack in attacks(victim):
                if way is over_mcp_http and (attack.op, attack.kind) in done:
                    continue  # each request there is a conversation of its own: one guess will do
                shown = OPERATIONS[attack.op].audience in (Audience.CORE, Audience.ALL)
                if way in (over_mcp, over_mcp_http) and not shown:
                    answer = await attacker.attempt(attack.op, attack.arguments)
                    assert answer.wire["code"] == "BAD_REQUEST", attack
                    check_silence(answer.wire, *attack.named)
                else:
                    await check_attack(attacker, attack)
                done.add((attack.op, attack.kind))
            assert belongings(here, victim) == before
            assert not here.house.broker.stop_requested.is_set()
            assert len(done) > 2 * len(OPERATIONS)
            assert {kind for _, kind in done} == KINDS


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_allowed_shows_only_ones_own(way: Way, tmp_path: Path) -> None:
    """Run every operation without a name of the victim: the answer contains only the caller's
    own."""
    async with http_door(tmp_path) as here:
        victim = await settle(here)
        before = belongings(here, victim)
        async with way(here) as attacker:
            for op in OPERATIONS:
                if op in (ops.SessionDispose.op, ops.WaitFor.op, ops.Close.op):
                    continue
                answer = await attacker.attempt(op, sample(op).to_wire())
                check_silence(answer.wire)
            for op, arguments in (
                ("session_open", {"session": victim.session}),
                ("page_open", {"name": victim.page}),
            ):
                answer = await attacker.attempt(op, arguments)
                check_silence(answer.wire, victim.session, victim.page)
                assert victim.tab not in json.dumps(answer.wire)
        assert belongings(here, victim) == before


Posted = tuple[str, Mapping[str, Any], tuple[str, ...]]


def by_tool(op: str, session: str) -> Posted:
    return f"/session/{session}/tools/{op}", {}, ()


def by_mcp(op: str, session: str) -> Posted:
    """Attack through ``/mcp``, where a header names the session."""
    call = {"name": op, "arguments": sample(op).to_wire()}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = "Accept: application/json, text/event-stream"
    return "/mcp?tools=all", body, (accept, f"X-DevBrowser-Session: {session}")


Naming = Callable[[str, str], Posted]


@pytest.mark.parametrize("naming", [by_tool, by_mcp])
async def test_every_operation_answers_anothers_token_as_if_the_session_were_not_there(
    naming: Naming, tmp_path: Path
) -> None:
    async with http_door(tmp_path) as here:
        victim = await settle(here)
        before = belongings(here, victim)
        with closing(OverHttp(await here.session("mallory"))) as mallory:
            for op in OPERATIONS:
                path, body, headers = naming(op, victim.session)
                status, foreign = await mallory.post(path, body, *headers)
                path, body, headers = naming(op, NO_SESSION)
                assert (status, json.loads(foreign)["code"]) == (404, "SESSION_GONE"), op
                _, absent = await mallory.post(path, body, *headers)
                assert foreign.replace(victim.session.encode(), b"") == absent.replace(
                    NO_SESSION.encode(), b""
                )
        assert belongings(here, victim) == before


@pytest.mark.parametrize("naming", [by_tool, by_mcp])
async def test_every_operation_answers_an_expired_token_like_a_made_up_one(
    naming: Naming, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 60.0)  # strangers are cut off, at other times
    async with http_door(tmp_path) as here:
        victim = await settle(here)
        expired = OverHttp(await here.session("expired"))
        await here.operator.ask("DELETE", "/session/expired")
        made_up = OverHttp(Caller(here.client, "0" * 64))
        with closing(expired), closing(made_up):
            for op, session in product(OPERATIONS, (victim.session, "expired", NO_SESSION)):
                path, body, headers = naming(op, session)
                status, answer = await expired.post(path, body, *headers)
                assert (status, json.loads(answer)["code"]) == (401, "UNAUTHORIZED"), op
                assert (status, answer) == await made_up.post(path, body, *headers)


ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/session", {"json": {"sessionId": "SESSION"}}),
    ("DELETE", "/session/SESSION", {}),
    ("GET", "/session/SESSION/tabs", {}),
    ("GET", "/session/SESSION/events", {}),
    ("POST", "/session/SESSION/heartbeat", {}),
    ("POST", "/pages", {"json": {"name": "cart", "sessionId": "SESSION"}}),
    ("POST", "/pages", {"json": {"name": "cart"}, "headers": {"X-DevBrowser-Session": "SESSION"}}),
    ("DELETE", "/pages/cart", {"headers": {"X-DevBrowser-Session": "SESSION"}}),
    ("DELETE", "/pages/cart?sessionId=SESSION", {}),
]


async def test_every_route_answers_a_foreign_session_like_an_absent_one(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        victim = await settle(here)
        before = belongings(here, victim)
        mallory = await here.session("mallory")

        async def answer(session: str, method: str, path: str, more: dict[str, Any]) -> Any:
            named = json.loads(json.dumps(more).replace("SESSION", session))
            return await mallory.send(method, path.replace("SESSION", session), **named)

        for route in ROUTES:
            foreign, absent = await answer(victim.session, *route), await answer(NO_SESSION, *route)
            assert (foreign.status_code, foreign.json()["code"]) == (404, "SESSION_GONE"), route
            assert foreign.text.replace(victim.session, "") == absent.text.replace(NO_SESSION, "")
        assert belongings(here, victim) == before


async def test_a_sessions_token_opens_no_other_door(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mallory = await here.session("mallory")
        hello = replace(here.house.hello(), token=mallory.token)
        with pytest.raises(Unauthorized):
            here.house.admit(hello)
        admission = here.house.admit()
        here.house.door.leave(admission, goodbye=True)
        ended = replace(here.house.hello(), resume=admission.welcome.secret)
        with pytest.raises(Unauthorized):
            here.house.admit(ended)


def test_the_table_covers_every_operation_that_names_a_tab_or_a_session() -> None:
    victim = Victim("v", "t1", "p", "h", "agent_1_1")
    attacked = {attack.op for attack in attacks(victim)}
    for op, operation in OPERATIONS.items():
        names = {"tab", "session"} & operation.model_fields.keys()
        if operation.audience is Audience.OPERATOR or (names and operation is not ops.SessionOpen):
            assert op in attacked
