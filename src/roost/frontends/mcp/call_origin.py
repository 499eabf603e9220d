"""Read from a call's ``_meta`` which sub-agent or conversation of the client makes the call.

- Claude Code sends the id of the tool use. Its hooks report the sub-agent of that id.
- Codex sends the thread and, for a sub-agent, the thread that started it.
- VS Code sends the conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from roost.api.subagents import ID_CHARS, CallOrigin

TOOL_USE: Final = "claudecode/toolUseId"
SUBAGENT: Final = "claudecode/agentId"
"""Claude Code 2.1.326 sends this to servers of its own only."""
CONVERSATION: Final = "vscode.conversationId"
THREAD: Final = "threadId"
TURN: Final = "x-codex-turn-metadata"


def call_origin_of(params: object, *, is_repeated: bool = False) -> CallOrigin | None:
    """Return the origin of a ``tools/call`` with these parameters. None: the client says none."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        return None
    turn = meta.get(TURN)
    turn = turn if isinstance(turn, dict) else {}
    is_subagent = turn.get("thread_source") == "subagent"
    origin = CallOrigin(
        tool_use=_id(meta, TOOL_USE),
        subagent=_id(meta, SUBAGENT),
        thread=_id(meta, CONVERSATION) or _id(meta, THREAD),
        parent_thread=_id(turn, "parent_thread_id") if is_subagent else None,
        is_repeated=is_repeated,
    )
    return origin if origin.tool_use or origin.subagent or origin.thread else None


def _id(said: Mapping[str, Any], name: str) -> str | None:
    found = said.get(name)
    is_id = isinstance(found, str) and 0 < len(found) <= ID_CHARS
    return found if is_id else None
