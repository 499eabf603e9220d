"""Steps: the operations, with arguments, that hints (``roost.hints``) name.

``{Tabs action=list}`` in a hint is the operation ``Tabs`` with the argument ``action``. Front ends
whose words follow from the table (MCP, HTTP, Python) derive how they spell a step.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from roost.api.operations import OPERATIONS, Operation

_BY_CLASS = {operation.__name__: operation for operation in OPERATIONS.values()}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation. ``arguments``: JSON values by their names on the wire."""

    operation: type[Operation]
    arguments: dict[str, Any]


@cache
def step_of(named: str) -> Step | None:
    """Return the step that a hint names, for example ``Tabs action=list``.

    None if the step is not an operation (``roost.hints.LONGER_TIMEOUT``).
    """
    name, *given = named.split()
    operation = _BY_CLASS.get(name)
    if operation is None:
        return None
    pairs = (argument.split("=") for argument in given)
    return Step(operation, {key: _value(text) for key, text in pairs})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # a word needs no quotes
