"""Operations on jars in situations that ``roost.testing.broker_jars`` cannot create from
outside."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.work import login_reader
from roost.errors import BadRequest, Internal, JarUnavailable, TabGone, TooLarge
from roost.profiles.limits import COOKIES, FILE_BYTES, ITEMS, ORIGINS
from roost.testing.house import fake_house
from roost.testing.waits import error_of
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


async def test_without_a_name_a_state_is_loaded_from_where_it_was_saved(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with fake_house(tmp_path / "home") as house:
        agent = house.admit(replace(house.hello(), cwd=str(work)))
        await agent.api.call(ops.Navigate(url="https://site.test/"))
        saved = await agent.api.call(ops.StorageState(action="save"))
        (work / "storage-state.json").write_text("not this one")
        loaded = await agent.api.call(ops.StorageState(action="load"))
    assert loaded.path == saved.path
    assert Path(saved.path).parent != work


async def test_a_state_is_saved_over_an_existing_file_only_when_asked(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "mine.json").write_text("mine")
    async with fake_house(tmp_path / "home") as house:
        agent = house.admit(replace(house.hello(), cwd=str(work)))
        await agent.api.call(ops.Navigate(url="https://site.test/"))
        save = ops.StorageState(action="save", filename="mine.json")
        await error_of(BadRequest, agent.api.call(save))
        assert (work / "mine.json").read_text() == "mine"
        await agent.api.call(save.model_copy(update={"overwrite": True}))
        assert (work / "mine.json").read_text() != "mine"


def state_of(cookies: int = 0, origins: int = 0, items: int = 0) -> str:
    cookie = {"name": "a", "value": "b", "domain": "site.test"}
    item = {"name": "a", "value": "b"}
    stored = [{"origin": "https://site.test", "localStorage": [item] * items}]
    stored += [{"origin": f"https://s{n}.test", "localStorage": []} for n in range(origins)]
    return json.dumps({"cookies": [cookie] * cookies, "origins": stored})


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (state_of(cookies=COOKIES + 1), f"{COOKIES + 1} cookies are more than the {COOKIES}"),
        (state_of(origins=ORIGINS), f"{ORIGINS + 1} origins are more than the {ORIGINS}"),
        (state_of(items=ITEMS + 1), f"{ITEMS + 1} entries of localStorage are more than"),
        ("{" + " " * FILE_BYTES + "}", "larger than 16 MiB"),
    ],
    ids=["cookies", "origins", "items", "bytes"],
)
async def test_a_storage_state_with_more_than_browsers_keep_is_too_large(
    tmp_path: Path, state: str, said: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with fake_house(tmp_path / "home") as house:
        admission = house.admit(replace(house.hello(), cwd=str(work)))
        await admission.api.call(ops.Navigate(url=URL))
        (work / "state.json").write_text(state)
        load = ops.StorageState(action="load", filename="state.json")
        error = await error_of(TooLarge, admission.api.call(load))
        operator = house.admit(house.hello(ClientKind.CLI)).api
        order = ops.ProfileImport(source=str(work / "state.json"), name="large")
        assert (await error_of(TooLarge, operator.call(order))).details["field"] == "source"

    assert said in error.message
    assert error.details["field"] == "filename"


async def test_a_storage_state_is_read_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with fake_house(tmp_path / "home") as house:
        admission = house.admit(replace(house.hello(), cwd=str(work)))
        await admission.api.call(ops.Navigate(url=URL))
        (work / "state.json").write_text(state_of(cookies=3, items=2))
        load = ops.StorageState(action="load", filename="state.json")
        loaded = await admission.api.call(load)
        (work / "state.json").write_text("nonsense")
        error = await error_of(BadRequest, admission.api.call(load))
        monkeypatch.setattr(login_reader, "_COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
        await error_of(Internal, admission.api.call(load))

    assert (loaded.cookies, loaded.origins) == (3, 1)
    assert "not a storage state" in error.message
