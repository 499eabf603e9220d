# ruff: noqa: E501 - a row on one line reads better than a folded one
"""What an agent sets for its session: it holds there, survives, and never reaches a neighbour.

Each row of ``ROWS`` is one rule, header, device, permission, script, cookie or stored value. Two
sessions are on the same site: one gets all rows, the other none. One script reads in both pages
everything that a row can change.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from roost import ops
from roost.api.condition_operations import ConditionOperation, Permission
from roost.api.operations import OPERATIONS
from roost.errors import NotFound, Unsupported
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web, guarded

OBSERVE = """async () => {
  const got = async (path, options) => {
    try { const r = await fetch(path, options); return [r.status, await r.text(), r.headers.get("x-own"), r.headers.get("content-type")] }
    catch (error) { return ["failed"] } };
  const said = JSON.parse((await got("/said", {headers: {"X-Gone": "1"}}))[1] || "{}");
  const late = new Promise((done) => setTimeout(done, WAITS, "waits"));
  const granted = {};
  for (const name of PERMISSIONS) {
    try { granted[name] = (await navigator.permissions.query({name})).state } catch (error) { granted[name] = error.name } }
  const place = () => new Promise((done) => navigator.geolocation.getCurrentPosition(
    (at) => done([at.coords.latitude, at.coords.longitude, at.coords.accuracy]), (error) => done("refused " + error.code)));
  const matches = (query) => matchMedia(query).matches;
  return {
    answered: await got("/answered"), filed: await got("/filed"), aborted: await got("/aborted"), recorded: await got("/recorded"),
    delayed: await Promise.race([got("/delayed").then(() => "came"), late]),
    added: said["x-rule"], removed: said["x-gone"], all: said["x-all"], here: said["x-here"], private: (await got("/private"))[0],
    onLine: navigator.onLine, slow: navigator.connection ? navigator.connection.rtt > 1500 : null,
    width: innerWidth, height: innerHeight, scale: devicePixelRatio, touch: navigator.maxTouchPoints > 0,
    mobile: navigator.userAgentData ? navigator.userAgentData.mobile : null, agent: navigator.userAgent,
    language: navigator.language, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    dark: matches("(prefers-color-scheme: dark)"), still: matches("(prefers-reduced-motion: reduce)"),
    more: matches("(prefers-contrast: more)"), print: matches("print"),
    granted, place: await (granted.geolocation === "granted" ? place() : "not asked"),
    early: String(window.early), cookie: document.cookie.split("; ").sort(),
    local: {...localStorage}, session: {...sessionStorage}, databases: (await indexedDB.databases()).map((one) => one.name).sort() };
}"""
MAKE = """async () => {
  const opening = indexedDB.open("own", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("loose");
  await new Promise((done) => { opening.onsuccess = done });
  opening.result.close();
}"""
STATE: dict[str, Any] = {
    "cookies": [
        {"name": "loaded", "value": "loaded-cookie", "domain": "localhost", "path": "/", "expires": -1,
         "httpOnly": False, "secure": False, "sameSite": "Lax"},
    ],
    "origins": [{"origin": "", "localStorage": [{"name": "loaded", "value": "1"}]}],
}  # fmt: skip
HAR_REQUEST = {"method": "GET", "url": "", "headers": []}
HAR_RESPONSE = {"status": 200, "headers": [], "content": {"text": "from a file", "mimeType": "x"}}
EVERY_PERMISSION = list(get_args(Permission))
FIREFOX_PERMISSIONS: list[Permission] = ["geolocation", "midi", "notifications", "push"]


@dataclass(frozen=True, slots=True)
class Row:
    """Something that an agent sets.

    covers: the fields of the operation that this row is about.
    shows: names of what changes in the page, as ``OBSERVE`` returns it.
    lacks: the browsers that refuse it.
    """

    covers: str
    operation: Callable[[Web], Any]
    shows: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    lost: tuple[str, ...] = field(default=())
    """What is gone after a crash of the browser (docs/how-to/toolbox.md)."""


FIREFOX = ("firefox",)
ROWS = [
    Row("Route url status body content_type headers",
        lambda web: ops.Route(url="**/answered", status=203, body="{}", content_type="application/json",
                              headers=["X-Own: 1"]), ("answered",)),
    Row("Route path", lambda web: ops.Route(url="**/filed", path="filed.txt"), ("filed",)),
    Row("Route abort method kinds",
        lambda web: ops.Route(url="**/aborted", abort="failed", method="GET", kinds=["fetch", "xhr", "other"]), ("aborted",)),
    Row("Route delay_ms", lambda web: ops.Route(url="**/delayed", delay_ms=60_000), ("delayed",)),
    Row("Route request_headers remove_headers",
        lambda web: ops.Route(url="**/said", request_headers=["X-Rule: 1"], remove_headers=["X-Gone"]), ("added", "removed")),
    Row("RouteHar path url not_found", lambda web: ops.RouteHar(path="own.har", url="**/recorded", not_found="fallback"),
        ("recorded",)),
    Row("SetHeaders headers", lambda web: ops.SetHeaders(headers=["X-All: 1"]), ("all",)),
    Row("SetHeaders origin", lambda web: ops.SetHeaders(headers=["X-Here: 1"], origin=web.other_site), ("here",)),
    Row("SetCredentials origin username password",
        lambda web: ops.SetCredentials(origin=web.other_site, username="ada", password="secret"), ("private",)),
    Row("Emulate width height", lambda web: ops.Emulate(width=640, height=480), ("width", "height")),
    Row("Emulate scale", lambda web: ops.Emulate(scale=3), ("scale",)),
    Row("Emulate user_agent", lambda web: ops.Emulate(user_agent="Robot/1 Mobile"), ("agent",)),
    Row("Emulate device", lambda web: ops.Emulate(device="Pixel 7"), ("width", "agent", "touch"), FIREFOX),
    Row("Emulate mobile", lambda web: ops.Emulate(mobile=True, user_agent="Robot/2"), ("mobile",), FIREFOX),
    Row("Emulate touch", lambda web: ops.Emulate(touch=True), ("touch",), FIREFOX),
    Row("Emulate locale", lambda web: ops.Emulate(locale="de-DE"), ("language",)),
    Row("Emulate timezone", lambda web: ops.Emulate(timezone="Asia/Tokyo"), ("zone",)),
    Row("Emulate color_scheme", lambda web: ops.Emulate(color_scheme="dark"), ("dark",), FIREFOX),
    Row("Emulate reduced_motion", lambda web: ops.Emulate(reduced_motion="reduce"), ("still",), FIREFOX),
    Row("Emulate contrast", lambda web: ops.Emulate(contrast="more"), ("more",), FIREFOX),
    Row("Emulate media", lambda web: ops.Emulate(media="print"), ("print",), FIREFOX),
    Row("Emulate permissions", lambda web: ops.Emulate(permissions=EVERY_PERMISSION), ("granted",), FIREFOX),
    Row("Emulate permissions origin",
        lambda web: ops.Emulate(permissions=FIREFOX_PERMISSIONS, origin=web.other_site), ("granted",)),
    Row("Emulate latitude longitude accuracy", lambda web: ops.Emulate(latitude=52.5, longitude=13.4, accuracy=5), ("place",)),
    Row("InitScript script name", lambda web: ops.InitScript(script="window.early = (window.early || 0) + 1", name="own"),
        ("early",)),
    Row("Cookies action name value", lambda web: ops.Cookies(action="set", name="own", value="own-cookie"), ("cookie",)),
    Row("Storage kind=local action key value", lambda web: ops.Storage(kind="local", action="set", key="own", value="1"),
        ("local",)),
    Row("Storage kind=session action key value", lambda web: ops.Storage(kind="session", action="set", key="own", value="1"),
        ("session",), lost=("session",)),
    Row("Storage kind=indexeddb", lambda web: ops.Evaluate(function=MAKE), ("databases",), lost=("databases",)),
    Row("StorageState action filename", lambda web: ops.StorageState(action="load", filename="own.json"), ("local", "cookie")),
    Row("NetworkState throttle", lambda web: ops.NetworkState(throttle="slow-3g"), ("slow",), FIREFOX),
]  # fmt: skip
OFFLINE = Row("NetworkState state", lambda web: ops.NetworkState(state="offline"), ("onLine",))
"""Set alone, because offline pages show nothing of the other rows."""
KEPT_BY_NOTHING = {"session", "tab"}
NO_CONDITION = {
    "InitScript": {"path", "remove"},  # where the script comes from, and that it goes
    "Emulate": {"reset"},
    "Cookies": {"domain", "path", "expires", "http_only", "secure", "same_site"},
    "Storage": {"database", "store"},
    "StorageState": {"overwrite"},
}
"""Fields that say how a value is set. They set nothing of their own."""


def test_every_field_that_sets_something_for_a_session_has_a_row() -> None:
    """A new operation or field of these groups needs a row, and so a check with a neighbour."""
    setting = [
        operation
        for operation in OPERATIONS.values()
        if (issubclass(operation, ConditionOperation) and not operation.read_only)
        or operation in (ops.Cookies, ops.Storage, ops.StorageState)
    ]
    assert len(setting) >= 10
    wanted = {
        f"{operation.__name__} {name}"
        for operation in setting
        if operation is not ops.Unroute  # takes away only
        for name in operation.model_fields.keys() - KEPT_BY_NOTHING
        if name not in NO_CONDITION.get(operation.__name__, set())
    }
    covered = set()
    for row in [*ROWS, OFFLINE]:
        name, *fields = row.covers.split()
        covered |= {f"{name} {one.partition('=')[0]}" for one in fields}
    assert wanted - covered == set()


def _site(house: House, web: Web) -> str:
    """Serve the site, and write the files that rows read. Returns the page's address."""

    def said(request: Request) -> Answer:
        return Answer(json.dumps(request.headers).encode(), kind="application/json")

    for path in ("/answered", "/filed", "/aborted", "/delayed", "/recorded"):
        web.serve(Answer(b"from the server", kind="text/plain"), path)
    web.serve(said, "/said")
    web.serve(guarded("ada:secret", Answer(b"in")), "/private")
    (house.work / "filed.txt").write_text("from a file")
    request = {**HAR_REQUEST, "url": f"{web.other_site}/recorded"}
    entries = [{"request": request, "response": HAR_RESPONSE}]
    (house.work / "own.har").write_text(json.dumps({"log": {"entries": entries}}))
    origins = [{**one, "origin": web.other_site} for one in STATE["origins"]]
    (house.work / "own.json").write_text(json.dumps({**STATE, "origins": origins}))
    return web.there(web.page("<h1>Neighbours</h1>", path="/neighbours"))


async def _observe(agent: Agent, page: str, *, delayed: bool = False) -> dict[str, Any]:
    """Load the page and read it. ``delayed``: a rule delays a request by a minute, so do not wait
    for its answer."""
    await agent.go(page)
    script = OBSERVE.replace("WAITS", "100" if delayed else "60000")
    names = json.dumps(EVERY_PERMISSION)
    seen = await agent.run(script.replace("PERMISSIONS", names))
    assert isinstance(seen, dict)
    return seen


async def _set(agent: Agent, web: Web) -> list[Row]:
    """Set all rows. Returns those that this browser can follow."""
    done = []
    for row in ROWS:
        if agent.house.browser in row.lacks:
            await refused(Unsupported, agent.call(row.operation(web)))
        else:
            await agent.call(row.operation(web))
            done.append(row)
    return done


def _differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.timeout(120)
async def test_nothing_that_an_agent_sets_reaches_a_neighbour_on_the_same_site(
    house: House, web: Web
) -> None:
    page = _site(house, web)
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        await agent.go(page)
        usual = await _observe(neighbour, page)
        rows = await _set(agent, web)
        own = await _observe(agent, page, delayed=True)
        shown = {name for row in rows for name in row.shows}
        assert _differing(own, usual) == shown  # every row holds, and changes nothing else
        assert await _observe(neighbour, page) == usual
        await agent.call(OFFLINE.operation(web))
        assert await agent.run("() => navigator.onLine") is False
        await refused(NotFound, agent.go(page))
        assert await _observe(neighbour, page) == usual


@pytest.mark.timeout(240)
async def test_what_survives_the_broker_and_the_browser_is_what_the_documents_say(
    own_house: House, web: Web
) -> None:
    """A kill of the broker takes nothing but the recording. A kill of the browser takes what only
    the browser had."""
    page = _site(own_house, web)
    async with (
        own_house.agent(web, session="lasting") as agent,
        own_house.agent(web, session="beside") as neighbour,
    ):
        first = (await agent.go(page)).tab
        usual = await _observe(neighbour, page)
        rows = await _set(agent, web)
        await agent.call(ops.Har(action="start"))
        beside = await agent.open("about:blank")  # a tab with a condition of its own
        await agent.call(ops.NetworkState(state="offline", tab=beside))
        await agent.call(ops.Tabs(action="select", tab=first))
        own = await _observe(agent, page, delayed=True)

        own_house.kill_broker()
        await agent.snapshot()  # reading may be repeated, so it finds the next broker
        assert _differing(await _observe(agent, page, delayed=True), own) == set()
        assert _differing(await _observe(neighbour, page), usual) == set()
        assert await agent.run("() => navigator.onLine", tab=beside) is False
        await refused(NotFound, agent.call(ops.Har(action="stop")))
        await agent.call(ops.Har(action="start"))

        async with asyncio.timeout(agent.patience):
            # A moment after an action, Roost has copied the cookies.
            while not all(one in own_house.backups() for one in (b"own-cookie", b"loaded-cookie")):
                await agent.call(ops.Ping())
        os.kill(await own_house.browser_pid(), signal.SIGKILL)
        await agent.wait_until_restored("Neighbours")
        await neighbour.wait_until_restored("Neighbours")
        lost = {name for row in rows for name in row.lost}
        assert _differing(await _observe(agent, page, delayed=True), own) == lost
        assert await _observe(neighbour, page) == usual
        assert await agent.run("() => navigator.onLine", tab=beside) is False
        assert ((await agent.call(ops.Har(action="stop"))).requests or 0) > 0

        # All of it can be taken back by the next broker, too.
        undo: list[Any] = [
            ops.Unroute(), ops.SetHeaders(), ops.SetHeaders(origin=web.other_site),
            ops.SetCredentials(origin=web.other_site), ops.InitScript(name="own", remove=True),
            ops.Emulate(reset=True), ops.Cookies(action="clear"), ops.Storage(action="clear"),
            *([] if own_house.browser == "firefox" else [ops.NetworkState(throttle="none")]),
        ]  # fmt: skip
        for operation in undo:
            await agent.call(operation)
        assert await _observe(agent, page) == usual


async def test_a_request_that_waits_for_a_rule_is_answered_after_a_broker_restart(
    own_house: House, web: Web
) -> None:
    url = web.serve(b"real")
    async with own_house.agent(web, session="waiting") as agent:
        await agent.show("<h1>Waiting</h1>")
        await agent.call(ops.Route(url=url, body="mocked", delay_ms=1000))
        await agent.run(f"() => {{ fetch('{url}').then(async (r) => {{ got = await r.text() }}) }}")
        own_house.kill_broker()
        async with asyncio.timeout(agent.patience):
            await agent.snapshot()
            await agent.wait(function="() => window.got")
        assert await agent.run("() => window.got") == "mocked"
