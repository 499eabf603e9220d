"""How hints name operations to the caller of a verb: as verbs."""

from __future__ import annotations

from roost.api.steps import Step, step_of
from roost.frontends.verbs.arguments import row_of
from roost.frontends.verbs.table import VERBS, Verb
from roost.hints import LONGER_TIMEOUT


def spell(named: str) -> str | None:
    """Return the verb of a step (a ``roost.hints.Spelling``)."""
    if named == LONGER_TIMEOUT:
        return "`--timeout SECONDS`"
    step = step_of(named)
    verb = None if step is None else _verb(step)
    if step is None or verb is None:
        return None
    row = row_of(verb)
    words = ["roost", verb.words]
    for one in row.get("positional", ()):
        if one["name"] in step.arguments:
            words.append(str(step.arguments[one["name"]]))
        elif one.get("required"):
            words.append(one["shown"])
    for flag, about in row.get("flags", {}).items():
        if about["name"] in step.arguments and about["name"] not in verb.fixed:
            value = step.arguments[about["name"]]
            words += [flag] if value is True else [flag, str(value)]
    return f"`{' '.join(words)}`"


def _verb(step: Step) -> Verb | None:
    """Return the first verb that performs the step."""
    for verb in VERBS:
        names = verb.fixed.keys() & step.arguments.keys()
        if verb.operation is step.operation and all(
            verb.fixed[name] == step.arguments[name] for name in names
        ):
            return verb
    return None
