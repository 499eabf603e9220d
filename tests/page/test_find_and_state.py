# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Finding, page state, waiting, readiness, scrolling, badges."""

from __future__ import annotations

from tests.page.page_world import PageWorld

PAGE = """<main aria-label=Shop><h1>Shop</h1><p>Blue shirt</p><button>Buy shirt</button>
<p>The <a href=x>quick</a> brown fox</p><input aria-label=Size value=XL></main>"""


def test_found_lines_carry_refs_and_what_they_stand_in(page: PageWorld) -> None:
    reply = page.show(PAGE).call("find", text="SHIRT")
    assert reply["total"] == 2
    assert reply["text"].splitlines()[0].startswith('- main "Shop" [ref=')
    for match in reply["matches"]:
        assert f"[ref={match['ref']}]" in reply["text"]
        assert page.call("resolve", target=match["ref"])["tag"] in ("p", "button")


def test_values_and_patterns_are_found_too(page: PageWorld) -> None:
    page.show(PAGE)
    assert page.call("find", text="xl")["total"] == 1
    assert page.call("find", regex="bu[yz] ")["total"] == 1
    assert page.call("find", regex="/BUY/g")["total"] == 0


def test_text_that_runs_through_a_link_is_found_as_a_whole(page: PageWorld) -> None:
    reply = page.show(PAGE).call("find", text="quick brown fox")
    assert page.call("resolve", target=reply["matches"][0]["ref"])["tag"] == "p"


def test_many_matches_are_bounded_and_none_is_no_error(page: PageWorld) -> None:
    page.show("<p>same</p>" * 100)
    reply = page.call("find", text="same", limit=5)
    assert (len(reply["matches"]), reply["total"], reply["truncated"]) == (5, 100, True)
    assert page.call("find", text="nowhere")["total"] == 0


def test_page_state_lists_everything_with_refs_and_counts(page: PageWorld) -> None:
    page.show(
        """<nav><a href=/a>A</a></nav><h2>H</h2><button disabled>B</button><label>P <input type=password value=hunter2 required></label>
        <input type=checkbox aria-label=C checked><select aria-label=S><option>1<option selected>2</select><img src=i alt=I><div role=alert>Wrong!</div>"""
    )
    state = page.call("pageState", limits={"links": 0})
    assert state["counts"]["links"] == {"shown": 0, "total": 1}
    assert state["headings"][0]["level"] == 2
    assert state["buttons"][0]["disabled"] is True
    password, check, choice = state["inputs"]
    assert (password["name"], password["required"]) == ("P", True)
    assert "hunter2" not in str({**state, "url": ""})
    assert check["checked"] is True
    assert {"label": "2", "selected": True} in choice["options"]
    assert state["alerts"][0]["text"] == "Wrong!"
    assert page.call("resolve", target=state["images"][0]["ref"])["tag"] == "img"


def test_page_state_tells_the_changes_since_the_reader_last_asked(page: PageWorld) -> None:
    page.show("<button id=a>A</button><button id=b>B</button>")
    assert page.call("pageState", reader="r")["diff"] is None
    page.tab.evaluate(
        "() => { a.textContent = 'AA'; b.remove(); document.body.insertAdjacentHTML('beforeend', '<button>C</button>') }"
    )
    diff = page.call("pageState", reader="r")["diff"]
    assert [entry["name"] for entry in diff["changed"]] == ["AA"]
    assert [entry["name"] for entry in diff["added"]] == ["C"]
    assert len(diff["removed"]) == 1


def test_waiting_works_for_text_that_appears_and_disappears(page: PageWorld) -> None:
    page.show("<p id=p>old</p>", "() => setTimeout(() => p.textContent = 'Fresh  news', 30)")
    assert page.call("waitFor", text="fresh news", timeoutMs=10_000)["found"]
    page.tab.evaluate("() => { setTimeout(() => p.style.display = 'none', 30) }")
    assert page.call("waitFor", textGone="Fresh news", timeoutMs=10_000)["found"]


def test_waiting_looks_into_shadow_roots_that_come_later(page: PageWorld) -> None:
    page.show(
        "<x-a></x-a>",
        """() => setTimeout(() => { const root = document.querySelector('x-a').attachShadow({mode:'open'}); root.innerHTML = '<b>deep</b>';
            document.body.append(''); }, 30)""",
    )
    assert page.call("waitFor", text="deep", timeoutMs=10_000)["found"]


