# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Snapshots have a limited size, can be continued and narrowed, and can show changes only."""

from __future__ import annotations

import re
from collections import Counter

from tests.page.page_world import PageWorld

LONG = "".join(
    f"<h2>Part {part}</h2><p>{'word ' * 40}</p><button>Do {part}</button>" for part in range(300)
)


def refs_in(text: str) -> set[str]:
    return set(re.findall(r"\[ref=(e\d+)\]", text))


def test_a_long_page_stays_below_the_limit_and_says_what_is_left(page: PageWorld) -> None:
    reply = page.show(LONG).call("snapshot")
    assert reply["truncated"]
    assert len(reply["text"]) == reply["chars"] <= 20_000
    last = reply["text"].splitlines()[-1]
    assert last.startswith("# ")
    assert reply["left"]["after"] in last
    assert "search the page" in last
    assert "target" in last


def test_following_after_reads_the_whole_page_once(page: PageWorld) -> None:
    page.show(LONG)
    whole = page.snapshot(maxChars=10_000_000)
    seen: list[str] = []
    after = None
    for _ in range(100):
        reply = page.call("snapshot", maxChars=5_000, **({"after": after} if after else {}))
        seen += [
            line.strip() for line in reply["text"].splitlines() if not line.strip().startswith("#")
        ]
        if not reply["truncated"]:
            break
        after = reply["left"]["after"]
    assert seen == [line.strip() for line in whole.splitlines()]


def test_text_without_any_ref_can_be_paged_too(page: PageWorld) -> None:
    page.show("".join(f"<div>line {number} {'x' * 80}</div>" for number in range(400)))
    first = page.call("snapshot", maxChars=3_000)
    second = page.call("snapshot", maxChars=3_000, after=first["left"]["after"])
    assert "line 0 " in first["text"]
    assert "line 0 " not in second["text"]
    last_shown = max(int(number) for number in re.findall(r"line (\d+) ", first["text"]))
    assert f"line {last_shown + 1} " in second["text"]


def test_what_is_in_the_viewport_comes_first(page: PageWorld) -> None:
    page.show(
        LONG, "window.scrollTo(0, document.querySelectorAll('h2')[200].getBoundingClientRect().top)"
    )
    text = page.snapshot(maxChars=4_000)
    assert 'button "Do 200"' in text
    assert 'button "Do 0"' not in text


def test_a_gap_in_the_middle_is_named_where_it_is(page: PageWorld) -> None:
    page.show(
        f"<header style='position:fixed;top:0'><button>Menu</button></header>{LONG}",
        "window.scrollTo(0, 30000)",
    )
    text = page.snapshot(maxChars=6_000)
    assert 'button "Menu"' in text
    assert re.search(r"^# \d+ lines not shown$", text, re.MULTILINE)


def test_a_snapshot_of_one_part_can_be_requested(page: PageWorld) -> None:
    page.show("<nav><a href=a>A</a></nav><main><button>B</button></main>")
    text = page.snapshot(target="main")
    assert text.startswith("- main [ref=")
    assert 'button "B"' in text
    assert 'link "A"' not in text


def test_a_depth_limit_cuts_the_snapshot_and_says_so(page: PageWorld) -> None:
    text = page.show("<main><ul><li><a href=a>A</a></ul></main>").snapshot(depth=2)
    assert text.splitlines()[:2] == ["- main [ref=e1]:", "  - list"]
    assert "depth 2" in text.splitlines()[-1]


def test_interactive_lists_what_can_be_operated_with_little_around_it(page: PageWorld) -> None:
    page.show(
        """<main><p>Prose</p><h2>Empty part</h2><h2>Form part</h2><ul><li><button>Go</button></ul>
        <div style=cursor:pointer>Row</div><select aria-label=S><option>1<option selected>2</select></main>"""
    )
    text = page.snapshot(interactive=True)
    assert "Prose" not in text
    assert "Empty part" not in text
    assert "list" not in text
    assert 'heading "Form part"' in text
    assert 'button "Go"' in text
    assert ": Row" in text
    assert 'option "2" [selected]' in text
    assert 'option "1"' not in text


def test_a_ref_lives_as_long_as_its_element(page: PageWorld) -> None:
    page.show("<button id=a>A</button><button id=b>B</button>")
    before = page.ref("#a")
    page.tab.evaluate(
        "() => { const a = document.getElementById('a'); a.textContent = 'renamed'; document.body.append(a); }"
    )
    assert page.ref("#a") == before
    assert f'button "renamed" [ref={before}]' in page.snapshot()


def test_refs_are_never_reused(page: PageWorld) -> None:
    page.show("<button>A</button>")
    first = page.call("snapshot")
    page.tab.evaluate("document.body.innerHTML = '<button>B</button>'")
    second = page.call("snapshot")
    assert not refs_in(first["text"]) & refs_in(second["text"])
    page.show("<button>C</button>")
    third = page.call("snapshot", firstRef=second["nextRef"])
    assert not (refs_in(first["text"]) | refs_in(second["text"])) & refs_in(third["text"])


def test_evaluating_the_bundle_again_keeps_refs_and_readers(page: PageWorld) -> None:
    page.show("<button>A</button>")
    text = page.snapshot(reader="r")
    page.inject()
    assert page.snapshot() == text
    assert page.call("snapshot", reader="r", mode="diff")["mode"] == "diff"


