"""Change one entry of a YAML text in place, line by line. Comments and layout stay.

Only block style is changed, because that is what the programs write: an entry is a key and the
indented lines below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roost.frontends.cli.install.config_error import BOM, Malformed


def read(text: str) -> dict[str, Any]:
    """Return the text's content. Raise ``Malformed`` with the line."""
    import yaml

    try:
        config = yaml.safe_load(text.removeprefix(BOM))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        raise Malformed(
            f"it is not YAML ({problem.problem})", mark.line + 1 if mark else 1
        ) from None
    except (yaml.YAMLError, RecursionError) as problem:
        raise Malformed(f"it is not YAML ({problem})".splitlines()[0], 1) from None
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise Malformed("it holds no mapping", 1)
    return config


def change(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with ``value`` at ``path``, or without that entry if ``value`` is None.

    path: name of a mapping of the file, and name of the entry in it.
    """
    outer, name = path
    config = read(text)
    entries = config.get(outer)
    if not isinstance(entries, dict | None):
        raise Malformed(f"{outer} is not a mapping of entries", 1)
    if (entries or {}).get(name) == value:
        return text
    bom = BOM if text.startswith(BOM) else ""
    written = "\n".join(_changed(text.removeprefix(BOM).replace("\r\n", "\n"), outer, name, value))
    return bom + (written.replace("\n", "\r\n") if "\r\n" in text else written)


def _changed(text: str, outer: str, name: str, value: Any) -> list[str]:
    import yaml

    lines = text.split("\n")
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return [*lines[:-1], *_shown({outer: {name: value}}, 0), ""]
    if root.flow_style:
        raise Malformed("it is written in braces, which are not changed here", 1)
    found = _find(root, outer)
    if found is None:
        end = len(lines) if lines[-1] else len(lines) - 1
        return [*lines[:end], *_shown({outer: {name: value}}, 0), ""]
    key, block = found
    line = key.start_mark.line
    if not block.value or isinstance(block, yaml.ScalarNode):  # `extensions:`, or `{}` after it
        head = lines[line][: key.end_mark.column] + ":"
        return [*lines[:line], head, *_shown({name: value}, 2), *lines[_end(block, line) + 1 :]]
    if block.flow_style:
        raise Malformed(f"{outer} is written in braces, which are not changed here", line + 1)
    margin = block.start_mark.column
    added = [] if value is None else _shown({name: value}, margin)
    old = _find(block, name)
    if old is None:
        end = _end(block, line) + 1
        return [*lines[:end], *added, *lines[end:]]
    first = old[0].start_mark.line
    rest = lines[_end(old[1], first) + 1 :]
    if value is None and len(block.value) == 1:
        head = lines[line][: key.end_mark.column] + ": {}"
        return [*lines[:line], head, *lines[line + 1 : first], *rest]
    return [*lines[:first], *added, *rest]


def _find(mapping: Any, name: str) -> tuple[Any, Any] | None:
    """Return the key and the value with that name."""
    return next((pair for pair in mapping.value if pair[0].value == name), None)


def _end(node: Any, line: int) -> int:
    """Return the last line of a node.

    The end of a block is where the next token stands, below comments that belong to no entry. So
    this is the end of the block's last value instead.

    line: the line of the node's key, where an empty node has no line of its own.
    """
    while isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    mark = node.end_mark
    ends_before = mark.column == 0 and mark.line > node.start_mark.line  # text after `|`
    last_line: int = mark.line - 1 if ends_before else mark.line
    return max(line, last_line)


def _shown(value: Any, margin: int) -> list[str]:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=float("inf"))
    return [" " * margin + line for line in text.splitlines()]
