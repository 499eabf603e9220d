# ruff: noqa: E501 - documents and scripts
"""What a page has stored: what an agent lists, gets, sets and clears, and that no other session sees it.

They test ``roost.drivers.databases`` and ``roost.broker.browser.backup_limits``, too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Web

MAKE = """async () => {
  const opening = indexedDB.open("app", 3);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("items", {keyPath: "id"}).createIndex("by name", "name");
    opening.result.createObjectStore("loose");
  };
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result) });
  const writing = database.transaction(["items", "loose"], "readwrite");
  writing.objectStore("items").put({id: 1, name: "tea"});
  writing.objectStore("items").put({id: 2, name: "milk", when: new Date(0), bytes: new Uint8Array([1, 2])});
  writing.objectStore("loose").put("dark", "theme");
  await new Promise((resolve) => { writing.oncomplete = resolve });
  database.close();
}"""
READ = """async () => {
  const opening = indexedDB.open("app");
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result) });
  if (database.objectStoreNames.length === 0) return null;
  const get = (store, key) => new Promise((resolve) => {
    const request = database.transaction(store).objectStore(store).get(key);
    request.onsuccess = () => resolve(request.result);
  });
  const [one, two, theme] = [await get("items", 1), await get("items", 2), await get("loose", "theme")];
  const found = [database.version, one.name, two.when.getTime(), two.bytes[1], theme];
  const indexes = [...database.transaction("items").objectStore("items").indexNames];
  database.close();
  return [...found, ...indexes];
}"""
WHOLE = [3, "tea", 0, 2, "dark", "by name"]


async def stored(agent: Agent, kind: Any, action: Any, **more: Any) -> Any:
    return await agent.call(ops.Storage(kind=kind, action=action, **more))


@pytest.mark.parametrize("kind", ["local", "session"])
async def test_values_are_listed_got_set_and_cleared(house: House, web: Web, kind: str) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Storage")
        await stored(agent, kind, "clear")
        await stored(agent, kind, "set", key="theme", value="dark")
        await stored(agent, kind, "set", key="other", value="")
        assert await agent.run(f"() => {kind}Storage.theme") == "dark"
        listed = await stored(agent, kind, "list")
        assert {item.key: item.size for item in listed.items} == {"theme": 4, "other": 0}
        assert all(item.value is None for item in listed.items)
        assert (await stored(agent, kind, "get", key="theme")).items[0].value == "dark"
        await stored(agent, kind, "delete", key="theme")
        await refused(NotFound, stored(agent, kind, "get", key="theme"))
        await refused(BadRequest, stored(agent, kind, "get"))
        await refused(BadRequest, stored(agent, kind, "set", key="x"))
        assert (await stored(agent, kind, "clear")).total == 1
        assert await agent.run(f"() => {kind}Storage.length") == 0


async def test_databases_are_listed_and_changed(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Databases")
        await stored(agent, "indexeddb", "clear")
        await agent.run(MAKE)
        (database,) = (await stored(agent, "indexeddb", "list")).databases
        assert (database.name, database.stores) == ("app", {"items": 2, "loose": 1})
        at = {"database": "app", "store": "loose"}
        assert (await stored(agent, "indexeddb", "get", key="theme", **at)).items[0].value == "dark"
        await stored(agent, "indexeddb", "set", key="size", value="[1, 2]", **at)
        keys = [item.key for item in (await stored(agent, "indexeddb", "list", **at)).items]
        assert keys == ["size", "theme"]
        items = {"database": "app", "store": "items"}
        got = await stored(agent, "indexeddb", "get", key="1", **items)
        assert json.loads(got.items[0].value) == {"id": 1, "name": "tea"}
        await stored(agent, "indexeddb", "delete", key="2", **items)
        assert (await stored(agent, "indexeddb", "clear", **items)).total == 1
        await refused(NotFound, stored(agent, "indexeddb", "list", database="none"))
        await refused(BadRequest, stored(agent, "indexeddb", "set", key="a", value="{", **at))
        await stored(agent, "indexeddb", "clear", database="app")
        assert (await stored(agent, "indexeddb", "list")).databases == []


async def test_two_sessions_on_one_site_never_share_what_is_stored(house: House, web: Web) -> None:
    url = web.page("<p>Mine")
    async with house.agent(web) as one, house.agent(web) as other:
        await one.go(url)
        await other.go(url)
        await one.run(MAKE)
        for kind in ("local", "session"):
            await stored(one, kind, "set", key="who", value="one")
            await stored(other, kind, "set", key="who", value="other")
        await one.call(ops.Cookies(action="set", name="who", value="one"))
        await other.call(ops.Cookies(action="set", name="who", value="other"))
        assert (await stored(other, "indexeddb", "list")).databases == []

        for kind in ("local", "session", "indexeddb"):
            await stored(one, kind, "clear")
        cleared = await one.call(ops.Cookies(action="clear"))
        assert [cookie.name for cookie in cleared.cookies] == ["who"]
        assert (await one.call(ops.Cookies(action="list"))).cookies == []
        for kind in ("local", "session"):
            assert (await stored(one, kind, "list")).items == []
            assert (await stored(other, kind, "get", key="who")).items[0].value == "other"
        assert (await other.call(ops.Cookies(action="get", name="who"))).cookies[0].value == "other"


async def test_a_storage_state_carries_databases_to_another_session(house: House, web: Web) -> None:
    url = web.page("<p>State")
    async with house.agent(web) as one, house.agent(web) as other:
        await one.go(url)
        await other.go(url)
        await one.run(MAKE)
        saved = await one.call(ops.StorageState(action="save", filename="db.json", overwrite=True))
        (origin,) = json.loads((house.work / "db.json").read_bytes())["origins"]
        assert [store["name"] for store in origin["indexedDB"][0]["stores"]] == ["items", "loose"]
        loaded = await other.call(ops.StorageState(action="load", filename=saved.path))
        assert loaded.refused == 0
        assert await other.run(READ) == WHOLE
