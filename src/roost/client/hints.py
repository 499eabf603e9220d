"""How hints name operations to a Python caller: as calls of ``roost.client``."""

from __future__ import annotations

from roost.api.steps import step_of
from roost.hints import LONGER_TIMEOUT


def spell(named: str) -> str | None:
    """Return the Python code of a step (a ``roost.hints.Spelling``), with required arguments."""
    if named == LONGER_TIMEOUT:
        return "`client.call(…, timeout=SECONDS)`"
    step = step_of(named)
    if step is None:
        return None
    arguments = {
        name: repr(step.arguments[alias]) if alias in step.arguments else "..."
        for name, field in step.operation.model_fields.items()
        if (alias := field.alias or name) in step.arguments or field.is_required()
    }
    given = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"`client.call(ops.{step.operation.__name__}({given}))`"
