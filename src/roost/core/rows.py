"""The rows of the core's state. Rows are frozen: changing one means putting a new row.

Every row has a ``table`` and a ``key``. The journal stores the row under that pair, so a restart
reads back exactly these objects. ``deadline`` is when the core must look at the row again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from roost.conditions import Conditions
from roost.core.policy_layers import PolicyLayer
from roost.vocabulary import (
    LOOP_SECONDS,
    SHARE_SECONDS,
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    QuestionAnswer,
    QuestionKind,
    SessionId,
    TabHandle,
    TabId,
)


class TabState(StrEnum):
    """The states of a tab's life. A tab holds a slot of the pool in every state but ``PARKED``."""

    OPENING = "opening"
    OPEN = "open"
    CRASHED = "crashed"
    LOST = "lost"
    """The page is gone, usually because the browser died. The broker opens the page again."""
    PARKED = "parked"
    """The tab has no page and no slot. The broker closed the page for a waiting session, or could
    not open it again. The broker opens the tab at its address when its owner uses it."""


class Timeless:
    """A row that the core never has to look at again by itself."""

    __slots__ = ()

    @property
    def deadline(self) -> float | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Timeless):
    """The configuration's policy, as it was last read without an error."""

    table: ClassVar[str] = "policy"
    layers: tuple[PolicyLayer, ...]

    @property
    def key(self) -> str:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A program with an identity. It is alive while connected, in its grace, or in its lease.

    folders: where the agent may read and write files: its working directory and what it was given.
    program: the client program and its folder, as the kernel reports them.
    browser, policy, profile, allow, deny: options the agent was started with. Its first session,
        and any replacement of that session, uses all of them. Every other session it makes uses
        ``allow``, ``deny`` and, if it names no browser, ``browser``.
    """

    table: ClassVar[str] = "agent"
    id: AgentId
    pid: int
    process_started: str
    name: str
    own_session: SessionId
    """The session that the agent works in when a call names none. It may have ended."""
    secret_digest: str
    connected: bool = True
    awaited_until: float | None = None
    """Set while the connection is lost: the agent ends at this time unless it reconnects."""
    lease_until: float | None = None
    """Set for agents without a connection (HTTP): the agent ends when the lease runs out."""
    parent: AgentId | None = None
    """Set for a sub-agent: the agent that started it. Also set for a further conversation on the
    connection of that agent (``is_child`` is False then)."""
    is_child: bool = False
    """True for a sub-agent: it may use sessions and tabs of its parent by naming them."""
    idle_until: float | None = None
    """Set for a sub-agent: its tabs close at this time unless it calls. None: it rests."""
    by_process: bool = False
    """True for agents that only run commands: ``pid`` is their client or the first process of their
    terminal, and the agent ends with that process. Such an agent counts as connected."""
    conversation: str = ""
    """The client's own id of the conversation, thread or sub-agent that this agent is, if known. It
    is local to the client's process or connection."""
    folders: tuple[str, ...] = ()
    program: str = ""
    browser: BrowserId | None = None
    policy: JarPolicy | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    layers: tuple[PolicyLayer, ...] = ()
    """The policy that the agent was started with, or that the person set for it since. It judges
    all calls of the agent, and every session that it makes starts with it."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def known_as(self) -> str:
        """The name under which the person allows or denies this agent their browser.

        An agent chooses ``name`` itself, so ``name`` counts only where the program is unknown.
        """
        return self.program or self.name

    @property
    def shares_connection(self) -> bool:
        """True for a sub-agent that calls on its parent's connection, so it lives and ends with its
        parent."""
        return self.parent is not None and not self.pid

    @property
    def life_until(self) -> float | None:
        """When the agent ends unless it reconnects or calls."""
        return self.awaited_until if self.lease_until is None else self.lease_until

    @property
    def deadline(self) -> float | None:
        times = (self.life_until, self.idle_until)
        return min((at for at in times if at is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A name, colour, jar and tabs under a stable id, for one agent or several that join."""

    table: ClassVar[str] = "session"
    id: SessionId
    name: str
    color: Color
    lifetime: Lifetime
    browser: BrowserId
    policy: JarPolicy
    created_at: float
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    layers: tuple[PolicyLayer, ...] = ()
    """The policy of the agent that made the session, or that the person set since. It judges every
    agent in the session."""
    secrets: tuple[str, ...] = ()
    """Names of the person's secrets that were filled into pages of the session."""
    paused: bool = False
    has_opened: bool = False
    """True once a page of the session has opened. From then on, a failing tab does not end it."""
    left: tuple[TabId, ...] = ()
    """Tabs that were current for agents which have left, in that order. An agent that joins
    continues in the last one."""
    kept_until: float | None = None
    """Set while a resumable session has no agent, or a sub-agent's session rests: the session ends
    at this time."""
    parent: SessionId | None = None
    """Set for the session of a sub-agent: the session of the agent that started the sub-agent. A
    session ends with its parent."""
    token_salt: str | None = None
    token_digest: str | None = None
    """Set once somebody asked for a token: ``token_salt`` derives the token from the operator's,
    ``token_digest`` recognises it. Roost stores the token itself nowhere."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def group(self) -> str:
        """The key by which browsers know the session's tab group.

        Unlike the id, the key never names another session. A person's browser may show a group long
        after its session, or the whole journal, is gone.
        """
        return f"{self.id}@{int(self.created_at * 1000)}"

    @property
    def deadline(self) -> float | None:
        return self.kept_until


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Timeless):
    """One agent's membership in one session, with the agent's own alias and current tab."""

    table: ClassVar[str] = "member"
    agent: AgentId
    session: SessionId
    alias: str | None = None
    current: TabId | None = None
    lost: TabId | None = None
    """The agent's last current tab, if somebody else closed it or it went away. The agent's next
    call gets an error that says so; the core never chooses another tab silently."""
    lost_why: str = ""

    @property
    def key(self) -> str:
        return f"{self.agent} {self.session}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar(Timeless):
    """An isolated set of cookies and storage.

    The row exists before the jar is made and until the jar is removed. ``session`` is None from the
    session's end until the removal.
    """

    table: ClassVar[str] = "jar"
    id: JarId
    session: SessionId | None
    browser: BrowserId
    policy: JarPolicy
    handle: str | None = None
    proxy_port: int | None = None
    """Port of the jar's filtering proxy, for as long as the jar lives."""
    beside: bool = False
    """True for an extra jar that a CDP client made. It is removed with that client."""
    copy_of: JarId | None = None
    """The jar whose contents this jar starts with: the jar of the parent session."""

    @property
    def key(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab(Timeless):
    """One top-level page under our id.

    session: None for a tab that the person added.
    jar: None for a page that uses the browser's own cookies and for which no jar row exists. If the
        person moved the tab here, the jar may belong to another session.
    next_ref, next_frame: the next free ref and frame numbers. Stored, so that no ref is given
        twice, not even after a restart.
    frames: pairs that map the browser's frames to our frame numbers.
    """

    table: ClassVar[str] = "tab"
    id: TabId
    session: SessionId | None
    browser: BrowserId
    jar: JarId | None
    url: str
    used: int
    """Value of the use counter at the tab's last use. A session's LRU tab has its smallest
    value."""
    state: TabState = TabState.OPENING
    asked_by: AgentId | None = None
    """The agent whose current tab this becomes once the page is open."""
    handle: TabHandle | None = None
    former: TabHandle | None = None
    """The handle of a lost tab before it was lost. If the browser only lost its link, the page is
    still there under that handle."""
    title: str = ""
    opener: TabId | None = None
    page: str | None = None
    """The session's own name for the tab, if it was opened by a name."""
    next_ref: int = 1
    next_frame: int = 1
    frames: tuple[tuple[str, str], ...] = ()
    secret_documents: tuple[float, ...] = ()
    """The last documents of the tab into which a secret was filled, by the time they began."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def holds_slot(self) -> bool:
        return self.state is not TabState.PARKED


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRequest:
    """A session's place in the queue for a slot. At most one per session."""

    table: ClassVar[str] = "request"
    session: SessionId
    browser: BrowserId
    agent: AgentId
    asked_at: float
    turn: int

    @property
    def key(self) -> str:
        return self.session

    @property
    def deadline(self) -> float | None:
        return self.asked_at + SHARE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A free slot held for one session until it opens a tab or the time runs out."""

    table: ClassVar[str] = "reservation"
    session: SessionId
    browser: BrowserId
    agent: AgentId
    until: float

    @property
    def key(self) -> str:
        return self.session

    @property
    def deadline(self) -> float | None:
        return self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A session's focus loop. ``max_iterations`` 0 means no limit but the time limit."""

    table: ClassVar[str] = "loop"
    session: SessionId
    prompt: str
    max_iterations: int
    phrase: str | None
    started_at: float
    iteration: int = 0

    @property
    def key(self) -> str:
        return self.session

    @property
    def deadline(self) -> float | None:
        return self.started_at + LOOP_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a session asks the person. ``answer`` is None until the person has answered."""

    table: ClassVar[str] = "question"
    session: SessionId
    kind: QuestionKind
    reason: str
    agent: AgentId
    asked_at: float
    until: float
    answer: QuestionAnswer | None = None
    note: str = ""
    """What the person says to the agent."""
    subject: str = ""
    """For an approval: what is to be allowed, such as ``evaluate`` or ``secret github``."""
    origin: str = ""
    """For an approval: the origin of the page that it is about. Empty if it is about none."""

    @property
    def key(self) -> str:
        return self.session

    @property
    def deadline(self) -> float | None:
        return self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The person's answer to an approval, as later calls find it.

    session: the session that the answer is for, or None for every session of ``program``.
    program: the client program (``Agent.program``). Empty if ``session`` is set.
    subject: what is allowed: see ``Question.subject``.
    origin: the origin on which it is allowed, or None for every origin.
    allow: False refuses such calls.
    until: set for an answer to one call, and for a no. The answer is forgotten at that time; one
        that allows is used up by the next such call.
    why: why the call is refused, if it is.
    """

    table: ClassVar[str] = "approval"
    session: SessionId | None
    program: str = ""
    subject: str
    origin: str | None
    allow: bool = True
    until: float | None = None
    why: str = ""

    @property
    def key(self) -> str:
        kept = "kept" if self.until is None else "once"
        return "\n".join((self.session or "", self.program, self.subject, self.origin or "", kept))

    @property
    def deadline(self) -> float | None:
        return self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent(Timeless):
    """The person's answer whether agents of one client program may use the person's browser.

    name: the client program and its folder (``Agent.known_as``).
    called: the name that the asking agent gave itself. Empty in rows of earlier releases, which
        asked by such names; the core ignores those rows.
    allow: None while the question is open.
    """

    table: ClassVar[str] = "consent"
    browser: BrowserId
    name: str
    called: str = ""
    allow: bool | None = None

    @property
    def key(self) -> str:
        return f"{self.browser} {self.name}"

    @property
    def label(self) -> str:
        """The text shown to the person. Their answer names the row by this text.

        Begins with what the kernel reports, because an agent may call itself anything.
        """
        return self.name if self.called == self.name else f"{self.name}, called “{self.called}”"

    @classmethod
    def labelled(cls, browser: BrowserId, label: str) -> Consent:
        """Rebuild the row from its label."""
        name, _, called = label.removesuffix("”").partition(", called “")
        return cls(browser=browser, name=name, called=called or name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Timeless):
    """How far an agent's batch has come. The next broker tells it to the agent, whose call was
    interrupted.

    digest: digest of the batch's steps, by which the agent's repeated call is recognized.
    """

    table: ClassVar[str] = "batch"
    agent: AgentId
    digest: str
    done: int
    of: int

    @property
    def key(self) -> str:
        return f"{self.agent}/{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageConditions(Timeless):
    """The conditions of a session's pages, or of one tab (``tab``). See ``roost.conditions``.

    routes_made: how many route rules the session has made, so that no rule's id is used twice.
    """

    table: ClassVar[str] = "conditions"
    session: SessionId
    tab: TabId | None = None
    conditions: Conditions = Conditions()
    routes_made: int = 0

    @property
    def key(self) -> str:
        return self.session if self.tab is None else f"{self.session} {self.tab}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter(Timeless):
    """A number that only grows, so that ids are never used twice, not even after a restart."""

    table: ClassVar[str] = "counter"
    name: str
    value: int

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureTurn:
    """One capture in the line of its tab. No row: captures end with the broker."""

    capture: int
    agent: AgentId
    asked_at: float
    started_at: float | None = None


Row = (
    Agent
    | Session
    | Member
    | Jar
    | Tab
    | SlotRequest
    | Reservation
    | Loop
    | Question
    | Approval
    | Policy
    | Consent
    | Batch
    | PageConditions
    | Counter
)
ROW_TYPES: tuple[type[Row], ...] = (
    Agent, Session, Member, Jar, Tab, SlotRequest, Reservation, Loop, Question, Approval, Policy,
    Consent, Batch, PageConditions, Counter,
)  # fmt: skip
