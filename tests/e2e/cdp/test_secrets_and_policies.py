"""A DevTools client (Playwright) in sessions with a filled secret, and with a policy."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
import websockets
from playwright.async_api import Browser, Error, Page, async_playwright

from roost import ops
from roost.errors import PolicyDenied
from roost.vocabulary import QuestionAnswer
from tests.e2e.pages.test_policy import answered
from tests.support.agent import WAIT_SECONDS, refused
from tests.support.house import House
from tests.support.local_web import Web

CANARY = "c4nary-<ü>&value-9"
FORMS = (
    CANARY, quote(CANARY), json.dumps(CANARY)[1:-1], CANARY.encode().hex(),
    base64.b64encode(CANARY.encode()).decode().rstrip("="),
)  # fmt: skip
FORM = (
    "<form method=post action='/cdp-taken'><input type=password name=p id=p>"
    "<input name=key id=key><button>In</button></form>"
)
ALLOW_CDP = '[[rule]]\nverdict = "allow"\noperations = ["cdp"]\n'


async def endpoint(house: House, session: str) -> str:
    async with house.operator() as operator:
        token = (await operator.call(ops.SessionToken(session=session))).token
        return f"{(await operator.call(ops.Status())).broker.http}/cdp/{token}"


@asynccontextmanager
async def devtools(url: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(url)
        yield browser
        await browser.close()


async def turned_away(url: str) -> dict[str, str]:
    """Return Roost's refusal, after Playwright was refused as well."""
    with pytest.raises(Error):
        async with devtools(url):
            pass
    socket = f"{url.replace('http', 'ws', 1)}/devtools/browser/session"
    with pytest.raises(websockets.InvalidStatus) as refusal:
        async with websockets.connect(socket, open_timeout=WAIT_SECONDS):
            pass
    said: dict[str, str] = json.loads(refusal.value.response.body or b"")
    return said


@pytest.mark.timeout(120)
async def test_no_client_reads_what_was_filled_in(house: House, web: Web) -> None:
    web.serve(b"<!doctype html><title>Taken</title>Taken", "/cdp-taken")
    async with house.operator() as operator:
        secret = ops.SecretAdd(name="canary-cdp", origins=[web.base], value=CANARY)
        await operator.call(secret)
    async with house.agent(web) as agent:
        await agent.show(FORM)
        url = await endpoint(house, agent.session)
        async with devtools(url) as browser:
            (page,) = browser.contexts[0].pages
            fill = ops.FillSecret(target="#p", secret="canary-cdp")
            filling = answered(house, agent, agent.call(fill), QuestionAnswer.SESSION)
            error = await refused(PolicyDenied, filling)
            assert "protocol client" in error.message
            assert await page.input_value("#p") == ""
        for target in ("#p", "#key"):
            await agent.call(ops.FillSecret(target=target, secret="canary-cdp"))
        assert (await turned_away(url))["code"] == "POLICY_DENIED"
        await agent.click("text=In")
        await agent.wait(text="Taken")
        async with devtools(url) as browser:
            (page,) = browser.contexts[0].pages
            said = await everything(page)
            await page.go_back()
            await page.wait_for_selector("#p")
            assert [await page.input_value(one) for one in ("#p", "#key")] == ["", ""]
            said += await everything(page)
        assert "Taken" in said
        assert [form for form in FORMS if form in said] == []


async def everything(page: Page) -> str:
    """Return what the page's DevTools domains tell of its documents."""
    cdp = await page.context.new_cdp_session(page)
    said = [
        await cdp.send("DOMSnapshot.captureSnapshot", {"computedStyles": []}),
        await cdp.send("Accessibility.getFullAXTree"),
        await cdp.send("DOM.getDocument", {"depth": -1, "pierce": True}),
        await cdp.send("Page.getNavigationHistory"),
        await cdp.send("Page.getResourceTree"),
        await page.content(),
        await page.evaluate("[...document.querySelectorAll('input')].map(one => one.value)"),
        await page.context.storage_state(),
    ]
    await cdp.detach()
    return json.dumps(said, ensure_ascii=False)


@pytest.mark.timeout(120)
async def test_a_client_needs_a_rule_of_its_own_and_an_approval_where_the_policy_says_so(
    house: House, web: Web
) -> None:
    inside, outside = web.page("<h1>Inside</h1>"), web.there(web.page("<h1>Outside</h1>"))
    listed = 'origins = ["127.0.0.1"]\n'
    async with house.agent(web, policy=listed) as agent:
        await agent.go(inside)
        refusal = await turned_away(await endpoint(house, agent.session))
        assert refusal["code"] == "POLICY_DENIED"
        assert "no rule allows `cdp`" in refusal["message"]

    async with house.agent(web, policy=listed + ALLOW_CDP) as agent:
        await agent.go(inside)
        url = await endpoint(house, agent.session)
        async with devtools(url) as browser:
            (page,) = browser.contexts[0].pages
            assert await page.text_content("h1") == "Inside"
            before = len(web.requests)
            # The policy does not see what the client does; the domain list of the session holds.
            with pytest.raises(Error, match="URL_BLOCKED"):
                await page.goto(outside)
            await page.evaluate("url => fetch(url, {mode: 'no-cors'}).catch(() => 0)", outside)
            assert [one for one in web.requests[before:] if "favicon" not in one.path] == []
            gone = asyncio.Event()
            browser.on("disconnected", lambda _: gone.set())
            async with house.operator() as operator:
                lockdown = ops.PolicySet(session=agent.session, policy="lockdown")
                await operator.call(lockdown)
            async with asyncio.timeout(WAIT_SECONDS):
                await gone.wait()
        assert (await turned_away(url))["code"] == "POLICY_DENIED"

    asks = ALLOW_CDP.replace("allow", "ask")
    async with house.agent(web, policy=asks) as agent:
        await agent.go(inside)
        url = await endpoint(house, agent.session)
        assert (await turned_away(url))["code"] == "APPROVAL_PENDING"
        async with house.operator() as operator:
            yes = ops.SessionAnswer(session=agent.session, answer=QuestionAnswer.SESSION)
            await operator.call(yes)
        async with devtools(url) as browser:
            (page,) = browser.contexts[0].pages
            assert await page.text_content("h1") == "Inside"

    denies = ALLOW_CDP.replace("allow", "deny")
    async with house.agent(web, policy=denies) as agent:
        await agent.go(inside)
        refusal = await turned_away(await endpoint(house, agent.session))
        assert "rule 1, `deny cdp`" in refusal["message"]
