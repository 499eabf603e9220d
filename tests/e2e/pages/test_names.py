# ruff: noqa: E501 - a document on one line reads better than a folded one
"""A snapshot names what a person sees: labels and titles, text of style sheets, lines, and what can be dragged.

All cases stand on one page, each in a region of its own, and each browser reads that page once.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent

import pytest

from tests.support.house import House
from tests.support.local_web import Web


@dataclass(frozen=True)
class Case:
    body: str
    shown: str
    """The lines below the region, or its text; each ref is written as `[ref]`."""


ICON = "<svg width=16 height=16><path d='M0 0h16v16H0z'/></svg>"
STYLE = """<style>
.price::before { content: "EUR " }
.count::after { content: " (" attr(data-count) ")" }
.outer { .inner::after { content: " nested" } }
.bullet::before { content: "• " }
.glyph::before { content: "\\e900" }
.said::before { content: "↗" / "opens a new window" }
.hidden::after { content: "hidden"; display: none }
label.needed::after { content: " *" }
.pre-line { white-space: pre-wrap }
</style>"""
CASES = {
    # D11 a
    "an icon with only a title": Case(
        f"<span title='Close sums.ipynb'>{ICON}</span>", '- generic "Close sums.ipynb" [ref]'
    ),
    "a block with a title": Case(
        "<div title='0 Terminals, 1 Kernel sessions'><span>0</span> <span>1</span></div>",
        '- generic "0 Terminals, 1 Kernel sessions" [ref]: "0 1"',
    ),
    "a block with an aria-label": Case(
        "<div aria-label='Code Cell Content'><p>print(1)</p></div>",
        """
        - generic "Code Cell Content" [ref]:
          - paragraph: print(1)
        """,
    ),
    "a title that repeats the text": Case("<div title='Total'>Total</div>", "Total"),
    "a tooltip in running text": Case(
        "<p>Made by <span title='Hypertext Markup Language'>HTML</span> alone</p>",
        "- paragraph: Made by HTML alone",
    ),
    # D11 b
    "a button named by a child's title": Case(
        f"<button><span title='Delete forever'>{ICON}</span></button>",
        '- button "Delete forever" [ref]',
    ),
    "a button named by a child's aria-label": Case(
        "<button><span aria-label='Rename File'>Rename</span></button>",
        '- button "Rename File" [ref]',
    ),
    "a button named by a block's aria-label": Case(
        "<button><div aria-label='Rename File'>Rename</div> now</button>",
        '- button "Rename File now" [ref]',
    ),
    "a link named by a picture and by text": Case(
        "<a href=/x><img alt='Home' src='data:,'> page</a>",
        """
        - link "Home page" [ref]:
          - /url: /x
        """,
    ),
    "a button with its own aria-label": Case(
        "<button aria-label='Save'><span title='Disk'>S</span></button>", '- button "Save" [ref]: S'
    ),
    "a title inside a button that has text": Case(
        "<button><span title='Shortcut: Ctrl+B'>Bold</span></button>", '- button "Bold" [ref]'
    ),
    # D11 c
    "a heading that labels a field": Case(
        "<h2><label for=title-field>Title</label></h2><input id=title-field value=Hello>",
        """
        - heading "Title" [level=2] [ref]
        - textbox "Title" [ref]: Hello
        """,
    ),
    "a label outside a heading": Case(
        "<label for=plain-field>Name</label><input id=plain-field>", '- textbox "Name" [ref]'
    ),
    # D11 d
    "a required field": Case(
        "<label class=needed for=needed-field>Address</label><input id=needed-field required>",
        '- textbox "Address *" [required] [ref]',
    ),
    "a field required by ARIA": Case(
        "<div role=textbox tabindex=0 aria-label=City aria-required=true></div>",
        '- textbox "City" [required] [ref]',
    ),
    "a required choice": Case(
        "<select required aria-label=Size><option>S</select><input type=checkbox required aria-label=Agree>",
        """
        - combobox "Size" [required] [ref]:
          - option "S" [selected]
        - checkbox "Agree" [required] [ref]
        """,
    ),
    "text before an element": Case(
        "<p class=price>9.99</p>",
        "- paragraph: EUR 9.99",
    ),
    "text after an element, with an attribute": Case(
        "<button class=count data-count=3>Inbox</button>", '- button "Inbox (3)" [ref]'
    ),
    "text of a nested rule": Case(
        "<div class=outer><p class=inner>Rule</p></div>", "- paragraph: Rule nested"
    ),
    "the alternative of generated text": Case(
        "<a href=/y class=said> Manual</a>",
        """
        - link "opens a new window Manual" [ref]:
          - /url: /y
        """,
    ),
    "generated signs that say nothing": Case(
        "<p class=bullet>Item</p><p class=glyph>Glyph</p><p class=hidden>Plain</p>",
        """
        - paragraph: Item
        - paragraph: Glyph
        - paragraph: Plain
        """,
    ),
    # D11 e
    "a draggable element": Case("<div draggable=true>Card A</div>", "- generic [ref]: Card A"),
    "an element that is not draggable": Case("<div draggable=false>Card B</div>", "Card B"),
    "cells of an ARIA grid": Case(
        "<div role=grid aria-label=Month><div role=row><div role=gridcell>1</div><div role=gridcell></div></div></div>",
        """
        - grid "Month" [ref]:
          - row:
            - gridcell "1" [ref]
            - gridcell [ref]
        """,
    ),
    "cells of a table with the role grid": Case(
        "<table role=grid><tr><td>25</table>",
        """
        - grid [ref]:
          - row:
            - gridcell "25" [ref]
        """,
    ),
    "cells of a plain table": Case(
        "<table><tr><td>25</table>",
        """
        - table [ref]:
          - row:
            - cell "25"
        """,
    ),
    # D11 f
    "preformatted lines": Case("<pre>row 0\n  row 1\n\nrow 3</pre>", r'"row 0\n  row 1\n\nrow 3"'),
    "lines that CSS keeps": Case("<p class=pre-line>one\ntwo</p>", r'- paragraph: "one\ntwo"'),
    "lines that nothing keeps": Case("<p>one\ntwo</p>", "- paragraph: one two"),
    "an editor with a block for each line": Case(
        "<div contenteditable aria-label=Code><div>import os</div><div>print(1)</div></div>",
        r'- textbox "Code" [ref]: "import os\nprint(1)"',
    ),
    "an editor with line breaks": Case(
        "<div contenteditable aria-label=Note>milk<br>tea</div>",
        r'- textbox "Note" [ref]: "milk\ntea"',
    ),
    "a line break in running text": Case("<p>milk<br>tea</p>", "- paragraph: milk tea"),
    # D11 g
    "a wrapper and its control of one title": Case(
        f"<div title='New Folder'><button title='New Folder'>{ICON}</button></div>",
        '- button "New Folder" [ref]',
    ),
    "a group and its control of one name": Case(
        "<div role=group aria-label=Search><input aria-label=search></div>",
        '- textbox "search" [ref]',
    ),
    "a wrapper with a role and its control of one name": Case(
        "<div role=toolbar aria-label=Run><button>Run</button></div>",
        """
        - toolbar [ref]:
          - button "Run" [ref]
        """,
    ),
    "a wrapper and its control of different names": Case(
        "<div title='Toolbar'><button>Run</button></div>",
        """
        - generic "Toolbar" [ref]:
          - button "Run" [ref]
        """,
    ),
    "a wrapper of two controls": Case(
        "<div title='Run'><button>Run</button><button>Stop</button></div>",
        """
        - generic "Run" [ref]:
          - button "Run" [ref]
          - button "Stop" [ref]
        """,
    ),
}


@pytest.fixture(scope="module")
def shown(browser_kind: str, houses: Callable[..., House], web: Web) -> dict[str, str]:
    """Return the lines of each case in one snapshot of all of them."""
    return asyncio.run(_read_all(houses(browser_kind), web))


async def _read_all(house: House, web: Web) -> dict[str, str]:
    regions = "".join(
        f'<section aria-label="{name}">{case.body}</section>' for name, case in CASES.items()
    )
    async with house.guest(web) as agent:
        await agent.show(STYLE + regions)
        snapshot = await agent.snapshot(max_chars=100_000)
    parts = re.split(r'^- region "(.*)" \[ref=e\d+\]:?', snapshot, flags=re.MULTILINE)[1:]
    named = zip(parts[::2], parts[1::2], strict=True)
    return {
        name: re.sub(r"\[ref=e\d+\]", "[ref]", dedent(text.strip("\n"))) for name, text in named
    }


@pytest.mark.parametrize("name", CASES)
def test_a_snapshot_shows(shown: dict[str, str], name: str) -> None:
    assert shown[name] == dedent(CASES[name].shown).strip()
