# ruff: noqa: E501 - a document on one line reads better than a folded one
"""What the snapshot shows of a page: roles, names, states, text, and what it leaves out."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from tests.page.page_world import PageWorld


def test_lines_follow_the_aria_yaml_of_playwright(page: PageWorld) -> None:
    page.show(
        """
        <nav aria-label=Main><ul><li><a href=/home>Home</a></ul></nav>
        <main><h1>Sign <em>in</em></h1><p>Please <b>be</b> quick.
        <form><label>E-mail <input placeholder=you@example.org value=a@b.c></label>
        <label><input type=checkbox checked> Remember me</label>
        <button disabled>Go</button></form></main>
        """
    )
    assert page.snapshot() == textwrap.dedent(
        """\
        - navigation "Main" [ref=e1]:
          - list:
            - listitem:
              - link "Home" [ref=e2]:
                - /url: /home
        - main [ref=e3]:
          - heading "Sign in" [level=1] [ref=e4]
          - paragraph: Please be quick.
          - textbox "E-mail" [ref=e5]:
            - /placeholder: you@example.org
            - text: a@b.c
          - checkbox "Remember me" [checked] [ref=e6]
          - button "Go" [disabled] [ref=e7]"""
    )


ROLES = [
    ("<a href=x>y</a>", 'link "y"'),
    ("<a>yy</a>", "text: yy"),
    ("<input type=search aria-label=y>", 'searchbox "y"'),
    ("<input type=password aria-label=y>", 'textbox "y"'),
    ("<input type=number aria-label=y>", 'spinbutton "y"'),
    ("<input type=range aria-label=y>", 'slider "y"'),
    ("<input type=file>", 'button "Choose file"'),
    ("<input type=submit>", 'button "Submit"'),
    ("<input type=date aria-label=y>", 'textbox "y"'),
    ("<input list=l aria-label=y><datalist id=l><option>1</datalist>", 'combobox "y"'),
    ("<select size=3 aria-label=y><option>1</select>", 'listbox "y"'),
    ("<div role='nonsense button'>y</div>", 'button "y"'),
    ("<div role=BUTTON>y</div>", 'button "y"'),
    ("<button role=none>y</button>", 'button "y"'),
    ("<ul role=none><li>yy</ul>", "text: yy"),
    ("<table role=presentation><tr><td>yy</table>", "text: yy"),
    ("<article><footer>y</footer></article>", "article"),
    ("<footer>y</footer>", "contentinfo"),
    ("<section>yy</section>", "text: yy"),
    ("<section aria-label=y>z</section>", 'region "y"'),
    ("<div contenteditable aria-label=y>z</div>", 'textbox "y"'),
    ("<details><summary>y</summary>z</details>", 'button "y"'),
    ("<img src=i.png alt=y>", 'img "y"'),
    ("<svg><title>y</title><path d='M0 0'/></svg>", 'img "y"'),
    ("<fieldset><legend>y</legend><input></fieldset>", 'group "y"'),
    ("<figure><img src=i.png alt=z><figcaption>y</figcaption></figure>", 'figure "y"'),
    ("<progress value=3 max=10 aria-label=y></progress>", 'progressbar "y"'),
    ("<output>y</output>", "status"),
    ("<h3>y</h3>", 'heading "y" [level=3]'),
    ("<div role=heading aria-level=4>y</div>", 'heading "y" [level=4]'),
    ("<search><input></search>", "search"),
    ("<iframe title=y></iframe>", 'iframe "y"'),
]


def test_elements_get_the_role_and_name_the_platform_gives_them(page: PageWorld) -> None:
    page.show("")
    lines = {body: page.put(body).snapshot().splitlines()[0] for body, _ in ROLES}
    assert {body: line for body, line in ROLES if not lines[body].startswith(f"- {line}")} == {}


NAMES = [
    ("<label for=i>y</label><input id=i>", 'textbox "y"'),
    (
        "<span id=a>one</span><span id=b hidden>two</span><input aria-labelledby='a b'>",
        'textbox "one two"',
    ),
    ("<button aria-label=y>z</button>", 'button "y"'),
    ("<button title=y></button>", 'button "y"'),
    ("<a href=x><img src=i.png alt=y></a>", 'link "y"'),
    (
        "<a href=x><span style=display:block>y</span><span style=display:block>z</span></a>",
        'link "y z"',
    ),
    ("<a href=x>y<!-- --><b>z</b></a>", 'link "yz"'),
    ("<button>y <span aria-hidden=true>×</span></button>", 'button "y"'),
    (
        "<style>i::before{content:'y'}</style><button><i></i></button><style>b::after{content:'z'}</style>",
        "button",
    ),
    ("<style>button::before{content:'y'}</style><button></button>", 'button "y"'),
    ("<div role=button><slot-host></slot-host>y</div>", 'button "y"'),
    ("<button>y  \n z</button>", 'button "y z"'),
]


def test_names_come_from_where_the_specification_says(page: PageWorld) -> None:
    page.show("")
    texts = {body: page.put(body).snapshot() for body, _ in NAMES}
    assert {body: texts[body] for body, line in NAMES if f"- {line}" not in texts[body]} == {}


STATES = [
    (
        "<input type=checkbox>",
        "document.querySelector('input').indeterminate = true",
        "[checked=mixed]",
    ),
    ("<button aria-pressed=true>y</button>", "", "[pressed]"),
    ("<button aria-pressed=mixed>y</button>", "", "[pressed=mixed]"),
    ("<button aria-expanded=true>y</button>", "", "[expanded]"),
    ("<details open><summary>y</summary></details>", "", "[expanded]"),
    ("<fieldset disabled><input></fieldset>", "", "[disabled]"),
    ("<div aria-disabled=true><button>y</button></div>", "", "[disabled]"),
    ("<input aria-invalid=true>", "", "[invalid]"),
    ("<div role=tab aria-selected=true>y</div>", "", "[selected]"),
    ("<input>", "document.querySelector('input').focus()", "[active]"),
    ("<div style=cursor:pointer>y</div>", "", "[cursor=pointer]"),
]


def test_states_are_marked(page: PageWorld) -> None:
    page.show("")
    texts = {body: page.put(body, script).snapshot() for body, script, _ in STATES}
    assert {body: texts[body] for body, _, mark in STATES if mark not in texts[body]} == {}


HIDDEN = [
    "<div style=display:none>secret</div>",
    "<div style=visibility:hidden>secret</div>",
    "<div hidden>secret</div>",
    "<div hidden=until-found>secret</div>",
    "<div style=content-visibility:hidden>secret</div>",
    "<div aria-hidden=true><button>secret</button></div>",
    "<div inert><button>secret</button></div>",
    "<details>secret</details>",
    "<script>'secret'</script><style>.secret{}</style><noscript>secret</noscript><template>secret</template>",
    "<dialog>secret</dialog>",
    "<select hidden><option>secret</select>",
]


def test_elements_that_are_not_rendered_are_left_out(page: PageWorld) -> None:
    page.show("")
    texts = {body: page.put(f"{body}<p>seen</p>").snapshot() for body in HIDDEN}
    assert set(texts.values()) == {"- paragraph: seen"}


def test_visible_parts_of_a_hidden_parent_are_there(page: PageWorld) -> None:
    text = page.show(
        "<div style=visibility:hidden>no<button style=visibility:visible>yes</button></div>"
    ).snapshot()
    assert text == '- button "yes" [ref=e1]'


def test_an_open_modal_dialog_hides_the_rest(page: PageWorld) -> None:
    page.show(
        "<button>behind</button><dialog><button>before</button></dialog>",
        "document.querySelector('dialog').showModal()",
    )
    assert "behind" not in page.snapshot()
    assert 'button "before"' in page.snapshot()


def test_elements_with_display_contents_are_shown(page: PageWorld) -> None:
    assert (
        'button "in"'
        in page.show("<div style=display:contents><button>in</button></div>").snapshot()
    )


def test_shadow_roots_and_slots_are_read_in_the_order_they_are_rendered(page: PageWorld) -> None:
    page.show(
        "<x-card><b slot=title>Title</b>Body</x-card>",
        """() => document.querySelector('x-card').attachShadow({mode: 'open'}).innerHTML =
            '<h2><slot name=title></slot></h2><button>In shadow <slot></slot></button>'""",
    )
    assert (
        page.snapshot()
        == '- heading "Title" [level=2] [ref=e1]\n- button "In shadow Body" [ref=e2]'
    )


def test_owned_elements_are_read_below_their_owner(page: PageWorld) -> None:
    text = page.show(
        "<ul id=list aria-owns='late'><li>first</ul><p>between<ul role=none><li role=listitem id=late>second</ul>"
    ).snapshot()
    assert text.index("first") < text.index("second") < text.index("between")


def test_circular_ownership_and_labelling_do_not_hang(page: PageWorld) -> None:
    page.show(
        """<div id=a role=button aria-owns=b aria-labelledby=b>A</div><div id=b role=button aria-owns=a aria-labelledby=a>B</div>
        <div id=c aria-owns=c role=group aria-label=C>self</div>"""
    )
    assert page.snapshot().count("- button") == 2


def test_password_values_never_appear(page: PageWorld) -> None:
    page.show(
        """<label>Password <input class=p type=password role=textbox></label>
        <label id=l>Twice <input class=p type=password role=combobox></label><input aria-labelledby=l>
        <input class=p autocomplete=current-password><input class=p id=t type=password>""",
        "document.querySelectorAll('.p').forEach(field => field.setAttribute('value', 'hunter2'))",
    )
    assert "hunter2" not in page.snapshot()
    # A "show password" button turns the field into a text field.
    page.tab.evaluate("document.getElementById('t').type = 'text'")
    for function in ("snapshot", "pageState", "content", "drawBadges"):
        assert "hunter2" not in str(page.call(function)), function
    for kind in ("text", "markdown", "html"):
        assert "hunter2" not in str(page.call("content", format=kind)), kind
    assert "hunter2" not in str(page.call("resolve", target="#t"))


def test_labels_and_legends_are_not_repeated_as_text(page: PageWorld) -> None:
    text = page.show(
        "<fieldset><legend>Size</legend><label><input type=radio> Small</label></fieldset>"
    ).snapshot()
    assert text == '- group "Size" [ref=e1]:\n  - radio "Small" [ref=e2]'


def test_the_label_of_a_hidden_control_is_what_one_can_click(page: PageWorld) -> None:
    text = page.show(
        "<label style=cursor:pointer><input type=checkbox style=display:none>Fancy</label>"
    ).snapshot()
    assert text == "- generic [ref=e1] [cursor=pointer]: Fancy"


def test_select_shows_a_limited_number_of_options(page: PageWorld) -> None:
    options = "".join(f"<option>Country {number}" for number in range(200))
    text = page.show(
        f"<select aria-label=Country>{options}<option selected>Last</select>"
    ).snapshot()
    assert '- option "Country 0"' in text
    assert '- option "Last" [selected]' in text
    assert "more options" in text
    assert text.count("- option") < 40


def test_frames_are_named_so_that_their_content_can_be_stitched_in(page: PageWorld) -> None:
    page.show(
        "<p>before<iframe title=Inner name=inner srcdoc='<button>in</button>'></iframe><p>after"
    )
    reply = page.call("snapshot")
    [frame] = reply["frames"]
    line = reply["text"].splitlines()[frame["line"]]
    assert line == f'{"  " * frame["depth"]}- iframe "Inner" [ref={frame["ref"]}]'
    assert frame["name"] == "inner"
    assert 0 < frame["share"] < 1


def test_refs_in_frames_carry_the_prefix_the_caller_gives(page: PageWorld) -> None:
    page.show("<button>in</button>")
    assert page.snapshot(prefix="f1", firstRef=12) == '- button "in" [ref=f1e12]'
    assert page.call("resolve", target="f1e12")["name"] == "in"
    assert page.error("resolve", target="e12")["code"] == "STALE_REF"


YAML_TRAPS = [
    "a: b", "- dash", "# hash", "x #y", "'single'", '"double"', "yes", "null", "1.5", "2024-01-01", "[list]", "{map}", "*star", "&and", "!bang",
    "%percent", "@at", "`tick", "|", ">", "end:", "tab\\there", "back\\slash", "\u2028line", "emoji 🎉", "ends with '", "a, b", "? q", "0x1F", "~",
]  # fmt: skip


def test_every_line_is_yaml_that_reads_back_as_what_stood_on_the_page(page: PageWorld) -> None:
    yaml = pytest.importorskip("yaml")
    items = "".join(
        "<p class=t></p><button class=t></button><input class=t value='x'>" for _ in YAML_TRAPS
    )
    page.show(items)
    page.tab.evaluate(
        """traps => { const all = [...document.querySelectorAll('.t')];
            traps.forEach((trap, i) => { all[3*i].textContent = trap; all[3*i+1].textContent = trap; all[3*i+2].value = trap; }) }""",
        YAML_TRAPS,
    )
    parsed: list[Any] = yaml.safe_load(page.snapshot())
    for index, trap in enumerate(YAML_TRAPS):
        shown = " ".join(trap.split())
        paragraph, button, field = parsed[3 * index : 3 * index + 3]
        assert paragraph == {"paragraph": shown}
        assert isinstance(button, str)
        assert button.startswith("button ")
        assert list(field.values()) == [shown]
