"""A session's traffic: requests by kind and status, HAR files, messages of streams."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve

from roost import ops
from roost.errors import BadRequest, NotFound, TooLarge, Unsupported
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

ASK = "async url => { const r = await fetch(url); return [r.status, await r.text()]; }"


async def asked(agent: Agent, url: str) -> object:
    return await agent.run(f"() => ({ASK})('{url}').catch(() => 'failed')")


async def test_requests_are_chosen_by_kind_method_and_status(house: House, web: Web) -> None:
    gone, data = f"{web.base}/not-there", web.serve(b"data")
    async with house.agent(web) as agent:
        await agent.show(f"<script src='{data}'></script>")
        await agent.run(f"() => fetch('{gone}', {{method: 'POST'}}).then(r => r.text())")
        await agent.show("<h1>Next page</h1>")  # the list goes on over navigations

        async def listed(**more: object) -> list[str]:
            found = await agent.call(ops.NetworkRequests.model_validate(more))
            return [urlsplit(one.url).path for one in found.requests]

        there, here = urlsplit(gone).path, urlsplit(data).path
        assert there in await listed(status="4xx")
        assert here not in await listed(status="4xx")
        assert await listed(status="404", method="post") == [there]
        assert await listed(status="400-403") == []
        assert await listed(kind="script") == [here]
        assert len(await listed(kind="document", status="200-299")) == 2


async def test_a_recording_answers_the_same_requests_later(house: House, web: Web) -> None:
    text, picture = web.serve(b"recorded"), web.serve(Answer(b"\x00\xff", kind="image/png"))
    page = web.page("<h1>Recorded page</h1>")
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        await refused(NotFound, agent.call(ops.Har(action="stop")))
        await agent.call(ops.Har(action="start"))
        await agent.go(page)
        await neighbour.go(page + "?neighbour")
        assert await asked(agent, text) == [200, "recorded"]
        await asked(agent, picture)
        saved = await agent.call(ops.Har(action="stop", filename="session.har", overwrite=True))
        assert saved.path == str(house.work / "session.har")
        log = json.loads((house.work / "session.har").read_text())["log"]
        by_url = {entry["request"]["url"]: entry for entry in log["entries"]}
        assert not any("neighbour" in url for url in by_url)
        assert by_url[text]["response"]["content"]["text"] == "recorded"
        assert by_url[picture]["response"]["content"]["encoding"] == "base64"
        assert by_url[text]["response"]["status"] == 200
        headers = by_url[text]["response"]["headers"]
        assert "content-type" in {one["name"].lower() for one in headers}
        before = len(web.requests)
        await agent.call(ops.RouteHar(path="session.har"))
        await agent.go(page)
        assert await agent.run("() => document.querySelector('h1').textContent") == "Recorded page"
        assert await asked(agent, text) == [200, "recorded"]
        assert await asked(agent, f"{web.base}/unknown") == "failed"
        mine = [one for one in web.requests[before:] if "favicon" not in one.path]
        assert mine == []
        assert await asked(neighbour, f"{web.base}/unknown") == [404, "nothing here"]
        await agent.call(ops.Unroute())
        await agent.call(ops.RouteHar(path="session.har", url="**", not_found="fallback"))
        assert await asked(agent, f"{web.base}/unknown") == [404, "nothing here"]
        for name, wrong in (("no.har", b"[1]"), ("deep.har", b"[" * 100_000)):
            (house.work / name).write_bytes(wrong)
            await refused(BadRequest, agent.call(ops.RouteHar(path=name)))
        with (house.work / "huge.har").open("wb") as file:
            file.truncate(1 << 30)
        await refused(TooLarge, agent.call(ops.RouteHar(path="huge.har")))
        (house.work / "huge.har").unlink()
        assert len((await agent.call(ops.RouteList())).routes) == 1


async def test_messages_of_streams_are_listed_for_their_session(house: House, web: Web) -> None:
    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(f"echo {message!r}")

    stream = web.serve(
        Answer(b"event: tick\ndata: first\n\n", kind="text/event-stream"), "/traffic-events"
    )
    async with serve(echo, "127.0.0.1", 0) as server, house.agent(web) as agent:
        port = server.sockets[0].getsockname()[1]
        await agent.show("<h1>Streams</h1>")
        if house.browser == "firefox":
            await refused(Unsupported, agent.call(ops.NetworkMessages()))
            return
        await agent.run(
            f"""() => new Promise(done => {{
              const socket = new WebSocket('ws://127.0.0.1:{port}/');
              socket.onopen = () => socket.send('hello');
              socket.onmessage = () => {{
                const events = new EventSource('{stream}');
                events.addEventListener('tick', () => {{ events.close(); done(1); }}); }}; }})"""
        )
        found = await agent.call(ops.NetworkMessages())
        assert [(one.kind, one.sent, one.text, one.name) for one in found.messages] == [
            ("websocket", True, "hello", None),
            ("websocket", False, "echo 'hello'", None),
            ("eventsource", False, "first", "tick"),
        ]
        only = await agent.call(ops.NetworkMessages(filter="traffic-events", clear=True))
        assert [one.url for one in only.messages] == [stream]
        assert (await agent.call(ops.NetworkMessages())).total == 0
        async with house.agent(web) as neighbour:
            await neighbour.show("<h1>Other</h1>")
            assert (await neighbour.call(ops.NetworkMessages())).messages == []
