"""Write the "May import" sentence of every room sign from the room's own imports: ``make docs``.

A room is a folder of ``src/roost`` with an ``__init__.py``; the docstring of that file is its sign.
The sentence names the other rooms of Roost in backticks, then third-party packages. Sentences after
the first one are written by hand and stay. ``--check`` writes nothing and fails if a sign is not up
to date; tests/test_rooms.py runs it.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "roost"
WIDTH = 100
PART = re.compile(r"^May import:.*?(?=^(?:Never here|Tests):)", re.DOTALL | re.MULTILINE)
FIRST_SENTENCE = re.compile(r"May import:.*?\.(?=\s|$)", re.DOTALL)


def main(arguments: list[str]) -> int:
    stale = []
    for sign in sorted(SOURCE.rglob("__init__.py")):
        if sign.parent == SOURCE:
            continue  # the package's own docstring is for its users, not a room sign
        text = sign.read_text(encoding="utf-8")
        if (current := with_imports(text, sign.parent)) == text:
            continue
        stale.append(sign.relative_to(ROOT).as_posix())
        if "--check" not in arguments:
            sign.write_text(current, encoding="utf-8")
    if stale and "--check" in arguments:
        print("run `make docs`; out of date:", *stale, file=sys.stderr)  # noqa: T201
        return 1
    return 0


def with_imports(text: str, room: Path) -> str:
    """Return the file's text with the first sentence after "May import:" written anew."""

    def part(found: re.Match[str]) -> str:
        remark = FIRST_SENTENCE.sub("", found.group(), count=1)
        words = f"{may_import(room)} {remark}".split()
        lines = textwrap.wrap(
            " ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False
        )
        return "\n".join([*lines, ""])

    return PART.sub(part, text, count=1)


def may_import(room: Path) -> str:
    """Return the sentence that says what the Python files of one room import."""
    names = set(imported(room))
    rooms = [f"``{name.removeprefix('roost.')}``" for name in sorted(names) if "." in name]
    packages = [name for name in sorted(names) if "." not in name]
    both = "; ".join(", ".join(some) for some in (rooms, packages) if some)
    return f"May import: {both or 'nothing'}."


def imported(room: Path) -> Iterator[str]:
    """Yield the other rooms (``roost.…``) and the third-party packages that a room imports.

    Imports inside functions and for type checkers count. The room itself, the package ``roost``
    (its version) and the standard library do not.
    """
    own = ".".join(("roost", *room.relative_to(SOURCE).parts))
    for path in sorted(room.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in _modules(node):
                top = module.partition(".")[0]
                if top in sys.stdlib_module_names:
                    continue
                name = _room_of(module) if top == "roost" else top
                if name not in (own, "roost"):
                    yield name


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        # What is imported from a package may itself be a module of it.
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _room_of(name: str) -> str:
    """Return the room that a dotted name of Roost is in; a file beside the rooms is its own."""
    parts = name.split(".")[1:]
    folder = SOURCE
    rooms = ["roost"]
    for part in parts:
        if not (folder / part / "__init__.py").exists():
            break
        folder /= part
        rooms.append(part)
    if folder == SOURCE and (SOURCE / f"{parts[0]}.py").exists():
        rooms.append(parts[0])
    return ".".join(rooms)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
