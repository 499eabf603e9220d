"""Set or remove one table of a TOML text, and leave everything else as it is, also comments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from roost.frontends.cli.install.config_error import Malformed

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"^[ \t]*\[{1,2}([^\]\n]+)\]{1,2}[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def read(text: str) -> dict[str, Any]:
    """Return the content of the text. Raise ``Malformed`` if it is not TOML."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as problem:
        found = _LINE.search(str(problem))
        line = int(found.group(1)) if found and found.group(1) else text.count("\n") + 1
        raise Malformed(_LINE.sub("", str(problem)).strip(), line) from None


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with ``value`` as the table at ``path``. An equal table stays as it is."""
    found: Any = read(text)
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    if found == value:
        return text
    spans = _spans(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    table = "\n".join(_table(path, value)).replace("\n", newline) + newline
    if not spans:
        gap = newline * (2 if text.strip() and not text.endswith(newline) else bool(text.strip()))
        return text + gap + table
    start, end = spans[0]
    behind = text[start:end]
    # Keep the blank lines before the next header.
    kept = behind[len(behind.rstrip()) :] if end < len(text) else ""
    written = text[:start] + table.rstrip("\r\n") + (kept or newline)
    rest = _cut(text, spans[1:])[end:]
    return written + rest


def without_table(text: str, path: Sequence[str]) -> str:
    """Return the text without the table at ``path`` and the tables below it."""
    spans = _spans(text, path)
    if not spans:
        return text
    cut = _cut(text, spans)
    return cut.rstrip() + ("\r\n" if "\r\n" in text else "\n") if cut.strip() else ""


def _spans(text: str, path: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the table and those below it begin and end in the text."""
    headers = [(found.start(), _keys(found.group(1))) for found in _HEADER.finditer(text)]
    ends = [*(start for start, _ in headers[1:]), len(text)][: len(headers)]
    wanted = list(path)
    return [
        (start, _without_lead(text, start, end))
        for (start, keys), end in zip(headers, ends, strict=True)
        if keys[: len(wanted)] == wanted
    ]


def _without_lead(text: str, start: int, end: int) -> int:
    """Return the table's end, before comments that belong to the next header."""
    if end == len(text):
        return end
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and lines[-1].lstrip().startswith("#"):
        end -= len(lines.pop())
    return end


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


def _keys(header: str) -> list[str]:
    """Split a header like ``a."b c".d`` into its keys."""
    try:
        inner: Any = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return []
    keys = []
    while inner:
        ((key, inner),) = inner.items()
        keys.append(key)
    return keys


def _table(path: Sequence[str], value: Mapping[str, Any]) -> list[str]:
    lines = [f"[{'.'.join(_key(part) for part in path)}]"]
    lines += [f"{_key(k)} = {_shown(v)}" for k, v in value.items() if not isinstance(v, dict)]
    for key, inner in value.items():
        if isinstance(inner, dict):
            lines += ["", *_table([*path, key], inner)]
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(_shown(item) for item in value)}]"
        case dict():
            inside = ", ".join(f"{_key(k)} = {_shown(v)}" for k, v in value.items())
            return f"{{ {inside} }}" if inside else "{}"
    return str(value)  # numbers and times are written as they are read


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found.group()):04x}", escaped)
    return f'"{escaped}"'
