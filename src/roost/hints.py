"""Hints: what to do next, in words that suit every reader.

The same error reaches a model that has tools, a program that sends HTTP requests, a Python caller
and a person at a terminal. So a hint names operations of the table (``roost.api.operations``), and
each front end spells them as its reader performs them::

    Hint("List your tabs[ with {Tabs action=list}], or open a new one.")

    HTTP            List your tabs with `POST …/tools/…`, or open a new one.
    command line    List your tabs with `roost session list`, or open a new one.
    DevTools        List your tabs, or open a new one.

Text in square brackets depends on the reader. It consists of alternatives, separated by ``|``. The
reader gets the first alternative whose operations it can all perform, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Spelling: TypeAlias = Callable[[str], str | None]
"""Returns how a reader performs a step, such as ``Tabs action=list``. None: it cannot."""

LONGER_TIMEOUT = "timeout"
"""The step that gives the call a longer timeout."""
UNLISTED = "unlisted "
"""Before an operation: the reader could perform it, but must first ask for the operation to be
listed, as MCP clients must for some tools. Every other step is an operation."""


def no_way(step: str) -> str | None:
    """The spelling of a reader that can perform no step."""
    return None


_BRACKET = re.compile(r"\[([^\]]*)\]")
_STEP = re.compile(r"\{([^}]*)\}")


class Hint(str):
    """A hint whose text depends on the reader; the module docstring describes the template.

    As a ``str`` it is the text for a reader that can perform none of the steps.
    """

    _parts: tuple[str | tuple[str, ...], ...]
    """Fixed texts, and for each bracket its alternatives."""

    def __new__(cls, template: str) -> Hint:
        pieces = _BRACKET.split(template)
        return cls._of(
            tuple(tuple(text.split("|")) if n % 2 else text for n, text in enumerate(pieces))
        )

    @classmethod
    def _of(cls, parts: tuple[str | tuple[str, ...], ...]) -> Hint:
        hint = super().__new__(cls, _spelled(parts, no_way))
        hint._parts = parts
        return hint

    def __add__(self, more: str) -> Hint:
        return self._of(self._parts + _parts_of(more))

    def __radd__(self, before: str) -> Hint:
        return self._of(_parts_of(before) + self._parts)

    @property
    def template(self) -> str:
        """The template of the hint."""
        return "".join(p if isinstance(p, str) else f"[{'|'.join(p)}]" for p in self._parts)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that the hint names."""
        return tuple(
            step
            for part in self._parts
            if not isinstance(part, str)
            for text in part
            for step in _STEP.findall(text)
        )

    def spelled(self, spell: Spelling) -> str:
        """Return the hint for a reader that performs steps as ``spell`` says."""
        return _spelled(self._parts, spell)


def spelled(text: str, spell: Spelling) -> str:
    """Return a text for that reader. Only a ``Hint`` depends on the reader."""
    return text.spelled(spell) if isinstance(text, Hint) else text


def _parts_of(text: str) -> tuple[str | tuple[str, ...], ...]:
    return text._parts if isinstance(text, Hint) else (text,)


def _spelled(parts: tuple[str | tuple[str, ...], ...], spell: Spelling) -> str:
    return "".join(part if isinstance(part, str) else _first(part, spell) for part in parts)


def _first(alternatives: tuple[str, ...], spell: Spelling) -> str:
    for text in alternatives:
        *ways, rest = _STEP.split(text)
        ways[1::2] = [spell(step) for step in ways[1::2]]
        if None not in ways:
            return "".join([*ways, rest])
    return ""
