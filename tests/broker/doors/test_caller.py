from __future__ import annotations

from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.api.operations import OPERATIONS
from roost.broker.doors import caller
from roost.broker.doors.caller import WORK
from roost.core import events as ev
from roost.errors import Internal, SessionGone, TabCrashed, VaultLocked
from roost.testing.house import HeldPageDriver, fake_house
from roost.testing.waits import error_of
from roost.vault.store import Secret
from roost.vocabulary import OPERATOR, TabId

URL = "https://site.test/"


def test_every_operation_has_exactly_one_function() -> None:
    # A batch has none of its own: the caller performs its steps.
    assert set(WORK) == set(OPERATIONS.values()) - {ops.Batch}


async def test_a_bug_is_logged_in_full_and_answered_without_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))

        async def bug(*_: object, **__: object) -> object:
            raise ZeroDivisionError("secret inside")

        monkeypatch.setattr(HeldPageDriver, "evaluate", bug)
        error = await error_of(Internal, agent.api.call(ops.Evaluate(function="() => 1")))
        assert "secret inside" not in str(error.to_wire())
        assert error.details["reference"] in caplog.text
        assert "secret inside" in caplog.text
        assert (await agent.api.call(ops.TakeScreenshot())).tab == "t1"


async def test_a_timeout_inside_a_driver_is_not_reported_as_the_calls_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))

        async def slow(*_: object, **__: object) -> object:
            raise TimeoutError

        monkeypatch.setattr(HeldPageDriver, "evaluate", slow)
        await error_of(Internal, agent.api.call(ops.Evaluate(function="() => 1")))


async def test_waiting_in_the_queue_is_not_cut_short_by_the_usual_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        ada, bob = house.admit(), house.admit()
        await ada.api.call(ops.Tabs(action="new"))
        await bob.api.call(ops.TabSpaceRequest())
        monkeypatch.setattr(caller, "CALL_SECONDS", 0.5)
        assert (await bob.api.call(ops.TabSpaceStatus(wait_seconds=0.7))).queued


async def test_the_time_of_an_agents_last_call_is_kept_until_the_agent_ends(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Ping())
        house.clock.advance(90)
        assert house.broker.seen_at[agent.agent] == house.clock.now() - 90
        house.door.leave(agent, goodbye=True)
        assert agent.agent not in house.broker.seen_at
        await error_of(SessionGone, agent.api.call(ops.SessionShow()))
        assert set(house.broker.seen_at) <= {OPERATOR}


async def test_watching_a_foreign_session_is_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit(), house.admit()
        with pytest.raises(SessionGone):
            bob.api.watch(str(ada.welcome.session))
        await ada.api.call(ops.SessionOpen(session="mine"))
        with ada.api.watch("mine") as notices:
            tab = (await ada.api.call(ops.Navigate(url=URL, session="mine"))).tab
            assert (await anext(notices)).data["tab"] == tab


async def test_a_call_refused_by_its_own_deadline_leaves_nothing_open(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        house.driver.crash(house.handle("t1"))
        await error_of(TabCrashed, agent.api.call(ops.Evaluate(function="() => 1")))
        assert len(house.broker.lanes) == 0
        assert not house.broker._captures


async def test_a_page_is_shown_after_a_restart_only_when_the_used_secrets_are_known(
    tmp_path: Path,
) -> None:
    lock = tmp_path / "locked"
    source = f"command:sh -c 'test ! -e {lock} && printf c4nary-value'"
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        page = await agent.api.call(ops.Navigate(url="https://site.test/c4nary-value"))
        house.broker.secrets.stored(
            Secret(name="ci", origins=("https://site.test",), source=source)
        )
        assert "c4nary-value" in (await agent.api.call(ops.Tabs(action="list"))).tabs[0].url
        house.broker.hear(ev.SecretFilled(TabId(page.tab), 1.0, "ci"))
        lock.touch()
        error = await error_of(VaultLocked, agent.api.call(ops.Tabs(action="list")))
        assert error.details["secret"] == "ci"
        await agent.api.call(ops.Ping())
        lock.unlink()
        assert "[secret ci]" in (await agent.api.call(ops.Tabs(action="list"))).tabs[0].url
        lock.touch()
        await agent.api.call(ops.Tabs(action="list"))
