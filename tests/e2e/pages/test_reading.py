"""Reading pages: snapshots, search, content, page state, and the caller's scripts."""

from __future__ import annotations

from roost import ops
from roost.errors import BadRequest, NotFound, Timeout
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Web

LONG = "".join(f"<p>Paragraph {n}</p><a href='/{n}'>Link {n}</a>" for n in range(2000))


async def test_a_snapshot_is_bounded_and_says_how_to_continue(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(LONG)
        whole = await agent.call(ops.Snapshot())
        assert whole.truncated
        assert len(whole.snapshot) <= 20_000
        assert "after" in whole.snapshot.splitlines()[-1]
        short = await agent.call(ops.Snapshot(max_chars=600))
        assert len(short.snapshot) <= 600
        part = await agent.call(ops.Snapshot(target="text=Link 1500"))
        assert "Link 1500" in part.snapshot
        assert len(part.snapshot) < 200


async def test_an_action_returns_a_diff_a_whole_snapshot_or_none_as_asked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(LONG + "<button onclick=\"this.textContent = 'Two'\">One</button>")
        await agent.snapshot()
        done = await agent.click("text=One")
        assert done.snapshot is not None
        assert "Two" in done.snapshot
        assert len(done.snapshot) < 400, "not the page again"
        nothing = await agent.click("button", snapshot="none")
        assert nothing.snapshot is None
        full = await agent.click("button", snapshot="full")
        assert full.snapshot is not None
        assert len(full.snapshot) > 5000


async def test_two_readers_of_one_tab_each_get_their_own_differences(
    house: House, web: Web
) -> None:
    async with house.agent(web, session="pair") as ada, house.agent(web, session="pair") as bob:
        page = await ada.show("<button onclick='out.textContent += 1'>B</button><p id=out>x</p>")
        await ada.snapshot()
        await bob.snapshot(tab=page.tab)
        first = await ada.click("button")
        assert "x1" in (first.snapshot or "")
        second = await bob.click("button", tab=page.tab)
        assert "x11" in (second.snapshot or "")
        async with house.operator() as operator:
            await operator.call(ops.SessionDispose(session="pair"))


async def test_find_content_and_page_state_work(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<h1>Owls</h1><p>They <b>hunt</b> at night.</p><p hidden>Secret</p>"
            "<script>var source = 'not text'</script><a href='/more'>More owls</a>"
            "<input aria-label=Query value=barn>"
        )
        found = await agent.call(ops.Find(text="owls"))
        assert found.total == 2
        assert "[ref=" in found.matches
        assert (await agent.call(ops.Find(regex=r"h[u]nt"))).total == 1
        assert (await agent.call(ops.Find(text="eagles"))).total == 0
        await refused(BadRequest, agent.call(ops.Find(regex="(")))
        await refused(BadRequest, agent.call(ops.Find()))
        text = (await agent.call(ops.GetContent())).text
        assert "hunt at night" in text
        assert "Secret" not in text
        assert "not text" not in text
        markdown = (await agent.call(ops.GetContent(format="markdown"))).text
        assert "# Owls" in markdown
        assert "**hunt**" in markdown
        html = (await agent.call(ops.GetContent(format="html", selector="h1"))).text
        assert html == "<h1>Owls</h1>"
        cut = await agent.call(ops.GetContent(max_length=10))
        assert cut.truncated
        assert len(cut.text) <= 10
        state = (await agent.call(ops.PageState())).state
        assert "Owls" in str(state)
        await refused(NotFound, agent.call(ops.GetContent(selector="#none"), timeout=1))


async def test_evaluate_runs_in_the_pages_own_world(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<script>var own = {n: 41}</script><p id=p>Text</p>")
        assert await agent.run("() => own.n + 1") == 42
        assert await agent.run("async () => { await 0; return [own, null, 'ü☃'] }") == [
            {"n": 41},
            None,
            "ü☃",
        ]
        assert await agent.run("() => new Promise((r) => setTimeout(() => r('later'), 20))") == (
            "later"
        )
        assert await agent.run("(element) => element.textContent", target="#p") == "Text"
        assert await agent.run("() => undefined") is None
        for function in (
            "() => { throw new Error('mine') }",
            "() => Promise.reject(new Error('mine'))",
        ):
            error = await refused(BadRequest, agent.run(function))
            assert "mine" in (error.page_said or "")
            assert "mine" not in error.message
        await refused(BadRequest, agent.run("() => {"))
        await refused(BadRequest, agent.run("not a function at all("))
        await refused(Timeout, agent.call(ops.Evaluate(function="() => new Promise(() => {})"),
                                          timeout=0.3))  # fmt: skip
        assert await agent.run("() => 1") == 1


async def test_consent_banners_are_refused_where_they_can_be(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<div role=dialog aria-label='Cookies'><p>We use cookies</p>"
            "<button onclick=\"document.title = 'accepted'\">Accept all</button>"
            "<button onclick=\"document.title = 'rejected'; this.parentNode.remove()\">"
            "Reject all</button></div>"
        )
        answered = await agent.call(ops.HandleConsent())
        assert answered.found
        assert await agent.run("() => document.title") == "rejected"
        assert not (await agent.call(ops.HandleConsent())).found


async def test_an_invalid_selector_in_a_wait_is_refused_at_once(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show("<h1>There</h1>")
        for selector in ("[[[", "e12", "text="):
            asked = agent.call(ops.WaitFor(selector=selector, timeout=60))
            error = await refused(BadRequest, asked)
            assert error.details["field"] in ("selector", "target")
