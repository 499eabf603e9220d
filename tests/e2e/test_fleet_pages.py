"""Two machines with a real Chromium: isolation across them, and Playwright through the gateway."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from tests.fleet.fleet_house import fleet_of
from tests.support.house import real_home
from tests.support.local_web import Web

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AGENTS = 8


async def test_eight_agents_on_two_machines_see_nothing_of_each_other(
    tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        real_home(tmp_path / "a", browser="chromium", headless=True, pool=8) as first,
        real_home(tmp_path / "b", browser="chromium", headless=True, pool=8) as second,
    ):
        async with fleet_of(tmp_path / "head", first, second) as fleet:
            users = {f"u{number}": await fleet.user(f"u{number}") for number in range(AGENTS)}
            received: dict[str, str] = {}

            async def work(user: str, token: str) -> None:
                mark = f"mark-of-{user}-only"
                opened = await fleet.post("/session", token, {"sessionId": "work"})
                assert opened.status_code == 200, opened.text
                heard = [opened.text]
                for tool, arguments in (
                    ("browser_navigate", {"url": web.page(f"<p>{mark}", title=mark)}),
                    ("browser_evaluate", {"function": f"() => document.cookie = 'who={mark}'"}),
                    ("browser_snapshot", {}),
                    ("browser_cookies", {"action": "list"}),
                    ("browser_tabs", {"action": "list"}),
                    ("session_list", {}),
                    ("roost_status", {}),
                ):
                    answer = await fleet.post(f"/session/work/tools/{tool}", token, arguments)
                    assert answer.status_code == 200, (tool, answer.text)
                    heard.append(answer.text)
                received[user] = "".join(heard)

            await asyncio.gather(*(work(user, token) for user, token in users.items()))
            for user, text in received.items():
                assert f"mark-of-{user}-only" in text
                for other in users:
                    assert other == user or f"mark-of-{other}-only" not in text
            nodes = (await fleet.administer("status"))["nodes"]
            assert all(node["sessions"] for node in nodes), "both machines were used"

            # A Playwright of one machine works unchanged: only the address differs.
            ca = fleet.folder / "ca.pem"
            monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(ca))
            issued = await fleet.call("work", users["u0"], "session_token")
            async with async_playwright() as playwright:
                browser = await playwright.chromium.connect_over_cdp(
                    f"{fleet.address}/cdp/{issued['token']}"
                )
                (context,) = browser.contexts
                (page,) = context.pages
                assert await page.title() == "mark-of-u0-only"
                await page.goto(web.page("", title="two"))
                assert await page.title() == "two"
                await browser.close()
