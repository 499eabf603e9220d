"""The difference of two snapshots, before it is cut and printed, turns the old into the new one.

Hypothesis makes trees of lines and changes them as pages do. Node runs the bundle's own code.
"""

from __future__ import annotations

import copy
import itertools
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.page.page_world import HERE, SOURCE

Line = dict[str, Any]
Script = dict[str, Any]
Compare = Callable[[list[Line], list[Line]], Script]

ROLES = ["listitem", "list", "row", "cell", "table", "generic", "text", "button", "link", "heading"]
KINDS = (
    "remove remove-first insert move sort rename redraw recycle wrap unwrap role focus tabindex"
).split()
WORDS = ["", "milk", "bread", "tea", "Delete", "Delete", "1", "2", "Save the file"]
QUICK = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_ids = itertools.count(1)


@dataclass
class Node:
    """A line of a snapshot. ``element``: the identity of its element."""

    role: str
    words: str
    has_ref: bool = False
    children: list[Node] = field(default_factory=list)
    element: int = field(default_factory=lambda: next(_ids))
    is_active: bool = False

    def below(self) -> Iterator[Node]:
        """Return the node and everything inside it."""
        yield self
        for child in self.children:
            yield from child.below()


def lines_of(root: Node) -> list[Line]:
    lines: list[Line] = []

    def add(node: Node, parent: int) -> int:
        index = len(lines)
        line: Line = {
            "parent": parent,
            "size": 1,
            "role": node.role if index else "page",
            "own": f"{node.role} {node.words}" if index else "",
            "label": node.words if index else "",
            "ref": f"e{node.element}" if node.has_ref and index else None,
            "isActive": node.is_active,
            "id": (-node.element if node.role == "text" else node.element) if index else 0,
            "homes": [],
        }
        lines.append(line)
        line["size"] += sum(add(child, index) for child in node.children)
        size: int = line["size"]
        return size

    add(root, -1)
    return lines


nodes = st.recursive(
    st.builds(Node, st.sampled_from(ROLES), st.sampled_from(WORDS), st.booleans()),
    lambda inner: st.builds(
        Node,
        st.sampled_from(ROLES),
        st.sampled_from(WORDS),
        st.booleans(),
        st.lists(inner, max_size=5),
    ),
    max_leaves=12,
)
items = st.builds(
    Node,
    st.just("listitem"),
    st.just(""),
    st.just(False),
    st.builds(
        lambda words, number: [
            Node("text", f"{words} {number}"),
            Node("button", "Delete", True),
        ],
        st.sampled_from(["milk", "bread", "tea"]),
        st.integers(0, 5),
    ),
)
rows = st.builds(
    Node,
    st.just("row"),
    st.just(""),
    st.just(False),
    st.lists(st.builds(Node, st.just("cell"), st.sampled_from(WORDS)), min_size=2, max_size=3),
)
lists = st.one_of(
    st.builds(Node, st.just("list"), st.just(""), st.just(False), st.lists(items, max_size=6)),
    st.builds(Node, st.just("table"), st.just(""), st.just(True), st.lists(rows, max_size=6)),
)
pages = st.builds(
    Node,
    st.just("page"),
    st.just(""),
    st.just(False),
    st.lists(st.one_of(nodes, lists), min_size=1, max_size=5),
)


def change(root: Node, data: st.DataObject) -> None:
    """Apply one change that pages make."""
    everything = list(root.below())
    parent = data.draw(st.sampled_from(everything))
    kind = data.draw(st.sampled_from(KINDS))
    some = parent.children
    if kind == "insert":
        some.insert(data.draw(st.integers(0, len(some))), data.draw(st.one_of(nodes, items, lists)))
    elif kind == "rename":
        parent.words = data.draw(st.sampled_from([*WORDS, "renamed"]))
    elif kind == "redraw":
        for node in parent.below():
            node.element = next(_ids)
    elif kind == "role":
        parent.role = data.draw(st.sampled_from(ROLES))
    elif kind == "focus":
        for node in everything:
            node.is_active = node is parent
    elif kind == "tabindex":
        parent.has_ref = not parent.has_ref
    elif not some:
        return
    elif kind == "remove":
        some.pop(data.draw(st.integers(0, len(some) - 1)))
    elif kind == "remove-first":
        some.pop(0)
    elif kind == "move":
        node = some.pop(data.draw(st.integers(0, len(some) - 1)))
        to = data.draw(st.sampled_from(list(root.below())))
        to.children.insert(data.draw(st.integers(0, len(to.children))), node)
    elif kind == "sort":
        parent.children = data.draw(st.permutations(some))
    elif kind == "recycle":
        # A list drawn with the elements that are there: the first item goes, all contents move up.
        elements = [[node.element for node in child.below()] for child in some]
        some.pop(0)
        for child, known in zip(some, elements, strict=False):
            for node, element in zip(child.below(), known, strict=False):
                node.element = element
    elif kind == "wrap":
        first = data.draw(st.integers(0, len(some) - 1))
        last = data.draw(st.integers(first, len(some)))
        some[first:last] = [Node("group", "new", True, some[first:last])]
    elif kind == "unwrap":
        place = data.draw(st.integers(0, len(some) - 1))
        some[place : place + 1] = some[place].children


