"""Words and numbers that every room shares: ids, notices (``NoticeKind``), enumerations, limits.

docs/glossary.md says what each word means. Every limit that several rooms share is defined here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NewType

AgentId = NewType("AgentId", str)
"""``agent_<32 hex>_<pid>``. The broker mints it and binds it to a connection."""
SessionId = NewType("SessionId", str)
TabId = NewType("TabId", str)
"""``t1``, ``t2``, …: Roost's own id of a tab, never the browser's and never reused."""
JarId = NewType("JarId", str)
BrowserId = NewType("BrowserId", str)
TabHandle = NewType("TabHandle", str)
"""The browser's own id of a tab. Only drivers and the broker's tables use it."""

MINE: Final = "mine"
"""Name that callers use for the person's own browser, whichever it is. Never a browser's id."""
_OWN: Final = f"{MINE}-"
OPERATOR: Final = AgentId("operator")
"""The person at the machine. Outranks agents; owns nothing itself."""
NOBODY: Final = AgentId("nobody")
"""Agent id in the welcome of a command that no single agent owns and that is not the person's."""


class Lifetime(StrEnum):
    """The time that a session outlives its agents.

    ANONYMOUS: it ends with its agents.
    RESUMABLE: it is kept for ``RESUMABLE_SECONDS``, without its tabs.
    NAMED: it stays until somebody disposes it.
    """

    ANONYMOUS = "anonymous"
    RESUMABLE = "resumable"
    NAMED = "named"


class JarPolicy(StrEnum):
    """The source of a session's cookies and storage.

    FRESH: an empty jar of its own.
    CLONE: a jar of its own, filled from a profile.
    SHARED: the browser's own cookies and storage, shared with others.
    """

    FRESH = "fresh"
    CLONE = "clone"
    SHARED = "shared"


class Reads(StrEnum):
    """Access to other agents' tabs.

    ``SHARED`` lets every agent read all tabs, but not act on them.
    """

    PRIVATE = "private"
    SHARED = "shared"


class Color(StrEnum):
    """The colours that tab groups have in both Chromium and Firefox."""

    BLUE = "blue"
    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"
    PINK = "pink"
    PURPLE = "purple"
    CYAN = "cyan"
    ORANGE = "orange"
    GREY = "grey"


class Verdict(StrEnum):
    """What a policy decides about something that an agent is about to do."""

    ALLOW = "allow"
    ASK = "ask"
    """The person must approve it."""
    DENY = "deny"


class QuestionKind(StrEnum):
    """What a session may ask the person."""

    HANDOFF = "handoff"
    """The person is to do something in the session's page."""
    APPROVAL = "approval"
    """The person is to allow something that an agent of the session wants to do."""


class QuestionAnswer(StrEnum):
    """How the person may answer: the first two a hand-over, the others an approval."""

    DONE = "done"
    CANNOT = "cannot"
    ONCE = "once"
    """Allow this call, and nothing after it."""
    SESSION = "session"
    """Allow it in this session, on every origin, until the session ends."""
    ORIGIN = "origin"
    """Allow it to this client program on this origin, in every session, from now on."""
    ALWAYS = "always"
    """Allow it to this client program on every origin, in every session, from now on."""
    NO = "no"


HANDOFF_ANSWERS: Final = (QuestionAnswer.DONE, QuestionAnswer.CANNOT)
APPROVAL_ANSWERS: Final = (
    QuestionAnswer.ONCE,
    QuestionAnswer.SESSION,
    QuestionAnswer.ORIGIN,
    QuestionAnswer.ALWAYS,
    QuestionAnswer.NO,
)


