"""``roost hook report``: Claude Code reports which sub-agent runs a tool, or that one ended.

The hook writes nothing, decides nothing and changes nothing. If it fails, the sub-agent works in
its parent's session. It runs for shell commands that mention roost and at the end of a sub-agent;
tools of Roost's MCP server are reported over the server's connection (``plugin/hooks``).
"""

from __future__ import annotations

import sys
from typing import Any, Final

from roost.errors import RoostError
from roost.hook.broker_call import asked, input_of
from roost.local.deadline import Deadline
from roost.local.home import Home

SECONDS: Final = 1.0
"""Time for the whole hook. The client waits for it."""
COMMAND_CHARS: Final = 100_000
_FIELDS: Final = (
    ("hook_event_name", "event"),
    ("tool_use_id", "toolUseId"),
    ("agent_id", "subagent"),
    ("agent_type", "kind"),
)


def run() -> int:
    """Run the hook. Return 0 also on failure: any other code would show an error."""
    deadline = Deadline(SECONDS)
    try:
        given = input_of(sys.stdin.fileno(), deadline)
        if given is not None:
            asked(Home.find(), given, "subagent_report", report_of(given), deadline)
    except (OSError, ValueError, RecursionError, RoostError):
        pass
    return 0


def report_of(given: dict[str, Any]) -> dict[str, str]:
    """Return the arguments of the report."""
    report = {to: given[name] for name, to in _FIELDS if isinstance(given.get(name), str)}
    tool = given.get("tool_input")
    command = tool.get("command") if isinstance(tool, dict) else None
    if isinstance(command, str):
        report["command"] = command[:COMMAND_CHARS]
    return report
