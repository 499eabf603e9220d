"""Change one entry of a JSON text in place. Comments and trailing commas are allowed and stay.

Editors and coding agents read such files (JSONC), and people comment in them. So the text is never
written anew: a change inserts, replaces or cuts out the characters of one member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roost.frontends.cli.install.config_error import BOM, Malformed

_STRING: Final = r'("(?:[^"\\\n]|\\.)*")'
_COMMENT: Final = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA: Final = re.compile(_STRING + r"|,(?=\s*[}\]])")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class _Member:
    """Where one member of an object stands: its key, its value, and the comma after it, if any."""

    key: str
    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class _Object:
    """Where an object stands, from its opening brace to its closing brace."""

    open: int
    close: int
    members: tuple[_Member, ...]

    def find(self, key: str) -> _Member | None:
        """Return the member with that key: the last one if there are several, as parsers do."""
        return next((one for one in reversed(self.members) if one.key == key), None)


def read(text: str) -> dict[str, Any]:
    """Return the text's content. Raise ``Malformed`` with the line."""
    plain = _strict(_bare(text.removeprefix(BOM)))
    try:
        config = json.loads(plain) if plain.strip() else {}
    except json.JSONDecodeError as problem:
        raise Malformed(f"it is not JSON ({problem.msg})", problem.lineno) from None
    except RecursionError:
        raise Malformed("it is nested too deep", 1) from None
    if not isinstance(config, dict):
        raise Malformed("it holds no object", 1)
    return config


def change(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with ``value`` at ``path``, or without that member if ``value`` is None."""
    if not read(text) and not text.removeprefix(BOM).strip():
        if value is None:
            return text
        bom = BOM if text.startswith(BOM) else ""
        return bom + _dumped(_nested(path, value), "  ") + "\n"
    bom, body = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    return bom + _changed(body, path, value)


def _changed(text: str, path: Sequence[str], value: Any) -> str:
    bare = _bare(text)
    here = _object(bare, _after_space(bare, 0))
    member: _Member | None = None
    for depth, key in enumerate(path):
        member = here.find(key)
        if member is None:
            rest = path[depth + 1 :]
            return text if value is None else _insert(text, here, key, _nested(rest, value))
        if depth < len(path) - 1:
            if bare[member.value] != "{":
                line = bare.count("\n", 0, member.value) + 1
                raise Malformed(f"{key} is not a table of entries", line)
            here = _object(bare, member.value)
    assert member is not None, "the path has a last key, which was found"
    if value is None:
        return _remove(text, here, member)
    old = json.loads(_strict(bare)[member.value : member.end])
    if isinstance(old, dict) and isinstance(value, dict):
        return _update(text, path, old, value)
    shown = _indented(text, value, _margin(text, member.start))
    return text if old == value else text[: member.value] + shown + text[member.end :]


def _update(text: str, path: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Change an object member by member, so that the comments in it stay."""
    for key in old:
        if key not in new:
            text = _changed(text, [*path, key], None)
    for key, value in new.items():
        if key not in old or old[key] != value:
            text = _changed(text, [*path, key], value)
    return text


def _insert(text: str, into: _Object, key: str, value: Any) -> str:
    """Add a member at the end of an object: after its last member, or after a comment below it."""
    inside = text[into.open + 1 : into.close]
    at = into.open + 1 + len(inside.rstrip())
    last = into.members[-1] if into.members else None
    if "\n" not in inside and (last is not None or "\n" not in text.strip()):
        return _insert_in_line(text, into, at, f"{json.dumps(key)}: {json.dumps(value)}")
    margin = _margin(text, last.start) if last else _margin(text, into.open) + _unit(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    added = f"{line_end}{margin}{json.dumps(key)}: {_indented(text, value, margin)}"
    if last is None:
        end = into.close if not inside.strip() else at
        closing = "" if "\n" in text[end : into.close] else line_end + _margin(text, into.open)
        return text[:at] + added + closing + text[end:]
    if last.comma is not None:
        return text[:at] + added + "," + text[at:]
    return text[: last.end] + "," + text[last.end : at] + added + text[at:]


def _insert_in_line(text: str, into: _Object, at: int, member: str) -> str:
    if not into.members:
        return text[:at] + member + text[into.close if at == into.open + 1 else at :]
    last = into.members[-1]
    if last.comma is not None:
        return text[:at] + " " + member + text[at:]
    return text[: last.end] + "," + text[last.end : at] + " " + member + text[at:]


def _remove(text: str, of: _Object, member: _Member) -> str:
    """Cut a member out, with its comma, and with its lines if nothing else stands there."""
    if member.comma is not None:
        return _cut(text, member.start, member.comma + 1)
    index = of.members.index(member)
    text = _cut(text, member.start, member.end)
    if index > 0 and (before := of.members[index - 1].comma) is not None:
        text = text[:before] + text[before + 1 :]
    return text


def _cut(text: str, start: int, end: int) -> str:
    before, after = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    if before.endswith("\n") and after.startswith(("\n", "\r\n")):
        return before.removesuffix("\n").removesuffix("\r") + after
    return (before if after.startswith("}") else text[:start]) + after


# --- reading -------------------------------------------------------------------------------------


def _bare(text: str) -> str:
    """Return the text with spaces in place of comments, so that every position stays."""
    return _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)


def _strict(bare: str) -> str:
    """Return the text with spaces in place of trailing commas."""

    def blanked(found: re.Match[str]) -> str:
        before = found.start() - 1
        while before >= 0 and bare[before].isspace():
            before -= 1
        return found[1] or ("," if before < 0 or bare[before] in "{[,:" else " ")

    return _LAST_COMMA.sub(blanked, bare)


def _object(bare: str, start: int) -> _Object:
    """Find the members of the object that begins there. The text is known to be valid."""
    strict = _strict(bare)
    decode = json.JSONDecoder().raw_decode
    members: list[_Member] = []
    at = _after_space(bare, start + 1)
    while bare[at] != "}":
        begin = at
        key, at = decode(bare, at)
        value = _after_space(bare, _after_space(bare, at) + 1)  # past the colon
        _, end = decode(strict, value)
        at = _after_space(bare, end)
        comma = at if bare[at] == "," else None
        if comma is not None:
            at = _after_space(bare, at + 1)
        members.append(_Member(key, begin, value, end, comma))
    return _Object(start, at, tuple(members))


def _after_space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


# --- writing -------------------------------------------------------------------------------------


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _unit(text: str) -> str:
    """Return what the text indents by."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _margin(text: str, at: int) -> str:
    """Return the indentation of the line of that position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indented(text: str, value: Any, margin: str) -> str:
    """Return the value as it stands in the text at a member with that indentation."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    return _dumped(value, _unit(text)).replace("\n", line_end + margin)


def _dumped(value: Any, indent: str) -> str:
    shown = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        shown.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold and UTF-8 cannot
        return json.dumps(value, indent=indent)
    return shown
