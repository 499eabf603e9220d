"""Server-sent events go only to callers that may see the session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roost.api import broker as api_broker
from roost.drivers.events import (
    ConsoleSaid,
    DialogOpened,
)
from roost.frontends.http import events
from roost.testing.waits import answer_of, turn, until
from roost.vocabulary import LEASE_SECONDS
from tests.frontends.http.http_callers import URL, Caller, HttpDoor, http_door


class StreamReader:
    """A reader of the stream."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def line(self) -> str:
        """Return the next line with content, or an empty text at the end of the stream."""
        async for line in self._lines:
            if line:
                return line
        return ""

    async def event(self, *kinds: str) -> dict[str, Any]:
        """Return the next event, of these kinds if any are named."""
        while True:
            line = await answer_of(self.line())
            assert line, "the stream ended"
            if line.startswith("event: ") and (not kinds or line[7:] in kinds):
                data = await answer_of(self.line())
                told: dict[str, Any] = json.loads(data.removeprefix("data: "))
                assert told["kind"] == line[7:]
                return told


@asynccontextmanager
async def listening(caller: Caller, session: str) -> AsyncIterator[StreamReader]:
    headers = {"authorization": f"Bearer {caller.token}"}
    path = f"/session/{session}/events"
    async with caller.client.stream("GET", path, headers=headers, timeout=None) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        told = StreamReader(stream.aiter_lines())
        assert (await answer_of(told.line())).startswith(":")
        yield told


def watching(here: HttpDoor) -> int:
    return len(here.house.broker.watchers._listening)


def lease_left(here: HttpDoor) -> float:
    (agent,) = here.house.state.agents.values()
    assert agent.lease_until is not None
    return agent.lease_until - here.house.clock.now()


async def test_a_session_gets_events_of_its_own_tabs_only(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine, other = await here.session("mine"), await here.session("other")
        async with listening(mine, "mine") as told:
            foreign = (await other.tool("browser_navigate", url=URL))["tab"]
            tab = (await mine.tool("browser_navigate", url=URL))["tab"]
            await mine.tool("browser_navigate", url=f"{URL}next")
            for name in (foreign, tab):
                handle = here.house.handle(name)
                report = here.house.browser.report
                assert report is not None
                report(DialogOpened(handle=handle, kind="alert", message=name))
                report(ConsoleSaid(handle=handle, level="error", text=name))
            await other.tool("browser_close", tab=foreign)
            await mine.tool("browser_close", tab=tab)
            seen = [await told.event() for _ in range(5)]
        assert [event["kind"] for event in seen] == [
            "tab_opened", "tab_navigated", "dialog_opened", "console_error", "tab_closed",
        ]  # fmt: skip
        assert {(event["session"], event["data"]["tab"]) for event in seen} == {("mine", tab)}
        assert foreign not in json.dumps(seen)


async def test_a_reserved_slot_is_reported(tmp_path: Path) -> None:
    async with http_door(tmp_path, pool=1) as here:
        mine, other = await here.session("mine"), await here.session("other")
        await other.tool("browser_navigate", url=URL)
        async with listening(mine, "mine") as told:
            await mine.tool("tab_space_request")
            await other.tool("tab_space_grant")
            assert (await told.event("slot_reserved"))["session"] == "mine"


async def test_a_foreign_session_and_an_absent_one_have_no_events(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine, _ = await here.session("mine"), await here.session("other")
        for session in ("other", "no-one"):
            path = f"/session/{session}/events"
            assert await mine.refused("GET", path) == (404, "SESSION_GONE")


async def test_the_operator_hears_of_the_session_it_names(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine, other = await here.session("mine"), await here.session("other")
        async with listening(here.operator, "mine") as told:
            await other.tool("browser_navigate", url=URL)
            await mine.tool("browser_navigate", url=URL)
            assert (await told.event())["session"] == "mine"


async def test_the_operator_sees_no_secrets_in_addresses_and_their_owner_does(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        mine = await here.session("mine")
        await mine.tool("browser_navigate", url=URL)
        secret = f"{URL}?token=hunter2"
        async with listening(mine, "mine") as owner, listening(here.operator, "mine") as person:
            await mine.tool("browser_navigate", url=secret)
            assert (await owner.event("tab_navigated"))["data"]["url"] == secret
            assert "hunter2" not in json.dumps(await person.event("tab_navigated"))


async def test_a_stream_ends_with_its_session(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine = await here.session("mine")
        async with listening(mine, "mine") as told:
            await here.operator.ask("DELETE", "/session/mine")
            assert (await told.event())["kind"] == "session_ended"
            assert await answer_of(told.line()) == ""
        await until(lambda: not watching(here))


async def test_a_reader_that_hangs_up_is_forgotten(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        mine = await here.session("mine")
        async with listening(mine, "mine"):
            assert watching(here) == 1
        await until(lambda: not watching(here))


async def test_a_slow_reader_loses_the_oldest_events_and_blocks_no_other_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_broker, "NOTICES_KEPT", 20)
    async with http_door(tmp_path) as here:
        mine = await here.session("mine")
        tab = (await mine.tool("browser_navigate", url=URL))["tab"]
        report, handle = here.house.browser.report, here.house.handle(tab)
        assert report is not None
        async with listening(mine, "mine") as told:
            for number in range(20_000):  # more than sockets on both sides hold
                text = f"{number} " + "x" * 1900
                report(ConsoleSaid(handle=handle, level="error", text=text))
                if number % 50 == 0:
                    await turn()
            assert await mine.ask("POST", "/session/mine/tools/ping") == {}
            heard: list[int] = []
            while not heard or heard[-1] != 19_999:
                heard.append(int((await told.event())["data"]["text"].split()[0]))
        assert heard == sorted(heard)
        assert len(heard) < 20_000


async def test_a_quiet_stream_shows_that_it_lives_and_keeps_the_agent_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BEAT_SECONDS", 0.01)
    async with http_door(tmp_path) as here:
        mine = await here.session("mine")
        async with listening(mine, "mine") as told:
            agents = set(here.house.state.agents)
            for _ in range(3):
                here.house.clock.advance(LEASE_SECONDS - 2)
                await until(lambda: lease_left(here) >= LEASE_SECONDS)
            assert (await answer_of(told.line())).startswith(":")
            assert set(here.house.state.agents) == agents
