"""Views and errors as text for models, with the page's words between the untrusted marks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from roost.api.operations import OPERATIONS
from roost.api.page_views import ActionView, ConsoleView, FoundView, NetworkView
from roost.api.views import View
from roost.errors import RoostError
from roost.wire.marks import error_text, marked, sendable

_CALL = re.compile(r"`client\.call\(ops\.(\w+)\([^`]*\)\)`")
_TIMEOUT = re.compile(r"`client\.call\([^`]*timeout=SECONDS\)`")
_TITLES = {operation.__name__: operation.title for operation in OPERATIONS.values()}


def refusal(error: RoostError, members: Mapping[str, str]) -> str:
    """Return an error as the model reads it.

    members: names of the toolset's members by the operation that they perform. The broker spells
        hints for Python callers, and the model has to read its own members there.
    """
    return error_text(error.retold(hint=_spelled(error.hint, members)))


def notes(view: View, members: Mapping[str, str]) -> list[str]:
    """Return what the model has to read after an action, in Roost's own words."""
    lines = [_spelled(note, members) for note in view.notes or ()]
    if isinstance(view, ActionView):
        if view.chooser is not None:
            lines.append("The page asks for files.")
        if view.under_way:
            lines.append(f"{len(view.under_way)} requests are still under way.")
    return lines


def page_text(text: str, remark: str = "") -> str:
    """Return text of a page between the marks. ``remark``: Roost's own words after it."""
    shown = marked([text])
    return sendable(f"{shown}\n{remark}" if remark else shown)


def found_text(view: FoundView, remark: str = "") -> str:
    if not view.total:
        return "Nothing on the page matches."
    cut = f"{view.total} lines match; some are left out." if view.truncated else ""
    return page_text(view.matches, " ".join(filter(None, (remark, cut))))


def console_text(view: ConsoleView) -> str:
    if not view.messages:
        return "The console has no new messages."
    lines = []
    for said in view.messages:
        where = f" ({said.url}:{said.line})" if said.url else ""
        lines.append(f"[{said.level}] {said.text}{where}")
    return page_text("\n".join(lines))


def network_text(view: NetworkView) -> str:
    if not view.requests:
        return "There are no new requests."
    lines = []
    for one in view.requests:
        outcome = one.error or (str(one.status) if one.status is not None else "pending")
        kind = one.mime_type or one.kind
        took = "" if one.duration_ms is None else f" {one.duration_ms} ms"
        lines.append(f"{one.method} {one.url} {outcome} {kind}{took}")
    return page_text("\n".join(lines))


def value_text(value: Any) -> str:
    """Return the value of a script. The page may have chosen it."""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return page_text(shown)


def _spelled(text: str, members: Mapping[str, str]) -> str:
    def member(found: re.Match[str]) -> str:
        name = found.group(1)
        return members.get(name) or f'"{_TITLES.get(name, name)}"'

    return _TIMEOUT.sub("a longer timeout", _CALL.sub(member, text))
