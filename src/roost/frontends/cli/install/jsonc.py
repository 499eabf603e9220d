"""Set or remove one member of a JSON text, and leave everything else as it is.

People keep comments, order and indentation in these files. So this module cuts and joins the text
at the member's place, and never writes the whole text anew. It reads comments and trailing commas
as VS Code does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from roost.frontends.cli.install.config_error import Malformed

_BLANK: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE: Final = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?")
_SCALAR: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DECODER: Final = json.JSONDecoder()
_INDENT: Final = re.compile(r"\n([ \t]+)\S")


@dataclass(slots=True)
class _Node:
    """A value and its place in the text. ``members`` are an object's members, in order."""

    start: int
    end: int = 0
    value: Any = None
    members: list[_Member] = field(default_factory=list)

    def member(self, key: str) -> _Member | None:
        """Return the last member of that name: the last one counts."""
        return next((m for m in reversed(self.members) if m.key == key), None)


@dataclass(slots=True)
class _Member:
    key: str
    start: int
    node: _Node
    comma: int | None = None
    """Position of the comma behind the member, if there is one."""


def read(text: str) -> dict[str, Any]:
    """Return the object in the text; an empty one if the text is empty."""
    value: dict[str, Any] = _root(text).value
    return value


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with ``value`` at ``path``, and with missing objects on the way."""
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    node = _root(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            where = ".".join(path[:depth])
            raise Malformed(f"{where} is no object", _line(text, node.start))
        member = node.member(key)
        rest = path[depth + 1 :]
        if member is None:
            for name in reversed(rest):
                value = {name: value}
            return _added(text, node, key, value)
        if not rest and member.node.value == value:
            return text  # keep its layout
        if not rest:
            shown = _dumped(value, text, _indent_at(text, member.start))
            return text[: member.node.start] + shown + text[member.node.end :]
        node = member.node
    raise AssertionError("an empty path")


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at ``path``; unchanged if there is none."""
    node = _root(text)
    for key in path[:-1]:
        member = node.member(key)
        if member is None:
            return text
        node = member.node
    member = node.member(path[-1])
    return text if member is None else _removed(text, node, member)


# --- cutting and joining -----------------------------------------------------------------------


def _added(text: str, node: _Node, key: str, value: Any) -> str:
    outer = _indent_at(text, node.start)
    name = json.dumps(key, ensure_ascii=False)
    if node.members and "\n" not in text[node.start : node.end]:
        last = node.members[-1]
        at, comma = (last.node.end, ", ") if last.comma is None else (last.comma + 1, " ")
        return text[:at] + comma + f"{name}: {json.dumps(value, ensure_ascii=False)}" + text[at:]
    newline = _newline(text)
    if not node.members:
        inner = outer + _unit(text)
        inside = text[node.start + 1 : node.end - 1].rstrip()
        member = f"{name}: {_dumped(value, text, inner)}"
        body = f"{inside}{newline}{inner}{member}{newline}{outer}"
        return text[: node.start + 1] + body + text[node.end - 1 :]
    last = node.members[-1]
    inner = _indent_at(text, last.start)
    after = last.node.end if last.comma is None else last.comma + 1
    # A comment on the last member's line stays with that member.
    at = _matched(_REST_OF_LINE, text, after)
    member = f"{newline}{inner}{name}: {_dumped(value, text, inner)}"
    comma = "," if last.comma is None else ""
    return text[: last.node.end] + comma + text[last.node.end : at] + member + text[at:]


def _removed(text: str, node: _Node, member: _Member) -> str:
    index = node.members.index(member)
    if member.comma is not None and index + 1 < len(node.members):
        after = member.comma + 1
        end = after + len(text[after:]) - len(text[after:].lstrip())
        return text[: member.start] + text[end:]
    end = member.node.end if member.comma is None else member.comma + 1
    if index == 0:
        before, behind = text[: member.start], text[end:]
        if before.rstrip().endswith("{") and behind.lstrip().startswith("}"):
            return before.rstrip() + behind.lstrip()
        return before.rstrip() + behind
    previous = node.members[index - 1]
    assert previous.comma is not None
    kept = _matched(_REST_OF_LINE, text, previous.comma + 1)
    between = text[previous.comma + 1 : kept]
    # Comments on lines of their own before the member belong to it, so remove them with it.
    return text[: previous.comma] + between.rstrip() + text[end:]


def _dumped(value: Any, text: str, indent: str) -> str:
    shown = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return shown.replace("\n", _newline(text) + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return one step of indentation as the text uses it."""
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line at that position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


# --- reading -----------------------------------------------------------------------------------


def _root(text: str) -> _Node:
    start = _matched(_BLANK, text, 0)
    if start == len(text):
        return _Node(start, start, {})
    try:
        node = _value(text, start)
    except RecursionError:
        raise Malformed("it is nested too deep", 1) from None
    end = _matched(_BLANK, text, node.end)
    if end != len(text):
        raise Malformed("something stands behind the end", _line(text, end))
    if not isinstance(node.value, dict):
        raise Malformed("it holds no object", _line(text, start))
    return node


def _value(text: str, at: int) -> _Node:
    match text[at : at + 1]:
        case "{":
            return _object(text, at)
        case "[":
            return _array(text, at)
        case '"':
            value, end = _string(text, at)
            return _Node(at, end, value)
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise Malformed("a value is expected", _line(text, at))
    return _Node(at, scalar.end(), json.loads(scalar.group()))


def _object(text: str, start: int) -> _Node:
    node = _Node(start)
    at = _matched(_BLANK, text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"' or (node.members and node.members[-1].comma is None):
            raise Malformed('a name in quotes, "," or "}" is expected', _line(text, at))
        key, end = _string(text, at)
        colon = _matched(_BLANK, text, end)
        if text[colon : colon + 1] != ":":
            raise Malformed('":" is expected', _line(text, colon))
        member = _Member(key, at, _value(text, _matched(_BLANK, text, colon + 1)))
        node.members.append(member)
        at = _matched(_BLANK, text, member.node.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _matched(_BLANK, text, at + 1)
    node.end = at + 1
    node.value = {member.key: member.node.value for member in node.members}
    return node


def _array(text: str, start: int) -> _Node:
    items: list[Any] = []
    at, needs_comma = _matched(_BLANK, text, start + 1), False
    while text[at : at + 1] != "]":
        if needs_comma:
            raise Malformed('"," or "]" is expected', _line(text, at))
        item = _value(text, at)
        items.append(item.value)
        at, needs_comma = _matched(_BLANK, text, item.end), True
        if text[at : at + 1] == ",":
            at, needs_comma = _matched(_BLANK, text, at + 1), False
    return _Node(start, at + 1, items)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
        return str(value), end
    except ValueError:
        raise Malformed("a text in quotes does not end well", _line(text, at)) from None


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # all these patterns also match the empty string
    return found.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def same_but(before: Mapping[str, Any], after: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Return whether two objects differ at ``path`` only."""
    first, *rest = path
    keys = {*before, *after} - {first}
    if any(before.get(key) != after.get(key) for key in keys):
        return False
    if not rest:
        return True
    inner = before.get(first), after.get(first)
    return same_but(inner[0] or {}, inner[1] or {}, rest)
