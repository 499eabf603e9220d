"""The rows of the core's state. Frozen; a change is a new row.

Every row names its ``table`` and ``key``: that pair is what the journal stores it under, so a
restart reads back exactly these objects. ``deadline`` is when the core must look at the row again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from roost.vocabulary import (
    LOOP_SECONDS,
    SHARE_SECONDS,
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    SessionId,
    TabHandle,
    TabId,
)


class TabState(StrEnum):
    """Where a tab is in its life. All but ``PARKED`` hold a slot of the pool."""

    OPENING = "opening"
    OPEN = "open"
    CRASHED = "crashed"
    LOST = "lost"
    """The browser died; the tab comes back when the browser does."""
    PARKED = "parked"
    """The broker closed the page to give its slot to a waiting session, or the page could not be
    opened again. The tab is opened at its address when its owner uses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A program with an identity. Alive while connected, within its grace, or within its lease."""

    table: ClassVar[str] = "agent"
    id: AgentId
    pid: int
    process_started: str
    name: str
    home: SessionId
    secret_digest: str
    connected: bool = True
    awaited_until: float | None = None
    """Set while the connection is lost: the agent ends then, unless it comes back."""
    lease_until: float | None = None
    """Set for agents that have no connection (HTTP); such an agent ends when it runs out."""
    folders: tuple[str, ...] = ()
    """Where it may read and write files: its working directory, and what it was given."""
    program: str = ""
    """The program and folder of its client, by the kernel's word."""
    browser: BrowserId | None = None
    policy: JarPolicy | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    """What it was started with: holds for every session it makes."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def known_as(self) -> str:
        """Who the person gives leave to use their browser. An agent chooses its name itself, so
        the name counts only where the program cannot be known."""
        return self.program or self.name

    @property
    def deadline(self) -> float | None:
        return self.awaited_until if self.lease_until is None else self.lease_until


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An agent's workspace: stable id, name, colour, jar, tabs. May be joined by several."""

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
    paused: bool = False
    has_opened: bool = False
    """A page of it has been there: from then on it outlives pages that fail to open."""
    kept_until: float | None = None
    """Set while a resumable session waits for its agent to come back."""
    token_salt: str | None = None
    token_digest: str | None = None
    """Set once a token was asked for: what it is derived with, and what it is recognised by. The
    token itself is nowhere."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def group(self) -> str:
        """What browsers know its tab group by. Unlike the id, it is never another session's: a
        person's browser may show a group long after its session, or the journal, is gone."""
        return f"{self.id}@{int(self.created_at * 1000)}"

    @property
    def deadline(self) -> float | None:
        return self.kept_until


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One agent's place in one session: its own name for it and its own current tab."""

    table: ClassVar[str] = "member"
    agent: AgentId
    session: SessionId
    alias: str | None = None
    current: TabId | None = None
    lost: TabId | None = None
    """The current tab, when it went away without this agent closing it. Told once, never replaced
    silently."""
    lost_why: str = ""

    @property
    def key(self) -> str:
        return f"{self.agent} {self.session}"

    @property
    def deadline(self) -> float | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """An isolated set of cookies and storage. Recorded before it is made, dropped after it is gone:
    ``session`` is None from the session's end until then."""

    table: ClassVar[str] = "jar"
    id: JarId
    session: SessionId | None
    browser: BrowserId
    policy: JarPolicy
    handle: str | None = None
    proxy_port: int | None = None
    """Where the jar's filtering proxy listens, for as long as the jar lives."""
    beside: bool = False
    """One more than the session's own, made by a protocol client and gone with it."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def deadline(self) -> float | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One top-level page under our id. ``session`` is None for a tab that the person added.

    ``jar`` is None for a page in the browser's own cookies that no jar of Roost's stands for. It
    may be another session's, if the person moved the tab."""

    table: ClassVar[str] = "tab"
    id: TabId
    session: SessionId | None
    browser: BrowserId
    jar: JarId | None
    url: str
    used: int
    """The use counter when this tab was last used: the smallest in a session is its LRU tab."""
    state: TabState = TabState.OPENING
    asked_by: AgentId | None = None
    """Whose current tab it becomes once it is there."""
    handle: TabHandle | None = None
    former: TabHandle | None = None
    """What a lost tab's handle was: a browser that was only out of sight still has it."""
    title: str = ""
    opener: TabId | None = None
    page: str | None = None
    """What its session calls it, if it was opened by a name."""
    next_ref: int = 1
    next_frame: int = 1
    frames: tuple[tuple[str, str], ...] = ()
    """Which ref and frame numbers are still free, and which frame of the browser has which number:
    a ref is never given twice, not even after a restart."""

    @property
    def key(self) -> str:
        return self.id

    @property
    def deadline(self) -> float | None:
        return None

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
    """A session's focus loop. ``max_iterations`` 0 means no limit but the wall clock."""

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
class Consent:
    """Whether agents of one client program may use a browser that is the person's own.

    name: the client program and its folder (``Agent.known_as``).
    called: the name that the asking agent gave itself. Empty in rows of earlier releases, which
        were about such names and count no more.
    allow: None while the person is asked.
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
        """What the person reads, and by which their answer names this row. What the kernel says
        stands first: an agent may call itself anything."""
        return self.name if self.called == self.name else f"{self.name}, called “{self.called}”"

    @classmethod
    def labelled(cls, browser: BrowserId, label: str) -> Consent:
        """The row that has this label."""
        name, _, called = label.removesuffix("”").partition(", called “")
        return cls(browser=browser, name=name, called=called or name)

    @property
    def deadline(self) -> float | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A number that only grows, so that ids are never used twice, not even after a restart."""

    table: ClassVar[str] = "counter"
    name: str
    value: int

    @property
    def key(self) -> str:
        return self.name

    @property
    def deadline(self) -> float | None:
        return None


Row = Agent | Session | Member | Jar | Tab | SlotRequest | Reservation | Loop | Consent | Counter
ROW_TYPES: tuple[type[Row], ...] = (
    Agent, Session, Member, Jar, Tab, SlotRequest, Reservation, Loop, Consent, Counter,
)  # fmt: skip
