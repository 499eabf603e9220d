# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Finding an element by ref, CSS or text, and the error when nothing fits."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld


@pytest.mark.parametrize("spelling", ["{ref}", "@{ref}", "ref={ref}", " {ref} "])
def test_a_ref_works_in_every_spelling(page: PageWorld, spelling: str) -> None:
    ref = page.show("<button>A</button>").ref("button")
    assert page.call("resolve", target=spelling.format(ref=ref))["name"] == "A"


def test_an_unknown_and_a_removed_ref_are_stale(page: PageWorld) -> None:
    ref = page.show("<button>A</button>").ref("button")
    page.tab.evaluate("document.querySelector('button').remove()")
    for target in (ref, "e999", "f3e1"):
        assert page.error("resolve", target=target)["code"] == "STALE_REF"


def test_selectors_and_text_reach_into_open_shadow_roots(page: PageWorld) -> None:
    page.show(
        "<x-a></x-a>",
        "() => document.querySelector('x-a').attachShadow({mode:'open'}).innerHTML = '<button id=in>Deep words</button>'",
    )
    assert page.call("resolve", target="#in")["name"] == "Deep words"
    assert page.call("resolve", target="text=deep")["tag"] == "button"


def test_the_first_rendered_match_is_taken(page: PageWorld) -> None:
    info = page.show("<button hidden>A</button><button>B</button>").call("resolve", target="button")
    assert info["name"] == "B"
    assert info["matches"] == 2


def test_text_finds_the_innermost_element_and_quotes_mean_the_whole_text(page: PageWorld) -> None:
    page.show(
        "<div><p>Save all</p><button>Save</button><input type=submit value='Save it'></div><script>'Save script'</script>"
    )
    assert page.call("resolve", target="text=save all")["tag"] == "p"
    assert page.call("resolve", target='text="Save"')["tag"] == "button"
    assert page.call("resolve", target="text=save it")["tag"] == "input"
    assert page.error("resolve", target="text=script")["code"] == "NOT_FOUND"


def test_a_not_found_error_suggests_similar_elements(page: PageWorld) -> None:
    error = page.show("<button id=submit-order>Place order</button><a href=x>Other</a>").error(
        "resolve", target="#order-submit"
    )
    assert error["code"] == "NOT_FOUND"
    assert 'button "Place order"' in error["pageSaid"].splitlines()[0]
    assert page.call("resolve", target=error["suggestions"][0])["name"] == "Place order"
    assert len(error["suggestions"]) <= 5


def test_a_typing_error_is_recognised(page: PageWorld) -> None:
    page.show("<a href=x>Sell</a><button>Buy</button><div id=host></div>")
    error = page.error("resolve", target="text=Bay")
    assert (error["reason"], len(error["suggestions"])) == ("similar", 1)
    assert 'button "Buy"' in error["pageSaid"]
    error = page.error("resolve", target="text=Chekout")
    assert error["reason"] == "unlike"
    page.in_world(
        "document.getElementById('host').attachShadow({mode: 'open'}).innerHTML ="
        " '<button>Checkout</button>'"
    )
    error = page.error("resolve", target="text=Chekout")
    assert 'button "Checkout"' in error["pageSaid"], "in a shadow root, too"


def test_where_nothing_is_similar_the_error_says_what_is_in_view(page: PageWorld) -> None:
    page.show("<button>Buy</button><p style='height:9000px'></p><button>Far</button>")
    error = page.error("resolve", target="#nowhere")
    assert (error["reason"], len(error["suggestions"])) == ("unlike", 1)
    assert page.call("resolve", target=error["suggestions"][0])["name"] == "Buy"
    empty = page.show("<p>Nothing to operate").error("resolve", target="#nowhere")
    assert "suggestions" not in empty


def test_a_stale_ref_names_the_element_that_took_its_place(page: PageWorld) -> None:
    page.show("<main><button>Add to cart</button><button>Help</button></main>")
    old = page.call("resolve", target="text=Add to cart")["ref"]
    page.in_world("document.querySelector('main').innerHTML += ''")
    error = page.error("resolve", target=old)
    assert (error["code"], error["reason"], error["ref"]) == ("STALE_REF", "similar", old)
    (new,) = error["suggestions"]
    assert page.call("resolve", target=new)["name"] == "Add to cart"
    page.in_world("document.querySelector('main').innerHTML = '<a href=x>Zzz</a>'")
    assert "suggestions" not in page.error("resolve", target=new)


@pytest.mark.parametrize("target", ["a[[", "", "   ", "x" * 1001, "text="])
def test_an_invalid_target_is_a_bad_request_that_names_the_field(
    page: PageWorld, target: str
) -> None:
    error = page.show("<p>x").error("resolve", target=target)
    assert (error["code"], error["field"]) == ("BAD_REQUEST", "target")


@pytest.mark.parametrize(("function", "args", "field"), [
    ("resolve", {"target": 5}, "target"),
    ("snapshot", {"maxChars": "many"}, "maxChars"),
    ("snapshot", {"mode": "odd"}, "mode"),
    ("snapshot", {"after": "nothing"}, "after"),
    ("snapshot", {"prefix": "<x>"}, "prefix"),
    ("prepare", {"target": "p", "action": "dance"}, "action"),
    ("prepare", {"target": "p", "position": {"x": "1"}}, "position"),
    ("content", {"format": "pdf"}, "format"),
    ("find", {}, "text"),
    ("find", {"regex": "("}, "regex"),
    ("waitFor", {}, "text"),
    ("scroll", {"direction": "sideways"}, "direction"),
    ("scroll", {}, "target"),
    ("drawBadges", {"refs": "e1"}, "refs"),
])  # fmt: skip
def test_wrong_arguments_name_the_field(
    page: PageWorld, function: str, args: dict[str, object], field: str
) -> None:
    error = page.show("<p>x").error(function, **args)
    assert (error["code"], error["field"]) == ("BAD_REQUEST", field)


def test_an_element_is_described_without_its_secrets(page: PageWorld) -> None:
    page.show(
        "<form><input type=hidden name=csrf_token value=s3cret><input type=password value=s3cret data-api-key=s3cret><a id=l href=/x>L</a></form>"
    )
    for target in ("[name=csrf_token]", "[type=password]"):
        assert "s3cret" not in str(page.call("resolve", target=target))
    link = page.call("resolve", target="#l")
    assert link["attributes"]["href"] == "/x"
    assert link["role"] == "link"


def test_a_select_is_described_with_its_options(page: PageWorld) -> None:
    info = page.show(
        "<select multiple><option value=1>One<option value=2 selected>Two</select>"
    ).call("resolve", target="select")
    assert info["options"][1] == {"value": "2", "label": "Two", "selected": True, "disabled": False}
    assert info["multiple"]
