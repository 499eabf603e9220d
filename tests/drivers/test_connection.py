"""An unreadable frame fails one call and never ends the link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.connection import BROWSER, Connection, Json
from roost.drivers.firefox.connection import BidiConnection
from roost.errors import Internal, RoostError, TooLarge
from roost.wire.weight import ANSWER_BYTES, ANSWER_VALUES, EVENT_STRING_BYTES, PICTURE_BYTES
from tests.drivers.scripted_link import Heard, ScriptedLink

Call = Callable[[], asyncio.Future[Json]]
DEEP = b"[" * 100_000 + b"]" * 100_000
MANY = b"[" + b"[]," * ANSWER_VALUES + b"1]"


class ProtocolUnderTest:
    """One protocol: how its replies and events are written, and what the driver got of them."""

    def __init__(self, protocol: str) -> None:
        self.link, self.keeper, self.events = ScriptedLink(), Heard(), list[str]()
        self.connection: Connection
        self.call: Call
        if protocol == "cdp":
            cdp = CdpConnection(self.link, self.keeper.word, self.keeper.end)
            cdp.on_event(BROWSER, lambda method, params: self.events.append(method))
            self.connection, self.call = cdp, lambda: cdp.call("Runtime.evaluate")
            self.take_picture: Call = lambda: cdp.call("Page.captureScreenshot")
            self.list_tabs: Call = lambda: cdp.call("Target.getTargets")
        else:
            bidi = BidiConnection(
                self.link, self.keeper.word, self.keeper.end, lambda m, p: self.events.append(m)
            )
            bidi.begin()
            bidi.release()
            self.connection, self.call = bidi, lambda: bidi.call("script.evaluate")
            self.take_picture = lambda: bidi.call("browsingContext.captureScreenshot")
            self.list_tabs = lambda: bidi.call("browsingContext.getTree")
        self._is_cdp = protocol == "cdp"

    def answer(self, result: bytes) -> None:
        start = b"" if self._is_cdp else b'"type":"success",'
        self.link.frame(b'{%s"id":%d,"result":%s}' % (start, self.last, result))

    def event(self, method: bytes, params: bytes) -> None:
        start = b"" if self._is_cdp else b'"type":"event",'
        self.link.frame(b'{%s"method":"%s","params":%s}' % (start, method, params))

    @property
    def last(self) -> int:
        return int(self.link.sent[-1]["id"])


@pytest.fixture(params=["cdp", "bidi"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def still_works(spoken: ProtocolUnderTest) -> None:
    asked = spoken.call()
    spoken.answer(b'{"value":1}')
    assert await asked == {"value": 1}
    spoken.event(b"Page.loaded", b"{}")
    assert spoken.events[-1] == "Page.loaded"
    assert not spoken.keeper.is_over


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (b'{"value":%s}' % DEEP, TooLarge),
        (b'{"value":%s}' % MANY, TooLarge),
        (b'{"value":"%s"}' % (b"a" * ANSWER_BYTES), TooLarge),
        (b'{"value":nonsense}', Internal),
        (b'{"value":"\xff"}', Internal),
        (b"[]", Internal),
        (b"null", Internal),
    ],
    ids=["deep", "many values", "large", "no JSON", "no UTF-8", "list", "null"],
)
async def test_an_answer_that_cannot_be_read_fails_its_own_call_and_no_other(
    protocol: str, result: bytes, error: type[RoostError]
) -> None:
    spoken = ProtocolUnderTest(protocol)
    other = spoken.call()
    asked = spoken.call()
    spoken.answer(result)
    with pytest.raises(error):
        await asked
    assert not other.done()
    await still_works(spoken)


@pytest.mark.parametrize("frame", [b"{}", b'{"id":1}', b'{"id":[]}', b'{"id":"1"}', b'{"id":true}'])
async def test_an_answer_of_a_wrong_shape_ends_nothing(protocol: str, frame: bytes) -> None:
    spoken = ProtocolUnderTest(protocol)
    asked = spoken.call()
    spoken.link.frame(frame)
    if frame == b'{"id":1}':
        with pytest.raises(Internal):
            await asked
    await still_works(spoken)


@pytest.mark.parametrize("frame", [b"", b"nonsense", b"1", b'"a"', b" [1, 2]", DEEP, b'{"id":'])
async def test_a_frame_that_is_no_message_ends_nothing(protocol: str, frame: bytes) -> None:
    spoken = ProtocolUnderTest(protocol)
    spoken.link.frame(frame)
    await still_works(spoken)


async def test_an_unreadable_event_is_dropped_and_its_text_is_not_logged(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    spoken = ProtocolUnderTest(protocol)
    for params in (b'{"secret":%s}' % DEEP, b'{"secret":%s}' % MANY, b'{"secret":nonsense}'):
        spoken.event(b"Runtime.consoleAPICalled", params)
    assert spoken.events == []
    assert len(caplog.records) == 3
    assert all("Runtime.consoleAPICalled" in record.getMessage() for record in caplog.records)
    assert "secret" not in caplog.text
    await still_works(spoken)


async def test_a_page_cannot_fail_another_call_by_naming_its_id(protocol: str) -> None:
    spoken = ProtocolUnderTest(protocol)
    victim = spoken.call()
    spoken.event(b"Log.added", b'{"text":"{\\"id\\":%d,","id":%d}' % (spoken.last, spoken.last))
    spoken.event(b"Log.added", b'{"a":%s,"id":%d}' % (DEEP, spoken.last))
    assert not victim.done()
    asked = spoken.call()
    spoken.answer(b'{"a":%s,"id":%d}' % (DEEP, spoken.last - 1))
    with pytest.raises(TooLarge):
        await asked
    assert not victim.done()


async def test_events_that_say_where_a_tab_is_are_read_whatever_the_address_holds(
    protocol: str,
) -> None:
    spoken = ProtocolUnderTest(protocol)
    url = b"," * (2 * ANSWER_VALUES) + b"[" * ANSWER_VALUES
    for method in (b"Page.navigatedWithinDocument", b"browsingContext.fragmentNavigated"):
        spoken.event(method, b'{"url":"%s"}' % url)
    assert set(spoken.events) == {
        "Page.navigatedWithinDocument", "browsingContext.fragmentNavigated",
    }  # fmt: skip


async def test_a_long_text_is_read_however_many_commas_it_holds(protocol: str) -> None:
    spoken = ProtocolUnderTest(protocol)
    text = "[,{" * ANSWER_VALUES
    asked = spoken.call()
    spoken.answer(b'{"value":"%s"}' % text.encode())
    assert await asked == {"value": text}


@pytest.mark.parametrize("protocol", ["cdp", "bidi"])
async def test_a_long_string_in_an_event_is_cut_before_the_event_is_read(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = ProtocolUnderTest(protocol)
    said = list[Json]()
    monkeypatch.setattr(spoken.connection, "_heard", said.append)
    spoken.event(b"Log.added", b'{"text":"%s","line":7}' % (b"a" * 10 * EVENT_STRING_BYTES))
    assert said[0]["params"] == {"text": "a" * EVENT_STRING_BYTES, "line": 7}


@pytest.mark.parametrize("protocol", ["cdp", "bidi"])
async def test_a_picture_may_be_larger_than_other_answers(protocol: str) -> None:
    spoken = ProtocolUnderTest(protocol)
    for size, is_read in ((2 * ANSWER_BYTES, True), (PICTURE_BYTES, False)):
        asked = spoken.take_picture()
        spoken.answer(b'{"data":"%s"}' % (b"a" * size))
        if is_read:
            assert len((await asked)["data"]) == size
        else:
            with pytest.raises(TooLarge):
                await asked
    await still_works(spoken)


async def test_pages_cannot_make_the_list_of_tabs_unreadable_by_their_addresses(
    protocol: str,
) -> None:
    spoken = ProtocolUnderTest(protocol)
    listed = spoken.list_tabs()
    address = b"http://x/#" + b"a" * (ANSWER_BYTES // 4)
    tabs = b",".join(b'{"tab":%d,"url":"%s"}' % (number, address) for number in range(6))
    spoken.answer(b'{"tabs":[%s]}' % tabs)
    found = (await listed)["tabs"]
    assert [one["tab"] for one in found] == list(range(6))
    assert {len(one["url"]) for one in found} == {EVENT_STRING_BYTES}
    await still_works(spoken)
