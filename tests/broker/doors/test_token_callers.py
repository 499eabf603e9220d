"""Callers without a connection: whom a token identifies, and how long its agent lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.api.door import Visit
from roost.errors import BadRequest, SessionGone, TabGone, Unauthorized
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import answer_of, error_of, started
from roost.vocabulary import LEASE_SECONDS, SWEEP_SECONDS, SessionId

URL = "https://site.test/"


def operator(house: FakeHouse) -> Visit:
    return house.door.visit(house.home.operator_token())


async def token_of(house: FakeHouse, session: str) -> str:
    api = operator(house).api
    await api.call(ops.SessionOpen(session=session))
    return (await api.call(ops.SessionToken(session=session))).token


def written_below(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_a_token_is_invalid_until_it_is_issued(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        for wrong in ("", "☃", "0" * 64, "work", "t1"):
            with pytest.raises(Unauthorized) as refusal:
                house.door.visit(wrong)
            assert not wrong or wrong not in str(refusal.value.to_wire())
        assert not house.state.agents


async def test_all_holders_of_a_sessions_token_act_as_one_agent(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        token = await token_of(house, "work")
        first, second = house.door.visit(token), house.door.visit(token)
        tab = (await first.api.call(ops.Navigate(url=URL))).tab
        assert (await second.api.call(ops.Evaluate(function="() => 1"))).tab == tab
        assert (first.session, len(house.state.agents)) == ("work", 1)


async def test_a_sessions_token_gives_access_to_that_session_only(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        other = house.door.visit(await token_of(house, "other"))
        foreign = (await other.api.call(ops.Navigate(url=URL))).tab
        api = house.door.visit(await token_of(house, "work")).api
        await error_of(TabGone, api.call(ops.Close(tab=foreign)))
        for session in ("other", "no-one"):
            await error_of(SessionGone, api.call(ops.SessionShow(session=session)))
            await error_of(SessionGone, api.call(ops.SessionToken(session=session)))
            await error_of(SessionGone, api.call(ops.SessionOpen(session=session)))
        await error_of(Unauthorized, api.call(ops.SessionOpen()))
        await error_of(Unauthorized, api.call(ops.BrokerStop()))
        assert [row.id for row in (await api.call(ops.SessionList())).sessions] == ["work"]


async def test_the_operators_token_names_the_session_in_every_call(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await token_of(house, "work")
        visit = operator(house)
        assert visit.session is None
        await error_of(BadRequest, visit.api.call(ops.SessionShow()))
        assert (await visit.api.call(ops.SessionShow(session="work"))).id == "work"


async def test_a_visit_as_a_session_is_its_agent_with_either_token(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        token, own = house.home.operator_token(), await token_of(house, "work")
        tab = (await house.door.visit_as(token, "work").api.call(ops.Navigate(url=URL))).tab
        for session in (None, "work"):
            api = house.door.visit_as(own, session).api
            assert (await api.call(ops.Evaluate(function="() => 1"))).tab == tab
        await token_of(house, "other")
        for held, session in ((own, "other"), (own, "no-one"), (token, "no-one")):
            with pytest.raises(SessionGone):
                house.door.visit_as(held, session)
        with pytest.raises(BadRequest):
            house.door.visit_as(token, None)
        with pytest.raises(Unauthorized):
            house.door.visit_as("0" * 64, "work")


async def test_a_token_dies_with_its_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        token = await token_of(house, "work")
        api = house.door.visit(token).api
        await operator(house).api.call(ops.SessionDispose(session="work"))
        await error_of(SessionGone, api.call(ops.Tabs(action="new")))
        with pytest.raises(Unauthorized):
            house.door.visit(token)
        assert await token_of(house, "work") != token
        with pytest.raises(Unauthorized):
            house.door.visit(token)


async def test_a_token_and_its_agent_outlive_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        token = await token_of(house, "work")
        tab = (await house.door.visit(token).api.call(ops.PageOpen(name="cart"))).tab_id
        agents = set(house.state.agents)
    assert token.encode() not in written_below(tmp_path)
    async with fake_house(tmp_path) as house:
        assert await token_of(house, "work") == token
        api = house.door.visit(token).api
        assert set(house.state.agents) == agents
        assert (await api.call(ops.PageOpen(name="cart"))).tab_id == tab


async def test_a_lease_that_runs_out_ends_the_agent_and_not_its_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        token, other = await token_of(house, "work"), await token_of(house, "other")
        tab = (await house.door.visit(token).api.call(ops.Navigate(url=URL))).tab
        await house.door.visit(other).api.call(ops.TabSpaceRequest())
        (first, _) = house.state.agents
        house.clock.advance(LEASE_SECONDS + 1)
        assert not house.state.agents
        assert not house.state.requests
        assert list(house.state.sessions) == ["work", "other"]
        again = house.door.visit(token)
        assert (await again.api.call(ops.Evaluate(function="() => 1", tab=tab))).tab == tab
        assert first not in house.state.agents


async def test_every_call_and_every_heartbeat_renews_the_lease(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        token = await token_of(house, "work")
        house.door.visit(token)
        agents = set(house.state.agents)
        for operation in (ops.Ping(), ops.SessionHeartbeat(), ops.Ping()):
            house.clock.advance(LEASE_SECONDS - 2)
            await house.door.visit(token).api.call(operation)
        house.clock.advance(LEASE_SECONDS - 2)
        beat = await operator(house).api.call(ops.SessionHeartbeat(session="work"))
        assert beat.expires_in_ms is not None
        assert beat.expires_in_ms >= LEASE_SECONDS * 1000
        house.clock.advance(LEASE_SECONDS - 2)
        assert set(house.state.agents) == agents
        house.clock.advance(3)
        beat = await operator(house).api.call(ops.SessionHeartbeat(session="work"))
        assert beat.expires_in_ms is None


async def test_a_call_longer_than_the_lease_keeps_its_agent_alive(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.door.visit(await token_of(house, "work")).api
        house.driver.may_open.clear()
        call = await started(api.call(ops.Navigate(url=URL)))
        for _ in range(5):
            house.clock.advance(SWEEP_SECONDS)
            house.door.sweep()
        assert len(house.state.agents) == 1
        house.driver.may_open.set()
        assert (await answer_of(call)).url == URL
        house.clock.advance(LEASE_SECONDS - 1)
        house.door.sweep()
        assert len(house.state.agents) == 1
        house.clock.advance(LEASE_SECONDS)
        house.door.sweep()
        assert not house.state.agents
        assert SessionId("work") in house.state.sessions
