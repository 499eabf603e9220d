"""Where a policy lists origins, no way of the web leads an agent out of them unnoticed."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import PolicyDenied
from tests.e2e.pages.test_policy import set_policy
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

POLICY = 'origins = ["127.0.0.1"]'
RULE = "not among `origins`"
LEADING_OUT = ("link", "hop", "post")
OPENING = ("pop", "blank")


def leading_out(web: Web) -> tuple[str, str]:
    """Return a page with all ways out, and the address that they lead to."""
    outside = web.there(web.page("<h1>Hidden words</h1>", title="Hidden title"))
    hop = web.serve(Answer(status=302, headers={"Location": outside}))
    script = (
        f"onmessage = e => fetch('{outside}', {{mode: 'no-cors'}}).then(r => r.text(), () => '')"
        ".then(() => e.source.postMessage('answered'))"
    )
    worker = web.serve(Answer(script.encode(), kind="text/javascript"), "/policy-worker.js")
    body = f"""<h1>Inside</h1><a id=link href='{outside}'>Link</a><a id=hop href='{hop}'>Hop</a>
      <button id=pop onclick="window.open('{outside}')">Pop</button>
      <a id=blank target=_blank href='{outside}'>Blank</a>
      <form method=post action='{outside}'><button id=post>Post</button></form>
      <button id=frame onclick="const f = document.createElement('iframe'); f.src = '{outside}';
        f.onload = () => said.textContent = 'framed'; document.body.append(f)">Frame</button>
      <p id=said></p>
      <button id=work onclick="navigator.serviceWorker.register('{worker}').then(() =>
        navigator.serviceWorker.ready).then(r => r.active.postMessage(1));
        navigator.serviceWorker.onmessage = e => said.textContent = e.data">Work</button>"""
    return web.page(body), outside


def arrivals(web: Web, outside: str, since: int) -> list[str]:
    """Return the requests since then that reached the address outside."""
    path = outside[outside.index("/", 8) :]
    return [one.path for one in web.requests[since:] if one.path == path]


async def notes_of_next_reply(agent: Agent) -> str:
    return str((await agent.tabs()).notes)


@pytest.mark.timeout(150)
async def test_nothing_outside_is_reached_and_the_reply_names_the_rule(
    house: House, web: Web
) -> None:
    inside, outside = leading_out(web)
    for way in (*LEADING_OUT, *OPENING, "frame", "work"):
        # A session of its own, because each host is told once in a session.
        async with house.agent(web, policy=POLICY) as agent:
            await agent.go(inside)
            since = len(web.requests)
            view = await agent.click(f"#{way}")
            said = str(view.to_wire())
            if way in ("frame", "work"):
                shown = await agent.wait(text="framed" if way == "frame" else "answered")
                said += str(shown.to_wire())
            if way in LEADING_OUT:
                assert RULE in str(view.notes), (way, view)
                await refused(PolicyDenied, agent.call(ops.Snapshot()))
            said += await notes_of_next_reply(agent)
            for tab in view.opened or ():
                said += str(await refused(PolicyDenied, agent.call(ops.Snapshot(tab=tab))))
            if way in ("frame", "work"):
                said += await agent.snapshot()
            assert RULE in said, (way, said)
            assert "Hidden" not in said, way
            assert arrivals(web, outside, since) == [], way


@pytest.mark.timeout(150)
async def test_a_policy_that_is_set_later_hides_what_pages_reach(house: House, web: Web) -> None:
    inside, outside = leading_out(web)
    async with house.agent(web) as agent:
        await agent.go(inside)
        await set_policy(house, agent, POLICY)
        for way in (*LEADING_OUT, *OPENING, "frame"):
            await agent.go(inside)
            view = await agent.click(f"#{way}")
            said = str(view.to_wire())
            if way in LEADING_OUT:
                assert (
                    f"The page is not shown. You may not read this page: the origin is {RULE}"
                    in (str(view.notes))
                )
            for tab in view.opened or ():
                error = await refused(PolicyDenied, agent.call(ops.Snapshot(tab=tab)))
                assert RULE in error.message
                await agent.call(ops.Close(tab=tab))
            if way == "frame":
                await agent.wait(text="framed")
                said += await agent.snapshot()
            assert "Hidden" not in said, way
