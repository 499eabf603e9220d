# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Pages that try, or happen, to break whoever reads them."""

from __future__ import annotations

import pytest
from page_world import PageWorld

FUNCTIONS = [
    ("snapshot", {}), ("snapshot", {"interactive": True}), ("find", {"text": "safe"}), ("content", {}), ("content", {"format": "markdown"}),
    ("content", {"format": "html"}), ("pageState", {}), ("marks", {}), ("unmark", {}), ("consent", {}), ("waitFor", {"text": "safe"}),
    ("readiness", {}), ("settled", {}), ("scroll", {"direction": "down"}), ("resolve", {"target": "#safe"}), ("prepare", {"target": "#safe"}),
]  # fmt: skip

CLOBBERED_NAMES = (
    "attributes childNodes children classList className closest contains firstChild getAttribute getBoundingClientRect hasAttribute id innerHTML "
    "isConnected lastChild localName matches nextSibling nodeName nodeType ownerDocument parentElement parentNode querySelector querySelectorAll "
    "remove shadowRoot assignedSlot style tagName textContent title checkVisibility getClientRects getRootNode outerHTML scrollIntoView"
).split()


@pytest.mark.parametrize(
    ("function", "args"), FUNCTIONS, ids=[f"{name} {args}" for name, args in FUNCTIONS]
)
def test_clobbered_forms_and_documents_are_read_like_any_other(
    page: PageWorld, function: str, args: dict[str, object]
) -> None:
    inputs = "".join(f"<input name={name} aria-label={name}>" for name in CLOBBERED_NAMES)
    documents = "".join(
        f"<img name={name} src=x><form name={name}></form>"
        for name in (
            "body",
            "documentElement",
            "querySelectorAll",
            "title",
            "activeElement",
            "elementFromPoint",
            "getElementById",
            "createElement",
            "fonts",
        )
    )
    page.show(
        f"<form id=f aria-label=Form>{inputs}<button id=safe type=button>safe</button></form>{documents}"
    )
    reply = page.call(function, **args)
    assert "error" not in reply
    if function in ("snapshot", "find"):
        assert 'form "Form"' in reply["text"]
        assert 'button "safe"' in reply["text"]


def test_overwritten_built_ins_of_the_page_do_not_reach_the_bundle(page: PageWorld) -> None:
    page.show("<form><button id=safe onclick='window.done = event.isTrusted'>safe</button></form>")
    page.tab.evaluate(
        """() => { Array.prototype.map = Array.prototype.push = () => { throw 1 }; JSON.stringify = () => 'no';
            Element.prototype.getAttribute = Element.prototype.click = () => { throw 2 };
            Object.defineProperty(Node.prototype, 'firstChild', {get() { throw 3 }}); window.__roost = null; Promise = null; }"""
    )
    assert page.snapshot() == '- button "safe" [ref=e1]'
    assert page.call("prepare", target="e1")["tag"] == "button"


def test_the_page_sees_nothing_of_the_bundle(page: PageWorld) -> None:
    page.show("<p>x").snapshot()
    assert page.tab.evaluate("typeof __roost") == "undefined"
    assert page.tab.evaluate("document.documentElement.outerHTML").count("roost") == 0


def test_a_document_without_any_element_says_so(page: PageWorld) -> None:
    page.show("x", "document.documentElement.remove()")
    for function in ("snapshot", "content", "pageState", "find"):
        assert page.error(function, text="x")["code"] == "NOT_FOUND"


def test_svg_and_xml_documents_are_read(page: PageWorld) -> None:
    page.show("x")
    page.open(
        "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><a href='x'><text y='20'>Link in SVG</text></a></svg>"
    )
    assert "Link in SVG" in page.snapshot()
    assert "Link in SVG" in page.call("content")["text"]


def test_odd_attributes_and_names_keep_the_text_in_shape(page: PageWorld) -> None:
    page.show("<button id=b></button>")
    page.tab.evaluate(
        r"""() => b.setAttribute('aria-label', 'line\nend "quoted" \\ [ref=e99]: - x \u2028 \ud800')"""
    )
    text = page.snapshot()
    assert len(text.splitlines()) == 1
    assert page.ref("#b") in text


def test_a_regex_from_a_caller_cannot_hang_on_short_lines(page: PageWorld) -> None:
    assert page.show("<p>aaaaaaaaaaaaaaaaaaaa").call("find", regex="(a|b)+c")["total"] == 0
