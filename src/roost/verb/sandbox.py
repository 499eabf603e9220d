"""A client's sandbox that forbids the broker's socket: recognise it, and say which setting helps.

Claude Code's sandbox on Linux (bubblewrap and seccomp) refuses ``socket(AF_UNIX)`` with EPERM.
Codex's (bubblewrap, seccomp) refuses ``connect`` with EPERM. Neither can allow a single path on
Linux. Both run a command that the person has exempted outside of the sandbox.
"""

import os

CODEX = ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED")
CLAUDE = ("SANDBOX_RUNTIME", "CLAUDECODE")
_ALONE = (
    " Then run `roost` as the whole command: with a pipe, `;` or `&&` it stays in the sandbox."
    " Roost's MCP server needs no setting."
)
_CLAUDE_SETTING = (
    "The person runs `roost install claude --sandbox`, which puts"
    ' {"sandbox": {"excludedCommands": ["roost *"]}} into ~/.claude/settings.json.' + _ALONE
)
_CODEX_SETTING = (
    "The person runs `roost install codex --sandbox`, which puts"
    ' prefix_rule(pattern = ["roost"], decision = "allow") into ~/.codex/rules/roost.rules.'
    + _ALONE
)
_ANY_SETTING = "Let it run `roost` outside of the sandbox, or allow unix sockets in it."


def is_sandboxed() -> bool:
    """Return whether this process says that it runs in a client's sandbox."""
    return any(os.environ.get(name) for name in (*CODEX, CLAUDE[0]))


def refusal(problem: PermissionError) -> str:
    """Return what to print when the system forbids the connection to the broker."""
    if any(os.environ.get(name) for name in CODEX):
        client, setting = "Codex", _CODEX_SETTING
    elif any(os.environ.get(name) for name in CLAUDE):
        client, setting = "Claude Code", _CLAUDE_SETTING
    else:
        client, setting = "the client", _ANY_SETTING
    return (
        f"UNAUTHORIZED: The sandbox of {client} does not let this command reach Roost's socket"
        f" ({problem.strerror or problem}).\nhint: {setting}"
    )
