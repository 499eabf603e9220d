# ruff: noqa: E501 - a document on one line reads better than a folded one
"""One call returns whether and where an element can be acted on, or the reason why not."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld

PLACED = "position:absolute;left:20px;top:20px;width:100px;height:30px"


def record_clicks(page: PageWorld) -> None:
    page.tab.evaluate(
        "() => { window.clicks = []; addEventListener('click', event => clicks.push([event.target.id, event.isTrusted]), true) }"
    )


def test_the_point_is_where_a_trusted_click_arrives(page: PageWorld) -> None:
    page.show(f"<button id=b style='{PLACED}'>B</button>")
    record_clicks(page)
    page.click("#b")
    assert page.tab.evaluate("clicks") == [["b", True]]


def test_elements_below_are_scrolled_into_view_at_once(page: PageWorld) -> None:
    page.show(
        "<div style=height:5000px></div><div style='height:200px;overflow:auto'><div style=height:3000px></div><button id=b>B</button></div>"
    )
    record_clicks(page)
    page.click("#b")
    assert page.tab.evaluate("clicks") == [["b", True]]


REASONS = [
    ("<button id=b style=display:none>B</button>", "click", "hidden"),
    ("<button id=b style=visibility:hidden>B</button>", "click", "hidden"),
    ("<button id=b disabled>B</button>", "click", "disabled"),
    ("<fieldset disabled><button id=b>B</button></fieldset>", "click", "disabled"),
    ("<div aria-disabled=true><button id=b>B</button></div>", "click", "disabled"),
    ("<input id=b readonly>", "type", "readonly"),
    ("<p id=b>text</p>", "type", "not editable"),
    (
        "<button id=b style='width:0;height:0;padding:0;border:0;overflow:hidden'></button>",
        "click",
        "zero size",
    ),
    ("<button id=b style='position:fixed;left:-500px'>B</button>", "click", "outside viewport"),
    ("<button id=b style=pointer-events:none>B</button>", "click", "no pointer events"),
    (
        f"<button id=b style='{PLACED}'>B</button><div class=veil style='position:fixed;inset:0'></div>",
        "click",
        "covered",
    ),
]


@pytest.mark.parametrize(
    ("body", "action", "reason"),
    REASONS,
    ids=[f"{reason} {index}" for index, (_, _, reason) in enumerate(REASONS)],
)
def test_the_error_names_the_reason(page: PageWorld, body: str, action: str, reason: str) -> None:
    error = page.show(body).error("prepare", target="#b", action=action)
    assert (error["code"], error["reason"]) == ("NOT_ACTIONABLE", reason)


def test_the_error_names_the_covering_element_by_ref(page: PageWorld) -> None:
    page.show(
        f"<button id=b style='{PLACED}'>B</button><div class='veil dark' style='position:fixed;inset:0'></div>"
    )
    error = page.error("prepare", target="#b")
    assert '<div class="veil dark">' in error["pageSaid"]
    assert "veil" not in error["message"]
    assert page.call("resolve", target=error["coveredBy"])["attributes"]["class"] == "veil dark"


def test_an_element_covered_in_the_middle_is_clicked_beside_the_cover(page: PageWorld) -> None:
    page.show(
        f"<button id=b style='{PLACED}'>B</button><i style='position:absolute;left:60px;top:25px;width:20px;height:20px'></i>"
    )
    record_clicks(page)
    page.click("#b")
    assert page.tab.evaluate("clicks") == [["b", True]]


def test_a_wrapped_link_is_clicked_on_one_of_its_lines(page: PageWorld) -> None:
    page.show(
        "<p style='width:200px;font:16px monospace'>aaaaaaaaaaaaaaaa <a id=b href=#x>bbbb cccccccccccccccccc</a>"
    )
    record_clicks(page)
    page.click("#b")
    assert page.tab.evaluate("clicks") == [["b", True]]


def test_an_element_in_a_shadow_root_does_not_cover_itself(page: PageWorld) -> None:
    page.show(
        "<x-a></x-a>",
        "() => document.querySelector('x-a').attachShadow({mode:'open'}).innerHTML = '<button id=in><b>Deep</b></button>'",
    )
    assert "point" in page.call("prepare", target="#in")


def test_a_hidden_check_box_is_clicked_through_its_label(page: PageWorld) -> None:
    page.show("<label>Fancy <input id=c type=checkbox style='opacity:0;width:0;height:0'></label>")
    point = page.call("prepare", target="#c", action="check")["point"]
    page.tab.mouse.click(point["x"], point["y"])
    assert page.call("resolve", target="#c")["checked"] is True


def test_a_position_inside_the_element_can_be_asked_for(page: PageWorld) -> None:
    page.show(f"<button id=b style='{PLACED}'>B</button>")
    assert page.call("prepare", target="#b", position={"x": 5, "y": 6})["point"] == {
        "x": 25,
        "y": 26,
    }


def test_waiting_ends_when_the_element_appears_and_is_enabled(page: PageWorld) -> None:
    page.show(
        "<p>x",
        """() => setTimeout(() => { document.body.innerHTML = '<button id=b disabled>B</button>';
            setTimeout(() => b.disabled = false, 30) }, 30)""",
    )
    assert page.call("prepare", target="#b", timeoutMs=10_000)["tag"] == "button"


def test_waiting_ends_when_the_covering_element_is_gone(page: PageWorld) -> None:
    page.show(
        f"<button id=b style='{PLACED}'>B</button><div id=veil style='position:fixed;inset:0;transition:left .1s'></div>",
        "() => setTimeout(() => veil.style.left = '2000px', 30)",
    )
    assert "point" in page.call("prepare", target="#b", timeoutMs=10_000)


def test_waiting_ends_with_the_reason_when_the_time_is_over(page: PageWorld) -> None:
    error = page.show("<button id=b disabled>B</button>").error(
        "prepare", target="#b", timeoutMs=50
    )
    assert error["reason"] == "disabled"
    assert page.error("prepare", target="#none", timeoutMs=50)["code"] == "NOT_FOUND"


def test_an_element_that_moves_is_waited_for(page: PageWorld) -> None:
    page.show(
        f"<style>@keyframes go {{ from {{ transform: translateX(400px) }} }}</style><button id=b style='{PLACED};animation:go .2s linear'>B</button>",
        "() => { b.style.animation = 'none'; b.offsetWidth; b.style.animation = 'go .2s linear' }",
    )
    record_clicks(page)
    point = page.call("prepare", target="#b", timeoutMs=10_000)["point"]
    assert point == {"x": 70, "y": 35}


def test_an_element_whose_animation_is_pending_is_waited_for(page: PageWorld) -> None:
    """An animation stands at its start until its first frame is drawn."""
    page.show(
        f"<style>@keyframes go {{ from {{ transform: translateX(400px) }} }}</style><button id=b style='{PLACED}'>B</button>"
    )
    point = page.in_world(
        "(b.style.animation = 'go .2s linear', __roost.prepare({ target: '#b', timeoutMs: 10_000 }))"
    )["point"]
    assert point == {"x": 70, "y": 35}


def test_an_element_that_never_stands_still_is_reported(page: PageWorld) -> None:
    page.show(
        f"<style>@keyframes go {{ to {{ transform: translateX(400px) }} }}</style><button id=b style='{PLACED};animation:go 1s linear infinite'>B</button>"
    )
    # Where a busy machine shows no frame within 100 ms, nothing was seen to move.
    replies = (page.call("prepare", target="#b", timeoutMs=50) for _ in range(20))
    refused = next(reply["error"] for reply in replies if "error" in reply)
    assert refused["reason"] == "moving"


def test_settled_waits_for_a_frame_only_if_something_changed(page: PageWorld) -> None:
    page.show(
        "<button id=quiet>A</button><button id=loud onclick='this.textContent = 1'>B</button>"
    )
    page.click("#quiet")
    assert page.call("settled")["changed"] is False
    page.click("#loud")
    assert page.call("settled")["changed"] is True


def test_settled_can_be_called_before_the_click_arrives(page: PageWorld) -> None:
    page.show("<button id=loud onclick='this.textContent = 1'>B</button>")
    point = page.call("prepare", target="#loud")["point"]
    page.in_world("void (globalThis.asked = __roost.settled({ releases: 1 }))")
    page.tab.mouse.click(point["x"], point["y"])
    assert page.in_world("asked")["changed"] is True


def test_settled_does_not_wait_for_a_click_that_went_elsewhere(page: PageWorld) -> None:
    page.show("<button id=b>B</button>")
    page.call("prepare", target="#b")
    page.in_world("void (globalThis.asked = __roost.settled({ releases: 1 }))")
    page.call("delivered")
    assert page.in_world("asked")["changed"] is False
    page.in_world("void (globalThis.asked = __roost.settled({ releases: 1, watched: false }))")
    page.call("delivered")
    assert page.in_world("asked")["changed"] is True, "nobody watched, so nobody knows"
