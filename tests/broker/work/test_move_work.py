"""A session is packed in one browser and unpacked in another."""

from __future__ import annotations

from pathlib import Path

from roost.api import operations as ops
from roost.api.move_operations import Luggage
from roost.errors import Unauthorized
from roost.testing.house import fake_house
from roost.testing.waits import error_of, until
from roost.vocabulary import SessionId
from roost.wire.hello import ClientKind

URL = "https://site.test/"


async def test_a_session_goes_on_elsewhere_with_its_addresses_and_cookies(tmp_path: Path) -> None:
    async with fake_house(tmp_path / "here") as here, fake_house(tmp_path / "there") as there:
        first = here.admit(here.hello(ClientKind.CLI)).api
        second = there.admit(there.hello(ClientKind.CLI)).api
        await first.call(ops.SessionOpen(session="cart", named=True, url=URL))
        await first.call(ops.Tabs(action="new", url=f"{URL}two", session="cart"))
        await first.call(
            ops.Cookies(action="set", name="login", value="1", domain="site.test", session="cart")
        )
        jar = here.state.jar_of(SessionId("cart"))
        assert jar is not None
        here.clock.advance(2)  # the broker reads the jar a second after it changed
        await until(lambda: "login" in str(here.broker.jar_backups.kept(jar.id)))
        luggage = (await first.call(ops.SessionPack(session="cart"))).luggage
        assert luggage.tabs == [URL, f"{URL}two"]
        assert "login" not in repr(luggage), "cookies stay out of logs"

        await second.call(ops.SessionOpen(session="cart", named=True))
        view = await second.call(ops.SessionUnpack(session="cart", luggage=luggage))
        assert (view.tabs, view.cookies, view.notes) == (2, 1, None)
        tabs = await second.call(ops.Tabs(action="list", session="cart"))
        assert [tab.url for tab in tabs.tabs] == [URL, f"{URL}two"]
        found = await second.call(ops.Cookies(action="get", name="login", session="cart"))
        assert [each.value for each in found.cookies] == ["1"]


async def test_only_the_operator_packs_sessions(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url=URL))
        await error_of(Unauthorized, agent.call(ops.SessionPack()))
        await error_of(Unauthorized, agent.call(ops.SessionUnpack(luggage=Luggage())))


async def test_an_empty_session_needs_no_tab_elsewhere(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        await operator.call(ops.SessionOpen(session="cart", named=True))
        luggage = (await operator.call(ops.SessionPack(session="cart"))).luggage
        await operator.call(ops.SessionUnpack(session="cart", luggage=luggage))
        assert (await operator.call(ops.SessionShow(session="cart"))).tabs == []
