"""The gate refuses other hosts, web pages and wrong tokens."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.local.processes import identify
from roost.vocabulary import SessionId
from roost.wire.hello import ClientKind
from tests.frontends.http.http_callers import Caller, http_door

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
    ("GET", "/json/version"),
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
ALONE = {"connection": "close"}
"""One request a connection: who is always refused may keep one for some seconds only."""
EVERY = [*ROUTES, ("GET", "/healthz")]


async def test_a_request_meant_for_another_host_is_refused_also_with_a_token(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        for (method, path), host in itertools.product(EVERY, HOSTS):
            headers = {"host": host.format(port=here.port), **ALONE}
            refused = await here.operator.refused(method, path, headers=headers)
            assert refused == (403, "UNAUTHORIZED"), (path, host)
        assert not here.house.state.sessions


async def test_a_web_page_is_refused_also_with_a_token(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        for (method, path), origin in itertools.product(EVERY, ORIGINS):
            headers = {"origin": origin.format(port=here.port), **ALONE}
            answer = await here.operator.send(method, path, headers=headers)
            assert answer.status_code == 403, (path, origin)
            assert not [name for name in answer.headers if name.startswith("access-control")]
        preflight = {"origin": "https://evil.test", "access-control-request-method": "POST"}
        for _, path in EVERY:
            assert (await here.client.options(path, headers=preflight)).status_code == 403


async def test_nothing_works_without_a_token(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        token = here.house.home.operator_token()
        wrong = (None, "", token, "Bearer", f"Basic {token}", f"Bearer {token}x")
        for (method, path), value in itertools.product(ROUTES, wrong):
            headers = ALONE if value is None else {"authorization": value, **ALONE}
            answer = await here.client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHORIZED"), value
            assert answer.headers["www-authenticate"] == "Bearer"
            assert token not in answer.text
        assert not here.house.state.sessions


async def test_two_host_or_token_headers_are_refused(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
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
    async with http_door(tmp_path) as here:
        for name in ("127.0.0.1", "localhost", "LOCALHOST"):
            headers = {"host": f"{name}:{here.port}"}
            if name.islower() or name[0].isdigit():
                headers["origin"] = f"http://{name}:{here.port}"
            assert (await here.operator.send("GET", "/openapi.json", headers=headers)).is_success


async def test_healthz_needs_no_token_and_reveals_nothing(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        assert (await here.client.get("/healthz")).json() == {"ok": True}


async def test_an_internal_error_reveals_no_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_door(tmp_path) as here:

        def broken(token: str) -> None:
            raise ZeroDivisionError("a secret")

        await here.client.get("/healthz")
        monkeypatch.setattr(here.house.door, "visit", broken)
        answer = await Caller(here.client, "any").send("GET", "/openapi.json")
        assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
        assert "secret" not in answer.text
        assert answer.json()["reference"]


ASK = """
import json, sys, urllib.error, urllib.request
headers = json.loads(sys.argv[2])
try:
    with urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers=headers)) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


async def asked(port: int, session: str | None, path: str, **headers: str) -> tuple[int, str]:
    """Return the status and code that a process with this ``ROOST_SESSION`` gets."""
    environ = {k: v for k, v in os.environ.items() if k != "ROOST_SESSION"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ASK),
        *(f"http://127.0.0.1:{port}{path}", json.dumps(headers)),
        env=environ | ({} if session is None else {"ROOST_SESSION": session}),
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    status, _, body = said.decode().partition(" ")
    return int(status), str(json.loads(body)["code"])


LET_IN = (503, "UNSUPPORTED")
"""The fake browser speaks no DevTools; but whoever hears that, was let in."""
REFUSED = (401, "UNAUTHORIZED")
VERSION = "/json/version"
only_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says who holds a connection"
)


CHROMEDRIVER = {
    "User-Agent": "chromedriver",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "no-cors",
    "Sec-Fetch-Dest": "empty",
}
"""What chromedriver 156 sends with its first request."""


async def test_chromedriver_without_a_session_is_told_at_once_what_to_do(tmp_path: Path) -> None:
    """It shows its user the text of a version that it does not know, and tries nothing further."""
    async with http_door(tmp_path) as here:
        answer = await here.client.get(VERSION, headers=CHROMEDRIVER)
        assert answer.status_code == 200
        (text,) = answer.json().values()
        assert "ROOST_SESSION" in text
        assert not text.startswith(("Chrome/", "HeadlessChrome/")), "chromedriver would go on"
        evil = {**CHROMEDRIVER, "Host": "evil.test"}
        assert (await here.client.get(VERSION, headers=evil)).status_code == 403
        elsewhere = await here.client.get("/session/work/tabs", headers=CHROMEDRIVER)
        assert elsewhere.status_code == 401


