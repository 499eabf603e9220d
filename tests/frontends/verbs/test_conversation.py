"""A verb's call on the socket: rendered, cancelled with its process, never a terminal's command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from roost.api.broker import BrokerApi
from roost.api.operations import Operation
from roost.api.views import ValueView, View
from roost.errors import TabGone
from roost.frontends.mcp.replies import text_of
from roost.frontends.verbs.conversation import FAILED, Verbs
from roost.hints import no_way
from roost.testing.house import fake_house
from roost.testing.waits import until
from roost.wire.hello import ClientKind, Hello


class Spoken:
    """A line that remembers what was sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def hold(self) -> None: ...

    def let_go(self) -> None: ...

    def close(self) -> None: ...


class Answering:
    """A broker that answers every call with one view or error, after it may."""

    def __init__(self, answer: View | Exception) -> None:
        self._answer = answer
        self.may = asyncio.Event()
        self.is_cancelled = False

    async def call(self, operation: Operation, *, timeout: float | None = None) -> View:
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def watch(self, session: str | None = None) -> Any: ...


def began(api: Answering, line: Spoken) -> Any:
    hello = Hello(token="x", kind=ClientKind.VERB)
    broker: BrokerApi = api  # type: ignore[assignment]
    return Verbs(text_of, no_way).prepared(hello)(broker, line)


async def answer(view: View | Exception, **more: object) -> dict[str, Any]:
    line, api = Spoken(), Answering(view)
    api.may.set()
    began(api, line).heard({"op": "ping", "args": {}, "verb": "x", **more})
    await until(lambda: bool(line.sent))
    return line.sent[0]


async def test_a_page_cannot_command_a_terminal() -> None:
    nasty = ValueView(tab="t1", value="\x1b]0;owned\x07")
    assert "\x1b" not in (await answer(nasty))["text"]
    assert "\x1b" not in (await answer(nasty, **{"as": "raw", "tty": True}))["text"]
    assert (await answer(nasty, **{"as": "raw"}))["text"] == "\x1b]0;owned\x07"


async def test_an_error_is_text_or_an_object() -> None:
    gone = TabGone("There is no tab t9 here.", page_said="\x1bhello")
    text = await answer(gone)
    assert (text["code"], text["text"].startswith("TAB_GONE: ")) == (FAILED, True)
    assert "\x1b" not in text["text"]
    assert json.loads((await answer(gone, **{"as": "json"}))["text"])["code"] == "TAB_GONE"


@pytest.mark.parametrize("message", [{}, {"op": 3}, {"op": "nope", "args": []}, {"op": "nope"}])
async def test_a_message_that_is_not_a_call_is_refused(message: dict[str, Any]) -> None:
    line = Spoken()
    began(Answering(ValueView(tab="t1")), line).heard(message)
    await until(lambda: bool(line.sent))
    assert line.sent[0]["code"] == FAILED


async def test_a_process_that_goes_away_cancels_its_call() -> None:
    line, api = Spoken(), Answering(ValueView(tab="t1"))
    talk = began(api, line)
    talk.heard({"op": "ping", "args": {}})
    await asyncio.wait({talk._call}, timeout=0)
    talk.end()
    await until(lambda: api.is_cancelled)
    assert line.sent == []


async def test_a_slow_verb_hears_that_the_browser_starts(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        line = Spoken()
        api = house.admit().api
        talk = Verbs(text_of, no_way).prepared(Hello(token="x"))(api, line)
        house.driver.may_start.clear()
        talk.heard({"op": "browser_navigate", "args": {"url": "site.test"}})
        await until(lambda: any("progress" in one for one in line.sent))
        talk.end()
        house.driver.may_start.set()