@dataclass(eq=False)
class ScriptNode:
    line: Line
    children: list[ScriptNode] = field(default_factory=list)
    parent: ScriptNode | None = None


def apply(before: list[Line], now: list[Line], script: Script) -> list[Line]:
    """Apply the four steps of ``edit_script.ts``. ``now`` is used only for new lines."""
    olds = [ScriptNode(dict(line)) for line in before]
    for at, line in zip(olds[1:], before[1:], strict=True):
        at.parent = olds[line["parent"]]
        at.parent.children.append(at)
    for index in script["removed"]:
        gone = olds[index]
        assert gone.parent is not None
        place = gone.parent.children.index(gone)
        gone.parent.children[place : place + 1] = gone.children
        for child in gone.children:
            child.parent = gone.parent
    kept = {new: olds[old] for new, old in enumerate(script["oldOf"]) if old != -1}
    for entry in script["placed"]:
        if entry["before"] is not None:
            take_out(olds[entry["before"]])
    for entry in script["placed"]:
        if entry["before"] is None:
            kept[entry["now"]] = ScriptNode(dict(now[entry["now"]]))
        put(kept[entry["now"]], kept[entry["parent"]], kept.get(entry["after"]))
        for index in entry["around"]:
            take_out(kept[index])
            inside = kept[entry["now"]]
            put(kept[index], inside, inside.children[-1] if inside.children else None)
    for entry in script["changed"]:
        new = now[entry["now"]]
        olds[entry["before"]].line.update(
            {name: new[name] for name in ("own", "ref", "isActive", "role")}
        )
    return flat(olds[0])


def take_out(node: ScriptNode) -> None:
    assert node.parent is not None
    node.parent.children.remove(node)
    node.parent = None


def put(node: ScriptNode, parent: ScriptNode, after: ScriptNode | None) -> None:
    place = 0 if after is None else parent.children.index(after) + 1
    parent.children.insert(place, node)
    node.parent = parent


def flat(root: ScriptNode) -> list[Line]:
    lines: list[Line] = []

    def add(node: ScriptNode, parent: int) -> None:
        index = len(lines)
        lines.append(said(node.line) | {"parent": parent})
        for child in node.children:
            add(child, index)

    add(root, -1)
    return lines


def said(line: Line) -> Line:
    return {name: line[name] for name in ("own", "ref", "isActive", "role", "parent")}


