"""Nobody comes in who is not meant to: other hosts, web pages, wrong tokens."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from http_house import Caller, http_house

ROUTES = [
    ("POST", "/session"),
    ("DELETE", "/session/work"),
    ("GET", "/session/work/tabs"),
    ("GET", "/session/work/events"),
    ("POST", "/session/work/heartbeat"),
    ("POST", "/session/work/tools/ping"),
    ("POST", "/pages"),
    ("DELETE", "/pages/cart"),
    ("GET", "/openapi.json"),
    ("GET", "/no-such-route"),
    ("PUT", "/session"),
]
HOSTS = [
    "evil.test",
    "evil.test:{port}",
    "127.0.0.1",
    "localhost",
    "0.0.0.0:{port}",
    "[::1]:{port}",
]
ORIGINS = ["https://evil.test", "null", "http://127.0.0.1", "https://127.0.0.1:{port}", ""]


EVERY = [*ROUTES, ("GET", "/healthz")]


async def test_a_request_meant_for_another_host_is_refused_also_with_a_token(
    tmp_path: Path,
) -> None:
    async with http_house(tmp_path) as here:
        for (method, path), host in itertools.product(EVERY, HOSTS):
            headers = {"host": host.format(port=here.port)}
            refused = await here.operator.refused(method, path, headers=headers)
            assert refused == (403, "UNAUTHORIZED"), (path, host)
        assert not here.house.state.sessions


async def test_a_web_page_is_refused_also_with_a_token(tmp_path: Path) -> None:
    async with http_house(tmp_path) as here:
        for (method, path), origin in itertools.product(EVERY, ORIGINS):
            headers = {"origin": origin.format(port=here.port)}
            answer = await here.operator.send(method, path, headers=headers)
            assert answer.status_code == 403, (path, origin)
            assert not [name for name in answer.headers if name.startswith("access-control")]
        preflight = {"origin": "https://evil.test", "access-control-request-method": "POST"}
        for _, path in EVERY:
            assert (await here.client.options(path, headers=preflight)).status_code == 403


async def test_nothing_works_without_a_token(tmp_path: Path) -> None:
    async with http_house(tmp_path) as here:
        token = here.house.home.operator_token()
        wrong = (None, "", token, "Bearer", f"Basic {token}", f"Bearer {token}x")
        for (method, path), value in itertools.product(ROUTES, wrong):
            headers = {} if value is None else {"authorization": value}
            answer = await here.client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHORIZED"), value
            assert answer.headers["www-authenticate"] == "Bearer"
            assert token not in answer.text
        assert not here.house.state.sessions


async def test_two_hosts_or_two_tokens_are_none(tmp_path: Path) -> None:
    async with http_house(tmp_path) as here:
        good = [f"Host: 127.0.0.1:{here.port}", f"Authorization: Bearer {here.operator.token}"]
        for extra, status in (
            ("Host: evil.test", 403),
            (good[0], 403),
            ("Authorization: Bearer x", 401),
            ("Accept: */*", 200),
        ):
            lines = ["GET /openapi.json HTTP/1.1", *good, extra, "Connection: close", "", ""]
            assert (await here.raw("\r\n".join(lines).encode())).status == status, extra


async def test_the_persons_own_pages_on_this_server_may_come_in(tmp_path: Path) -> None:
    async with http_house(tmp_path) as here:
        for name in ("127.0.0.1", "localhost", "LOCALHOST"):
            headers = {"host": f"{name}:{here.port}"}
            if name.islower() or name[0].isdigit():
                headers["origin"] = f"http://{name}:{here.port}"
            assert (await here.operator.send("GET", "/openapi.json", headers=headers)).is_success


async def test_health_needs_no_token_and_says_nothing_else(tmp_path: Path) -> None:
    async with http_house(tmp_path) as here:
        assert (await here.client.get("/healthz")).json() == {"ok": True}


async def test_a_failure_of_our_own_is_answered_without_a_word_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_house(tmp_path) as here:

        def broken(token: str) -> None:
            raise ZeroDivisionError("a secret")

        await here.client.get("/healthz")
        monkeypatch.setattr(here.house.door, "visit", broken)
        answer = await Caller(here.client, "any").send("GET", "/openapi.json")
        assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
        assert "secret" not in answer.text
        assert answer.json()["reference"]