def test_hidden_text_and_scripts_do_not_count_as_text(page: PageWorld) -> None:
    page.show("<p style=display:none>ghost</p><script>'ghost'</script>")
    assert not page.call("waitFor", text="ghost")["found"]


def test_waiting_for_a_selector_means_a_visible_one(page: PageWorld) -> None:
    page.show("<p id=p hidden>x</p>", "() => setTimeout(() => p.hidden = false, 30)")
    assert page.call("waitFor", selector="#p", timeoutMs=10_000)["found"]
    assert not page.call("waitFor", selector="#q", timeoutMs=20)["found"]


def test_waiting_for_an_address_within_the_document(page: PageWorld, python_doc: str) -> None:
    page.open(f"{python_doc}/about.html")
    page.tab.evaluate("() => { setTimeout(() => history.pushState({}, '', '?page=2'), 30) }")
    assert page.call("waitFor", url="*about.html?page=*", timeoutMs=10_000)["found"]
    assert page.call("waitFor", url="page=2")["found"]


def test_readiness_reports_what_is_pending(page: PageWorld) -> None:
    ready = page.show("<p>x").call("readiness")
    assert (ready["readyState"], ready["pendingImages"], ready["pendingFonts"]) == (
        "complete",
        0,
        0,
    )


def test_scrolling_reports_whether_anything_moved(page: PageWorld) -> None:
    page.show("<div style='height:3000px'></div><p id=end>end</p>")
    assert page.call("scroll", direction="up")["moved"] is False
    down = page.call("scroll", direction="down", amount=500)
    assert (down["moved"], down["y"]) == (True, 500)
    assert page.call("scroll", target="#end")["moved"]
    assert page.call("scroll", x=0, y=0)["y"] == 0
    assert page.call("scroll", y=100_000)["atEnd"]


def test_pages_with_smooth_scrolling_scroll_at_once(page: PageWorld) -> None:
    page.show("<style>html{scroll-behavior:smooth}</style><div style='height:3000px'></div>")
    assert page.call("scroll", direction="down", amount=500)["y"] == 500


def test_a_page_that_scrolls_inside_is_scrolled_inside(page: PageWorld) -> None:
    page.show(
        "<style>body{margin:0;overflow:hidden}</style><div id=s style='height:100vh;overflow:auto'><div style=height:3000px></div></div>"
    )
    assert page.call("scroll", direction="down", amount=300)["moved"]
    assert page.tab.evaluate("s.scrollTop") == 300


def test_badges_stand_where_their_elements_are_on_scrolled_pages(page: PageWorld) -> None:
    page.show(
        "<button>above</button><div style=height:2000px></div><button id=b style='margin:20px'>B</button><div style=height:2000px></div>",
        "window.scrollTo(0, 1800)",
    )
    reply = page.call("drawBadges")
    [label] = reply["labels"]
    assert (label["name"], label["ref"]) == ("B", page.ref("#b"))
    host = page.in_world(
        "JSON.stringify(document.querySelector('roost-badges').getBoundingClientRect())"
    )
    assert '"y":-1800' in host
    assert page.call("removeBadges")["removed"]
    assert page.tab.evaluate("document.querySelector('roost-badges')") is None


def test_drivers_get_elements_and_the_place_of_frames(page: PageWorld) -> None:
    page.show(
        "<iframe id=f style='position:absolute;left:10px;top:20px;border:5px solid;padding:3px'></iframe>"
    )
    ref = page.ref("#f")
    assert page.in_world(f"__roost.element({{target: '{ref}'}}) === document.getElementById('f')")
    owner = page.in_world("__roost.frameOwner({element: document.getElementById('f')})")
    assert (owner["ref"], owner["x"], owner["y"]) == (ref, 18, 28)
    assert page.error("frameOwner", element="f")["code"] == "BAD_REQUEST"


def test_badges_are_drawn_for_given_refs_only(page: PageWorld) -> None:
    page.show("<button>A</button><button id=b>B</button>")
    assert [
        label["name"] for label in page.call("drawBadges", refs=[page.ref("#b")])["labels"]
    ] == ["B"]
    assert page.error("drawBadges", refs=["e99"])["code"] == "STALE_REF"
    page.call("removeBadges")
