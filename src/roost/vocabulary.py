"""The words and numbers every room shares: ids, enumerations, limits.

The glossary (docs/glossary.md) says what each word means; the design's numbers live only here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NewType

AgentId = NewType("AgentId", str)
"""``agent_<32 hex>_<pid>``, minted by the broker, bound to a connection."""
SessionId = NewType("SessionId", str)
TabId = NewType("TabId", str)
"""``t1``, ``t2``, … : ours, never the browser's, never reused."""
JarId = NewType("JarId", str)
BrowserId = NewType("BrowserId", str)
TabHandle = NewType("TabHandle", str)
"""The browser's own id for a tab. Only drivers and the broker's tab table ever see one."""

MINE: Final = "mine"
"""What callers call the person's own browser, whichever that is: never the id of one."""
OPERATOR: Final = AgentId("operator")
"""The person at the machine. Outranks agents; owns nothing itself."""
NOBODY: Final = AgentId("nobody")
"""What a welcome calls a command that is no agent's and has not proven to be the person's."""


class Lifetime(StrEnum):
    """How long a session outlives the agents that use it (design.md §5, "Sessions")."""

    ANONYMOUS = "anonymous"
    RESUMABLE = "resumable"
    NAMED = "named"


class JarPolicy(StrEnum):
    """Where a session's cookies and storage come from."""

    FRESH = "fresh"
    CLONE = "clone"
    SHARED = "shared"


class Reads(StrEnum):
    """Who may look at a tab. ``SHARED`` lets every agent read, never act."""

    PRIVATE = "private"
    SHARED = "shared"


class Color(StrEnum):
    """The colours both Chromium's and Firefox's tab groups know."""

    BLUE = "blue"
    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"
    PINK = "pink"
    PURPLE = "purple"
    CYAN = "cyan"
    ORANGE = "orange"
    GREY = "grey"


KIB: Final = 1024
MIB: Final = 1024 * KIB

WIRE_VERSION: Final = 1
AGENT_FRAME_BYTES: Final = 10 * MIB
"""The largest frame an agent may send."""
LINK_FRAME_BYTES: Final = 64 * MIB
"""The largest frame on a link, and the largest reply to an agent."""
HELLO_SECONDS: Final = 5.0
"""A connection that has not said hello by then is closed."""

POOL_LIMIT: Final = 12
"""Tabs per browser; 0 means no limit."""
TAB_HEAVY_ABOVE: Final = 4
"""Sessions with more tabs than this are told when somebody waits for a slot."""
RESERVATION_SECONDS: Final = 30.0
SHARE_SECONDS: Final = 10.0
"""How long a session waits for a slot before a session above its fair share has to give one."""
SHARE_RETRY_SECONDS: Final = 1.0
"""How often the broker looks again while no tab of those sessions may be parked."""
SPAWN_BURST: Final = 5
SPAWN_BURST_SECONDS: Final = 1.0

GRACE_SECONDS: Final = 10.0
"""How long a lost connection may stay away before its agent is ended."""
RESTART_GRACE_SECONDS: Final = 30.0
"""How long agents have to come back after a broker restart, from when the new broker listens."""
LATE_SECONDS: Final = 1.0
"""A wake-up that comes later than this is no evidence that an agent stayed away: the machine was
starved or suspended, and the agent with it."""
RESUMABLE_SECONDS: Final = 24 * 3600.0
LEASE_SECONDS: Final = 120.0
SWEEP_SECONDS: Final = 60.0
BROKER_IDLE_SECONDS: Final = 15 * 60.0
"""A broker that an agent started ends this long after its last session."""

CAPTURE_WAIT_SECONDS: Final = 3.0
CAPTURE_RETRY_MS: Final = 2000
PAUSED_RETRY_MS: Final = 5000
"""When to ask again for a session that a person has. They take their time."""

CLONED_JARS: Final = 10
JARS_BESIDE: Final = 100
"""Contexts that protocol clients of one session may have at a time: each costs the browser all
share, pages or not."""

LOOP_ITERATIONS: Final = 20
LOOP_ITERATIONS_MAX: Final = 10_000
LOOP_SECONDS: Final = 3600.0
LOOP_PHRASE_CHARS: Final = 1000

CALL_SECONDS: Final = 30.0
"""The deadline of a call that names none."""
CALL_SECONDS_MAX: Final = 300.0

CONVERSATION_VARIABLES: Final = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "CODEX_THREAD_ID")
"""Where clients say in the environment which conversation a process belongs to."""
CLIENT_VARIABLES: Final = frozenset(
    {*CONVERSATION_VARIABLES, "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX"}
    | {"GEMINI_CLI", "QWEN_CODE", "CURSOR_AGENT", "OPENCODE", "CLINE_ACTIVE", "AUGMENT_AGENT"}
    | {"GOOSE_TERMINAL"}
)
"""Variables that clients set for the commands their agents run, and nobody sets for a person."""

NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}"
"""What a caller may call a session or a page."""
PROFILE_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""What a profile may be called: it is a file's name."""
_SESSION_ID = re.compile(NAME_PATTERN)


def is_session_id(text: str) -> bool:
    """Whether a caller may use ``text`` as a session id."""
    return _SESSION_ID.fullmatch(text) is not None


def conversation_in(environ: Mapping[str, str]) -> SessionId | None:
    """The conversation that a client started this process for."""
    named = next((environ[name] for name in CONVERSATION_VARIABLES if environ.get(name)), "")
    return SessionId(named) if is_session_id(named) else None


def shown(agent: AgentId) -> str:
    """An agent id as logs, errors and other agents see it: 12 characters, never the whole."""
    return agent if agent == OPERATOR else agent[:12]
