"""Secrets as callers use them: the person stores them, agents see their names, and no caller gets a
value."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.api import secret_operations
from roost.errors import BadRequest, NotFound, Unauthorized
from roost.testing.house import fake_house
from roost.testing.waits import error_of
from roost.wire.hello import ClientKind

VALUE = "c4nary-value-9"
ADD = secret_operations.SecretAdd(name="mail", origins=["site.test"], value=VALUE)


def _files_with(folder: Path, value: bytes) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and value in one.read_bytes()]


async def test_the_person_stores_lists_tests_and_removes_secrets(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        person = house.admit(house.hello(ClientKind.CLI)).api
        added = await person.call(ADD)
        assert [one.origins for one in added.secrets] == [["https://site.test"]]
        login = ops.SecretAdd(
            name="shop", origins=["shop.test"], source="command:false", login="https://in.shop.test/",
            username="ada", totp_value="JBSWY3DPEHPK3PXP",
        )  # fmt: skip
        names = [one.name for one in (await person.call(login)).secrets]
        assert names == ["mail", "shop", "shop.totp"]
        assert (await person.call(ops.SecretTest(name="mail"))).chars == len(VALUE)
        failed = await person.call(ops.SecretTest(name="shop"))
        assert (failed.ok, failed.problem) == (False, "false ended with code 1")
        left = await person.call(ops.SecretRemove(name="shop"))
        assert [one.name for one in left.secrets] == ["mail"]
        await error_of(NotFound, person.call(ops.SecretTest(name="shop")))


async def test_an_agent_sees_names_and_may_change_nothing(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        person = house.admit(house.hello(ClientKind.CLI)).api
        await person.call(ADD)
        agent = house.admit().api
        listed = await agent.call(ops.SecretList())
        assert [one.name for one in listed.secrets] == ["mail"]
        assert VALUE not in str(listed)
        for refused in (ADD, ops.SecretRemove(name="mail"), ops.SecretTest(name="mail")):
            await error_of(Unauthorized, agent.call(refused))
        await error_of(BadRequest, agent.call(ops.Login(name="mail")))


async def test_a_value_is_in_no_reply_notice_file_or_audit_line(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        person = house.admit(house.hello(ClientKind.CLI)).api
        await person.call(ADD)
        agent = house.admit().api
        with agent.watch() as notices:
            page = await agent.call(ops.Navigate(url=f"https://site.test/?q={VALUE}"))
            assert page.url == "https://site.test/?q=[secret mail]"
        seen = [str(one) async for one in notices]
        assert any("[secret mail]" in one for one in seen)
        error = await error_of(NotFound, agent.call(ops.Login(name=VALUE)))
        assert VALUE not in str(error.to_wire())
        assert not any(VALUE in one for one in seen)
    assert _files_with(tmp_path, VALUE.encode()) == []


@pytest.mark.parametrize(
    "wrong", [{"value": None}, {"origins": ["file:///x"]}, {"login": "https://site.test/"}]
)
async def test_a_secret_that_makes_no_sense_is_refused(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    async with fake_house(tmp_path) as house:
        person = house.admit(house.hello(ClientKind.CLI)).api
        await error_of(BadRequest, person.call(ADD.model_copy(update=wrong)))