@pytest.fixture(scope="module")
def compare(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compare]:
    built = tmp_path_factory.mktemp("edit_script") / "edit_script.mjs"
    command = ["npx", "--no-install", "esbuild", "edit_script.ts", "--bundle", "--format=esm"]
    subprocess.run([*command, f"--outfile={built}"], cwd=SOURCE, check=True, timeout=50)
    node = shutil.which("node")
    assert node is not None
    with subprocess.Popen(
        [node, str(HERE / "edit_scripts.mjs"), str(built)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def compared(before: list[Line], now: list[Line]) -> Script:
            stdin.write(f"{json.dumps([before, now])}\n")
            stdin.flush()
            script: Script = json.loads(stdout.readline())
            return script

        yield compared
        stdin.close()


@QUICK
@given(page=pages, changes=st.integers(1, 6), data=st.data())
def test_the_old_snapshot_and_the_edit_script_give_the_new_snapshot(
    compare: Compare, page: Node, changes: int, data: st.DataObject
) -> None:
    before = lines_of(page)
    for _ in range(changes):
        change(page, data)
    now = lines_of(page)
    script = compare(before, now)
    assert apply(before, now, script) == [said(line) for line in now]


def told(page: Node) -> Node:
    """Return the page with a different text in each line, so that each line can be recognised."""
    for number, node in enumerate(page.below()):
        node.words = f"words {number}"
    return page


@QUICK
@given(page=pages, data=st.data())
def test_a_page_that_is_drawn_again_with_new_elements_only_has_new_refs(
    compare: Compare, page: Node, data: st.DataObject
) -> None:
    before = lines_of(page)
    for node in data.draw(st.sampled_from(list(page.below()))).below():
        node.element = next(_ids)
    script = compare(before, lines_of(page))
    assert script["removed"] == script["placed"] == []


@pytest.mark.parametrize("is_drawn_again", [False, True])
@QUICK
@given(page=pages.map(told), data=st.data())
def test_a_removal_is_a_removal_and_nothing_else(
    compare: Compare, is_drawn_again: bool, page: Node, data: st.DataObject
) -> None:
    before = lines_of(page)
    parent = data.draw(st.sampled_from([node for node in page.below() if node.children]))
    gone = parent.children.pop(data.draw(st.integers(0, len(parent.children) - 1)))
    if is_drawn_again:
        for node in page.below():
            node.element = next(_ids)
    now = lines_of(page)
    script = compare(before, now)
    assert script["placed"] == []
    assert len(script["removed"]) == len(list(gone.below()))
    assert all(
        before[entry["before"]]["own"] == now[entry["now"]]["own"] for entry in script["changed"]
    )


@pytest.mark.parametrize("is_drawn_again", [False, True])
@QUICK
@given(page=pages.map(told), data=st.data())
def test_a_move_neither_removes_nor_adds(
    compare: Compare, is_drawn_again: bool, page: Node, data: st.DataObject
) -> None:
    before = lines_of(page)
    parent = data.draw(st.sampled_from([node for node in page.below() if node.children]))
    moved = parent.children.pop(data.draw(st.integers(0, len(parent.children) - 1)))
    to = data.draw(st.sampled_from(list(page.below())))
    to.children.insert(data.draw(st.integers(0, len(to.children))), moved)
    if is_drawn_again:
        for node in page.below():
            node.element = next(_ids)
    now = lines_of(page)
    script = compare(before, now)
    assert script["removed"] == []
    assert all(entry["before"] is not None for entry in script["placed"])
    assert apply(before, now, script) == [said(line) for line in now]


@pytest.mark.parametrize("elements", ["the same", "new", "reused"])
def test_the_first_item_of_a_list_is_the_only_removal(compare: Compare, elements: str) -> None:
    def item(words: str) -> Node:
        return Node("listitem", "", False, [Node("text", words), Node("button", "Delete", True)])

    page = Node("page", "", False, [Node("list", "", False, [item(f"{n}") for n in "abcd"])])
    before = lines_of(page)
    known = copy.deepcopy(page.children[0].children)
    del page.children[0].children[0]
    for old, new in zip(known, page.children[0].children, strict=False):
        for node, used in zip(new.below(), old.below(), strict=True):
            node.element = {
                "the same": node.element,
                "new": next(_ids),
                "reused": used.element,
            }[elements]
    now = lines_of(page)
    script = compare(before, now)
    assert [before[index]["own"] for index in script["removed"]] == [
        "listitem ",
        "text a",
        "button Delete",
    ]
    assert script["placed"] == []
    assert {before[entry["before"]]["own"] for entry in script["changed"]} <= {"button Delete"}


def test_ten_thousand_lines_are_compared_within_the_budget_of_a_snapshot(compare: Compare) -> None:
    def item(number: int) -> Node:
        return Node(
            "row", "", False, [Node("cell", f"{number % 7}"), Node("button", "Delete", True)]
        )

    table = Node("table", "", True, [item(number) for number in range(3500)])
    page = Node("page", "", False, [table])
    before = lines_of(page)
    for node in page.below():
        node.element = next(_ids)
    table.children = table.children[1750:] + table.children[1:1750]
    now = lines_of(page)
    script = compare(before, now)
    assert apply(before, now, script) == [said(line) for line in now]
