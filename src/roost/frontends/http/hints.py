"""How hints name operations to an HTTP caller: as requests."""

from __future__ import annotations

import json

from roost.api.operations import SessionDispose, SessionOpen
from roost.api.steps import step_of
from roost.hints import LONGER_TIMEOUT

_ROUTES = {SessionOpen: "POST /session", SessionDispose: "DELETE /session/{sessionId}"}
"""Operations with a route of their own. The others are below ``/session/{sessionId}/tools``."""


def spell(named: str) -> str | None:
    """Return the request of a step (a ``roost.hints.Spelling``)."""
    if named == LONGER_TIMEOUT:
        return "`?timeoutMs=MILLISECONDS`"
    step = step_of(named)
    if step is None:
        return None
    route = _ROUTES.get(step.operation, f"POST /session/{{sessionId}}/tools/{step.operation.op}")
    body = f" {json.dumps(step.arguments)}" if step.arguments else ""
    return f"`{route}{body}`"
