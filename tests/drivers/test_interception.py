"""What becomes of a paused request: the newest rule that matches decides, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from roost.conditions import Conditions, Credentials, Header, OriginHeaders, Route
from roost.drivers.interception import Interception, PausedRequest, basic

URL = "https://site.test/data"


class Recorded(Interception[str]):
    """Records what becomes of requests."""

    def __init__(self, conditions: Conditions) -> None:
        super().__init__()
        self._follow(conditions)
        self.did: list[tuple[object, ...]] = []
        self.done = asyncio.Event()

    def fail(self, request: PausedRequest[str], reason: str) -> None:
        self._note("fail", reason)

    def fulfil(
        self, request: PausedRequest[str], status: int, headers: Sequence[Header], body: bytes
    ) -> None:
        self._note("fulfil", status, list(headers), body)

    def go_on(self, request: PausedRequest[str], headers: Sequence[Header] | None) -> None:
        self._note("go on", None if headers is None else list(headers))

    def _note(self, *what: object) -> None:
        self.did.append(what)
        self.done.set()


def request(
    url: str = URL, method: str = "GET", kind: str = "xhr", **headers: str
) -> PausedRequest[str]:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return PausedRequest("1", url, method, kind, [("Accept", "*/*"), *named])


def rule(number: int, **what: object) -> Route:
    return Route(**{"id": f"r{number}", "url": "**/data", **what})  # type: ignore[arg-type]


async def outcome(conditions: Conditions, paused: PausedRequest[str]) -> tuple[object, ...]:
    tab = Recorded(conditions)
    tab.decide(paused)
    async with asyncio.timeout(10):
        await tab.done.wait()
    (did,) = tab.did
    return did


async def test_the_newest_matching_rule_applies_alone() -> None:
    routes = (
        rule(1, status=200),
        rule(2, abort="timedout", method="POST"),
        rule(3, kinds=("image",), status=404),
        rule(4, url="**/other", abort="failed"),
    )
    conditions = Conditions(routes=routes)
    assert (await outcome(conditions, request()))[:2] == ("fulfil", 200)
    assert await outcome(conditions, request(method="POST")) == ("fail", "timedout")
    assert (await outcome(conditions, request(kind="image")))[:2] == ("fulfil", 404)
    assert await outcome(conditions, request("https://site.test/more")) == ("go on", None)
    assert await outcome(conditions, request("https://site.test/data?x")) == ("go on", None)


async def test_a_preflight_of_an_answered_request_is_allowed() -> None:
    ask = request(
        method="OPTIONS", kind="preflight", origin="https://a.test",
        access_control_request_method="PUT", access_control_request_headers="x-a",
    )  # fmt: skip
    kind, status, headers, _ = await outcome(
        Conditions(routes=(rule(1, status=200, method="PUT", kinds=("fetch",)),)), ask
    )
    assert (kind, status) == ("fulfil", 204)
    assert ("Access-Control-Allow-Headers", "x-a") in headers  # type: ignore[operator]
    passed = await outcome(Conditions(routes=(rule(1, abort="failed"),)), ask)
    assert passed == ("go on", None)


async def test_another_origin_may_read_the_answer_unless_the_rule_says_who() -> None:
    asked = request(origin="https://a.test")
    found = await outcome(Conditions(routes=(rule(1, status=200),)), asked)
    assert ("access-control-allow-origin", "https://a.test") in found[2]  # type: ignore[operator]
    own = (("Access-Control-Allow-Origin", "https://b.test"),)
    found = await outcome(Conditions(routes=(rule(1, status=200, headers=own),)), asked)
    assert found[2] == list(own)


async def test_headers_and_passwords_reach_their_origin_only() -> None:
    conditions = Conditions(
        headers=(OriginHeaders(origin="https://site.test", headers=(("X-A", "1"),)),),
        credentials=(Credentials(origin="https://site.test", username="ada", password="é"),),
    )
    added = [("Accept", "*/*"), ("X-A", "1"), ("Authorization", basic("ada", "é"))]
    assert await outcome(conditions, request()) == ("go on", added)
    own = await outcome(conditions, request(authorization="Bearer b"))
    assert ("authorization", "Bearer b") in own[1]  # type: ignore[operator]
    for foreign in (
        "https://site.test.evil/",
        "http://site.test/",
        "https://evil/https://site.test/",
    ):
        assert await outcome(conditions, request(foreign)) == ("go on", None)
    left = PausedRequest("1", URL, "GET", "xhr", [])
    assert await outcome(conditions, left) == ("go on", None)


async def test_a_rule_reads_its_body_and_waits_first(tmp_path: Path) -> None:
    body = tmp_path / "r1"
    body.write_bytes(b"\x00body")
    told = await outcome(
        Conditions(routes=(rule(1, status=200, body_path=str(body), delay_ms=1),)), request()
    )
    assert told == ("fulfil", 200, [], b"\x00body")
    body.unlink()
    gone = Conditions(routes=(rule(1, status=200, body_path=str(body)),))
    assert await outcome(gone, request()) == ("fail", "failed")


async def test_nothing_is_answered_after_the_tab_has_gone() -> None:
    tab = Recorded(Conditions(routes=(rule(1, abort="failed", delay_ms=1),)))
    tab.decide(request())
    tab.ended()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await tab.done.wait()
