"""The addresses below /cdp/{token}/ (roost.frontends.cdp.server, .endpoints), served over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import websockets
from starlette.routing import Mount, Router

from roost.frontends.cdp.endpoints import endpoints
from roost.testing.waits import answer_of, until
from tests.frontends.cdp.cdp_stub_door import StubDoor
from tests.frontends.http.http_callers import plain_http
from tests.frontends.http.served_app import served_app

VERSION = {
    "product": "Chrome/1", "protocolVersion": "1.3", "userAgent": "UA", "jsVersion": "2",
    "revision": "r",
}  # fmt: skip
INFOS = [
    {"targetId": "T-1", "type": "page", "title": "Mine", "url": "https://mine.test/"},
]
WS_MESSAGE_BYTES = 1_000_000


@asynccontextmanager
async def served() -> AsyncIterator[tuple[str, StubDoor]]:
    door = StubDoor(INFOS, Browser_getVersion=VERSION)
    app = Router([Mount("/cdp", endpoints(door)())])
    async with served_app(app, ws_max_size=WS_MESSAGE_BYTES) as address:
        yield address, door


async def got(address: str, path: str, **headers: str) -> tuple[int, Any]:
    async with plain_http() as client:
        answer = await client.get(f"http://{address}{path}", headers=headers)
        return answer.status_code, answer.json()


@pytest.mark.parametrize("slash", ["", "/"])
async def test_the_version_names_the_socket_under_the_same_token(slash: str) -> None:
    async with served() as (address, door):
        status, version = await got(address, f"/cdp/right/json/version{slash}")
        assert status == 200
        assert version["Browser"] == "Chrome/1"
        assert version["WebKit-Version"] == "537.36 (r)"
        socket = version["webSocketDebuggerUrl"]
        assert socket.startswith(f"ws://{address}/cdp/right/")
        assert door.seats == []
        async with websockets.connect(socket) as client:
            await client.send('{"id":5,"method":"Browser.getVersion"}')
            assert json.loads(await client.recv()) == {"id": 5, "result": VERSION}
        await until(lambda: door.seats[-1].closed == 1)


async def test_chromedriver_is_told_at_once_that_the_session_has_no_tab() -> None:
    """Chromedriver opens none. It would look for one for a minute, and then not say what to do."""
    async with served() as (address, door):
        driver = {"User-Agent": "chromedriver"}
        assert (await got(address, "/cdp/right/json/version", **driver))[1]["Browser"] == "Chrome/1"
        door.infos = []
        _, version = await got(address, "/cdp/right/json/version", **driver)
        assert "--url about:blank" in version["Browser"]
        assert (await got(address, "/cdp/right/json/version"))[1]["Browser"] == "Chrome/1"


@pytest.mark.parametrize("path", ["json", "json/list", "json/"])
async def test_the_list_has_the_sessions_tabs_alone(path: str) -> None:
    async with served() as (address, _):
        _, tabs = await got(address, f"/cdp/right/{path}")
        assert tabs == [{"id": "T-1", "type": "page", "title": "Mine", "url": "https://mine.test/"}]


async def test_the_protocol_description_lists_the_available_methods() -> None:
    async with served() as (address, _):
        _, protocol = await got(address, "/cdp/right/json/protocol")
        names = {domain["domain"] for domain in protocol["domains"]}
        assert {"Target", "Page", "Browser"} <= names
        assert "Tracing" not in names
        assert protocol["version"] == {"major": "1", "minor": "3"}


@pytest.mark.parametrize("path", ["json/version", "json/list", "json/protocol"])
async def test_a_wrong_token_learns_nothing(path: str) -> None:
    async with served() as (address, door):
        status, error = await got(address, f"/cdp/wrong/{path}")
        assert (status, error["code"]) == (403, "UNAUTHORIZED")
        assert door.seats == []


async def test_a_wrong_token_gets_no_socket() -> None:
    async with served() as (address, _):
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(f"ws://{address}/cdp/wrong/devtools/browser/x")
        assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.test"}, {"Origin": "null"}, {"Host": "evil.test:80"}, {"Host": "x"}],
)
async def test_a_web_page_is_refused_even_with_the_right_token(headers: dict[str, str]) -> None:
    async with served() as (address, door):
        status, _ = await got(address, "/cdp/right/json/version", **headers)
        assert status == 403
        if "Origin" in headers:
            with pytest.raises(websockets.InvalidStatus):
                await websockets.connect(f"ws://{address}/cdp/right", additional_headers=headers)
        assert door.seats == []


@pytest.mark.parametrize("path", ["", "/", "/devtools/browser/anything"])
async def test_clients_find_the_socket_where_they_look_for_it(path: str) -> None:
    async with served() as (address, _):
        async with websockets.connect(f"ws://{address}/cdp/right{path}") as client:
            await client.send(b'{"id":1,"method":"Browser.close"}')
            assert json.loads(await client.recv()) == {"id": 1, "result": {}}
            await client.wait_closed()


async def test_a_frame_too_large_ends_that_connection_alone() -> None:
    async with served() as (address, door):
        url = f"ws://{address}/cdp/right"
        async with websockets.connect(url) as fellow, websockets.connect(url) as client:
            await client.send("x" * (WS_MESSAGE_BYTES + 1))
            await client.wait_closed()
            assert client.close_code == 1009
            await until(lambda: door.seats[1].closed == 1)
            await fellow.send('{"id":1,"method":"Browser.getVersion"}')
            assert json.loads(await fellow.recv())["id"] == 1


async def test_a_client_that_disconnects_before_it_is_admitted_leaves_no_seat(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as (address, door):
        door.may_sit.clear()
        host, port = address.split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"GET /cdp/right/ HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await answer_of(door.has_come.wait())
        writer.transport.abort()
        # Another connection is served: by then the server has seen the end of this one.
        assert (await got(address, "/cdp/right/json/list"))[0] == 200
        door.may_sit.set()
        await until(lambda: door.seats and door.seats[-1].closed == 1)
    assert "Traceback" not in caplog.text
