"""Make short argument schemas, because every session pays for every byte of the tool list.

Pydantic's schemas lose their titles, ``anyOf null``, limits and obvious defaults. The operation
still checks the limits, and its error says what it expects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from roost.api.operations import Operation, SessionOperation
from roost.api.page_operations import TARGET

_KEPT = {"type", "description", "enum", "required"}
_UNSAID: tuple[object, ...] = (None, False, True, [])
"""Defaults to leave out: they are obvious, or the description states them."""
_COMMON = ("snapshot", "session", "tab")
"""Arguments that many tools take. They come last, and only the server's instructions explain
them."""
_ALIASES = {"stopOnError", "completionPromise", "startElement", "endElement", "maxWaitMs"}
"""Arguments that are accepted but not listed."""
_IN_FULL = {"browser_click"}
"""The tool that says what a target is and takes a description of the element. The others refer to
it: "selector" stands in the server's instructions as well."""
_SHORT_TARGET = "Ref or selector"
_SHORT_WORDS = {"browser_wait_for": ("state",)}
"""Arguments whose description names the usual words. The error for a wrong word names all."""


def argument_schema(operation: type[Operation]) -> dict[str, Any]:
    """Return a short JSON Schema of the operation's arguments."""
    is_full = operation.op in _IN_FULL
    schema = tight_schema(operation, _ALIASES if is_full else _ALIASES | {"element"})
    properties = schema["properties"]
    if not is_full:
        _shorten_descriptions(properties)
    for name in _SHORT_WORDS.get(operation.op, ()):
        del properties[name]["enum"]
    if issubclass(operation, SessionOperation):
        for name in _COMMON:
            if name in properties:
                properties[name] = _unexplained(properties.pop(name))
    return schema


def _shorten_descriptions(properties: Mapping[str, dict[str, Any]]) -> None:
    for schema in properties.values():
        if schema.get("description") == TARGET:
            schema["description"] = _SHORT_TARGET
        _shorten_descriptions(schema.get("items", {}).get("properties", {}))


def tight_schema(model: type[BaseModel], hidden: Collection[str]) -> dict[str, Any]:
    """Return a short JSON Schema of the model's fields, without the hidden ones."""
    whole = model.model_json_schema(by_alias=True)
    definitions = whole.get("$defs", {})
    properties = {
        name: _tight(schema, definitions)
        for name, schema in whole.get("properties", {}).items()
        if name not in hidden
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if whole.get("required"):
        schema["required"] = whole["required"]
    return schema


def _unexplained(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": schema["type"]}


def _tight(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        # Drop the definition's own description: it is a docstring for developers.
        named = {key: value for key, value in named.items() if key != "description"}
        schema = {**named, **{key: value for key, value in schema.items() if key != "$ref"}}
    options = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(options) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _tight({**options[0], **rest}, definitions)
    tight: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "anyOf":
            tight[key] = [_tight(one, definitions) for one in options]
        elif key == "items":
            tight[key] = _tight(value, definitions)
        elif key == "properties":
            tight[key] = {name: _tight(one, definitions) for name, one in value.items()}
        elif key in _KEPT or (key == "default" and value not in _UNSAID):
            tight[key] = value
    return tight
