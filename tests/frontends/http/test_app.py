"""Mounted applications are behind the same gate as the routes, and are made at their first
request."""

from __future__ import annotations

from pathlib import Path

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from roost.frontends.http.app import application
from roost.frontends.http.events import Streams
from roost.frontends.http.replies import reply
from roost.testing.house import FakeHouse, fake_house

HOST = "http://127.0.0.1:1"


class CountedApplication:
    def __init__(self) -> None:
        self.made = 0

    def make(self) -> ASGIApp:
        self.made += 1

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            visit = scope["visit"]
            await reply({"path": scope["path"], "session": visit.session})(scope, receive, send)

        return answer


def client_of(house: FakeHouse, mounted: CountedApplication) -> httpx.AsyncClient:
    door = house.door
    app = application(door, "127.0.0.1", 1, Streams(door), {"/mounted/{rest:path}": mounted.make})

    async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"admitted": lambda **_: False}
        await app(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(with_state), base_url=HOST)


async def test_a_mounted_application_is_made_once_and_only_for_callers_with_a_token(
    tmp_path: Path,
) -> None:
    mounted = CountedApplication()
    async with fake_house(tmp_path) as house, client_of(house, mounted) as client:
        assert (await client.get("/mounted/x")).status_code == 401
        assert mounted.made == 0
        headers = {"authorization": f"Bearer {house.home.operator_token()}"}
        for method in ("GET", "POST", "DELETE"):
            answer = await client.request(method, "/mounted/x/y", headers=headers)
            assert answer.json() == {"path": "/mounted/x/y", "session": None}
        assert mounted.made == 1


async def test_an_unknown_path_is_answered_with_an_error_object(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, client_of(house, CountedApplication()) as client:
        headers = {"authorization": f"Bearer {house.home.operator_token()}"}
        for method, path, status, code in (
            ("GET", "/", 404, "NOT_FOUND"),
            ("GET", "/session/", 404, "NOT_FOUND"),
            ("GET", "/session/a/b/c", 404, "NOT_FOUND"),
            ("GET", "/session", 405, "BAD_REQUEST"),
            ("TRACE", "/pages/x", 405, "BAD_REQUEST"),
        ):
            answer = await client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (status, code), path
            assert (status == 405) == ("allow" in answer.headers)
