"""``read``: an address as text, by the way and within the lists of the session.

They test ``roost.broker.work.web_reading`` and ``roost.broker.browser.web_fetch``.
"""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound, TooLarge, UrlBlocked
from roost.vocabulary import MIB
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Web


@pytest.fixture(scope="session", params=["chromium"])
def browser_kind(request: pytest.FixtureRequest) -> str:
    """One browser is enough: no page takes part."""
    return str(request.param)


async def test_an_address_is_read_without_a_tab_and_without_cookies(house: House, web: Web) -> None:
    seen: list[str | None] = []

    def answer(request: object) -> Answer:
        seen.append(getattr(request, "headers", {}).get("Cookie"))
        return Answer(b"<title>T</title><h1>Hi</h1><h2>Part</h2><a href='/x'>there</a>")

    page = web.serve(answer)
    there = web.serve(Answer(status=302, headers={"Location": page}))
    async with house.agent(web) as agent:
        await agent.show("<h1>Open page</h1><h2>Below</h2>")
        await agent.call(ops.Cookies(action="set", name="secret", value="yes"))
        read = await agent.call(ops.Read(url=there))
        assert (read.title, read.status, read.url) == ("T", 200, page)
        assert read.text == f"# Hi\n\n## Part\n\n[there]({web.base}/x)"
        assert seen == [None]
        outlined = await agent.call(ops.Read(url=page, format="outline"))
        assert outlined.text == "- Hi\n  - Part"
        own = await agent.call(ops.Read(format="outline"))
        assert own.text == "- Open page\n  - Below"
        plain = web.serve(Answer(b'{"a": 1}', kind="application/json"))
        assert (await agent.call(ops.Read(url=plain))).text == '{"a": 1}'


async def test_reading_is_bounded_and_never_reaches_roost_itself(house: House, web: Web) -> None:
    picture = web.serve(Answer(b"x", kind="image/png"))
    large = web.serve(Answer(b"x" * (5 * MIB + 1)))
    own = web.serve(Answer(status=302, headers={"Location": f"{house.endpoint.http}/status"}))
    loop = web.base + "/loop"
    async with house.agent(web) as agent:
        await agent.show("<p>x")
        await refused(BadRequest, agent.call(ops.Read(url=picture)))
        await refused(TooLarge, agent.call(ops.Read(url=large)))
        await refused(UrlBlocked, agent.call(ops.Read(url=f"{house.endpoint.http}/status")))
        await refused(UrlBlocked, agent.call(ops.Read(url=own)))
        await refused(UrlBlocked, agent.call(ops.Read(url="file:///etc/hostname")))
        await refused(NotFound, agent.call(ops.Read(url="http://127.0.0.1:9/")))
        assert (await agent.call(ops.Read(url=loop))).status == 404


async def test_the_sessions_lists_hold_for_redirects_and_for_addresses_behind_names(
    house: House, web: Web
) -> None:
    page = web.page("<h1>Local</h1>")
    local = page.replace("127.0.0.1", "localhost")
    away = web.serve(Answer(status=302, headers={"Location": local}))
    async with house.agent(web, deny=("private",)) as agent:
        await refused(UrlBlocked, agent.call(ops.Read(url=page)))
        await refused(UrlBlocked, agent.call(ops.Read(url=local)))
    async with house.agent(web, allow=("127.0.0.1",)) as agent:
        assert (await agent.call(ops.Read(url=page))).text == "# Local"
        await refused(UrlBlocked, agent.call(ops.Read(url=away)))
