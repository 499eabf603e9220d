"""What viewers see of the sessions (``roost.broker.doors.viewers``, ``roost.api.dashboard``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from roost import core
from roost.api import operations as ops
from roost.api.dashboard import FilmKind, FilmWish, TileState, WallView
from roost.broker.doors.caller import Caller
from roost.broker.doors.viewers import FILMS, wall_of
from roost.drivers.events import DialogOpened
from roost.drivers.fake.page import FakePageDriver
from roost.errors import Unsupported
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import until
from roost.vocabulary import OPERATOR, TabId

URL = "https://site.test/"


class Ear:
    """Keeps what a viewer was told."""

    def __init__(self) -> None:
        self.walls: list[WallView] = []
        self.lines: list[bytes] = []
        self.pictures: list[tuple[int, bytes]] = []
        self.misses: list[tuple[int, str]] = []

    def showed(self, wall: WallView) -> None:
        self.walls.append(wall)

    def fed(self, lines: Sequence[bytes]) -> None:
        self.lines += lines

    def filmed(self, film: int, picture: bytes, viewport: tuple[float, float]) -> None:
        self.pictures.append((film, picture))

    def missed(self, film: int, why: str) -> None:
        self.misses.append((film, why))


def states(house: FakeHouse) -> dict[str, TileState]:
    return {tile.name: tile.state for tile in wall_of(house.broker).tiles}


async def test_a_tile_tells_the_state_of_its_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        name = next(iter(states(house)))
        assert states(house)[name] is TileState.IDLE
        row = house.broker.state.tabs[TabId(page.tab)]
        assert row.handle is not None
        house.broker.in_use[1] = (row.id,)
        assert states(house)[name] is TileState.WORKING
        house.broker.heard(
            row.browser, DialogOpened(handle=row.handle, kind="alert", message="Sure?")
        )
        assert states(house)[name] is TileState.DIALOG
        assert wall_of(house.broker).tiles[0].asking[0].dialog == "Sure?"
        assert row.session is not None
        house.broker.decide(core.pause_session, OPERATOR, row.session, True)
        assert states(house)[name] is TileState.PAUSED
        del house.broker.in_use[1]


async def test_a_viewer_is_given_at_most_so_many_films(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        ear = Ear()
        code = house.broker.logins.code()
        viewer = await house.door.enter(code=code, token=None, ear=ear)
        viewer.want([FilmWish(number, page.tab, FilmKind.TILE) for number in range(FILMS + 10)])
        await until(lambda: len({film for film, _ in ear.pictures}) == FILMS)
        assert len(viewer._projectors) == FILMS
        viewer.leave()
        assert viewer._projectors == {}


async def test_a_film_begins_again_when_the_browser_is_back(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit().api
        page = await ada.call(ops.Navigate(url=URL))
        ear = Ear()
        viewer = await house.door.enter(code=house.broker.logins.code(), token=None, ear=ear)
        viewer.want([FilmWish(1, page.tab, FilmKind.TILE)])
        await until(lambda: ear.pictures)
        ear.pictures.clear()
        house.driver.kill()
        await until(lambda: ear.pictures)
        viewer.leave()


async def test_the_wall_has_no_secret_of_the_person(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.broker.redactor.register("mail", "c4nary-value")
        page = await house.admit().api.call(ops.Navigate(url="https://site.test/c4nary-value"))
        row = house.broker.state.tabs[TabId(page.tab)]
        assert row.handle is not None
        message = "Send c4nary-value?"
        dialog = DialogOpened(handle=row.handle, kind="confirm", message=message)
        house.broker.heard(row.browser, dialog)
        ear = Ear()
        code = house.broker.logins.code()
        viewer = await house.door.enter(code=code, token=None, ear=ear)
        viewer.leave()
        (tile,) = ear.walls[-1].tiles
        assert "c4nary" not in str(tile)
        assert tile.asking[0].dialog == "Send [secret mail]?"


async def test_a_viewer_is_told_why_a_film_has_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        page = await house.admit().api.call(ops.Navigate(url=URL))
        ear = Ear()
        viewer = await house.door.enter(code=house.broker.logins.code(), token=None, ear=ear)
        refuse = AsyncMock(side_effect=Unsupported("Chrome does not let this page be pictured."))
        with monkeypatch.context() as patched:
            patched.setattr(FakePageDriver, "capture", refuse)
            viewer.want([FilmWish(1, page.tab, FilmKind.TILE)])
            await until(lambda: ear.misses)
        assert ear.misses[0] == (1, "Chrome does not let this page be pictured.")
        await until(lambda: ear.pictures)
        viewer.leave()


async def test_a_tile_names_the_policies_that_restrict_its_agents(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada = house.admit()
        session = house.state.agents[ada.agent].own_session
        assert wall_of(house.broker).tiles[0].policy == []
        operator = Caller(house.broker, OPERATOR)
        await operator.call(ops.PolicySet(session=session, policy="careful", source="a test"))
        assert wall_of(house.broker).tiles[0].policy == ["a test (careful)"]
        await operator.call(ops.PolicySet(session=session, policy="open", source="a test"))
        assert wall_of(house.broker).tiles[0].policy == []
