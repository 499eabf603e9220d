"""Parse the lines of a snapshot into the tree that Claudezilla's accessibility snapshot returns."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_LINE: Final = re.compile(r"^( *)- (.*)$")
_QUOTED: Final = re.compile(r"'((?:[^']|'')*)'")
_KEY: Final = re.compile(r'([\w-]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(.*)', re.DOTALL)
_MARK: Final = re.compile(r"\[([\w-]+)(?:=([^\]]*))?\]")


def tree_of(snapshot: str, most: int) -> tuple[list[dict[str, Any]], int, bool]:
    """Parse a snapshot into a tree of at most ``most`` nodes.

    Return the top nodes, the number of all nodes, and whether nodes were left out.
    """
    roots: list[dict[str, Any]] = []
    open_nodes: list[tuple[int, dict[str, Any]]] = []
    count = 0
    for line in snapshot.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        depth, said = len(found.group(1)), found.group(2)
        while open_nodes and open_nodes[-1][0] >= depth:
            open_nodes.pop()
        if said.startswith("/"):
            name, _, value = said[1:].partition(": ")
            if open_nodes:
                open_nodes[-1][1][name] = _value(value)
            continue
        if count == most:
            return roots, count, True
        node = _node(said)
        count += 1
        siblings = open_nodes[-1][1].setdefault("children", []) if open_nodes else roots
        siblings.append(node)
        open_nodes.append((depth, node))
    return roots, count, False


def _node(said: str) -> dict[str, Any]:
    quoted = _QUOTED.match(said)
    if quoted is not None:
        said = quoted.group(1).replace("''", "'") + said[quoted.end() :]
    found = _KEY.match(said)
    if found is None:
        return {"role": "generic", "text": said}
    role, name, marks, rest = found.groups()
    node: dict[str, Any] = {"role": role}
    if name is not None:
        node["name"] = _value(f'"{name}"')
    for key, value in _MARK.findall(marks):
        node[key] = value or True
    if rest.startswith(": "):
        node["text"] = _value(rest[2:])
    return node


def _value(said: str) -> str:
    if said.startswith('"'):
        try:
            return str(json.loads(said))
        except ValueError:
            return said
    quoted = _QUOTED.fullmatch(said)
    return quoted.group(1).replace("''", "'") if quoted else said
