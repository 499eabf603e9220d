# ruff: noqa: E501 - a check on one line reads better than a folded one
"""Parity of route rules, HAR files, headers, credentials, offline and slow networks."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page, Route

from roost import ops
from roost.conditions import THROTTLES
from tests.e2e.pages.parity_stage import Stage
from tests.support.local_web import Answer, Request, Web, guarded

ASK = """async (url, options) => {
  try { const r = await fetch(url, options);
        return [r.status, r.ok, await r.text(), r.headers.get("content-type"), r.headers.get("x-own")]; }
  catch (error) { return ["failed", error.name]; } }"""
GLOBS = (
    "{base}/a", "{base}/*", "{base}/**", "**/a", "**/A", "**/*.json", "**/{a,c}", "**/a?x=1",
    "http://127.0.0.1:*/a", "http://*/a", "**", "*/a", "{base}", "**/d/*", "**/d/**",
)  # fmt: skip
ADDRESSES = ("/a", "/a?x=1", "/b.json", "/c", "/d/e", "/d/e/f", "/a#part")
ABORTS = (
    "aborted", "accessdenied", "addressunreachable", "blockedbyclient", "connectionrefused",
    "connectionreset", "failed", "internetdisconnected", "namenotresolved", "timedout",
)  # fmt: skip
PLAIN = "text/plain; charset=utf-8"
Handler = Callable[[Route], Awaitable[Any]]


def asking(url: str, options: str = "{}") -> str:
    return f"() => ({ASK})({json.dumps(url)}, {options})"


async def compare(stage: Stage) -> None:
    page = _site(stage.web)
    await stage.go(page)
    await _globs(stage)
    await _rules(stage)
    await _aborted_documents(stage, page)
    await _har_files(stage, page)
    await _headers_and_logins(stage, page)
    await _offline(stage, page)
    await _throttles(stage, page)


def _site(web: Web) -> str:
    for path in ("/a", "/b.json", "/c", "/d/e", "/d/e/f"):
        web.serve(Answer(f"server {path}".encode(), kind="text/plain"), path)
    web.serve(_said, "/said")
    web.serve(guarded("ada:secret", Answer(b"in", kind="text/plain")), "/private")
    return web.page("<h1>Network</h1>", path="/network")


def _said(request: Request) -> Answer:
    names = ("x-all", "x-own", "accept-language", "authorization", "x-gone")
    said = {name: request.headers[name] for name in names if name in request.headers}
    allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
    body = json.dumps([request.method, said, request.body.decode()]).encode()
    return Answer(body, kind="application/json", headers=allowed)


async def _globs(stage: Stage) -> None:
    """The same glob matches the same addresses."""
    ask = (
        f"() => Promise.all({json.dumps(ADDRESSES)}.map((url) => fetch(url).then((r) => r.status)))"
    )
    for glob in GLOBS:
        url = glob.replace("{base}", stage.web.base)
        await stage.page.route(url, lambda route: route.fulfill(status=299, body="mocked"))
        await stage.agent.call(ops.Route(url=url, status=299, body="mocked"))
        await stage.ask(f"rule for {glob}", ask)
        await asyncio.gather(stage.page.unroute_all(), stage.agent.call(ops.Unroute()))


async def _rules(stage: Stage) -> None:
    base, there = stage.web.base, stage.web.there(stage.web.base)
    (stage.folder / "mock.json").write_text('{"mocked": true}', encoding="utf-8")

    def fulfil(**answer: Any) -> Handler:
        # Roost says that a body without a content type is plain text. Playwright says nothing.
        usual = {"content_type": PLAIN} if "body" in answer else {}
        return lambda route: route.fulfill(**{**usual, **answer})

    def only_post(route: Route) -> Awaitable[Any]:
        return (
            route.fulfill(body="x", content_type=PLAIN)
            if route.request.method == "POST"
            else route.fallback()
        )

    def only_fetch(kind: str) -> Handler:
        return lambda route: (
            route.fulfill(body="x", content_type=PLAIN)
            if route.request.resource_type == kind
            else route.fallback()
        )

    def changed(route: Route) -> Awaitable[Any]:
        headers = {**route.request.headers, "x-own": "a, b"}
        headers.pop("x-gone", None)
        return route.continue_(headers=headers)

    gone = "{headers: {'X-Gone': '1'}}"
    put = "{method: 'PUT', headers: {'X-Own': '1'}}"
    post = "{method: 'POST', body: 'sent'}"
    checks: list[tuple[str, Handler, Any, str]] = [
        ("a body", fulfil(body="x"), ops.Route(url="**/a", body="x"), asking("/a")),
        ("a status", fulfil(status=404), ops.Route(url="**/a", status=404), asking("/a")),
        ("an empty body", fulfil(status=200, body=""), ops.Route(url="**/a", body=""), asking("/a")),
        ("unicode", fulfil(body="é☃"), ops.Route(url="**/a", body="é☃"), asking("/a")),
        ("a content type", fulfil(body="{}", content_type="application/json"),
         ops.Route(url="**/a", body="{}", content_type="application/json"), asking("/a")),
        ("a header", fulfil(body="x", headers={"X-Own": "1"}),
         ops.Route(url="**/a", body="x", headers=["X-Own: 1"]), asking("/a")),
        ("a file", fulfil(path=stage.folder / "mock.json"),
         ops.Route(url="**/a", path="mock.json"), asking("/a")),
        ("a delay", fulfil(body="late"), ops.Route(url="**/a", body="late", delay_ms=50), asking("/a")),
        ("POST only, by GET", only_post, ops.Route(url="**/a", method="POST", body="x"), asking("/a")),
        ("POST only, by POST", only_post, ops.Route(url="**/a", method="POST", body="x"),
         asking("/a", post)),
        ("fetch only", only_fetch("fetch"), ops.Route(url="**/a", kinds=["fetch"], body="x"), asking("/a")),
        ("images only", only_fetch("image"), ops.Route(url="**/a", kinds=["image"], body="x"), asking("/a")),
        ("changed headers", changed,
         ops.Route(url="**/said", request_headers=["X-Own: a, b"], remove_headers=["X-Gone"]),
         asking("/said", gone)),
        ("a body that goes on", changed, ops.Route(url="**/said", request_headers=["X-Own: a, b"]),
         asking("/said", post)),
        ("another origin", fulfil(body="x"), ops.Route(url="**/a", body="x"), asking(f"{there}/a")),
        ("a preflight", fulfil(body="x"), ops.Route(url="**/a", body="x"), asking(f"{there}/a", put)),
        ("a redirect", fulfil(status=302, headers={"Location": f"{base}/c"}),
         ops.Route(url="**/a", status=302, headers=[f"Location: {base}/c"]), asking("/a")),
        *[
            (f"abort: {reason}", _aborting(reason), ops.Route(url="**/a", abort=reason), asking("/a"))
            for reason in ABORTS
        ],
    ]  # fmt: skip
    for name, handler, operation, ask in checks:
        await stage.page.route(operation.url, handler)
        await stage.agent.call(operation)
        await stage.ask(f"rule with {name}", ask)
        await asyncio.gather(stage.page.unroute_all(), stage.agent.call(ops.Unroute()))
    # Of overlapping rules the newest applies. Once it is removed, the one before.
    for body in ("first", "second"):
        await stage.page.route("**/a" if body == "first" else "**/*", fulfil(body=body))
        url = "**/a" if body == "first" else "**/*"
        await stage.agent.call(ops.Route(url=url, body=body))
    ask = asking("/a")
    await stage.ask("overlapping rules", ask)
    await stage.page.unroute("**/*")
    await stage.agent.call(ops.Unroute(rule="**/*"))
    await stage.ask("the rule before", ask)
    await asyncio.gather(stage.page.unroute_all(), stage.agent.call(ops.Unroute()))


def _aborting(reason: str) -> Handler:
    return lambda route: route.abort(reason)


async def _aborted_documents(stage: Stage, page: str) -> None:
    """A rule holds for documents, too."""
    await stage.page.route("**/c", lambda route: route.abort())
    await stage.page.route("**/d/e", lambda route: route.fulfill(body="<title>Mocked</title>"))
    await stage.agent.call(ops.Route(url="**/c", abort="failed"))
    await stage.agent.call(
        ops.Route(url="**/d/e", body="<title>Mocked</title>", content_type="text/html")
    )
    for path in ("/c", "/d/e"):
        url = stage.web.base + path
        await stage.both(
            f"document {path}", stage.page.goto(url), stage.agent.go(url), "() => document.title"
        )
    await asyncio.gather(stage.page.unroute_all(), stage.agent.call(ops.Unroute()))
    await stage.go(page)


async def _har_files(stage: Stage, page: str) -> None:
    """Each side records a HAR file, and both sides answer from both files."""
    record = f"async () => {{ await ({ASK})('/a'); await ({ASK})('/b.json', {{method: 'POST'}}) }}"
    theirs = stage.folder / "theirs.har"
    async with stage.context(page, record_har_path=theirs, record_har_content="embed") as recording:
        await recording.evaluate(record)
    await stage.agent.call(ops.Har(action="start"))
    await stage.agent.run(record)
    await stage.agent.call(ops.Har(action="stop", filename="ours.har", overwrite=True))
    heard = len(stage.web.requests)
    asks = (asking("/a"), asking("/a", "{method: 'POST'}"), asking("/b.json", "{method: 'POST'}"),
            asking("/c"))  # fmt: skip
    for name in ("theirs.har", "ours.har"):
        for not_found in ("abort", "fallback"):
            how: Any = {"not_found": not_found, "url": "**/{a,b.json,c}"}
            await stage.page.route_from_har(stage.folder / name, **how)
            await stage.agent.call(ops.RouteHar(path=name, **how))
            for number, ask in enumerate(asks):
                await stage.ask(f"{name}, {not_found}, request {number}", ask)
            await asyncio.gather(stage.page.unroute_all(), stage.agent.call(ops.Unroute()))
    # What went to the server is what no file has: two requests, of two files, of two sides.
    assert len(stage.web.requests) - heard == 2 * 2 * 2


async def _headers_and_logins(stage: Stage, page: str) -> None:
    said, private = asking("/said"), asking("/private")
    basic = "Basic " + base64.b64encode(b"bob:own").decode()
    own = asking("/said", f"{{headers: {{Authorization: '{basic}'}}}}")
    login = {"username": "ada", "password": "secret", "origin": stage.web.base}
    options = {"extra_http_headers": {"X-All": "1"}, "http_credentials": login}
    await stage.agent.call(ops.SetHeaders(headers=["X-All: 1"]))
    await stage.agent.call(
        ops.SetCredentials(origin=stage.web.base, username="ada", password="secret")
    )
    async with stage.context(page, **options) as tab:
        await stage.agent.go(page)
        for name, ask in (("a login", private), ("a login of the page's own", own)):
            await stage.ask(name, ask, tab)
        all_headers = "async () => (await (await fetch('/said')).json())[1]['x-all']"
        await stage.ask("headers", all_headers, tab)
        url = f"{stage.web.base}/private"
        await stage.compare("a login for a document", *_bodies(stage, tab, url))
        url = stage.web.there(url)
        await stage.compare("no login for another origin", *_statuses(stage, tab, url))
    await stage.agent.call(ops.SetHeaders(headers=[]))
    await stage.agent.call(ops.SetCredentials(origin=stage.web.base))
    await stage.go(page)
    await stage.ask("headers afterwards", said)


Pair = tuple[Callable[[], Awaitable[Any]], Callable[[], Awaitable[Any]]]


def _bodies(stage: Stage, tab: Page, url: str) -> Pair:
    text = "() => document.body.innerText"

    async def theirs() -> Any:
        await tab.goto(url)
        return await tab.evaluate(text)

    async def ours() -> Any:
        await stage.agent.go(url)
        return await stage.agent.run(text)

    return theirs, ours


def _statuses(stage: Stage, tab: Page, url: str) -> Pair:
    async def theirs() -> Any:
        response = await tab.goto(url)
        return None if response is None else response.status

    async def ours() -> Any:
        return (await stage.agent.go(url)).status

    return theirs, ours


async def _offline(stage: Stage, page: str) -> None:
    await stage.page.context.set_offline(True)
    await stage.agent.call(ops.NetworkState(state="offline"))
    for name, ask in (
        ("a request offline", asking("/a")),
        ("navigator.onLine offline", "() => navigator.onLine"),
    ):
        await stage.ask(name, ask)
    await stage.both(
        "a document offline", stage.page.goto(page), stage.agent.go(page), "() => document.title"
    )
    await stage.page.context.set_offline(False)
    await stage.agent.call(ops.NetworkState(state="online"))
    await stage.both(
        "online again", stage.page.goto(page), stage.agent.go(page), "() => navigator.onLine"
    )


async def _throttles(stage: Stage, page: str) -> None:
    """Playwright has no presets, so its side sets the preset's figures over CDP."""
    see = "() => navigator.connection.effectiveType"  # Chromium blurs the other figures
    client = await stage.page.context.new_cdp_session(stage.page)
    await client.send("Network.enable")
    for name, throttle in THROTTLES.items():
        await client.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": throttle.latency,
             "downloadThroughput": throttle.download, "uploadThroughput": throttle.upload},
        )  # fmt: skip
        await stage.agent.call(ops.NetworkState.model_validate({"throttle": name}))
        await stage.ask(f"throttle {name}", see)
    none = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    await client.send("Network.emulateNetworkConditions", none)
    await client.detach()
    await stage.agent.call(ops.NetworkState(throttle="none"))
    await stage.ask("throttle none", see)
    assert len({str(stage.ours[f"throttle {name}"]) for name in (*THROTTLES, "none")}) > 1
