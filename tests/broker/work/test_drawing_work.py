"""Drawings: what the person shows an agent (``roost.broker.work.drawing_work``,
``roost.broker.drawings``)."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.api.dashboard import DrawnShape, PersonDrawing
from roost.broker.drawings import DRAWINGS_KEPT
from roost.errors import BadRequest, SessionGone, TabGone
from roost.frontends.mcp.replies import reply_to
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of
from tests.broker.doors.test_viewers import Ear

URL = "https://site.test/"
JPEG = b"\xff\xd8\xff a picture"


def drawing(tab: str, text: str = "Make this larger", **more: Any) -> PersonDrawing:
    shape = {"kind": "box", "x": 300, "y": 80, "toX": 100, "toY": 20}
    given = {"shapes": [shape], "picture": base64.b64encode(JPEG).decode(), **more}
    return PersonDrawing(tab=tab, text=text, **given)


async def viewer_of(house: FakeHouse) -> Any:
    return await house.door.enter(code=house.broker.logins.code(), token=None, ear=Ear())


async def test_the_next_reply_brings_the_drawing_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        viewer = await viewer_of(house)
        await viewer.show_agent(drawing(page.tab, "Make this\n larger"))
        view = await ada.call(ops.Tabs(action="list"))
        (note,) = view.notes or []
        assert f"tab {page.tab} (x=100, y=20, 200x60)" in note
        assert "“Make this larger”" in note
        reply = reply_to(view, lambda name: None)
        assert [base64.b64decode(image.data) for image in reply.images] == [JPEG]
        later = await ada.call(ops.Tabs(action="list"))
        assert later.notes is None
        assert not later.pictures
        viewer.leave()


async def test_the_agent_can_ask_for_drawings_and_has_only_its_own(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        await bob.call(ops.Navigate(url=URL))
        viewer = await viewer_of(house)
        for number in range(DRAWINGS_KEPT + 2):
            await viewer.show_agent(drawing(page.tab, f"Number {number}"))
        shown = (await ada.call(ops.Drawings())).drawings
        assert [one.text for one in shown] == [f"Number {n}" for n in range(9, 1, -1)]
        assert base64.b64decode(shown[0].data or "") == JPEG
        files = (await ada.call(ops.Drawings(inline=False))).drawings
        assert files[0].data is None
        written = await asyncio.to_thread(Path(files[0].path or "").read_bytes)
        assert written == JPEG
        assert (await bob.call(ops.Drawings())).drawings == []
        session = house.broker.state.tabs[page.tab].session  # type: ignore[index]
        await error_of(SessionGone, bob.call(ops.Drawings(session=session)))
        text = reply_to(await ada.call(ops.Drawings()), lambda name: None)
        assert "The person says: “Number 9”" in text.text
        assert len(text.images) == DRAWINGS_KEPT
        viewer.leave()


async def test_drawings_end_with_their_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        viewer = await viewer_of(house)
        await viewer.show_agent(drawing(page.tab))
        session = house.broker.state.tabs[page.tab].session  # type: ignore[index]
        assert session is not None
        await viewer.api.call(ops.SessionDispose(session=session))
        assert house.broker.drawings.newest(session) == []
        await error_of(TabGone, viewer.show_agent(drawing(page.tab)))
        viewer.leave()


async def test_a_drawing_without_a_jpeg_is_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        page = await house.admit().api.call(ops.Navigate(url=URL))
        viewer = await viewer_of(house)
        for wrong in ("", "no base64!", base64.b64encode(b"GIF89a").decode()):
            await error_of(BadRequest, viewer.show_agent(drawing(page.tab, picture=wrong)))
        viewer.leave()


def test_an_arrow_means_its_tip() -> None:
    arrow = DrawnShape.model_validate({"kind": "arrow", "x": 10, "y": 10, "toX": 50, "toY": 90})
    assert arrow.meant == (50, 90, 0, 0)
    assert arrow.box == (10, 10, 40, 80)


@pytest.mark.parametrize(
    "more", [{"text": ""}, {"text": "x" * 2001}, {"shapes": []}, {"picture": "A" * 240_001}]
)
def test_a_drawing_is_bounded(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        drawing("t1", **more)
