"""Default lengths for clients that cut long answers before the model sees them.

A client that cuts takes the middle out of a snapshot, where nobody can tell what is missing. Roost
cuts at the end of a line, and says how to read on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SNAPSHOT_CHARS: Mapping[str, int] = {
    # Codex 0.166 cuts at about 12 KB, marks and all.
    "codex-mcp-client": 10_000,
}
"""The default ``maxChars`` of a snapshot, by the name in the client's ``clientInfo``."""


def with_default_length(
    client: str | None, tool: str, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the arguments with the client's default length, if the caller gives none."""
    most = SNAPSHOT_CHARS.get(client or "")
    if tool != "browser_snapshot" or most is None or arguments.get("maxChars") is not None:
        return arguments
    return {**arguments, "maxChars": most}