def test_another_version_of_the_bundle_replaces_the_one_in_the_page(page: PageWorld) -> None:
    page.show("<button>A</button>")
    ref, reply = page.ref("button"), page.call("snapshot", reader="r")
    page.upgrade()
    assert page.call("resolve", target=ref)["error"]["code"] == "STALE_REF"
    after = page.call("snapshot", reader="r", mode="diff", firstRef=reply["nextRef"])
    assert after["mode"] != "diff", "the new version has no readers yet"
    assert not refs_in(after["text"]) & refs_in(reply["text"])


def test_a_replaced_version_of_the_bundle_leaves_no_listeners(page: PageWorld) -> None:
    def listeners() -> dict[str, int]:
        window = page.cdp.send(
            "Runtime.evaluate", {"expression": "window", "contextId": page.world()}
        )
        there = page.cdp.send(
            "DOMDebugger.getEventListeners", {"objectId": window["result"]["objectId"]}
        )
        return Counter(listener["type"] for listener in there["listeners"])

    page.show("<button>A</button><input>")
    page.tab.focus("input")
    page.call("prepare", target="button", action="click")
    before = listeners()
    assert before["pointerdown"] == 1
    assert before["mouseup"] == 2
    assert before["focusout"] == 1
    page.upgrade()
    assert listeners() == {}
    page.call("prepare", target="button", action="click")
    assert listeners() == before


def test_a_diff_tells_what_was_added_changed_and_removed_and_nothing_else(page: PageWorld) -> None:
    page.show(
        "<main><h1>T</h1><button id=a>A</button><button id=b>B</button><p id=p>Count: 1</p><input id=i aria-label=I></main>"
    )
    page.snapshot(reader="r")
    page.tab.evaluate(
        """() => { a.disabled = true; b.remove(); p.textContent = 'Count: 2'; i.value = 'typed';
            document.querySelector('main').insertAdjacentHTML('beforeend', '<div role=alert>Saved <a href=x>undo</a></div>'); }"""
    )
    reply = page.call("snapshot", reader="r", mode="diff")
    text = reply["text"]
    assert reply["mode"] == "diff"
    assert '<changed> button "A" [disabled]' in text
    assert '<removed> button "B"' in text
    assert "<changed> paragraph:" in text
    assert "Count: 2" in text
    assert "Count: 1" not in text
    assert '<changed> textbox "I"' in text
    assert "typed" in text
    assert "<added> alert" in text
    assert 'link "undo"' in text
    assert "heading" not in text
    assert page.call("snapshot", reader="r", mode="diff")["text"] == "# nothing has changed"


def test_each_reader_gets_its_own_diff(page: PageWorld) -> None:
    page.show("<button id=a>A</button>")
    page.snapshot(reader="one")
    page.snapshot(reader="two")
    page.tab.evaluate("a.textContent = 'B'")
    for reader in ("one", "two"):
        assert '<changed> button "B"' in page.call("snapshot", reader=reader, mode="diff")["text"]


def test_only_the_added_items_are_in_the_diff(page: PageWorld) -> None:
    page.show("<ul id=u>" + "".join(f"<li><a href=x>Item {n}</a>" for n in range(20)) + "</ul>")
    page.snapshot(reader="r")
    page.tab.evaluate("u.insertAdjacentHTML('afterbegin', '<li><a href=x>New</a>')")
    reply = page.call("snapshot", reader="r", mode="diff")
    assert 'link "New"' in reply["text"]
    assert "Item" not in reply["text"]


def test_a_diff_for_a_new_document_is_a_short_whole_snapshot(page: PageWorld) -> None:
    reply = page.show(LONG).call("snapshot", reader="new", mode="diff")
    assert reply["mode"] == "full"
    assert reply["chars"] <= 4_000


def test_a_large_diff_is_bounded(page: PageWorld) -> None:
    page.show("<p>start")
    page.snapshot(reader="r")
    page.tab.evaluate("html => document.body.innerHTML = html", LONG)
    reply = page.call("snapshot", reader="r", mode="diff", maxChars=3_000)
    assert reply["truncated"]
    assert reply["chars"] < 3_500


def test_room_is_kept_for_visible_frames(page: PageWorld) -> None:
    page.show(
        f"<iframe style='position:fixed;inset:0;width:100%;height:60%' srcdoc=x></iframe>{LONG}"
    )
    assert page.call("snapshot", maxChars=10_000)["chars"] <= 4_200


def test_the_large_page_of_the_python_manual_fits(page: PageWorld, python_doc: str) -> None:
    reply = page.open(f"{python_doc}/library/functions.html").call("snapshot")
    assert reply["chars"] <= 20_000
    assert 'heading "Built-in Functions" [level=1]' in reply["text"]


def test_fifty_thousand_nodes_can_be_read(page: PageWorld) -> None:
    page.show(
        "<main id=m></main>",
        "m.innerHTML = '<div><span>text</span><a href=x>link</a></div>'.repeat(17000)",
    )
    reply = page.call("snapshot")
    assert reply["chars"] <= 20_000
    assert reply["left"]["lines"] > 30_000


def test_extremely_deep_nesting_can_be_read(page: PageWorld) -> None:
    page.show(
        "<button>top</button>",
        "() => { let at = document.body; for (let i = 0; i < 1500; i++) at = at.appendChild(document.createElement('div')); at.textContent = 'deep'; }",
    )
    assert 'button "top"' in page.snapshot()
    assert page.call("content")["text"] == "top"
