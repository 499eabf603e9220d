"""Everything that can be learnt of a session's jar through each interface, as one text.

Each interface also reports what it found of the session's own, because an interface that finds
nothing proves nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import async_playwright

from roost import ops
from tests.e2e.cdp.raw_client import RawClient
from tests.frontends.http.http_callers import Caller
from tests.support.agent import Agent
from tests.support.house import House

HELD = """async () => ({
  cookie: document.cookie,
  storage: Object.entries(localStorage),
  databases: (await indexedDB.databases()).map((one) => one.name),
  caches: await caches.keys(),
  cached: await caches.match("/kept").then((found) => found ? found.text() : null),
  workers: (await navigator.serviceWorker.getRegistrations()).map((one) =>
    (one.active || one.waiting || one.installing).scriptURL.split("/").pop()),
})"""
SECONDS = 30.0


async def by_operations(agent: Agent) -> str:
    seen: list[Any] = [await agent.run(HELD)]
    seen.append((await agent.call(ops.GetContent(format="text"))).model_dump(mode="json"))
    listed = await agent.call(ops.Cookies())
    seen.append(listed.model_dump(mode="json"))
    for cookie in listed.cookies:
        got = await agent.call(ops.Cookies(action="get", name=cookie.name))
        seen.append(got.model_dump(mode="json"))
    saved = await agent.call(ops.StorageState(action="save", filename=f"{agent.session}.json"))
    seen.append(Path(saved.path).read_text(encoding="utf-8"))  # noqa: ASYNC240
    seen.append((await agent.call(ops.NetworkRequests())).model_dump(mode="json"))
    seen.append((await agent.call(ops.Status())).model_dump(mode="json"))
    seen.append((await agent.call(ops.SessionList())).model_dump(mode="json"))
    seen.append((await agent.call(ops.Tabs(action="list"))).model_dump(mode="json"))
    return json.dumps(seen)


async def over_http(caller: Caller) -> str:
    """Return what the session's token shows over HTTP, at the real server."""
    at = f"/session/{caller.session}"
    listed = await caller.ask("GET", f"{at}/tabs")
    (tab,) = [row["tab"] for row in listed["tabs"]]
    seen: list[Any] = [
        listed,
        await caller.ask("POST", "/session", json={"sessionId": caller.session}),
    ]
    seen.append(await caller.tool("browser_evaluate", function=HELD, tab=tab))
    seen.append(await caller.tool("browser_get_content", format="text", tab=tab))
    cookies = await caller.tool("browser_cookies")
    seen.append(cookies)
    for cookie in cookies["cookies"]:
        seen.append(await caller.tool("browser_cookies", action="get", name=cookie["name"]))
    saved = await caller.tool("browser_storage_state", action="save", filename="over-http.json")
    seen.append(Path(saved["path"]).read_text(encoding="utf-8"))  # noqa: ASYNC240
    for tool in ("browser_network_requests", "browser_console_messages"):
        seen.append(await caller.tool(tool, tab=tab))
    for tool in ("roost_status", "session_list", "session_show", "profile_list"):
        seen.append(await caller.tool(tool))
    return json.dumps(seen)


def over_cdp(endpoint: str, url: str, name: str) -> str:
    """Return every byte that a DevTools client gets. (Blocking.)"""
    with RawClient(endpoint) as client:
        (page,) = [
            one["targetId"]
            for one in client.result("Target.getTargets")["targetInfos"]
            if one["type"] == "page"
        ]
        attach = {"targetId": page, "flatten": True}
        session = client.result("Target.attachToTarget", attach)["sessionId"]
        origin = {"securityOrigin": url.rsplit("/", 1)[0]}
        local = {"storageId": {**origin, "isLocalStorage": True}}
        for domain in ("Network", "DOMStorage", "IndexedDB"):
            client.result(f"{domain}.enable", session=session)
        finds: list[tuple[str, dict[str, Any], str | None]] = [
            ("Storage.getCookies", {}, None),
            ("Storage.getCookies", {}, session),
            ("Network.getCookies", {"urls": [url]}, session),
            ("Network.getAllCookies", {}, session),
            ("DOMStorage.getDOMStorageItems", local, session),
            ("IndexedDB.requestDatabaseNames", origin, session),
            ("CacheStorage.requestCacheNames", origin, session),
        ]
        for method, params, where in finds:
            found = json.dumps(client.result(method, params, where))
            assert name in found, (method, where, found)
        client.result("ServiceWorker.enable", session=session)
        client.result("Page.reload", session=session)
        while not (_told(client, "ServiceWorker.") and _told(client, "Network.requestWillBeSentE")):
            client.next()
        client.attach_all()
        client.result("Target.getBrowserContexts")
        return client.everything()


def _told(client: RawClient, kind: str) -> bool:
    """Return whether an event of that kind contained anything of the agents."""
    return any(f'"method":"{kind}' in text and "agent" in text for text in client.heard)


async def by_playwright(endpoint: str) -> str:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(endpoint)
        (context,) = browser.contexts
        seen: list[Any] = [await context.cookies()]
        seen.append(await context.storage_state(indexed_db=True))
        seen.append([worker.url for worker in context.service_workers])
        seen.append([page.url for page in context.pages])
        await browser.close()
        return json.dumps(seen)


@asynccontextmanager
async def person(house: House) -> AsyncIterator[Caller]:
    """Yield a caller over HTTP with the operator's token."""
    async with house.operator() as operator:
        address = (await operator.call(ops.Status())).broker.http
    assert address is not None
    async with httpx.AsyncClient(base_url=address, timeout=SECONDS) as client:
        yield Caller(client, house.home.operator_token())


async def caller_in(person: Caller, session: str, **more: Any) -> Caller:
    """Return a caller with the token of that session, which is opened if necessary."""
    opened = await person.ask("POST", "/session", json={"sessionId": session, **more})
    return Caller(person.client, opened["token"], session)


def endpoint_of(caller: Caller) -> str:
    return f"{str(caller.client.base_url).rstrip('/')}/cdp/{caller.token}"


async def everything_seen(agent: Agent, caller: Caller, url: str, name: str) -> dict[str, str]:
    """Return what each interface shows."""
    seen = {
        "operations": await by_operations(agent),
        "http": await over_http(caller),
    }
    if agent.house.browser == "chromium":
        seen["cdp"] = await asyncio.to_thread(over_cdp, endpoint_of(caller), url, name)
        seen["playwright"] = await by_playwright(endpoint_of(caller))
    return seen