class NoticeKind(StrEnum):
    """A notice tells a session's agents what happened in the session. Each kind has a meaning and
    fields.

    A field whose text ends in "(optional)" is not in every notice of that kind. This table is the
    only list: docs/reference/notices.md is generated from it.
    """

    meaning: str
    fields: Mapping[str, str]

    def __new__(cls, kind: str, meaning: str, fields: Mapping[str, str]) -> NoticeKind:
        member = str.__new__(cls, kind)
        member._value_ = kind
        member.meaning = meaning
        member.fields = fields
        return member

    TAB_OPENED = (
        "tab_opened",
        "A tab of the session opened: one that was asked for, a popup, or one of the person.",
        {
            "tab": "its id",
            "url": "its address",
            "opener": "id of the tab that opened it, or null (optional)",
        },
    )
    TAB_CLOSED = (
        "tab_closed",
        "A tab of the session is gone.",
        {"tab": "its id", "url": "its address", "why": "the reason"},
    )
    TAB_NAVIGATED = (
        "tab_navigated",
        "A tab shows another document.",
        {"tab": "its id", "url": "the new address"},
    )
    TAB_CRASHED = (
        "tab_crashed",
        "The process of a tab's page died. Reload the tab.",
        {"tab": "its id", "url": "its address"},
    )
    TAB_MOVED = (
        "tab_moved",
        "The person moved a tab out of the session, or into it under a new id.",
        {"tab": "its id in this session", "url": "its address", "why": "what the person did"},
    )
    TAB_PARKED = (
        "tab_parked",
        "A tab has no page any more. It opens again at its address when it is used.",
        {"tab": "its id", "url": "its address", "why": "the reason"},
    )
    POPUPS_BLOCKED = (
        "popups_blocked",
        "A tab opened too many popups at once; this one was closed.",
        {"tab": "id of the tab that opened it", "url": "address of the popup"},
    )
    DIALOG_OPENED = (
        "dialog_opened",
        "A page shows a dialog. Its scripts stop until somebody answers.",
        {"tab": "its id", "kind": "alert, confirm, prompt or beforeunload", "message": "its text"},
    )
    DIALOG_CLOSED = ("dialog_closed", "The dialog of a page is answered.", {"tab": "its id"})
    CONSOLE_ERROR = (
        "console_error",
        "A page wrote an error to its console.",
        {
            "tab": "its id",
            "text": "the message",
            "url": "address of the script",
            "line": "line in the script",
        },
    )
    DOWNLOAD = (
        "download",
        "A download began or ended.",
        {"name": "name of the file", "state": "running, done or failed"},
    )
    TAB_SPACE_WANTED = (
        "tab_space_wanted",
        "Another session waits for a slot, and this one holds many.",
        {
            "waiting": "number of sessions that wait",
            "yourTabs": "slots that this session holds",
            "fairShare": "slots that each session may keep",
            "shareEnforcedInMs": "when the fair share is enforced",
        },
    )
    SLOT_RESERVED = (
        "slot_reserved",
        "A slot is reserved for the session, which waited for it.",
        {"browser": "the browser", "expiresInMs": "how long the slot stays reserved"},
    )
    SLOT_LAPSED = (
        "slot_lapsed",
        "The session did not use its reserved slot in time.",
        {"browser": "the browser"},
    )
    SESSION_PAUSED = (
        "session_paused",
        "A person has taken over the session.",
        {"session": "its id"},
    )
    SESSION_RESUMED = (
        "session_resumed",
        "The person has handed the session back.",
        {"session": "its id"},
    )
    SESSION_ENDED = (
        "session_ended",
        "The session ended. Its agents get no further notice of it.",
        {"session": "its id", "why": "the reason"},
    )
    PERSON_ANSWERED = (
        "person_answered",
        "The person answered whether agents of this program may use their browser.",
        {
            "browser": "the browser",
            "name": "the program, and what the agent calls itself",
            "allow": "true or false",
        },
    )
    QUESTION_ASKED = (
        "question_asked",
        "The session asks the person something and waits for the answer.",
        {
            "kind": "handoff or approval",
            "reason": "what the agent wants of the person, or wants to do",
            "origin": "for an approval: the origin of the page that it is about (optional)",
        },
    )
    QUESTION_ANSWERED = (
        "question_answered",
        "The person answered the session's question, or the time for it ran out.",
        {
            "answer": "done or cannot; for an approval once, session, origin, always or no;"
            " null if the time ran out, which means no",
            "note": "what the person says to the agent",
        },
    )
    LOOP_ENDED = (
        "loop_ended",
        "The session's focus loop ended.",
        {"iteration": "number of iterations", "why": "the reason"},
    )


HANDOFF_SECONDS: Final = 50.0
"""How long a call waits for the person. MCP clients give up after 60 s."""
QUESTION_SECONDS: Final = 24 * 3600.0
"""How long a question waits for its answer, and an answer for its agent."""
APPROVAL_SECONDS: Final = 600.0
"""How long an approval waits for its answer, an answer for the agent's next call, and how long a no
holds."""
KIB: Final = 1024
MIB: Final = 1024 * KIB

WIRE_VERSION: Final = 1
AGENT_FRAME_BYTES: Final = 10 * MIB
"""The largest frame an agent may send."""
LINK_FRAME_BYTES: Final = 64 * MIB
"""The largest frame on a link, and the largest reply to an agent."""
HELLO_SECONDS: Final = 5.0
"""The broker closes a connection that has not said hello by then."""

