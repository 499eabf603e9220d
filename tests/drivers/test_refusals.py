"""A browser's own words may quote pages, so no driver puts them into Roost's own messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import roost
from roost.errors import BY_CODE

ROOT = Path(roost.__file__).parent
FILES = [
    path for room in ("drivers", "page", "broker") for path in sorted((ROOT / room).rglob("*.py"))
]
PROTOCOL_ERRORS = {"CdpError", "BidiError"}
REFUSALS = {kind.__name__ for kind in BY_CODE.values()}


def told_as_roosts(tree: ast.AST) -> Iterator[int]:
    """Return the lines where a protocol error is put into a message, a hint or details."""
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler):
            caught = {
                one.id for one in ast.walk(handler.type or handler) if isinstance(one, ast.Name)
            }
            if handler.name and caught & PROTOCOL_ERRORS:
                yield from _told(handler, handler.name)
        elif isinstance(handler, ast.FunctionDef):
            for argument in handler.args.args:
                kind = argument.annotation
                if isinstance(kind, ast.Name) and kind.id in PROTOCOL_ERRORS:
                    yield from _told(handler, argument.arg)


def _told(where: ast.AST, name: str) -> Iterator[int]:
    for call in ast.walk(where):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        if call.func.id in REFUSALS:
            given = [*call.args, *(one.value for one in call.keywords if one.arg != "page_said")]
            words = (part for one in given for part in ast.walk(one) if isinstance(part, ast.Name))
            if any(word.id == name for word in words):
                yield call.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_text_of_a_protocol_error_goes_into_page_said(path: Path) -> None:
    assert list(told_as_roosts(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "try: x()\nexcept CdpError as e: raise NotFound(f'No: {e}.')",
        "try: x()\nexcept (OSError, BidiError) as e: raise NotFound('No.', reason=str(e))",
        "def f(error: BidiError): return TooLarge('No.', hint=str(error))",
    ],
)
def test_the_check_finds_each_mistake(wrong: str) -> None:
    assert list(told_as_roosts(ast.parse(wrong)))
