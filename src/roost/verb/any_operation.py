"""``roost call OPERATION [JSON]``: any operation of the table, by its name on the wire."""

from __future__ import annotations

from roost.verb.arguments import Call, UsedWronglyError, fill
from roost.verb.plain_json import loads

_ROW = {
    "positional": [
        {"name": "op", "shown": "OPERATION", "required": True},
        {"name": "args", "shown": "JSON"},
    ]
}


def fill_call(call: Call, words: list[str]) -> str:
    """Give the call the arguments in the words, and return the name of the operation."""
    fill(call, "call", _ROW, words)
    operation, text = call.arguments.pop("op", ""), call.arguments.pop("args", "{}")
    try:
        given = loads(text.strip())
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise UsedWronglyError("call takes the arguments as one JSON object.")
    call.arguments = given
    return str(operation)
