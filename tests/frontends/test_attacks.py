"""Every operation, attacked through every way in: no leak, and foreign is like nonexistent."""

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
from http_house import Caller, HttpHouse, http_house
from mcp import Client as McpClient

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.operations import OPERATIONS, Audience
from roost.errors import RoostError, Unauthorized
from roost.frontends.http import connection
from roost.frontends.mcp.conversation import toolset_for
from roost.frontends.mcp.server import Guest, make_server
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
from roost.testing.waiting import answer_of

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
    """By hand over one connection: thousands of requests."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    async def attempt(self, op: str, arguments: Mapping[str, Any]) -> Answer:
        body = dict(arguments)
        session = self.caller.session
        if op != ops.SessionOpen.op:
            session = body.pop("session", session)
        status, answer = await self.post(f"/session/{session}/tools/{op}", body)
        return Answer(status < 400, json.loads(answer))

    async def post(self, path: str, body: Mapping[str, Any] = MappingProxyType({})) -> Reply:
        url, content = self.caller.client.base_url, json.dumps(dict(body)).encode()
        if not hasattr(self, "_stream"):
            self._stream = await asyncio.open_connection(url.host, url.port)
        reader, writer = self._stream
        lines = (
            f"POST {path} HTTP/1.1",
            f"Host: {url.host}:{url.port}",
            f"Authorization: Bearer {self.caller.token}",
            f"Content-Length: {len(content)}",
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
        result = await self._client.call_tool(op, dict(arguments))
        if not result.is_error:
            return Answer(True, {"content": [part.model_dump() for part in result.content]})
        text = result.content[0]
        assert text.type == "text"
        return Answer(False, json.loads(text.text.splitlines()[-1]))


@asynccontextmanager
async def over_socket(here: HttpHouse) -> AsyncIterator[Attacker]:
    client = await here.house.client(replace(here.house.hello(), name="mallory"))
    try:
        await client.call(ops.Navigate(url=OWN_URL))
        yield OverSocket(client)
    finally:
        await client.aclose()


@asynccontextmanager
async def over_http(here: HttpHouse) -> AsyncIterator[Attacker]:
    caller = await here.session("mallory")
    await caller.tool("browser_navigate", url=OWN_URL)
    with closing(OverHttp(caller)) as attacker:
        yield attacker


@asynccontextmanager
async def over_mcp(here: HttpHouse) -> AsyncIterator[Attacker]:
    """Every operation agents are shown; the others must not be there at all."""
    admission = here.house.admit(replace(here.house.hello(), name="mallory"))
    await admission.api.call(ops.Navigate(url=OWN_URL))
    guest = Guest(admission.api, toolset_for(None, ("all",)))
    async with McpClient(make_server(lambda _: guest)) as client:
        yield OverMcp(client)
    here.house.door.leave(admission, goodbye=True)


async def settle(here: HttpHouse) -> Victim:
    """A victim at work, and somebody who waits, so that there is something to give away."""
    victim = await here.session(f"{CANARY}-shop")
    page = f"{CANARY}-page"
    opened = await victim.ask("POST", "/pages", json={"name": page, "url": VICTIM_URL})
    (agent,) = here.house.state.agents
    return Victim(victim.session, opened["tabId"], page, opened["targetId"], agent)


def belongings(here: HttpHouse, victim: Victim) -> list[Any]:
    """All that is the victim's, as the core has it."""
    state = here.house.state
    session = state.sessions[victim.session]  # type: ignore[index]
    tabs = [replace(tab, used=0) for tab in state.tabs_in(session.id)]
    return [session, tabs, state.members_in(session.id), state.loops.get(session.id)]


Way = Callable[[HttpHouse], Any]


@pytest.mark.slow
@pytest.mark.parametrize("way", [over_socket, over_http, over_mcp])
async def test_every_attack_is_refused_and_tells_nothing(way: Way, tmp_path: Path) -> None:
    async with http_house(tmp_path, pool=2) as here:
        victim = await settle(here)
        async with way(here) as attacker:
            waiting = await here.session("waiting")
            await waiting.tool("tab_space_request")
            before = belongings(here, victim)
            done = 0
            for attack in attacks(victim):
                shown = OPERATIONS[attack.op].audience in (Audience.CORE, Audience.ALL)
                if way is over_mcp and not shown:
                    answer = await attacker.attempt(attack.op, attack.arguments)
                    assert answer.wire["code"] == "BAD_REQUEST", attack
                    check_silence(answer.wire, *attack.named)
                else:
                    await check_attack(attacker, attack)
                done += 1
            assert belongings(here, victim) == before
            assert not here.house.broker.stop_requested.is_set()
            assert done > 2 * len(OPERATIONS)


@pytest.mark.parametrize("way", [over_socket, over_http, over_mcp])
async def test_what_is_allowed_shows_only_ones_own(way: Way, tmp_path: Path) -> None:
    """Every operation without a name of the victim's: whatever it answers is the caller's own."""
    async with http_house(tmp_path) as here:
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


async def test_every_operation_answers_anothers_token_as_if_the_session_were_not_there(
    tmp_path: Path,
) -> None:
    async with http_house(tmp_path) as here:
        victim = await settle(here)
        with closing(OverHttp(await here.session("mallory"))) as mallory:
            for op in OPERATIONS:
                status, foreign = await mallory.post(f"/session/{victim.session}/tools/{op}")
                _, absent = await mallory.post(f"/session/{NO_SESSION}/tools/{op}")
                assert (status, json.loads(foreign)["code"]) == (404, "SESSION_GONE"), op
                assert foreign.replace(victim.session.encode(), b"") == absent.replace(
                    NO_SESSION.encode(), b""
                )


async def test_every_operation_answers_an_expired_token_like_a_made_up_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 60.0)  # strangers are cut off, at other times
    async with http_house(tmp_path) as here:
        victim = await settle(here)
        expired = OverHttp(await here.session("expired"))
        await here.operator.ask("DELETE", "/session/expired")
        made_up = OverHttp(Caller(here.client, "0" * 64))
        with closing(expired), closing(made_up):
            for op, session in product(OPERATIONS, (victim.session, "expired", NO_SESSION)):
                path = f"/session/{session}/tools/{op}"
                status, answer = await expired.post(path)
                assert (status, json.loads(answer)["code"]) == (401, "UNAUTHORIZED"), op
                assert (status, answer) == await made_up.post(path)


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
    async with http_house(tmp_path) as here:
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
    async with http_house(tmp_path) as here:
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
