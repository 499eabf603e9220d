# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Locators: role=, label= and the others, chains, strictness, and their bounded cost."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld

SHOP = """
<header><h1>Shop</h1><button id=menu aria-label="Main menu">=</button></header>
<main>
  <ul>
    <li id=tea data-testid=item><b>Tea</b> <button id=add-tea>Add</button></li>
    <li id=milk data-testid=item><b>Milk</b> <button id=add-milk>Add</button></li>
  </ul>
  <form>
    <label>E-mail <input id=mail placeholder="you@example.com"></label>
    <label for=pw>Password</label><input id=pw type=password>
    <span id=t>Time</span><input id=time aria-labelledby=t title="When to come">
    <input id=agree type=checkbox checked aria-label=Agree>
    <button id=save disabled>Save  all</button><button id=send type=button>Send</button>
    <a id=help href="#help">Help</a><img id=logo alt="The logo" src="data:,">
  </form>
  <table><tr id=row1><td>Ada</td><td>36</td></tr><tr id=row2><td>Bob</td><td>41</td></tr></table>
  <button id=hidden style="display:none">Send</button><div aria-hidden=true><button id=unread>Send</button></div>
  <x-card></x-card>
</main>"""
CARD = "() => document.querySelector('x-card').attachShadow({mode: 'open'}).innerHTML = '<p>Card</p><button id=deep>Buy now</button><x-in></x-in>'"


@pytest.fixture
def shop(page: PageWorld) -> PageWorld:
    return page.show(SHOP, CARD)


FOUND = [
    ('role=button[name="Send"]', "send"),
    ("role=button[name='Main menu']", "menu"),
    ('role=button[name="main MENU" i]', "menu"),
    ('role=button[name*="menu"]', "menu"),
    ('role=button[name="Save all"]', "save"),
    ("role=button[disabled]", "save"),
    ("role=checkbox[checked]", "agree"),
    ("role=heading[level=1]", ""),
    ("role=link", "help"),
    ("role=img", "logo"),
    ('role=row[name*="Bob"]', "row2"),
    ('role=button[name="Send"][include-hidden] >> nth=1', "hidden"),
    ('role=textbox[name="Time"]', "time"),
    ("role=button[name='Buy now']", "deep"),
    ("label=e-mail", "mail"),
    ('label="Password"', "pw"),
    ("label=time", "time"),
    ("label=agree", "agree"),
    ("placeholder=you@", "mail"),
    ("alt=logo", "logo"),
    ("title=when", "time"),
    ("testid=item >> nth=0", "tea"),
    ("testid=item >> nth=-1", "milk"),
    ("#tea >> role=button", "add-tea"),
    ("testid=item >> nth=1 >> text=Add", "add-milk"),
    ("li >> nth=1 >> css=button", "add-milk"),
    ("xpath=//li[2]/button", "add-milk"),
    ("//input[@id='mail']", "mail"),
    ("#milk >> xpath=.//button", "add-milk"),
    ("#milk >> //button", "add-milk"),
    ("x-card >> role=button", "deep"),
    ("css=button >> nth=3", "save"),
]


def test_each_locator_finds_its_element(shop: PageWorld) -> None:
    replies = {target: shop.call("resolve", target=target) for target, _ in FOUND}
    found = {
        target: one["attributes"].get("id", "") if "attributes" in one else one["error"]
        for target, one in replies.items()
    }
    assert found == dict(FOUND)


def test_a_locator_may_begin_with_a_ref(shop: PageWorld) -> None:
    ref = shop.ref("#milk")
    assert shop.call("resolve", target=f"{ref} >> role=button")["attributes"]["id"] == "add-milk"
    assert shop.error("resolve", target=f"{ref} >> role=link")["code"] == "NOT_FOUND"


def test_several_matches_of_a_locator_are_an_error_that_lists_them(shop: PageWorld) -> None:
    error = shop.error("resolve", target="role=button[name=Add]")
    assert (error["code"], error["reason"]) == ("BAD_REQUEST", "ambiguous")
    assert "fits 2 elements" in error["message"]
    first, second = error["suggestions"]
    assert shop.call("resolve", target=second)["attributes"]["id"] == "add-milk"
    assert 'in "Tea Add"' in error["pageSaid"].splitlines()[0]
    assert first in error["message"]


WRONG = [
    "role=button[name=/S.*/]", "role=button[size=3]", "role=nothing", "role=button[name=", "label=", "label=/x+/",
    "nth=0", "button >> nth=x", "button >> ", ">> button", "xpath=//li[", "xpath=count(//li)", "role=", "role=button[name]",
    " >> ".join(["div"] * 21),
]  # fmt: skip


def test_a_wrong_locator_is_a_bad_request(shop: PageWorld) -> None:
    for target in WRONG:
        error = shop.error("resolve", target=target)
        assert (error["code"], error["field"]) == ("BAD_REQUEST", "target"), target


def test_an_apostrophe_in_a_text_opens_no_quotes(page: PageWorld) -> None:
    page.show("<p>Don't stop</p><p><button id=x>Don't >> go</button></p>")
    assert page.call("resolve", target="text=don't stop")["tag"] == "p"
    assert page.call("resolve", target='text="Don\'t >> go"')["attributes"]["id"] == "x"


