"""Conditions through Roost have the outcome that Playwright's own API has on a bare Chromium."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

from roost import ops
from tests.support.bare_chromium import bare_chromium
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web

ASK = """async ([url, options]) => {
  try { const r = await fetch(url, options);
        return [r.status, r.ok, await r.text(), r.headers.get("content-type"), r.redirected]; }
  catch (error) { return ["failed", error.name]; } }"""
LOOK = """() => ({
  inner: [innerWidth, innerHeight], screen: [screen.width, screen.height], scale: devicePixelRatio,
  touch: navigator.maxTouchPoints > 0, agent: navigator.userAgent,
  mobile: navigator.userAgentData && navigator.userAgentData.mobile,
  language: navigator.language, number: (1234.5).toLocaleString(),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone, hour: new Date(0).getHours(),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  more: matchMedia("(prefers-contrast: more)").matches,
  print: matchMedia("print").matches, hover: matchMedia("(hover: hover)").matches,
  online: navigator.onLine, early: String(window.early) })"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with bare_chromium(tmp_path_factory.mktemp("bare")) as address, sync_playwright() as playwright:
        yield playwright.chromium.connect_over_cdp(address)


def site(web: Web) -> str:
    for path in ("/a", "/b"):
        web.serve(Answer(f"server {path}".encode(), kind="text/plain"), path)
    page = "<meta name=viewport content='width=device-width'><h1>Parity</h1>"
    return web.page(page, path="/parity")


@pytest.mark.parametrize("name", ["Pixel 7", "iPhone 15", "Galaxy S24", "iPad Mini"])
def test_devices_and_conditions_look_like_playwrights(
    houses: Any, bare: Any, web: Web, name: str
) -> None:
    house: House = houses("chromium")
    page = site(web)
    options = {
        "locale": "de-DE", "timezone_id": "Asia/Tokyo", "color_scheme": "dark",
        "reduced_motion": "reduce", "contrast": "more",
    }  # fmt: skip
    seen: list[Any] = []

    async def play() -> None:
        async with house.agent(web) as agent:
            await agent.call(
                ops.Emulate(
                    device=name, locale="de-DE", timezone="Asia/Tokyo", color_scheme="dark",
                    reduced_motion="reduce", contrast="more",
                )
            )  # fmt: skip
            await agent.call(ops.InitScript(script="window.early = 1"))
            await agent.go(page)
            seen.append(await agent.run(LOOK))

    house.in_thread(play)
    mine = seen[0]
    device = {
        "viewport": {"width": mine["inner"][0], "height": mine["inner"][1]},
        "device_scale_factor": mine["scale"], "is_mobile": True, "has_touch": True,
        "user_agent": mine["agent"],
    }  # fmt: skip
    context: BrowserContext
    with bare.new_context(**device, **options) as context:
        context.add_init_script("window.early = 1")
        tab = context.new_page()
        tab.goto(page)
        assert mine == tab.evaluate(LOOK)


def test_headers_credentials_and_offline_do_what_playwrights_do(
    houses: Any, bare: Any, web: Web
) -> None:
    house: House = houses("chromium")
    page = site(web)

    def respond(request: Request) -> Answer:
        return Answer(str(request.headers.get("x-all")).encode(), kind="text/plain")

    web.serve(respond, "/said")
    wanted = "Basic " + base64.b64encode(b"ada:secret").decode()
    web.serve(
        lambda request: Answer(b"in" if request.headers.get("authorization") == wanted else b"out"),
        "/private",
    )
    questions = ("/said", "/private", "/a")
    direct: list[Any] = []
    through: list[Any] = []
    login = {"username": "ada", "password": "secret", "origin": web.base, "send": "always"}
    with bare.new_context(extra_http_headers={"X-All": "1"}, http_credentials=login) as context:
        tab = context.new_page()
        tab.goto(page)
        direct += [tab.evaluate(f"() => ({ASK})(['{one}', {{}}])")[2] for one in questions[:1]]
        context.set_offline(True)
        direct += [tab.evaluate(f"() => ({ASK})(['/a', {{}}])"), tab.evaluate("navigator.onLine")]

    async def play() -> None:
        async with house.agent(web) as agent:
            await agent.call(ops.SetHeaders(headers=["X-All: 1"]))
            await agent.call(ops.SetCredentials(origin=web.base, username="ada", password="secret"))
            await agent.go(page)
            assert (await agent.run(f"() => ({ASK})(['/private', {{}}])"))[2] == "in"
            through.append((await agent.run(f"() => ({ASK})(['/said', {{}}])"))[2])
            await agent.call(ops.NetworkState(state="offline"))
            through.append(await agent.run(f"() => ({ASK})(['/a', {{}}])"))
            through.append(await agent.run("() => navigator.onLine"))

    house.in_thread(play)
    assert through == direct
