"""Page states in Claudezilla's spelling, and the difference of two states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

COMPARED: Final = ("headings", "links", "buttons", "inputs")
ERRORS_SHOWN: Final = 10
_SPELT: Final = {
    "headings": {"name": "text"},
    "links": {"name": "text", "url": "href"},
    "buttons": {"name": "text"},
    "inputs": {"name": "label"},
    "images": {"name": "alt"},
    "landmarks": {"name": "label"},
}


def page_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a page with the field names of ``firefox_get_page_state``."""
    alerts = [entry for entry in state.get("alerts", ()) if entry.get("role") == "alert"]
    lists = {
        kind: [{words.get(key, key): value for key, value in entry.items()} for entry in entries]
        for kind, words in _SPELT.items()
        for entries in [state.get(kind, ())]
    }
    return {
        "url": state.get("url"),
        "title": state.get("title"),
        "viewport": state.get("viewport"),
        "errors": [entry.get("text") for entry in alerts][:ERRORS_SHOWN],
        **lists,
        "counts": {kind: state.get("counts", {}).get(kind) for kind in _SPELT},
    }


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by kind, the entries that were added, removed or changed."""
    return {kind: _compared(_list(before, kind), _list(after, kind)) for kind in COMPARED}


def _compared(before: list[Any], after: list[Any]) -> dict[str, list[Any]]:
    old, new = _by_identity(before), _by_identity(after)
    return {
        "added": [entry for key, entry in new.items() if key not in old],
        "removed": [entry for key, entry in old.items() if key not in new],
        "changed": [
            {"before": old[key], "after": entry}
            for key, entry in new.items()
            if key in old and old[key] != entry
        ],
    }


def _by_identity(entries: Iterable[Any]) -> dict[str, Any]:
    """Key entries by their ref, which is stable while the element exists, or by content."""
    return {
        str(entry["ref"])
        if isinstance(entry, dict) and entry.get("ref")
        else json.dumps(entry, sort_keys=True): entry
        for entry in entries
    }


def _list(state: Mapping[str, Any], kind: str) -> list[Any]:
    found = state.get(kind)
    return found if isinstance(found, list) else []