SLOW = [
    "xpath=//*[//*[//*]]",
    "xpath=//*/following::*/preceding::*",
    "xpath=//*[count(//*) > 1]",
    "xpath=//li[.//li[.//li[.//li]]]",
    "* >> * >> xpath=//*",
]


def test_an_xpath_that_could_hold_the_page_is_refused_before_it_runs(page: PageWorld) -> None:
    page.show(
        "<ul></ul>",
        "() => { document.querySelector('ul').innerHTML = '<li><b>x</b></li>'.repeat(20000) }",
    )
    for target in SLOW:
        error = page.error("resolve", target=target)
        assert (error["code"], error["field"]) == ("BAD_REQUEST", "target"), target
    assert page.call("get", what="count", target="xpath=//li[b]")["value"] == 20000
    assert page.call("get", what="count", target="* >> * >> * >> b")["value"] == 20000


def test_counts_and_values_come_from_the_element(shop: PageWorld) -> None:
    shop.tab.evaluate(
        "() => { document.querySelector('#mail').value = 'a@b'; document.querySelector('#pw').value = 'hunter2' }"
    )
    assert shop.call("get", what="count", target="role=button[name=Add]")["value"] == 2
    assert shop.call("get", what="count", target="label=nothing")["value"] == 0
    assert shop.call("get", what="text", target="#tea")["value"] == "Tea Add"
    assert shop.call("get", what="html", target="#tea >> b")["value"] == "Tea"
    assert shop.call("get", what="value", target="label=E-mail")["value"] == "a@b"
    assert "hunter2" not in str(shop.call("get", what="value", target="label=Password"))
    assert shop.call("get", what="attr", target="#help", name="href")["value"] == "#help"
    assert shop.call("get", what="attr", target="#help", name="rel")["value"] is None
    styles = shop.call("get", what="styles", target="#hidden", names=["display"])
    assert styles["value"] == {"display": "none"}
    box = shop.call("get", what="box", target="#help")["value"]
    assert box["width"] > 0
    assert box["height"] > 0


STATES = [
    ("visible", "#help", True), ("visible", "#hidden", False), ("visible", "#nowhere", False),
    ("hidden", "#nowhere", True), ("enabled", "#save", False), ("disabled", "#save", True), ("enabled", "#send", True),
    ("checked", "label=Agree", True), ("editable", "label=E-mail", True), ("editable", "#send", False),
]  # fmt: skip


def test_the_states_of_elements_are_read(shop: PageWorld) -> None:
    for state, target, value in STATES:
        assert shop.call("is", state=state, target=target)["value"] is value, (state, target)
    assert shop.error("is", state="checked", target="#help")["code"] == "BAD_REQUEST"


def test_a_snapshot_has_boxes_if_asked_and_diffs_have_none(page: PageWorld) -> None:
    page.show(
        "<button style='position:absolute;left:10px;top:20px;width:100px;height:30px'>A</button>"
    )
    assert "[box=10,20,100,30]" in page.snapshot(boxes={"x": 0, "y": 0}, reader="r")
    assert "[box=110,220,100,30]" in page.snapshot(boxes={"x": 100, "y": 200}, reader="r")
    assert "button" not in page.snapshot(mode="diff", reader="r")


def test_all_conditions_of_a_wait_must_hold_at_once(shop: PageWorld) -> None:
    def found(**conditions: str) -> bool:
        return bool(shop.call("waitFor", timeoutMs=0, **conditions)["found"])

    assert found(text="Tea", selector="role=button[name=Send]", loadState="load")
    assert not found(text="Tea", selector="role=button[name=Nothing]")
    for state, selector in (
        ("hidden", "#hidden"), ("attached", "#hidden"), ("detached", "#nowhere"), ("enabled", "#send"),
        ("disabled", "#save"), ("checked", "#agree"), ("editable", "#mail"),
    ):  # fmt: skip
        assert found(selector=selector, state=state), state
    assert not found(selector="#help", state="hidden")


def test_an_address_pattern_is_matched_in_linear_time(shop: PageWorld) -> None:
    shop.tab.evaluate("() => history.pushState(0, '', '/' + 'a'.repeat(3000) + 'b')")
    for pattern, fits in (
        ("*/0*", False), ("http://127.0.0.1:*", True), ("*a" * 900 + "*c", False), ("http*127*", True),
        ("*://127.0.0.1:*/*b", True), ("ftp*", False),
    ):  # fmt: skip
        assert shop.call("waitFor", url=pattern, timeoutMs=0)["found"] is fits, pattern


def test_the_frame_around_an_element_lets_clicks_through_and_can_be_removed(
    shop: PageWorld,
) -> None:
    shop.call("highlight", target="#send", label="Here", seconds=60)
    assert shop.tab.locator("roost-highlight").count() == 1
    shop.tab.evaluate(
        "() => { document.querySelector('#send').onclick = () => { window.sent = true } }"
    )
    shop.click("#send")
    assert shop.tab.evaluate("() => window.sent") is True
    assert shop.call("removeHighlight")["removed"] is True
    assert shop.tab.locator("roost-highlight").count() == 0