POOL_LIMIT: Final = 12
"""Maximum number of tabs per browser; 0 means no limit."""
TAB_HEAVY_ABOVE: Final = 4
"""Sessions with more tabs than this get a notice when another session waits for a slot."""
RESERVATION_SECONDS: Final = 30.0
"""A slot stays reserved for a session this long."""
SHARE_SECONDS: Final = 10.0
"""A session waits this long for a slot before a session above its fair share loses one."""
SHARE_RETRY_SECONDS: Final = 1.0
"""The broker tries again this often while none of those sessions' tabs may be parked."""
SPAWN_BURST: Final = 5
SPAWN_BURST_SECONDS: Final = 1.0
"""A tab may open ``SPAWN_BURST`` popups within this time; further ones are closed."""

GRACE_SECONDS: Final = 10.0
"""An agent may be disconnected this long before it ends."""
RESTART_GRACE_SECONDS: Final = 30.0
"""Agents may take this long to reconnect after a broker restart, once the new broker listens."""
LATE_SECONDS: Final = 1.0
"""A wake-up later than this does not prove that an agent stayed away: the machine was overloaded or
suspended, and the agent with it."""
RESUMABLE_SECONDS: Final = 24 * 3600.0
"""A resumable session is kept this long without an agent."""
LEASE_SECONDS: Final = 120.0
"""An agent without a connection (HTTP) lives this long after its last call."""
SUBAGENT_SECONDS: Final = 600.0
"""A sub-agent's tabs close this long after its last call."""
SUBAGENTS_RESTING: Final = 8
"""This many sub-agents of one agent keep their name, colour and jar after they ended. A jar costs
memory in the browser even without tabs."""
SWEEP_SECONDS: Final = 60.0
"""Interval at which the broker looks for dead agents, and whether it is still needed itself."""
BROKER_IDLE_SECONDS: Final = 15 * 60.0
"""A broker that an agent started ends this long after its last session."""

CAPTURE_WAIT_SECONDS: Final = 3.0
"""A capture waits this long behind another agent's before it is refused."""
CAPTURE_RETRY_MS: Final = 2000
PAUSED_RETRY_MS: Final = 5000
"""An agent should retry after this time while a person has its session."""

CLONED_JARS: Final = 10
"""Maximum number of cloned jars."""
REQUEST_WAIT: Final = 1.5
"""Seconds that an action waits for the requests that it began itself."""
JARS_BESIDE: Final = 100
"""Maximum number of extra browser contexts per session for CDP clients. Each costs memory in the
shared browser even when empty."""

LOOP_ITERATIONS: Final = 20
LOOP_ITERATIONS_MAX: Final = 10_000
LOOP_SECONDS: Final = 3600.0
LOOP_PHRASE_CHARS: Final = 1000

SESSION_START_CHARS: Final = 8
"""Characters of a long session id that a table shows. The person need not type more of them."""
BATCH_SECONDS: Final = 60.0
"""Time limit of a batch that names none. MCP clients give up after this time."""
BATCH_STEPS: Final = 100
CALL_SECONDS: Final = 30.0
"""The deadline of a call that names none."""
CALL_SECONDS_MAX: Final = 300.0

CONVERSATION_VARIABLES: Final = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "CODEX_THREAD_ID")
"""Environment variables in which clients name the conversation that a process belongs to."""
CLIENT_VARIABLES: Final = frozenset(
    {*CONVERSATION_VARIABLES, "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX"}
    | {"GEMINI_CLI", "QWEN_CODE", "CURSOR_AGENT", "OPENCODE", "CLINE_ACTIVE", "AUGMENT_AGENT"}
    | {"GOOSE_TERMINAL"}
)
"""Variables that clients set for the commands of their agents. A person's commands do not have
them."""

NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}"
"""Pattern of the names that callers may give to sessions and pages."""
LABEL_PATTERN: Final = r"[A-Za-z][A-Za-z0-9._:-]{0,31}"
"""Pattern of the labels that agents may give to tabs."""
PROFILE_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Pattern of profile names, which are also file names."""
_SESSION_ID = re.compile(NAME_PATTERN)


def is_session_id(text: str) -> bool:
    """Return whether a caller may use ``text`` as a session id."""
    return _SESSION_ID.fullmatch(text) is not None


def conversation_in(environ: Mapping[str, str]) -> SessionId | None:
    """Return the conversation that a client started this process for, if it names one."""
    named = next((environ[name] for name in CONVERSATION_VARIABLES if environ.get(name)), "")
    return SessionId(named) if is_session_id(named) else None


def shown(agent: AgentId) -> str:
    """Return an agent id as logs, errors and other agents see it: its first 12 characters."""
    return agent if agent == OPERATOR else agent[:12]


def own_browser(kind: str) -> BrowserId:
    """Return the id of the person's own browser of a kind, for example ``mine-firefox``."""
    return BrowserId(_OWN + kind)


def browser_kind(browser: str) -> str:
    """Return the kind of a browser from its id: ``mine-firefox`` is a ``firefox``."""
    return browser.removeprefix(_OWN)
