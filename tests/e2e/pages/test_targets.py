"""Which element a target means: ``text=`` takes the best match, and CSS crosses open shadow
roots."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound, StaleRef
from tests.support.agent import refused, refused_soon
from tests.support.house import House
from tests.support.local_web import Web

NOTE = """<script>
  window.log = [];
  addEventListener("click", (event) => {
    const [at] = event.composedPath();
    log.push(at.id || at.localName);
  }, true);
</script>"""
BEST = [
    ("<p>Please Save your work</p><button id=x>Save</button>", "text=Save"),
    ("<p>Delete your account here</p><a id=x href='#a'>Delete</a>", "text=Delete"),
    ("<h2>Edit profile</h2><button id=x>Edit</button>", "text=Edit"),
    ("<p>Save</p><button id=x>Save</button>", "text=Save"),
    ("<button>Save all</button><button id=x>Save</button>", "text=Save"),
    ("<button>SAVE</button><button id=x>Save</button>", "text=Save"),
    ("<p>You can Save</p><button id=x>Save changes</button>", "text=Save"),
    ("<button><b>Save</b> as</button><button id=x>Save</button>", "text=Save"),
    ("<p>Go on</p><input id=x type=button value='Go'>", "text=Go"),
    ("<p>Send it</p><div id=x style='cursor:pointer'>Send</div>", "text=Send"),
    ("<button>Close</button><dialog open><button>No</button></dialog>"
     "<div aria-modal=true role=dialog><button id=x>Close</button></div>", "text=Close"),
    ("<button id=x aria-label='Remove item'>×</button>", "text=Remove item"),
    ("<a id=x href='#1'>Home</a><footer><a href='#1'>Home</a></footer>", "text=Home"),
    ("<select><option>Red</select><select><option>Red</select><a id=x href='#r'>Red</a>",
     "text=Red"),
    ('<button>Save all</button><button id=x>Save</button>', 'text="Save"'),
]  # fmt: skip


@pytest.mark.parametrize(("body", "target"), BEST)
async def test_the_best_match_of_a_text_is_clicked(
    house: House, web: Web, body: str, target: str
) -> None:
    async with house.guest(web) as agent:
        await agent.show(NOTE + body)
        await agent.click(target, snapshot="none")
        assert await agent.log() == ["x"]


async def test_the_reply_says_that_one_of_several_matches_was_taken(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Please Save your work</p><button>Save</button>")
        assert "the best of 2 that fit" in (await agent.click("text=Save", snapshot="none")).did
        assert "the first of 2 that fit" in (await agent.click("p, button", snapshot="none")).did
        assert "that fit" not in (await agent.click("button", snapshot="none")).did


async def test_several_equal_matches_are_refused_with_their_refs(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            NOTE + "<ul><li>Invoice 12 <button>Pay</button></li>"
            "<li>Invoice 13 <button id=second>Pay</button></li></ul>"
        )
        error = await refused(BadRequest, agent.click("text=Pay"))
        assert error.details["field"] == "target"
        assert error.details["reason"] == "ambiguous"
        first, second = error.details["suggestions"]
        assert first in error.message
        assert "Invoice" not in error.message + error.hint
        assert error.page_said is not None
        assert "Invoice 12" in error.page_said.splitlines()[0]
        assert await agent.log() == []
        await agent.click(second, snapshot="none")
        assert await agent.log() == ["second"]
        await refused(BadRequest, agent.call(ops.Hover(target="text=Pay")))
        await refused(BadRequest, agent.run("() => 1", target="text=Pay"))
        await agent.wait(selector="text=Pay")  # one of them is enough


async def test_a_target_that_does_not_resolve_says_what_is_there(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(NOTE + "<main><button id=buy>Buy now</button></main><p>Other</p>")
        soon = {"timeout": 1.0}  # else the click waits 5 s for the target
        error = await refused(NotFound, agent.call(ops.Click(target="text=Bay now"), **soon))
        (ref,) = error.details["suggestions"]
        assert error.page_said == f'{ref}: button "Buy now"'
        assert "Buy" not in error.message + error.hint, "the page's words stay in page_said"
        await agent.click(ref, snapshot="none")
        assert await agent.log() == ["buy"]
        error = await refused(NotFound, agent.call(ops.Click(target="#zzz"), **soon))
        assert error.details["suggestions"] == [ref], "nothing is like it, so what is in view"
        await agent.run("() => { document.querySelector('main').innerHTML += '' }")
        stale = await refused(StaleRef, agent.click(ref))
        (new,) = stale.details["suggestions"]
        assert stale.page_said == f'{new}: button "Buy now"'
        await agent.click(new, snapshot="none")
        assert await agent.log() == ["buy", "buy"]


async def test_an_ambiguous_text_in_a_frame_is_refused_too(house: House, web: Web) -> None:
    inner = web.page("<button>Pay</button><p></p><button>Pay</button>")
    async with house.guest(web) as agent:
        await agent.show(f"<iframe src='{inner}'></iframe>")
        error = await refused(BadRequest, agent.click("text=Pay"))
        assert all(ref.startswith("f") for ref in error.details["suggestions"])


@pytest.mark.parametrize(
    "body",
    [
        "<button>Search</button><input id=x placeholder=Search>",
        "<input id=x placeholder='Search the shop'><button>Search</button>",
        "<h1>Search</h1><label for=x>Search</label><input id=x>",
        "<button>Search</button><textarea id=x aria-label=Search></textarea>",
        "<p id=n>Search</p><button>Search</button><input id=x aria-labelledby=n>",
        "<a href='#'>Search</a><input id=x title=Search>",
    ],
)
async def test_a_field_named_by_label_or_placeholder_is_typed_into(
    house: House, web: Web, body: str
) -> None:
    async with house.guest(web) as agent:
        await agent.show(body)
        await agent.type("text=Search", "tea", snapshot="none")
        assert await agent.run("() => document.querySelector('#x').value") == "tea"
        await agent.fill("text=Search", "milk")
        assert await agent.run("() => document.querySelector('#x').value") == "milk"


async def test_two_fields_of_one_name_are_ambiguous(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<input placeholder=Name><input placeholder=Name>")
        error = await refused(BadRequest, agent.type("text=Name", "x"))
        assert error.details["reason"] == "ambiguous"


async def test_a_text_that_fits_thousands_of_elements_is_found_in_time(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            NOTE + "<p>an apple a day</p>" * 5000 + "<button id=x>A</button>" + "<p>a</p>" * 2000
        )
        await agent.click("text=A", snapshot="none")
        assert await agent.log() == ["x"]


SHADOW = """<x-a><p>light</p></x-a><script>
  window.log = [];
  const root = document.querySelector("x-a").attachShadow({ mode: "open" });
  root.innerHTML = "<section class=s><x-b></x-b><slot></slot></section>";
  const inner = root.querySelector("x-b").attachShadow({ mode: "open" });
  inner.innerHTML = "<h3>T</h3><input id=deep name='a b'><button>Go</button>";
  inner.querySelector("button").onclick = () => log.push("go");
</script>"""


@pytest.mark.parametrize(
    "selector",
    [
        "x-a input",
        "x-a x-b > input",
        "x-a .s x-b input[name='a b']",
        "body x-a > section > x-b > h3 + input",
        "x-a h3 ~ #deep",
        "nothing, x-a input:not([type=button])",
        "css=x-a input",
    ],
)
async def test_css_crosses_open_shadow_roots(house: House, web: Web, selector: str) -> None:
    async with house.guest(web) as agent:
        await agent.show(SHADOW)
        await agent.type(selector, "in", snapshot="none")
        assert await agent.run("(field) => field.value", target="#deep") == "in"


async def test_css_across_shadow_roots_matches_only_fitting_elements(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(SHADOW)
        for selector in ("x-b x-a input", "p input", "x-a > input", "x-a input + h3"):
            counted = await agent.call(ops.Get(what="count", target=selector))
            assert counted.value == 0, selector
            await refused_soon(NotFound, agent, ops.Click(target=selector))
