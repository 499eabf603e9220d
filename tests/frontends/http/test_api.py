"""The broker passes the API checks over HTTP.

An agent is a caller with the token of a session that was opened for it. The operator connects as
usual. ``NOT_HERE`` lists the checks that HTTP cannot support.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx
import pytest

from roost.api import operations as ops
from roost.api.broker import BrokerApi, Notice, Notices
from roost.api.operations import Answers, Operation
from roost.api.views import SessionView, View
from roost.errors import RoostError, SessionGone
from roost.frontends.http.bodies import names_session
from roost.frontends.http.replies import NO_TOKEN
from roost.testing.broker_api import API_CHECKS, ApiCheck, Direct, check_broker_api
from roost.testing.house import FakeHouse
from roost.testing.waits import SECONDS
from roost.wire.hello import ClientKind, Hello
from tests.frontends.http.http_callers import plain_http

R = TypeVar("R", bound=View)
CONNECTIONS = 50
_ONE_TOKEN = "a token is one agent, however many have it"
_NO_ALIASES = "a token is good for one session, so there are no names for several"
_LEASE = "an agent goes when its lease ends, and cannot say goodbye"
_PERSON_OPENS = "only the person's token opens sessions, so a session's token sees no profiles"
NOT_HERE = {
    "a_joined_session_is_shared_but_each_keeps_its_current_tab": _ONE_TOKEN,
    "a_capture_that_waits_three_seconds_is_refused_with_the_holder": _ONE_TOKEN,
    "names_given_to_sessions_are_local_to_the_agent": _NO_ALIASES,
    "sub_agents_with_their_own_sessions_do_not_share_tabs": _NO_ALIASES,
    "a_named_session_outlives_its_agents_and_an_anonymous_one_does_not": "all are named",
    "the_operator_names_the_session_and_sees_redacted_addresses": "a token ends with its session",
    "a_foreign_profile_gets_the_answer_of_a_missing_one": _PERSON_OPENS,
    "the_person_imports_lists_and_removes_profiles": _PERSON_OPENS,
    "a_connected_agent_never_ends_for_being_idle": _LEASE,
    "every_way_a_slot_is_freed_serves_the_queue": _LEASE,
    "leaving_releases_everything_of_the_agent_and_nothing_of_others": _LEASE,
    "many_calls_at_once_are_each_answered_with_their_own": "httpx is slow at that; see bench/",
    "an_invalid_deadline_is_refused": "the field is called timeoutMs",
}


@dataclass(slots=True)
class Wire:
    """What all callers of one scene share."""

    client: httpx.AsyncClient
    operator: str
    opening: set[asyncio.Event] = field(default_factory=set)
    """Streams of events that are not there yet: nobody calls before, or it would be missed."""

    async def post(self, token: str, path: str, **more: Any) -> Any:
        await asyncio.gather(*(opened.wait() for opened in self.opening))
        headers = {"authorization": f"Bearer {token}"}
        answer = await self.client.post(path, headers=headers, **more)
        if answer.status_code == NO_TOKEN:
            raise SessionGone("A token ends with its session.")
        if answer.is_error:
            raise RoostError.from_wire(answer.json())
        return answer.json()


class HttpApi:
    """``BrokerApi`` over HTTP. Further sessions are opened as scripts do: with the operator's
    token, for use with their own."""

    def __init__(self, wire: Wire, session: str, token: str) -> None:
        self._wire = wire
        self._home = session
        self._tokens = {session: token}
        self._streams: dict[Notices, asyncio.Task[None]] = {}

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        assert isinstance(operation, Operation)
        body, session, token = operation.to_wire(), self._home, self._tokens[self._home]
        if isinstance(operation, ops.SessionOpen):
            token = self._wire.operator
            body["session"] = self._called(operation.session or "another")
        elif names_session(type(operation)) and "session" in body:
            named = body.pop("session")
            session = self._called(named) if self._called(named) in self._tokens else named
            token = self._tokens.get(session, token)
        path = f"/session/{session}/tools/{operation.op}"
        params = {} if timeout is None else {"timeoutMs": round(timeout * 1000)}
        answer = await self._wire.post(token, path, json=body, params=params)
        view = cast(R, operation.reply.model_validate(answer))
        if isinstance(operation, ops.SessionOpen) and isinstance(view, SessionView):
            found = await self._wire.post(token, "/session", json={"sessionId": view.id})
            self._tokens[view.id] = found["token"]
            for tab in view.tabs:  # the operator opened it
                await self.call(ops.Tabs(action="select", tab=tab.tab, session=operation.session))
        return view

    def _called(self, alias: str) -> str:
        return f"{alias}-of-{self._home}"

    def watch(self, session: str | None = None) -> Notices:
        notices, opened = Notices(self._forget), asyncio.Event()
        self._wire.opening.add(opened)
        reading = self._read(notices, opened, session or self._home)
        self._streams[notices] = asyncio.get_running_loop().create_task(reading)
        return notices

    async def _read(self, notices: Notices, opened: asyncio.Event, session: str) -> None:
        headers = {"authorization": f"Bearer {self._tokens[session]}"}
        path = f"/session/{session}/events"
        async with self._wire.client.stream("GET", path, headers=headers) as stream:
            assert stream.status_code == 200
            async for line in stream.aiter_lines():
                opened.set()
                self._wire.opening.discard(opened)
                if line.startswith("data: "):
                    notices.put(Notice.from_wire(json.loads(line.removeprefix("data: "))))

    def _forget(self, notices: Notices) -> None:
        self._streams.pop(notices).cancel()

    async def goodbye(self) -> None:
        """End the caller's sessions, because HTTP has no goodbye."""
        for notices in list(self._streams):
            notices.close()
        for session, token in self._tokens.items():
            headers = {"authorization": f"Bearer {token}"}
            await self._wire.client.delete(f"/session/{session}", headers=headers)


class Http:
    """Implements ``testing.scene.Way``."""

    def __init__(self) -> None:
        self._person = Direct()
        self._wire: Wire | None = None
        self._here = 0

    async def enter(self, house: FakeHouse, hello: Hello) -> BrokerApi:
        if hello.kind is ClientKind.CLI:
            return await self._person.enter(house, hello)
        if self._wire is None:
            client = plain_http(
                str(house.broker.http),
                timeout=SECONDS,
                limits=httpx.Limits(max_connections=CONNECTIONS),
            )
            self._wire = Wire(client, house.home.operator_token())
        self._here += 1
        body = {"sessionId": hello.session, "name": hello.name, "jar": hello.jar}
        opened = await self._wire.post(self._wire.operator, "/session", json=body)
        return HttpApi(self._wire, opened["sessionId"], opened["token"])

    async def leave(self, house: FakeHouse, api: BrokerApi) -> None:
        if not isinstance(api, HttpApi):
            await self._person.leave(house, api)
            return
        await api.goodbye()
        self._here -= 1
        if self._wire is not None and not self._here:
            await self._wire.client.aclose()
            self._wire = None


CHECKS = [check for check in API_CHECKS if check.__name__ not in NOT_HERE]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_api_keeps_its_promises_over_http(check: ApiCheck, tmp_path: Path) -> None:
    await check_broker_api(Http, tmp_path, check)


def test_every_check_left_out_for_http_exists() -> None:
    assert NOT_HERE.keys() <= {check.__name__ for check in API_CHECKS}
