# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Filling in fields: some values are set by the bundle, others are typed or clicked with trusted input."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld


def record_events(page: PageWorld) -> None:
    page.tab.evaluate(
        "() => { window.events = []; for (const type of ['input', 'change']) addEventListener(type, event => events.push(type), true) }"
    )


@pytest.mark.parametrize(
    "field",
    [
        "<input id=f value=old>",
        "<textarea id=f>old</textarea>",
        "<input id=f type=email value=old>",
        "<input id=f type=number value=1>",
    ],
)
def test_text_fields_are_focused_with_the_old_text_selected(page: PageWorld, field: str) -> None:
    reply = page.show(field).call("setValue", target="#f", value="42")
    assert (reply["next"], reply["isEmpty"]) == ("type", False)
    page.tab.keyboard.insert_text("42")
    assert page.tab.evaluate("f.value") == "42"


def test_editable_content_is_replaced_as_a_whole(page: PageWorld) -> None:
    page.show("<div id=f contenteditable>old <b>rich</b> text</div>").call(
        "setValue", target="#f", value="new"
    )
    page.tab.keyboard.insert_text("new")
    assert page.tab.evaluate("f.textContent") == "new"


def test_a_label_as_target_means_its_field(page: PageWorld) -> None:
    page.show("<label id=l>Name <input id=f></label>").call("setValue", target="#l", value="x")
    page.tab.keyboard.insert_text("x")
    assert page.tab.evaluate("f.value") == "x"


@pytest.mark.parametrize(
    ("state", "value", "needed"),
    [("", True, True), ("checked", "true", False), ("checked", "off", True), ("", "no", False)],
)
def test_check_boxes_say_whether_a_click_is_needed(
    page: PageWorld, state: str, value: object, needed: bool
) -> None:
    reply = page.show(f"<input id=f type=checkbox {state}>").call(
        "setValue", target="#f", value=value
    )
    assert reply["next"] == ("click" if needed else "done")
    if needed:
        page.tab.mouse.click(reply["point"]["x"], reply["point"]["y"])
    assert page.tab.evaluate("f.checked") is reply["wanted"]


def test_a_switch_made_of_a_div_is_filled_like_a_check_box(page: PageWorld) -> None:
    reply = page.show("<div id=f role=switch aria-checked=true tabindex=0>S</div>").call(
        "setValue", target="#f", value="false"
    )
    assert (reply["checked"], reply["next"]) == (True, "click")


@pytest.mark.parametrize("value", ["2", "Two", "two "])
def test_options_are_chosen_by_value_or_label(page: PageWorld, value: str) -> None:
    page.show("<select id=f><option value=1>One<option value=2>Two</select>")
    record_events(page)
    reply = page.call("setValue", target="#f", value=value)
    assert (reply["next"], reply["selected"]) == ("done", ["Two"])
    assert page.tab.evaluate("[f.value, ...events]") == ["2", "input", "change"]


def test_several_options_are_chosen_together(page: PageWorld) -> None:
    page.show("<select id=f multiple><option>a<option selected>b<option>c</select>").call(
        "setValue", target="#f", value=["a", "c"], kind="select"
    )
    assert page.tab.evaluate("[...f.selectedOptions].map(option => option.value)") == ["a", "c"]


def test_an_unknown_option_is_not_found_and_the_others_are_listed(page: PageWorld) -> None:
    error = page.show("<select id=f><option value=1>One<option>Two</select>").error(
        "setValue", target="#f", value="Three"
    )
    assert error["code"] == "NOT_FOUND"
    assert error["pageSaid"] == "Options:\nOne (1)\nTwo"
    assert "options" not in error


PICKED = [
    ("date", "2026-02-28"), ("time", "14:30"), ("datetime-local", "2026-02-28T14:30"), ("month", "2026-02"), ("week", "2026-W09"), ("color", "#12ab34"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), PICKED)
def test_values_from_browser_widgets_are_set_with_their_events(
    page: PageWorld, kind: str, value: str
) -> None:
    page.show(f"<input id=f type={kind}>")
    record_events(page)
    assert page.call("setValue", target="#f", value=value)["value"] == value
    assert page.tab.evaluate("[f.value, ...events]") == [value, "input", "change"]


def test_a_slider_stops_one_step_from_its_value_and_names_the_key_for_the_last_step(
    page: PageWorld,
) -> None:
    page.show("<input id=f type=range>")
    record_events(page)
    assert page.call("setValue", target="#f", value="70")["key"] == "ArrowUp"
    assert page.tab.evaluate("[f.value, ...events]") == ["69", "input"]
    assert page.call("setValue", target="#f", value="0")["key"] == "ArrowDown"
    assert page.call("setValue", target="#f", value="70", isPressed=True)["value"] == "70"
    assert page.tab.evaluate("f.value") == "70"


def test_a_slider_without_steps_is_set_with_its_events(page: PageWorld) -> None:
    page.show("<input id=f type=range step=any>")
    record_events(page)
    assert page.call("setValue", target="#f", value="70.5")["value"] == "70.5"
    assert page.tab.evaluate("[f.value, ...events]") == ["70.5", "input", "change"]


WRONG = [
    ("date", "28.02.2026"),
    ("date", "2026-02-31"),
    ("time", "2pm"),
    ("color", "red"),
    ("range", "700"),
    ("range", "much"),
    ("checkbox", "maybe"),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_values_in_a_wrong_format_are_refused_and_change_nothing(
    page: PageWorld, kind: str, value: str
) -> None:
    page.show(f"<input id=f type={kind}>")
    before = page.tab.evaluate("f.value")
    error = page.error("setValue", target="#f", value=value)
    assert (error["code"], error["field"]) == ("BAD_REQUEST", "value")
    assert page.tab.evaluate("f.value") == before


def test_filling_an_element_that_is_no_field_is_refused(page: PageWorld) -> None:
    page.show("<p id=p>text<input id=u type=file>")
    assert page.error("setValue", target="#p", value="x")["code"] == "NOT_ACTIONABLE"
    assert page.error("setValue", target="#u", value="x")["code"] == "BAD_REQUEST"


def test_selecting_in_an_element_that_is_no_list_is_refused(page: PageWorld) -> None:
    page.show("<input id=f>")
    assert (
        page.error("setValue", target="#f", value=["x"], kind="select")["code"] == "NOT_ACTIONABLE"
    )
