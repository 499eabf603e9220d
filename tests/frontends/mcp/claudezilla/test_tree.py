from __future__ import annotations

from roost.frontends.mcp.claudezilla.tree import tree_of

SNAPSHOT = """\
- banner [ref=e1]:
  - heading "Hello \\"you\\"" [level=1] [ref=e2]
  - link "Home" [ref=e3]:
    - /url: "/#top"
- 'button "Save: it''s" [disabled] [ref=e4]'
- checkbox "On" [checked=mixed] [ref=e5]: "yes: no"
- text: plain words
- ?
A line of our own.
"""


def test_a_snapshot_becomes_a_tree() -> None:
    tree, count, is_cut = tree_of(SNAPSHOT, 100)
    assert tree == [
        {
            "role": "banner",
            "ref": "e1",
            "children": [
                {"role": "heading", "name": 'Hello "you"', "level": "1", "ref": "e2"},
                {"role": "link", "name": "Home", "ref": "e3", "url": "/#top"},
            ],
        },
        {"role": "button", "name": "Save: it's", "disabled": True, "ref": "e4"},
        {"role": "checkbox", "name": "On", "checked": "mixed", "ref": "e5", "text": "yes: no"},
        {"role": "text", "text": "plain words"},
        {"role": "generic", "text": "?"},
    ]
    assert (count, is_cut) == (7, False)


def test_no_more_nodes_than_asked_for_are_given_and_that_is_said() -> None:
    tree, count, is_cut = tree_of(SNAPSHOT, 2)
    assert (len(tree), len(tree[0]["children"]), count, is_cut) == (1, 1, 2, True)
    assert tree_of("", 2) == ([], 0, False)
