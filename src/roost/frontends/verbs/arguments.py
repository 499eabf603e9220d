"""The arguments of a verb, from the fields of its operation.

``rows`` returns plain data: ``tools/gen_verbs.py`` writes it to ``roost/verb/verbs.json``, so that
the process of a verb needs neither pydantic nor the table of operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from roost.frontends.verbs.table import FLAG_ALIASES, SHORT_FLAGS, VERBS, Verb

FOR_PEOPLE = frozenset({"element", "start_element", "end_element", "index", "limits"})
"""Fields that no flag is made for: descriptions for people, and other spellings of an argument."""
WHOLE = frozenset({"headers", "request_headers"})
"""Lists whose values contain commas, so that a flag adds one value."""
PATHS = frozenset({"filename", "path", "paths"})
"""Fields whose values are names of files, which the process makes absolute."""


def rows() -> dict[str, dict[str, Any]]:
    """Return each verb's row by its words."""
    return {verb.words: row_of(verb) for verb in VERBS}


def aliases() -> dict[str, str]:
    """Return the words of the verb for each alias."""
    return {alias: verb.words for verb in VERBS for alias in verb.aliases}


def row_of(verb: Verb) -> dict[str, Any]:
    """Return one verb's row."""
    fields = verb.operation.model_fields
    schema = verb.operation.model_json_schema(by_alias=True)
    taken: list[str] = []
    positional = []
    for written in verb.positional:
        name = written.rstrip("…")
        field = fields[name]
        key = field.serialization_alias or field.alias or name
        taken.append(name)
        is_required = field.is_required() or (name, verb.words) in REQUIRED
        positional.append(
            _given(
                name=key,
                shown=_shown(name),
                required=is_required or None,
                many=written.endswith("…") or None,
                path=name in PATHS or None,
                choices=_choices(schema["properties"][key]),
                about=_about(schema["properties"][key]),
            )
        )
    left = [name for name in fields if name not in taken and name not in FOR_PEOPLE]
    flags = dict(_flags(verb, left, schema["properties"]))
    return _given(
        op=verb.operation.op,
        about=verb.about or " ".join((verb.operation.__doc__ or "").split()),
        example=verb.example,
        fixed=dict(verb.fixed) or None,
        positional=positional or None,
        flags=flags or None,
        file=("filename" in fields) or None,
    )


REQUIRED = frozenset(
    {("tab", "tab select"), ("name", "cookies get"), ("name", "cookies set")}
    | {("value", "cookies set"), ("name", "cookies delete")}
)
"""Fields that the operation requires for the action of this verb only."""


def _flags(
    verb: Verb, names: list[str], properties: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        field = verb.operation.model_fields[name]
        key = field.serialization_alias or field.alias or name
        if key in verb.fixed:
            continue
        about = dict(properties.get(key, {}))
        if key in verb.operation.model_defaults:
            about["default"] = verb.operation.model_defaults[key]
        if "$ref" in about.get("items", {}):
            continue  # a list of objects is for `roost call`
        is_flag = about.get("type") == "boolean"
        is_off = is_flag and (verb.fixed.get(key) or about.get("default"))
        flag = f"--{'no-' if is_off else ''}{name.replace('_', '-')}"
        if name in ("session", "filename"):
            continue  # every verb takes -s and -o
        yield (
            flag,
            _given(
                name=key,
                value=None if is_flag else _value(name, about),
                off=is_off or None,
                many=("array" in _types(about)) or None,
                whole=name in WHOLE or None,
                path=name in PATHS or None,
                choices=_choices(about),
                short=SHORT_FLAGS.get(name),
                aliases=[short for short, full in FLAG_ALIASES.items() if full == flag] or None,
                about=_about(about),
            ),
        )


def _types(schema: Mapping[str, Any]) -> set[str | None]:
    return {option.get("type") for option in schema.get("anyOf", [schema])}


def _value(name: str, schema: Mapping[str, Any]) -> str:
    kinds = _types(schema)
    if name in ("target", "tab", "url", "selector"):
        return name.upper()
    if name in PATHS:
        return "FILE"
    return "N" if kinds & {"integer", "number"} else "TEXT"


def _shown(name: str) -> str:
    """Return the word that stands for a positional argument in help."""
    words = {"start_target": "FROM", "end_target": "TO", "fields": "TARGET", "paths": "FILE"}
    words |= {"filename": "FILE", "values": "VALUE", "prompt_text": "TEXT"}
    return words.get(name, name.upper().replace("_", "-"))


def _choices(schema: Mapping[str, Any]) -> list[str] | None:
    options = [schema, *schema.get("anyOf", ()), schema.get("items", {})]
    return next((list(option["enum"]) for option in options if "enum" in option), None)


def _about(schema: Mapping[str, Any]) -> str | None:
    said = schema.get("description", "")
    default = schema.get("default")
    if default not in (None, "", False, True) and not isinstance(default, list | dict):
        said = f"{said} (default {default})".strip()
    return said or None


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
