"""Domain lists hold for whatever a page does: the browser has no other way out than the proxy."""

from __future__ import annotations

import pytest
from local_web import Answer, Web
from pages_house import House

from roost import ops
from roost.errors import UrlBlocked

HERE_ONLY = ("127.0.0.1",)

# Everything a page can send somewhere, and a promise that each has been tried.
TRY_EVERYTHING = """async () => {
  const there = %r;
  const tried = [];
  const attempt = (name, promise) =>
    tried.push(promise.then(() => `${name} got through`, () => `${name} failed`));
  attempt("fetch", fetch(there + "?fetch", {mode: "no-cors"}));
  attempt("image", new Promise((ok, no) => {
    const image = new Image(); image.onload = ok; image.onerror = no; image.src = there + "?image";
  }));
  attempt("script", new Promise((ok, no) => {
    const script = document.createElement("script");
    script.onload = ok; script.onerror = no; script.src = there + "?script";
    document.body.append(script);
  }));
  attempt("socket", new Promise((ok, no) => {
    const socket = new WebSocket(there.replace("http", "ws") + "?socket");
    socket.onopen = ok; socket.onerror = no; socket.onclose = no;
  }));
  attempt("worker", new Promise((ok, no) => {
    const code = `fetch(${JSON.stringify(there + "?worker")}, {mode: "no-cors"})
      .then(() => postMessage("ok"), () => postMessage("no"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = e => e.data === "ok" ? ok() : no(); worker.onerror = no;
  }));
  navigator.sendBeacon(there + "?beacon", "x");
  return Promise.all(tried);
}"""


async def test_nothing_a_page_does_reaches_a_site_outside_the_lists(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.serve(b"secret"))
        await agent.show("<p>here</p>")

        await agent.call(ops.Evaluate(function=TRY_EVERYTHING % there))

        # A fetch that the proxy answers itself resolves too; what counts is what the site saw.
        assert web.requested(there) == []


async def test_an_allowed_site_works_as_always(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        data = web.serve(Answer(b'{"a": 1}', kind="application/json"))
        await agent.show("<p>here</p>")
        function = f"() => fetch({data!r}).then(r => r.json())"

        assert (await agent.call(ops.Evaluate(function=function))).value == {"a": 1}


async def test_a_blocked_address_is_refused_before_anything_is_sent(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.page("<p>there</p>"))

        with pytest.raises(UrlBlocked):
            await agent.go(there)
        assert web.requested(there) == []


async def test_redirects_and_popups_do_not_get_around_the_lists(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.page("<p>there</p>"))
        moved = web.serve(Answer(status=302, headers={"Location": there}))
        await agent.show("<p>here</p>")

        page = await agent.go(moved)
        opened = await agent.call(ops.Evaluate(function=f"() => {{ window.open({there!r}) }}"))

        assert opened.value is None
        assert page.status in (403, None)
        await agent.call(ops.Tabs(action="list"))
        assert web.requested(there) == []


async def test_a_deny_list_leaves_everything_else_open(house: House, web: Web) -> None:
    async with house.agent(web, deny=("localhost",)) as agent:
        denied = web.there(web.serve(b"secret"))
        await agent.show("<p>here</p>")
        function = f"() => fetch({denied!r}, {{mode: 'no-cors'}}).then(() => 0, () => 1)"

        await agent.call(ops.Evaluate(function=function))

        assert web.requested(denied) == []


async def test_the_lists_hold_after_the_broker_was_killed(own_house: House, web: Web) -> None:
    async with own_house.agent(web, allow=HERE_ONLY) as agent:
        denied = web.there(web.serve(b"secret"))
        here = web.serve(b"fine")
        await agent.show("<p>here</p>")
        own_house.kill_broker()
        await agent.call(ops.Snapshot())
        both = (
            f"() => Promise.allSettled([fetch({denied!r}, {{mode: 'no-cors'}}),"
            f" fetch({here!r}).then(r => r.text())]).then(([_, fine]) => fine.value)"
        )

        assert (await agent.call(ops.Evaluate(function=both))).value == "fine"
        assert web.requested(denied) == []


async def test_a_session_without_lists_goes_everywhere(house: House, web: Web) -> None:
    """Else the tests above would prove nothing."""
    async with house.agent(web) as agent:
        there = web.there(web.serve(b"open"))
        await agent.show("<p>here</p>")

        await agent.call(ops.Evaluate(function=TRY_EVERYTHING % there))

        ways = {request.path.partition("?")[2] for request in web.requested(there)}
        assert {"fetch", "image", "script", "socket", "worker"} <= ways
