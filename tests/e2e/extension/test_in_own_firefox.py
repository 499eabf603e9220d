"""What is different in the person's own Firefox: scripts for hands and ears, and the person who may
shut them out."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import BadRequest, NotActionable, Unauthorized, Unsupported
from roost.vocabulary import JarPolicy
from tests.e2e.extension.own_firefox_house import OwnFirefoxHouse
from tests.support.pages_house import refused

pytestmark = pytest.mark.timeout(240)
FORM = """
<form onsubmit="event.preventDefault(); window.sent = new FormData(this)">
  <input name=a id=a><label><input type=checkbox name=c id=c> Check</label>
  <select name=s id=s><option>one<option>two</select><button>Send</button>
</form>
<button disabled onclick="window.wrong = true">Off</button>
<div id=h onmouseover="window.hovered = true">Over</div>
"""


@pytest.fixture
def own(own_firefox: OwnFirefoxHouse) -> OwnFirefoxHouse:
    return own_firefox


async def test_keys_and_clicks_do_what_a_persons_would(own: OwnFirefoxHouse) -> None:
    async with own.agent("Keys") as agent:
        await agent.show(FORM)
        await agent.click("#a")
        for key in ("h", "i", "x", "Backspace"):
            await agent.press(key)
        assert await agent.run("() => a.value") == "hi"
        await agent.press("Tab")
        assert await agent.run("() => document.activeElement.id") == "c"
        await agent.press("Space")
        await agent.press("Tab")
        await agent.press("ArrowDown")
        assert await agent.run("() => [c.checked, s.value]") == [True, "two"]
        await agent.click("label")
        assert await agent.run("() => c.checked") is False
        await agent.call(ops.Hover(target="#h"))
        assert await agent.run("() => window.hovered") is True
        await agent.type("#a", "again", submit=True)
        assert await agent.run("() => Object.fromEntries(window.sent)") == {
            "a": "again",
            "s": "two",
        }
        await refused(NotActionable, agent.click("button[disabled]"))
        assert await agent.run("() => window.wrong ?? null") is None


async def test_what_a_page_says_from_its_first_line_on_is_heard(own: OwnFirefoxHouse) -> None:
    """Page console never captured: the original read a console that pages cannot write to."""
    async with own.agent("Says") as agent:
        await agent.show(
            "<script>console.log('first', {a: 1}); console.error('second')</script>"
            "<script>throw new Error('third')</script>"
        )
        said = await agent.call(ops.ConsoleMessages())
        texts = [(one.level, one.text) for one in said.messages]
        assert texts[:2] == [("log", 'first {"a":1}'), ("error", "second")]
        assert "third" in texts[2][1]


async def test_a_guarded_page_can_be_read_and_says_what_cannot_be_done(
    own: OwnFirefoxHouse,
) -> None:
    head = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">"
    guarded = own.web.serve(f"<!doctype html><head>{head}</head><h1>Guarded</h1>".encode())
    async with own.agent("Guarded") as agent:
        await agent.go(guarded)
        assert "Guarded" in await agent.snapshot()
        error = await refused(Unsupported, agent.run("() => 1"))
        assert "Content-Security-Policy" in error.message


async def test_a_person_who_shuts_roost_out_of_pages_can_let_it_in_again(
    own: OwnFirefoxHouse,
) -> None:
    """Firefox lets them take away, at any time, what the extension was given when it came."""
    pages = {"origins": ["<all_urls>"]}
    async with own.agent("Shut", jar=JarPolicy.FRESH) as agent:
        await agent.show("<h1>Before</h1>")
        await own.person("(pages) => browser.permissions.remove(pages)", pages)
        try:
            for call in (agent.snapshot(), agent.run("() => 1"), agent.go(own.pages[0])):
                error = await refused(Unauthorized, call)
                assert "Allow" in (error.hint or "")
            await refused(Unauthorized, agent.call(ops.TakeScreenshot()))
            await refused(Unauthorized, agent.call(ops.Cookies()))
        finally:
            await own.browser.press("Allow")
        assert "Before" in await agent.snapshot(), "at once, in the page that was there"
        await agent.show("<script>console.log('heard')</script>")
        said = await agent.call(ops.ConsoleMessages())
        assert [one.text for one in said.messages] == ["heard"]
        # For this port Firefox shows a page of its own; that is no matter of permission.
        closed = await refused(BadRequest, agent.go("http://127.0.0.1:1/"))
        assert "browser's own" in (closed.hint or "")
