"""What differs in the person's own Firefox: scripts give input and read pages, and the person can
withdraw access."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import BadRequest, NotActionable, Unauthorized, Unsupported
from roost.vocabulary import JarPolicy
from tests.e2e.extension.own_house import OwnHouse
from tests.support.agent import refused

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
def own(own_firefox: OwnHouse) -> OwnHouse:
    return own_firefox


async def test_keys_and_clicks_act_like_a_persons_input(own: OwnHouse) -> None:
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


async def test_the_console_of_a_page_is_recorded_from_its_first_line(own: OwnHouse) -> None:
    """The original read a console that pages cannot write to."""
    async with own.agent("Says") as agent:
        await agent.show(
            "<script>console.log('first', {a: 1}); console.error('second')</script>"
            "<script>throw new Error('third')</script>"
        )
        said = await agent.call(ops.ConsoleMessages())
        texts = [(one.level, one.text) for one in said.messages]
        assert texts[:2] == [("log", 'first {"a":1}'), ("error", "second")]
        assert "third" in texts[2][1]


async def test_a_page_that_forbids_eval_can_be_read_and_evaluate_is_unsupported(
    own: OwnHouse,
) -> None:
    head = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">"
    guarded = own.web.serve(f"<!doctype html><head>{head}</head><h1>Guarded</h1>".encode())
    async with own.agent("Guarded") as agent:
        await agent.go(guarded)
        assert "Guarded" in await agent.snapshot()
        error = await refused(Unsupported, agent.run("() => 1"))
        assert "Content-Security-Policy" in error.message


async def test_the_person_can_withdraw_and_restore_access_to_pages(
    own: OwnHouse,
) -> None:
    """Firefox lets the person withdraw an extension's permissions at any time."""
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
