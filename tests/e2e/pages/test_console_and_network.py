"""The records of a page's console and network: complete, private and without secrets."""

from __future__ import annotations

import base64

import pytest

from roost import ops
from roost.errors import NotFound
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web


async def messages(agent: Agent, **more: object) -> list[tuple[str, str]]:
    said = await agent.call(ops.ConsoleMessages.model_validate(more))
    return [(message.level, message.text) for message in said.messages]


async def test_the_console_is_recorded_from_the_pages_first_line(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show(
            """<script>
            console.log("first", 1, {a: 1}, [2]); console.warn("careful"); console.error("bad");
            console.info("info"); console.debug("debug");
            setTimeout(() => { throw new Error("nobody caught me") });
            </script>"""
        )
        while len(said := await messages(agent)) < 6:
            pass
        assert said[0][0] == "log"
        assert said[0][1].startswith("first 1")
        assert ("warn", "careful") in said
        assert any(level == "error" and "nobody caught me" in text for level, text in said)
        assert [text for _, text in await messages(agent, level="warn")] == ["careful"]
        assert len(await messages(agent, limit=2)) == 2
        await messages(agent, clear=True)
        assert await messages(agent) == []


async def test_requests_are_listed_with_status_and_without_secrets(house: House, web: Web) -> None:
    data = web.serve(Answer(b'{"n": 1}', kind="application/json"), "/api/data")
    async with house.agent(web) as agent:
        await agent.show(
            f"<script>fetch('{data}?token=hunter2&page=2', {{method: 'POST'}});"
            f"fetch('{web.base}/gone?password=hunter2')</script>"
        )

        async def log(**more: object) -> list[tuple[str, str, int | None]]:
            found = await agent.call(ops.NetworkRequests.model_validate(more))
            rows = [(one.method, one.url, one.status) for one in found.requests]
            return [row for row in rows if not row[1].endswith("/favicon.ico")]

        while len(ended := [one for one in await log() if one[2] is not None]) < 3:
            pass
        assert "hunter2" not in str(ended)
        assert ("POST", f"{data}?token=[REDACTED]&page=2", 200) in ended
        assert [url for _, url, _ in await log(filter="/api/")] == [
            f"{data}?token=[REDACTED]&page=2"
        ]
        assert [status for _, _, status in await log(status="failed")] == [404]
        await log(clear=True)
        assert await log() == []


@pytest.mark.parametrize("body", [b"plain text", b"\x00\xff\xfe binary"])
async def test_a_response_body_can_be_read(house: House, web: Web, body: bytes) -> None:
    url = web.serve(Answer(body, kind="application/octet-stream"))
    async with house.agent(web) as agent:
        await agent.show("<p>Page</p>")
        await agent.run(f"async () => {{ await (await fetch('{url}')).arrayBuffer() }}")
        listed = await agent.call(ops.NetworkRequests(filter=url))
        read = await agent.call(ops.NetworkRequest(index=listed.requests[0].index))
        got = base64.b64decode(read.body or "") if read.base64 else (read.body or "").encode()
        assert got == body
        short = await agent.call(ops.NetworkRequest(index=listed.requests[0].index, max_length=3))
        assert short.truncated
        await refused(NotFound, agent.call(ops.NetworkRequest(index=999)))


async def test_each_redirect_is_recorded(house: House, web: Web) -> None:
    goal = web.page("Goal")
    start = web.serve(Answer(status=302, headers={"Location": goal}))
    async with house.agent(web) as agent:
        await agent.go(start)
        listed = await agent.call(ops.NetworkRequests())
        assert [(one.url, one.status) for one in listed.requests[:2]] == [
            (start, 302),
            (goal, 200),
        ]


async def test_a_session_cannot_read_another_sessions_records(house: House, web: Web) -> None:
    async with house.agent(web) as ada, house.agent(web) as bob:
        page = await ada.show("<script>console.log('mine')</script>")
        await bob.show("Other")
        assert await messages(bob) == []
        listed = await bob.call(ops.NetworkRequests())
        assert page.url not in [one.url for one in listed.requests]
