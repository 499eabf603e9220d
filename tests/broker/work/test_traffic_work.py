"""Traffic in a broker with a fake browser (``roost.broker.work.traffic_work``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.drivers.events import MessageSeen, RequestEnded, RequestSent
from roost.errors import BadRequest, NotFound
from roost.testing.house import fake_house


def recorded_urls(path: Path) -> list[str]:
    """Return the addresses in a HAR file that only its owner may read."""
    assert path.stat().st_mode & 0o777 == 0o600
    return [one["request"]["url"] for one in json.loads(path.read_text())["log"]["entries"]]


async def test_a_recording_has_the_sessions_requests_and_is_saved_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        mine = (await ada.call(ops.Navigate(url="https://site.test/"))).tab
        theirs = (await bob.call(ops.Navigate(url="https://site.test/"))).tab
        await ada.call(ops.Har(action="start"))
        for tab, url in ((mine, "https://a.test/"), (theirs, "https://b.test/")):
            handle, report = house.handle(tab), house.browser.report
            assert report is not None
            report(RequestSent(handle=handle, request="1", url=url, method="GET", kind="xhr"))
            report(RequestEnded(handle=handle, request="1", status=200))
        saved = await ada.call(ops.Har(action="stop"))
        assert saved.path is not None
        assert recorded_urls(Path(saved.path)) == ["https://a.test/"]
        with pytest.raises(NotFound):
            await ada.call(ops.Har(action="stop"))


async def test_a_recording_that_cannot_be_saved_goes_on(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        await api.call(ops.Har(action="start"))
        with pytest.raises(BadRequest):
            await api.call(ops.Har(action="stop", filename="/nowhere/x.har"))
        assert (await api.call(ops.Har(action="stop"))).path


async def test_messages_are_kept_short_and_for_their_tab(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        tab = (await api.call(ops.Navigate(url="https://site.test/"))).tab
        assert house.browser.report is not None
        house.browser.report(
            MessageSeen(
                handle=house.handle(tab), request="1", url="wss://a.test/?token=hunter2",
                kind="websocket", text="x" * 10_000, sent=True,
            )
        )  # fmt: skip
        (found,) = (await api.call(ops.NetworkMessages())).messages
        assert (len(found.text), found.sent) == (5000, True)
        assert "hunter2" not in found.url
