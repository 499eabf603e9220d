"""``roost hook stop``: Claude Code asks whether the agent may stop.

Claude Code writes JSON to stdin and reads the decision from stdout. While a focus loop is active in
the agent's session, the hook tells the agent to continue with the loop's prompt. In every other
case, including failures, the hook writes nothing and the agent stops. The hook takes at most a
second.

``stop_hook_active`` in the input says that a Stop hook has already made the agent continue. In a
focus loop that is normal, so the hook ignores it. The broker's limits on iterations and on time end
a loop.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from roost.errors import RoostError
from roost.hook.broker_call import asked, input_of
from roost.hook.transcript import last_message
from roost.local.deadline import Deadline
from roost.local.home import Home

SECONDS: Final = 1.0
"""Time for the whole hook. The client waits for it, often with a person watching."""
SAID_CHARS: Final = 1_000_000


def run() -> int:
    """Run the hook. Return 0 also on failure, so that a failure neither holds the agent nor shows
    an error."""
    deadline = Deadline(SECONDS)
    try:
        given = input_of(sys.stdin.fileno(), deadline)
        loop = None if given is None else _turn(Home.find(), given, deadline)
        if loop is not None and loop.get("active"):
            sys.stdout.write(json.dumps(_go_on(loop)) + "\n")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError, RoostError):
        pass
    return 0


def _turn(home: Home, given: dict[str, Any], deadline: Deadline) -> dict[str, Any] | None:
    """Tell the broker that the agent wants to stop. Return the broker's answer about the loop."""
    return asked(home, given, "loop_turn", {"said": _said(given)[-SAID_CHARS:]}, deadline)


def _said(given: dict[str, Any]) -> str:
    """Return the agent's last message from the transcript and from the hook's input.

    The client writes the transcript with a delay. Some clients also put the message into the input.
    """
    path, last = given.get("transcript_path"), given.get("last_assistant_message")
    said = last_message(path) if isinstance(path, str) else ""
    return f"{said}\n{last}" if isinstance(last, str) else said


def _go_on(loop: dict[str, Any]) -> dict[str, str]:
    most = loop.get("maxIterations")
    count = f"{loop['iteration']}/{most}" if most else f"{loop['iteration']} (no limit)"
    return {
        "decision": "block",
        "reason": loop["prompt"],
        "systemMessage": f"Roost focus loop: iteration {count}",
    }
