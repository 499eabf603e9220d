"""Tabs that pages open belong to their opener's session, even before their first request."""

from __future__ import annotations

import threading

import pytest

from roost import ops
from roost.vocabulary import JarPolicy
from tests.support.house import House
from tests.support.local_web import Answer, Web


@pytest.mark.parametrize(
    ("html", "modifiers", "has_opener"),
    [
        ("<a href='{url}' target=_blank rel=opener>Go</a>", [], True),
        ("<a href='{url}' target=_blank>Go</a>", [], False),
        ("<a href='{url}' target=_blank rel=noopener>Go</a>", [], False),
        ("<button onclick=\"window.open('{url}')\">Go</button>", [], True),
        ("<button onclick=\"window.open('{url}', '', 'noopener')\">Go</button>", [], False),
        ("<button onclick=\"window.open('{url}', '', 'width=300')\">Go</button>", [], True),
        ("<a href='{url}'>Go</a>", ["ControlOrMeta"], False),
        ("<form action='{url}' target=_blank><button>Go</button></form>", [], False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("jar", ["fresh", "shared"])
async def test_a_tab_that_a_click_opens_is_named_in_the_answer(
    house: House, web: Web, html: str, modifiers: list[str], has_opener: bool, jar: str
) -> None:
    goal = web.page("<h1>Popup</h1>", title="Popup")
    # Not a guest: one tab for all cases would open more popups in a second than a tab may open.
    async with house.agent(web, jar=JarPolicy(jar)) as agent:
        first = await agent.show(html.format(url=goal))
        done = await agent.click("text=Go", modifiers=modifiers)
        assert done.opened is not None
        assert len(done.opened) == 1
        popup = done.opened[0]
        await agent.wait(text="Popup", tab=popup)
        assert await agent.run("() => window.opener !== null", tab=popup) == has_opener
        assert done.url == first.url, "the opener stays where it was"
        tabs = (await agent.tabs()).tabs
        assert [tab.tab for tab in tabs if tab.current] == [first.tab], "and stays current"
        row = next(tab for tab in tabs if tab.tab == popup)
        assert row.url.startswith(goal)


async def test_a_popups_first_request_is_recorded(house: House, web: Web) -> None:
    goal = web.page("<script>console.log('first words')</script>")
    async with house.guest(web) as agent:
        await agent.show(f"<button onclick=\"window.open('{goal}')\">Go</button>")
        popup = (await agent.click("text=Go")).opened
        assert popup is not None
        await agent.wait(url=goal, tab=popup[0])
        log = await agent.call(ops.NetworkRequests(tab=popup[0]))
        assert [request.url for request in log.requests][:1] == [goal]
        said = await agent.call(ops.ConsoleMessages(tab=popup[0]))
        assert [message.text for message in said.messages] == ["first words"]


async def test_other_sessions_are_not_told_of_a_popup(house: House, web: Web) -> None:
    goal = web.page("Popup")
    async with house.agent(web) as agent, house.agent(web) as other:
        await other.show("Mine")
        notices = other.client.watch()
        await agent.show(f"<a href='{goal}'>Go</a>")
        done = await agent.click("text=Go", modifiers=["Control"])
        assert done.opened
        assert len((await other.tabs()).tabs) == 1
        await other.call(ops.Ping())
        notices.close()
        assert [notice.kind async for notice in notices if notice.session == agent.session] == []


async def test_a_popup_that_its_opener_closes_is_gone(house: House, web: Web) -> None:
    goal = web.page("Popup")
    async with house.guest(web) as agent:
        await agent.show(
            f"<button id=open onclick=\"w = window.open('{goal}')\">Open</button>"
            "<button id=close onclick='w.close()'>Close</button>"
        )
        notices = agent.client.watch()
        popup = (await agent.click("#open")).opened
        assert popup is not None
        await agent.click("#close")
        async for notice in notices:
            if notice.kind == "tab_closed":
                assert notice.data["tab"] == popup[0]
                break
        assert [tab.tab for tab in (await agent.tabs()).tabs] != []
        assert popup[0] not in [tab.tab for tab in (await agent.tabs()).tabs]


async def test_opener_and_popup_can_talk(house: House, web: Web) -> None:
    goal = web.page("<script>opener.postMessage('hello', '*')</script>")
    async with house.guest(web) as agent:
        await agent.show(
            f"<button onclick=\"window.open('{goal}')\">Go</button><p id=out></p>"
            "<script>onmessage = (e) => out.textContent = e.data</script>"
        )
        await agent.click("text=Go")
        await agent.wait(text="hello")


async def test_new_tabs_have_exactly_the_configured_viewport(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show(f"<button onclick=\"window.open('{web.page('P')}')\">Go</button>")
        size = "() => [innerWidth, innerHeight]"
        assert await agent.run(size) == [1280, 720]
        popup = (await agent.click("text=Go")).opened
        assert popup is not None
        await agent.wait(text="P", tab=popup[0])
        assert await agent.run(size, tab=popup[0]) == [1280, 720]
        await agent.call(ops.Resize(width=500, height=400))
        assert await agent.run(size) == [500, 400]
        assert await agent.run(size, tab=popup[0]) == [1280, 720], "this tab alone"
        await agent.show("Next")
        assert await agent.run(size) == [500, 400], "and for as long as it lives"


async def test_a_popup_that_its_opener_writes_into_before_loading_stays_alive(
    house: House, web: Web
) -> None:
    """Firefox gives up the page that was loading and commits a blank one, as it does after a
    crash."""
    never = web.there(web.serve(Answer(b"late", held=threading.Event())))
    write = f"w = window.open('{never}'); w.document.write('<title>W</title><p>Written')"
    async with house.agent(web) as agent:
        await agent.show("<p>Opener")
        await agent.run(f"() => {{ {write} }}")
        popup = (await agent.tabs()).tabs[1]
        assert "Written" in await agent.snapshot(tab=popup.tab)
        assert [tab.state for tab in (await agent.tabs()).tabs].count("crashed") == 0
        assert await agent.run("() => w.document.body.textContent") == "Written"
        goal = web.page("<p>Next", title="Next")
        assert (await agent.go(goal, tab=popup.tab)).title == "Next"


@pytest.mark.parametrize("snapshot", ["diff", "full"])
async def test_an_action_that_leaves_an_empty_document_is_answered(
    house: House, web: Web, snapshot: str
) -> None:
    async with house.agent(web) as agent:
        await agent.show("<button onclick='document.documentElement.remove()'>Erase</button>")
        await agent.snapshot()
        assert "Clicked" in (await agent.click("text=Erase", snapshot=snapshot)).did
        opens = "w = window.open(''); w.document.open(); document.open()"
        await agent.show(f'<button onclick="{opens}">Open</button>')
        done = await agent.click("text=Open", snapshot=snapshot)
        assert "Clicked" in done.did
        assert done.opened is not None
        (popup,) = done.opened
        assert (await agent.press("a", tab=popup, snapshot=snapshot)).did == "Pressed a."
