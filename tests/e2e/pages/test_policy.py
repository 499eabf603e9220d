"""What a session's policy lets an agent do in real pages, frame by frame."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from roost import ops
from roost.api.broker import Notices
from roost.errors import PolicyDenied
from roost.testing.waits import started
from roost.vocabulary import NoticeKind, QuestionAnswer
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

T = TypeVar("T")
LOGIN = """
<form onsubmit="event.preventDefault(); document.title = 'Submitted'">
  <label>Name <input id=name></label><label>Password <input id=word type=password></label>
  <button id=in>Log in</button>
</form>
<form onsubmit="event.preventDefault(); document.title = 'Searched'">
  <label>Search <input id=search></label><button id=go>Search</button>
</form>
<button id=plain onclick="document.title = 'Clicked'">Plain</button>
"""
INNER = """<h2>Inside</h2><button id=press onclick="this.textContent = 'Pressed'">Press</button>
<label>Field <input id=field></label>
<select id=list aria-label=List><option>one<option>two</select>"""


@asynccontextmanager
async def judged(house: House, web: Web, policy: str) -> AsyncIterator[Agent]:
    """An agent of its own that was started with that policy."""
    async with house.agent(web, policy=policy) as agent:
        yield agent


async def set_policy(house: House, agent: Agent, policy: str) -> None:
    async with house.operator() as operator:
        await operator.call(ops.PolicySet(session=agent.session, policy=policy))


async def asked(notices: Notices) -> None:
    """Wait until the person is asked something."""
    async for notice in notices:
        if notice.kind == NoticeKind.QUESTION_ASKED:
            return


async def answered(
    house: House, agent: Agent, call: Coroutine[Any, Any, T], answer: QuestionAnswer
) -> T:
    """Make the call, and let the person answer what it asks."""
    with agent.client.watch() as notices:
        calling = await started(call)
        await asked(notices)
    async with house.operator() as operator:
        await operator.call(ops.SessionAnswer(session=agent.session, answer=answer))
    return await calling


async def title(agent: Agent) -> str:
    return (await agent.call(ops.Snapshot())).title


async def test_careful_asks_before_a_login_a_script_and_an_upload_and_before_nothing_else(
    house: House, web: Web
) -> None:
    (house.work / "up.txt").write_text("up", encoding="utf-8")
    async with judged(house, web, "careful") as agent:
        await agent.show(LOGIN + "<input id=file type=file>", title="Form")
        await agent.click("#in")
        assert await title(agent) == "Submitted"
        await agent.show(LOGIN + "<input id=file type=file>", title="Form")
        await agent.type("#word", "sesame")
        await agent.click("#plain")
        await agent.type("#search", "x", submit=True)
        assert await title(agent) == "Searched"

        await agent.type("#name", "me")
        await answered(house, agent, agent.click("#in"), QuestionAnswer.ONCE)
        assert await title(agent) == "Submitted"
        await agent.click("#go")
        denied = answered(house, agent, agent.click("#in"), QuestionAnswer.NO)
        assert "127.0.0.1" not in (await refused(PolicyDenied, denied)).message
        for call in (
            agent.click("#in"),
            agent.type("#name", "me", submit=True),
            agent.press("Enter"),
            agent.call(ops.MouseClickXy(x=5, y=5)),
        ):
            await refused(PolicyDenied, call)
        script = agent.call(ops.Evaluate(function="() => document.title = 'Ran'"))
        await refused(PolicyDenied, answered(house, agent, script, QuestionAnswer.NO))
        upload = agent.call(ops.FileUpload(target="#file", paths=["up.txt"]))
        await refused(PolicyDenied, answered(house, agent, upload, QuestionAnswer.NO))
        assert await title(agent) == "Searched"


async def test_a_frame_is_judged_by_its_own_origin(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        inner = web.there(web.page(INNER))
        await agent.show(f"<button id=out>Out</button><iframe src='{inner}' height=300></iframe>")
        snapshot = await agent.snapshot()
        assert "Inside" in snapshot
        await set_policy(house, agent, 'read_only = ["localhost"]')
        await agent.click("#out")
        assert "Inside" in await agent.snapshot()
        for call in (
            agent.click("#press"),
            agent.type("#field", "typed"),
            agent.fill("#field", "filled"),
            agent.call(ops.SelectOption(target="#list", values=["two"])),
            agent.call(ops.Hover(target="#press")),
            agent.call(ops.Evaluate(target="#press", function="(b) => b.click()")),
            agent.call(ops.MouseClickXy(x=40, y=80)),
            agent.press("Enter"),
        ):
            error = await refused(PolicyDenied, call)
            assert "read_only" in error.message
            assert error.page_said
            assert error.page_said.startswith("http://localhost")
        await set_policy(house, agent, 'origins = ["127.0.0.1"]')
        assert "Inside" not in await agent.snapshot()
        assert "Out" in await agent.snapshot()
        await set_policy(house, agent, "open")
        state = "(b) => [b.textContent, document.getElementById('field').value]"
        assert await agent.run(state, target="#press") == ["Press", ""]
        assert await agent.run("(l) => l.value", target="#list") == "one"


async def test_redirects_new_tabs_and_history_end_at_the_listed_origins(
    house: House, web: Web
) -> None:
    inside, outside = web.page("<h1>In</h1>"), web.there(web.page("<h1>Secret</h1>"))
    hop = web.serve(Answer(status=302, headers={"Location": outside}))
    leads_out = f"<button onclick=\"open('{outside}')\">Pop</button><a href='{outside}'>Away</a>"
    async with house.agent(web) as agent:
        await agent.go(outside)
        await agent.show(leads_out)
        await set_policy(house, agent, 'origins = ["127.0.0.1"]')
        for call in (
            agent.go(outside),
            agent.open(outside),
            agent.go(hop),
            agent.call(ops.SessionOpen(url=outside)),
            agent.call(ops.NavigateBack()),
        ):
            await refused(PolicyDenied, call)
        here = (await agent.tabs()).tabs
        assert all("localhost" not in tab.url for tab in here), here
        await agent.go(inside)


async def test_a_download_needs_its_approval_and_its_file_is_gone_without_it(
    house: House, web: Web
) -> None:
    attachment = {"Content-Disposition": "attachment; filename=report.txt"}
    file = web.serve(Answer(b"figures", headers=attachment))
    rule = '[[rule]]\nverdict = "ask"\noperations = ["download"]\n'
    async with judged(house, web, rule) as agent:
        await agent.show(f"<a href='{file}'>Server</a><a id=link download href='{file}'>Link</a>")
        with agent.client.watch() as notices:
            await agent.click("text=Server")
            await asked(notices)
        states = {"running"}
        while "running" in states:
            states = {one.state for one in (await agent.call(ops.Downloads())).downloads}
        assert states == {"refused"}
        assert not [path for path in agent.files.rglob("*") if path.is_file()]
        async with house.operator() as operator:
            await operator.call(
                ops.SessionAnswer(session=agent.session, answer=QuestionAnswer.SESSION)
            )
        done = await agent.click("#link")
        assert done.downloads
        assert "report.txt" in done.downloads[0]


async def test_a_click_that_leads_to_a_page_that_is_not_shown_says_so(
    house: House, web: Web
) -> None:
    async with judged(house, web, 'origins = ["127.0.0.1"]') as agent:
        await agent.show(f"<a href='{web.there(web.page('<h1>There</h1>'))}'>Go</a>")
        done = await agent.click("text=Go", snapshot="diff")
        assert "Clicked" in done.did
        assert done.snapshot is None
        assert [note for note in done.notes or [] if "The page is not shown." in note]
