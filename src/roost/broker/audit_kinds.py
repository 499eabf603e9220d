"""The kinds of lines in the audit trail, and their fields: one table for the docs and the tests.

``docs/reference/audit.md`` is generated from it, with a JSON Schema. Add a kind here when you write
a new one; a test compares the table with the kinds that the sources write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from roost.broker.audit import SCHEMA_VERSION

AGENT = {"agent": "the agent, shortened"}
SESSION = {"session": "the session's id"}
TAB = {"tab": "the tab's id"}
WHY = {"why": "the reason"}
PROCESS = {"pid": "the process", "line": "the processes above it, as the kernel reports them"}
QUESTION = {
    "subject": "for an approval: what is to be allowed",
    "origin": "for an approval: the origin that it is about",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of line.

    fields: fields that every such line has.
    others: fields that a line may have. ``None``: any, because they are the operation's.
    """

    meaning: str
    fields: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] | None = field(default_factory=dict)


KINDS: Final[Mapping[str, Kind]] = {
    "call": Kind(
        "An agent or the person performed an operation. Calls that only read are written if they"
        " fail.",
        {**AGENT, "op": "the operation", "outcome": "`ok`, or the error's code"},
        None,
    ),
    "agent connected": Kind("An agent came.", {**AGENT, **SESSION}),
    "agent ended": Kind("An agent is gone.", {**AGENT, "name": "its name", **WHY}),
    "acts as operator": Kind(
        "A process acts as the person.",
        {**PROCESS, **WHY},
        {"below": "the agent above it", **SESSION},
    ),
    "session opened": Kind("A session was made.", {**SESSION, "name": "its name"}),
    "session ended": Kind("A session ended.", {**SESSION, "name": "its name", **WHY}),
    "session token issued": Kind("Somebody asked for the session's token.", SESSION),
    "session given out": Kind(
        "A process found its session by `ROOST_SESSION`.", {**PROCESS, **SESSION, "to": "how"}
    ),
    "tab parked": Kind("A tab lost its page and its slot.", {**TAB, **SESSION, **WHY}),
    "tab evicted": Kind("A tab was closed to make room.", {**TAB, **SESSION, **WHY}),
    "tab moved": Kind("The person moved a tab.", {**TAB, "to": "the new session"}, SESSION),
    "tab brought by the person": Kind("The person put a tab into a session.", {**TAB, **SESSION}),
    "question asked": Kind(
        "A session asks the person.",
        {**SESSION, "question": "`handoff` or `approval`"},
        QUESTION,
    ),
    "question answered": Kind(
        "The person answered, or the time ran out (`none`).",
        {**SESSION, "answer": "the answer"},
        QUESTION,
    ),
    "person answered": Kind(
        "The person said whether agents of a program may use their browser.",
        {"browser": "the browser", "name": "the program", "allow": "true or false"},
    ),
    "policy set": Kind("A policy was set.", {"source": "where its layers come from"}, SESSION),
    "approvals withdrawn": Kind("The person withdrew what they had approved.", {}, SESSION),
    "protocol client connected": Kind("A DevTools client came.", {**AGENT, **SESSION}),
    "protocol client gone": Kind("A DevTools client is gone.", {**AGENT, **SESSION}),
    "tab opened by a protocol client": Kind(
        "A DevTools client opened a tab.", {**AGENT, **SESSION, **TAB}
    ),
    "tab closed by a protocol client": Kind(
        "A DevTools client closed a tab.", {**AGENT, **SESSION, **TAB}
    ),
    "audit gap": Kind("The disk was full: lines are missing here.", {"lost": "how many"}),
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of Roost's audit trail",
        "type": "object",
        "required": ["v", "at", "kind"],
        "properties": {
            "v": {"const": SCHEMA_VERSION},
            "at": {"type": "string", "format": "date-time"},
            "kind": {"enum": list(KINDS)},
        },
        "oneOf": [_line(name, kind) for name, kind in KINDS.items()],
    }


def _line(name: str, kind: Kind) -> dict[str, Any]:
    properties: dict[str, Any] = {"v": {}, "at": {}, "kind": {"const": name}}
    properties |= {key: {} for key in (*kind.fields, *(kind.others or ()))}
    return {
        "properties": properties,
        "required": ["kind", *kind.fields],
        "additionalProperties": kind.others is None,
    }
