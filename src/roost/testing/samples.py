"""A good example of every operation, so that what holds for all can be checked on all."""

from __future__ import annotations

from typing import Any

from roost.api.operations import OPERATIONS, Operation

URL = "https://site.test/"
_BY_FIELD: dict[str, Any] = {
    "accept": True,
    "action": "list",
    "direction": "down",
    "end_target": "e2",
    "end_x": 2,
    "end_y": 2,
    "fields": [{"target": "e1", "value": "x"}],
    "function": "() => 1",
    "height": 600,
    "index": 1,
    "key": "Enter",
    "name": "cart",
    "paths": ["x.txt"],
    "prompt": "go on",
    "session": "s1",
    "source": "/nowhere",
    "start_target": "e1",
    "start_x": 1,
    "start_y": 1,
    "target": "e1",
    "text": "x",
    "url": URL,
    "values": ["x"],
    "width": 800,
    "x": 1,
    "y": 1,
}
"""What a required argument of that name may be."""
_ONE_OF_MANY: dict[str, dict[str, Any]] = {
    "browser_find": {"text": "x"},
    "browser_scroll": {"direction": "down"},
    "browser_storage_state": {"action": "save"},
    "browser_wait_for": {"text": "x"},
}
"""What operations of their own kind need."""


def sample(op: str, **given: Any) -> Operation:
    """That operation with all it needs, and what is given."""
    operation = OPERATIONS[op]
    needed = {
        name: _BY_FIELD[name]
        for name, field in operation.model_fields.items()
        if field.is_required()
    }
    return operation.model_validate({**needed, **_ONE_OF_MANY.get(op, {}), **given})


def samples_with(field: str, value: Any) -> list[Operation]:
    """Every operation that takes that argument, with it."""
    return [
        sample(op, **{field: value})
        for op, operation in OPERATIONS.items()
        if field in operation.model_fields
    ]