@only_linux
async def test_chromedriver_started_for_a_session_needs_no_token_and_a_page_cannot_imitate_it(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        person = here.house.admit(here.house.hello(ClientKind.CLI))
        await person.api.call(ops.SessionOpen(session="shop", named=True))
        assert await asked(here.port, "shop", VERSION, **CHROMEDRIVER) == LET_IN
        for name, value in (
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
            ("User-Agent", "Mozilla/5.0 chromedriver"),
        ):
            page = {**CHROMEDRIVER, name: value}
            assert await asked(here.port, "shop", VERSION, **page) == REFUSED


@pytest.mark.parametrize(
    ("path", "host", "is_let_in"),
    [
        ("/cdp/{token}/", "127.0.0.1", True),
        ("/cdp/{token}/", "evil.test", False),
        ("/openapi.json", "127.0.0.1", False),
    ],
)
async def test_the_port_may_be_missing_only_where_a_devtools_client_connects(
    tmp_path: Path, path: str, host: str, is_let_in: bool
) -> None:
    """Chromedriver leaves it out. Browsers, in which pages run, never do."""
    async with http_door(tmp_path) as here:
        token = (await here.session("work")).token
        upgrade = f"GET {path.format(token=token)} HTTP/1.1\r\nHost: {host}\r\n"
        if path.startswith("/cdp/"):
            upgrade += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            upgrade += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        else:
            upgrade += f"Authorization: Bearer {token}\r\n"
        answer = await here.raw(f"{upgrade}\r\n".encode())
        assert (answer.status, b"UNSUPPORTED" in answer.body) == (
            (LET_IN[0], True) if is_let_in else (403, False)
        )


@only_linux
async def test_a_process_started_for_a_session_needs_no_token_where_devtools_clients_look(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        person = here.house.admit(here.house.hello(ClientKind.CLI))
        await person.api.call(ops.SessionOpen(session="shop", named=True))
        assert await asked(here.port, "shop", VERSION) == LET_IN
        node = {"Sec-Fetch-Mode": "cors"}
        assert await asked(here.port, "shop", "/json/", **node) == LET_IN
        entries = [json.loads(line) for line in here.house.home.audit.read_text().splitlines()]
        given = [entry for entry in entries if entry["kind"] == "session given out"]
        assert [entry["session"] for entry in given] == ["shop", "shop"]
        assert all(entry["pid"] and " < " in entry["line"] for entry in given)
        for session, path in (
            (None, VERSION),
            ("", VERSION),
            ("other", VERSION),
            ("shop", "/session/shop/tabs"),
            ("shop", "/jsonx"),
        ):
            assert await asked(here.port, session, path) == REFUSED
        page = {"Sec-Fetch-Site": "none"}
        assert (await asked(here.port, "shop", VERSION, **page))[1] == "UNAUTHORIZED"
        assert (await asked(here.port, "shop", VERSION, Host="evil.test"))[0] == 403


@only_linux
async def test_a_program_that_an_agent_runs_gets_into_that_agents_sessions_only(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        person = here.house.admit(here.house.hello(ClientKind.CLI))
        for name in ("shop", "mail"):
            await person.api.call(ops.SessionOpen(session=name, named=True))
        # This process is the agent; the processes that ask run below it.
        here.house.admit(replace(here.house.hello(), session=SessionId("shop")))
        assert await asked(here.port, "mail", VERSION) == REFUSED
        assert await asked(here.port, "shop", VERSION) == LET_IN


async def test_every_connection_of_the_operator_is_audited_with_its_process(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:

        def noted() -> list[Any]:
            lines = map(json.loads, here.house.home.audit.read_text().splitlines())
            return [line for line in lines if line["kind"] == "acts as operator"]

        guest = await here.session("work")
        await here.operator.ask("GET", "/openapi.json")
        (line,) = noted()
        assert (line["pid"], line["why"]) == (os.getpid(), "operator's token over HTTP")
        process = identify(os.getpid())
        assert process is not None
        assert line["line"].startswith(process.program)
        await here.operator.ask("GET", "/openapi.json", headers=ALONE)  # the connection's last
        await guest.ask("GET", "/openapi.json")
        assert len(noted()) == 1, "a session's token is not the operator's"
        await here.operator.ask("GET", "/openapi.json")
        assert len(noted()) == 2, "whoever showed another token first"
