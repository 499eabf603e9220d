"""A valid example of every operation, so that general rules can be checked on all of them."""

from __future__ import annotations

from typing import Any

from roost.api import operations as ops
from roost.api.operations import OPERATIONS, Operation

URL = "https://site.test/"
_BY_FIELD: dict[str, Any] = {
    "accept": True,
    "action": "list",
    "answer": "done",
    "digest": "d",
    "direction": "down",
    "end_target": "e2",
    "end_x": 2,
    "end_y": 2,
    "event": "PreToolUse",
    "fields": [{"target": "e1", "value": "x"}],
    "function": "() => 1",
    "height": 600,
    "index": 1,
    "key": "Enter",
    "luggage": {"tabs": [URL]},
    "name": "cart",
    "origin": "https://site.test",
    "origins": ["https://site.test"],
    "path": "x.har",
    "paths": ["x.txt"],
    "policy": "careful",
    "prompt": "go on",
    "reason": "log in",
    "session": "s1",
    "secret": "github",
    "source": "/nowhere",
    "start_target": "e1",
    "start_x": 1,
    "start_y": 1,
    "steps": [{"tool": "tabs", "action": "list"}],
    "target": "e1",
    "text": "x",
    "url": URL,
    "values": ["x"],
    "width": 800,
    "state": "visible",
    "what": "title",
    "x": 1,
    "y": 1,
}
"""Valid values for required arguments, by name."""
_ONE_OF_MANY: dict[type[Operation], dict[str, Any]] = {
    ops.Find: {"text": "x"},
    ops.Handoff: {"wait_seconds": 0},
    ops.Har: {"action": "start"},
    ops.InitScript: {"script": "1"},
    ops.NetworkState: {"state": "offline"},
    ops.Route: {"abort": "failed"},
    ops.Scroll: {"direction": "down"},
    ops.StorageState: {"action": "save"},
    ops.WaitFor: {"text": "x"},
}
"""Arguments for operations that need one of several optional arguments."""


def sample(op: str, **given: Any) -> Operation:
    """Return that operation with valid required arguments, and with those given."""
    operation = OPERATIONS[op]
    needed = {
        name: _BY_FIELD[name]
        for name, field in operation.model_fields.items()
        if field.is_required()
    }
    return operation.model_validate({**needed, **_ONE_OF_MANY.get(operation, {}), **given})


def samples_with(field: str, value: Any) -> list[Operation]:
    """Return every operation that has the argument, with the value set."""
    return [
        sample(op, **{field: value})
        for op, operation in OPERATIONS.items()
        if field in operation.model_fields
    ]
