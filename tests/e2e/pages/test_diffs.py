# ruff: noqa: E501 - a document on one line reads better than a folded one
"""The reply to an action says what changed, moved or was removed, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from roost import ops
from tests.support.house import House
from tests.support.local_web import Web


@dataclass(frozen=True)
class Case:
    body: str
    script: str
    """What a click on the button Go does."""
    said: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    changes: str = ""
    """The summary of the changes, if the case is about it."""


COLUMNS = "<div id=todo class=column><h2>Todo</h2><div draggable=true id=card>Card A</div><div draggable=true>Card B</div></div><div id=doing class=column><h2>Doing</h2></div>"
ROWS = "<table><tbody id=t>" + "".join(f"<tr><td>{n}<td>Name {n}" for n in range(1, 6)) + "</table>"
ITEMS = "<ul id=u><li>milk <button>Delete</button><li>bread <button>Delete</button><li>tea <button>Delete</button></ul>"
PANEL = "<aside id=s><h2>Block</h2><button>Bold</button><button>Italic</button><label>Size <input value=3></label><p>Words: 3</p></aside>"
GRID = "<div role=grid id=g>" + "".join(
    f"<div role=row>{''.join(f'<div role=gridcell tabindex={0 if (r, c) == (0, 0) else -1}>{r}{c}</div>' for c in range(4))}</div>"
    for r in range(5)
)
CASES = {
    "a card in another column": Case(
        COLUMNS,
        "doing.append(card)",
        ("<moved> generic", "Card A", 'after "Doing"'),
        changes="1 moved",
    ),
    "a card in an empty column without a heading": Case(
        "<div id=a class=left><div draggable=true id=card>Card A</div></div><div id=b class=right></div>",
        "b.append(card)",
        ("<moved>", "Card A", "right"),
        changes="1 moved",
    ),
    "a card drawn anew in another list": Case(
        "<main id=m><ul><li>Card A<li>Card B</ul><ul><li>Card C</ul></main>",
        "m.innerHTML = '<ul><li>Card B</ul><ul><li>Card C<li>Card A</ul>'",
        ("<moved> listitem: Card A", 'after "Card C"'),
        ("<added>", "<removed>"),
        changes="1 moved",
    ),
    "the first row becomes the last": Case(
        ROWS,
        "t.append(t.firstElementChild)",
        ('<moved> row: "1, Name 1"', 'after "5, Name 5"'),
        ("Name 3",),
    ),
    "rows in reverse order": Case(
        ROWS,
        "t.append(...[...t.children].reverse())",
        ("<reordered> table", "5, Name 5 | 4, Name 4 | 3, Name 3 | 2, Name 2 | 1, Name 1"),
        ("<added>", "<removed>"),
    ),
    "rows sorted and drawn anew": Case(
        ROWS,
        "t.innerHTML = [...t.children].reverse().map(row => row.outerHTML).join('')",
        ("order is now", "5, Name 5 | 4, Name 4"),
        ("<added>", "<removed>"),
    ),
    "the first item removed": Case(
        ITEMS,
        "u.firstElementChild.remove()",
        ('<removed> listitem: "milk, Delete"',),
        ("bread", "tea", "<added>"),
        "1 removed",
    ),
    "the first item removed and the list drawn anew": Case(
        ITEMS,
        "u.innerHTML = u.innerHTML.replace(/<li>milk.*?<li>/s, '<li>')",
        ('<removed> listitem: "milk, Delete"', "# same content, new refs: "),
        ("bread", "tea", "<added>"),
    ),
    "the first item removed and its element reused": Case(
        ITEMS,
        "u.children[0].firstChild.data = 'bread '; u.children[1].firstChild.data = 'tea '; u.lastElementChild.remove()",
        ('<removed> listitem: "milk, Delete"', "# same content, new refs: "),
        ("bread", "tea", "<changed>"),
    ),
    "a removed row": Case(
        ROWS, "t.lastElementChild.remove()", ('<removed> row: "5, Name 5"',), changes="1 removed"
    ),
    "a roving tabindex": Case(
        GRID,
        "g.querySelector('[tabindex=\"0\"]').tabIndex = -1; const cell = g.querySelectorAll('[role=gridcell]')[13]; cell.tabIndex = 0; cell.focus()",
        ('<changed> gridcell "31" [active]',),
        ('"30"', '"32"', '"00"'),
        "1 changed",
    ),
    "a roving tabindex of plain blocks": Case(
        "<div id=a tabindex=0>One <button>Open</button></div><div id=b tabindex=-1>Two <button>Open</button></div>",
        "a.tabIndex = -1; b.tabIndex = 0",
        unsaid=("<added>", "<removed>", "<moved>"),
    ),
    "a wrapper that loses its role": Case(
        "<div role=group aria-label='Code Cell' tabindex=0 id=w><p>print(1)</p><button>Run</button></div>",
        "for (const name of ['role', 'aria-label', 'tabindex']) w.removeAttribute(name)",
        ('<unwrapped> group "Code Cell"', "still there"),
        ("<removed>", "print", "Run"),
    ),
    "a wrapper around what was there": Case(
        "<main id=m><p>Some words</p></main>",
        "m.innerHTML = `<section aria-label=Box>${m.innerHTML}</section>`",
        ('<added> region "Box"', "<moved> paragraph: Some words"),
        ("<removed>",),
    ),
    "a panel drawn anew": Case(
        PANEL,
        "s.innerHTML = s.innerHTML",
        ("# same content, new refs: ",),
        ("<added>", "<removed>", "<changed>", "Bold"),
        "4 new refs",
    ),
    "a panel drawn anew with one change": Case(
        PANEL,
        "s.innerHTML = s.innerHTML.replace('Words: 3', 'Words: 4')",
        ('<changed> paragraph: "Words: 4"', "new refs"),
        ("<added>", "<removed>", "Bold"),
        "1 changed, 4 new refs",
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_diff_shows_what_changed(house: House, web: Web, name: str) -> None:
    case = CASES[name]
    async with house.guest(web) as agent:
        # The script runs without the click, because a click moves the focus to the button.
        await agent.show(f"{case.body}<script>window.go = () => {{ {case.script} }}</script>")
        await agent.snapshot()
        await agent.run("() => { window.go() }")
        done = await agent.press("Shift")
        said = done.snapshot or ""
        for words in case.said:
            assert words in said
        for words in case.unsaid:
            assert words not in said
        if case.changes:
            assert done.changes == case.changes


async def test_new_refs_of_the_same_content_work(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            f"{PANEL}<script>window.go = () => {{ s.innerHTML = s.innerHTML }}</script>"
        )
        before = await agent.snapshot()
        old = int(before.split('"Italic" [ref=e')[1].split("]")[0])
        await agent.run("() => { window.go() }")
        told = (await agent.press("Shift")).snapshot or ""
        was, now = told.split("new refs: ")[1].split(" → ")
        new = int(now.split("-")[0][1:]) + old - int(was.split("-")[0][1:])
        assert '"Italic" [active]' in ((await agent.click(f"e{new}")).snapshot or "")


async def test_after_a_snapshot_of_one_part_a_diff_shows_only_what_is_new(
    house: House, web: Web
) -> None:
    """This holds with and without a snapshot of the whole page before."""
    for is_whole_first in (False, True):
        async with house.agent(web) as agent:
            filler = "".join(f"<p>Paragraph {n}</p>" for n in range(50))
            frame = "<iframe srcdoc='<p>Words in the frame</p>'></iframe>"
            await agent.show(
                f"<main><ul id=u><li>milk<li>bread</ul></main>{filler}<div id=x>Outside</div>{frame}"
            )
            if is_whole_first:
                await agent.snapshot()
            await agent.run("() => { u.insertAdjacentHTML('beforeend', '<li>tea') }")
            assert "tea" in await agent.snapshot(target="main")
            await agent.run(
                "() => { u.lastElementChild.textContent = 'coffee'; x.textContent = 'Changed' }"
            )
            said = (await agent.press("Shift")).snapshot or ""
            assert "<changed> listitem: coffee" in said
            assert "Changed" in said
            for known in ("tea", "bread", "Paragraph", "frame"):
                assert known not in said


async def test_a_snapshot_of_one_part_hides_no_changes_elsewhere(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<main><p id=p>Text</p></main><div role=status id=x>Saving</div>")
        await agent.snapshot()
        await agent.run("() => { x.textContent = 'Saved' }")
        await agent.snapshot(target="main")
        assert "Saved" in ((await agent.press("Shift")).snapshot or "")


async def test_a_search_shows_the_context_of_each_match(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<main>"
            + "".join(
                f"<article><h3><a href=/{n}>Book {n}</a></h3><p>{n}.99 EUR</p><button>Add to basket</button></article>"
                for n in range(3)
            )
            + "</main><dl><dt>Balance</dt><dd>42 EUR</dd></dl><label>Volume <input type=range></label>"
            "<table role=grid><tr><td>25<td>125</table>"
        )
        found = await agent.call(ops.Find(text="Add to basket"))
        assert found.total == 3
        lines = [line.strip() for line in found.matches.splitlines()]
        for n in range(3):
            place = next(at for at, line in enumerate(lines) if f'heading "Book {n}"' in line)
            assert f"{n}.99 EUR" in lines[place + 2]
            assert lines[place + 3].startswith('- <match> button "Add to basket"')
        assert "42 EUR" in (await agent.call(ops.Find(text="balance"))).matches
        assert (await agent.call(ops.Find(text="slider"))).total == 1
        assert (await agent.call(ops.Find(regex="^25$"))).total == 1
        assert (await agent.call(ops.Find(regex="^1?25$"))).total == 2
        nothing = await agent.call(ops.Find(text="eagles"))
        assert (nothing.total, nothing.truncated) == (0, False)
