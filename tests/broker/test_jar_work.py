"""What the checks of ``roost.testing.broker_jars`` cannot bring about from outside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roost.api import operations as ops
from roost.errors import BadRequest, JarUnavailable, TabGone
from roost.testing.house import fake_house
from roost.testing.waiting import error_of
from roost.vocabulary import TabId
from roost.wire.hello import ClientKind

URL = "https://site.test/"


async def test_a_tab_moved_between_sessions_keeps_its_jar_which_is_not_given_away(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        mine = (await ada.call(ops.Navigate(url=URL))).tab
        moved = (await bob.call(ops.Navigate(url=URL))).tab
        set_one = ops.Cookies(action="set", name="bobs", value="secret")
        await bob.call(set_one)
        await error_of(TabGone, ada.call(ops.Cookies(tab=moved)))
        row = house.state.tabs[TabId(moved)]
        house.state.put(replace(row, session=house.state.tabs[TabId(mine)].session))

        for operation in (
            ops.Cookies(tab=moved),
            ops.Cookies(action="get", name="bobs", tab=moved),
            ops.StorageState(action="save", tab=moved),
        ):
            await error_of(JarUnavailable, ada.call(operation))
        assert (await ada.call(ops.Cookies(tab=mine))).cookies == []


async def test_a_source_must_be_named_from_the_root(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        order = ops.ProfileImport(source="cookies.txt", name="work")
        error = await error_of(BadRequest, operator.call(order))

    assert error.details["field"] == "source"


async def test_a_profile_that_cannot_be_read_hides_none_of_the_others(tmp_path: Path) -> None:
    source = tmp_path / "cookies.txt"
    source.write_text("site.test\tFALSE\t/\tFALSE\t0\tlogin\t1\n")
    async with fake_house(tmp_path / "home") as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        for name in ("broken", "whole"):
            await operator.call(ops.ProfileImport(source=str(source), name=name))
        (house.home.profiles / "broken.json").write_text("{}")
        listed = await operator.call(ops.ProfileList())

    assert [one.name for one in listed.profiles] == ["whole"]
    assert listed.notes is not None
    assert listed.notes[0].startswith("Profile broken cannot be read.")


async def test_neither_values_nor_sources_contents_stand_in_the_audit_trail(tmp_path: Path) -> None:
    source = tmp_path / "cookies.txt"
    source.write_text("site.test\tFALSE\t/\tFALSE\t0\tlogin\tprofile-secret\n")
    async with fake_house(tmp_path / "home") as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        await operator.call(ops.ProfileImport(source=str(source), name="work"))
        ada = house.admit().api
        await ada.call(ops.Navigate(url=URL))
        await ada.call(ops.Cookies(action="set", name="sid", value="cookie-secret"))
        audit = house.home.audit.read_text(encoding="utf-8")

    assert "profile_import" in audit
    assert "browser_cookies" in audit
    assert "-secret" not in audit
