"""What a broker stores is sealed, and a broker without the key serves on and destroys nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from roost.api import operations as ops
from roost.client.client import Client, connect
from roost.drivers.base import Cookie, JarContents
from roost.errors import VaultLocked
from roost.local.home import write_secret
from roost.profiles.store import Profile, ProfileStore
from roost.testing.sealer import sealer_of
from roost.testing.waits import error_of
from roost.vocabulary import JarPolicy
from tests.support.house import House, house_of

pytestmark = pytest.mark.slow
URL = "https://site.test/"
CANARY = "c4nary-cookie-value"


def _profile(name: str) -> Profile:
    cookie = Cookie(name="sid", value=CANARY, domain="site.test", same_site="Lax")
    return Profile(name=name, source="file", imported_at=1.0, contents=JarContents((cookie,)))


def _key_check(house: House) -> dict[str, str]:
    checks = json.loads(house.says("doctor", "--json", "--operator"))["checks"]
    found: dict[str, str] = next(one for one in checks if one["name"] == "key")
    return found


async def _cookie(agent: Client) -> str | None:
    found = await agent.call(ops.Cookies(action="get", name="sid"))
    return found.cookies[0].value


def _holds_canary(home: Path) -> list[Path]:
    return [one for one in home.rglob("*") if one.is_file() and CANARY.encode() in one.read_bytes()]


async def test_logins_come_back_after_a_killed_broker_and_stay_without_their_key() -> None:
    with house_of() as house:
        home = house.home
        home.profiles.mkdir(mode=0o700)
        write_secret(
            home.profiles / "old.json", TypeAdapter(Profile).dump_json(_profile("old"))
        )  # as an earlier release stored it
        store = ProfileStore(home.profiles, sealer_of(home.path))
        store.put(_profile("work"), for_any_agent=True)
        house.start()
        async with await connect(home=home, session="named", jar="clone", profile="work") as agent:
            await agent.call(ops.Navigate(url=URL))
            assert await _cookie(agent) == CANARY
        assert _key_check(house)["verdict"] == "ok"
        assert _holds_canary(home.path) == []

        key = home.key.read_bytes()
        house.kill_broker()
        write_secret(home.key, b"{}")
        house.start()
        check = _key_check(house)
        assert check["verdict"] == "warning"
        assert "damaged" in check["detail"]
        stored = {one: one.read_bytes() for one in home.profiles.iterdir()}
        async with await connect(home=home, session="other") as agent:
            await agent.call(ops.Navigate(url=URL))
            await error_of(
                VaultLocked,
                agent.call(
                    ops.SessionOpen(name="third", jar=JarPolicy.CLONE, profile="work", url=URL)
                ),
            )
        assert {one: one.read_bytes() for one in home.profiles.iterdir()} == stored

        house.kill_broker()
        write_secret(home.key, key)
        house.start()
        async with await connect(home=home, session="named") as agent:
            await agent.call(ops.Navigate(url=URL))
            assert await _cookie(agent) == CANARY
        assert _holds_canary(home.path) == []
