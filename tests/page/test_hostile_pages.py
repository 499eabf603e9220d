# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Pages that break readers, on purpose or by accident."""

from __future__ import annotations

import pytest

from tests.page.page_world import PageWorld

FUNCTIONS = [
    ("snapshot", {}), ("snapshot", {"interactive": True}), ("find", {"text": "safe"}), ("content", {}), ("content", {"format": "markdown"}),
    ("content", {"format": "html"}), ("pageState", {}), ("drawBadges", {}), ("removeBadges", {}), ("consent", {}), ("waitFor", {"text": "safe"}),
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


def test_what_changed_in_a_document_without_any_element_is_an_answer(page: PageWorld) -> None:
    page.show("<p>Gone")
    page.call("snapshot", mode="full", reader="r")
    page.tab.evaluate("document.documentElement.remove()")
    told = page.call("snapshot", mode="diff", reader="r")
    assert told["mode"] == "diff"
    assert "Gone" in told["text"]
    assert page.call("snapshot", mode="diff", reader="new")["text"] == ""
    page.tab.evaluate("document.append(document.createElement('html'))")
    page.tab.evaluate("document.documentElement.append('Back')")
    assert "Back" in page.call("snapshot", mode="diff", reader="new")["text"]


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


DENSE = """(() => { const ids = Array.from({length: COUNT}, (_, n) => `x${n}`);
    for (const id of ids) { const one = document.createElement("button"); one.id = id; one.textContent = id;
      one.setAttribute("aria-owns", ids.join(" ")); one.setAttribute("aria-labelledby", ids.join(" ")); document.body.append(one) } })()"""
LARGE = "document.body.innerHTML = '<div><button>Node</button></div>'.repeat(COUNT)"
DEEP = "document.body.innerHTML = '<div role=group aria-label=g><b>'.repeat(COUNT)"
BLANKS = "document.body.innerHTML = '<pre>a' + ' '.repeat(COUNT) + 'b</pre><b>a' + '<br>'.repeat(COUNT) + 'b</b>'"
OWNS = "document.body.innerHTML = '<div id=o aria-owns=\"' + 'x '.repeat(COUNT) + '\">Owner</div><button id=x>X</button>'"


@pytest.mark.parametrize(
    ("script", "is_cut"),
    [(DENSE.replace("COUNT", "400"), False), (LARGE.replace("COUNT", "20000"), True), (DEEP.replace("COUNT", "5000"), False),
     (BLANKS.replace("COUNT", "100000"), False), (OWNS.replace("COUNT", "500000"), False)],
    ids=["elements that own and label each other", "large", "deep", "blanks", "a long aria-owns"],
)  # fmt: skip
def test_a_page_that_is_slow_to_read_is_read_in_part_and_says_so(
    page: PageWorld, script: str, is_cut: bool
) -> None:
    page.show("<p>Start</p>", script)
    budget = {"budgetMs": 50} if is_cut else {}
    for function, args in (
        ("snapshot", {}), ("snapshot", {"mode": "diff", "reader": "r"}), ("snapshot", {"mode": "diff", "reader": "r"}),
        ("find", {"text": "nowhere"}), ("content", {}), ("content", {"format": "markdown"}), ("pageState", {}),
    ):  # fmt: skip
        reply = page.call(function, **budget, **args)
        assert "error" not in reply
        if is_cut and function != "pageState":
            assert reply["truncated"]
            assert "# cut:" in reply["text"]
