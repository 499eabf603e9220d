"""What happened: the only way the core hears of anything. Its counterpart is ``effects.py``.

Agent ids and secrets are minted by the broker and arrive inside events, so the core rolls no dice;
session, tab and jar ids are counted here.
Events may come late, twice or never; a handler never trusts that the thing it names still exists,
and what a browser says of a tab names the browser's own handle, so last words of a page that is
gone harm nobody.
``agent`` is the caller's identity as bound to its connection, never something the caller wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from roost.vocabulary import (
    LOOP_ITERATIONS,
    AgentId,
    BrowserId,
    JarId,
    JarPolicy,
    Lifetime,
    SessionId,
    TabHandle,
    TabId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """What a session should be if it has to be made. Without an id it gets the next ``s<n>``."""

    lifetime: Lifetime
    id: SessionId | None = None
    name: str | None = None
    browser: BrowserId | None = None
    policy: JarPolicy | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


# --- from agents -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConnected:
    """A new agent said hello. ``lease`` marks one without a connection: it came by the token of
    that session, is in that session alone, and must renew."""

    agent: AgentId
    pid: int
    process_started: str
    name: str
    secret_digest: str
    session: SessionSpec
    lease: bool = False
    folders: tuple[str, ...] = ()
    program: str = ""
    """The program and folder of the agent's client, by the kernel's word."""


@dataclass(frozen=True, slots=True)
class AgentResumed:
    """It came back with its secret, perhaps from another process."""

    agent: AgentId
    pid: int | None = None
    process_started: str = ""


@dataclass(frozen=True, slots=True)
class AgentDisconnected:
    """Its connection closed without a goodbye, or its process is gone. The grace starts."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """It said goodbye."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    agent: AgentId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpenRequested:
    """``alias`` is the id the caller used: local to it. The operator's ids are global."""

    agent: AgentId
    alias: str | None
    spec: SessionSpec
    profile_exists: bool = True
    profile_for_any_agent: bool = False
    """The person lets every agent clone the profile."""


@dataclass(frozen=True, slots=True)
class SessionDisposeRequested:
    agent: AgentId
    session: str


@dataclass(frozen=True, slots=True)
class SessionTokenIssued:
    """Whoever shows the token with that digest is the session, until it ends."""

    session: SessionId
    salt: str
    digest: str


@dataclass(frozen=True, slots=True)
class SessionPauseRequested:
    agent: AgentId
    session: str | None
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JarRequested:
    """A protocol client needs the session's jar, or (``beside``) one more of its own there."""

    agent: AgentId
    session: str | None
    beside: bool = False


@dataclass(frozen=True, slots=True)
class JarReleased:
    """The client that made a jar beside the session's own gives it up, or is gone."""

    jar: JarId


@dataclass(frozen=True, slots=True, kw_only=True)
class TabOpenRequested:
    agent: AgentId
    session: str | None
    url: str
    evict: bool = True
    page: str | None = None
    """The session's own name for the tab: found again if there is one of that name."""
    jar: JarId | None = None
    """Another jar of that session than its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabUseRequested:
    """A page operation wants a tab. ``acts`` is false for reads; ``revives`` for what works on a
    crashed page (navigate, reload)."""

    agent: AgentId
    session: str | None
    tab: str | None
    action: str
    acts: bool
    revives: bool = False


@dataclass(frozen=True, slots=True)
class TabSelectRequested:
    agent: AgentId
    session: str | None
    tab: str


@dataclass(frozen=True, slots=True)
class TabCloseRequested:
    agent: AgentId
    session: str | None
    tab: str | None


@dataclass(frozen=True, slots=True)
class TabOpenAbandoned:
    """The call that opened it ended before the browser answered; nobody wants the tab any more."""

    tab: TabId


@dataclass(frozen=True, slots=True)
class TabSpaceRequested:
    agent: AgentId
    session: str | None


@dataclass(frozen=True, slots=True)
class TabSpaceGranted:
    agent: AgentId
    session: str | None
    tab: str | None


@dataclass(frozen=True, slots=True)
class CaptureRequested:
    agent: AgentId
    tab: TabId
    capture: int


@dataclass(frozen=True, slots=True)
class CaptureEnded:
    """Done, failed or given up: all free the turn."""

    tab: TabId
    capture: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStartRequested:
    agent: AgentId
    session: str | None
    prompt: str
    max_iterations: int = LOOP_ITERATIONS
    phrase: str | None = None


@dataclass(frozen=True, slots=True)
class LoopStopRequested:
    agent: AgentId
    session: str | None


@dataclass(frozen=True, slots=True)
class LoopTurnEnded:
    """The agent wants to stop; ``said`` is its last message, searched for the phrase."""

    agent: AgentId
    session: str | None
    said: str


# --- from browsers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserUp:
    """A browser is ready. ``handles`` are the tabs it has now: the truth rows are held against.
    ``jars`` likewise; and, where tabs are shown in groups, in which group each stands, at which
    address, and in which jar."""

    browser: BrowserId
    handles: frozenset[TabHandle] = field(default_factory=frozenset)
    jars: frozenset[str] = field(default_factory=frozenset)
    groups: Mapping[TabHandle, str] = field(default_factory=dict)
    places: Mapping[TabHandle, str] = field(default_factory=dict)
    jar_of: Mapping[TabHandle, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrowserDown:
    browser: BrowserId


@dataclass(frozen=True, slots=True)
class JarMade:
    jar: JarId
    handle: str
    proxy_port: int | None = None


@dataclass(frozen=True, slots=True)
class JarRemoved:
    jar: JarId


@dataclass(frozen=True, slots=True)
class TabOpened:
    tab: TabId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabOpenFailed:
    tab: TabId


@dataclass(frozen=True, slots=True, kw_only=True)
class TabSpawned:
    """The browser opened a tab nobody asked the broker for: a popup, or the person's own."""

    browser: BrowserId
    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    """The browser's own id of the jar the page is in."""
    url: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class TabVanished:
    """The tab closed in the browser: by its page, by the person, or because we asked."""

    browser: BrowserId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabMovedOn:
    """A document was committed in the tab; it is no longer crashed if it was."""

    browser: BrowserId
    handle: TabHandle
    url: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TabRead:
    """An operation has looked into the page: its title now, and how far refs are numbered."""

    tab: TabId
    title: str
    next_ref: int
    next_frame: int
    frames: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TabBroke:
    """The page's process died."""

    browser: BrowserId
    handle: TabHandle


# --- from the person, in a browser of their own --------------------------------------------------


@dataclass(frozen=True, slots=True)
class TabRegrouped:
    """They moved a tab into that group; None: out of all of them."""

    browser: BrowserId
    handle: TabHandle
    group: str | None


@dataclass(frozen=True, slots=True)
class GroupClosed:
    """They closed a group with all its tabs."""

    browser: BrowserId
    group: str


@dataclass(frozen=True, slots=True)
class PersonSaid:
    """What is to become of the session in that group; None: of all sessions of that browser."""

    browser: BrowserId
    what: Literal["pause", "resume", "end"]
    group: str | None = None


@dataclass(frozen=True, slots=True)
class PersonAnswered:
    """Whether agents of that name may use that browser."""

    browser: BrowserId
    name: str
    allow: bool


# --- from the broker itself --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrokerRestarted:
    """The journal has just been read back: nobody is connected and no browser is up yet."""


@dataclass(frozen=True, slots=True)
class BrokerListens:
    """The broker accepts connections and its endpoint is published: agents can come back."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A deadline may have come, and the broker has handled all input that arrived before.

    Most deadlines are checked at every event. Two kinds are checked here alone: an agent is not
    ended while its hello may wait unread, and a tab is parked for the fair share only when the
    broker knows which tabs are in use.

    ``busy``: tabs with a call under way, an open dialog, a transfer or a DevTools client."""

    busy: frozenset[TabId] = frozenset()


Event = (
    AgentConnected | AgentResumed | AgentDisconnected | AgentLeft | LeaseRenewed
    | SessionOpenRequested | SessionDisposeRequested | SessionTokenIssued | SessionPauseRequested
    | JarRequested | JarReleased
    | TabOpenRequested | TabUseRequested | TabSelectRequested | TabCloseRequested
    | TabOpenAbandoned | TabSpaceRequested | TabSpaceGranted
    | CaptureRequested | CaptureEnded
    | LoopStartRequested | LoopStopRequested | LoopTurnEnded
    | BrowserUp | BrowserDown | JarMade | JarRemoved | TabOpened | TabOpenFailed
    | TabSpawned | TabVanished | TabMovedOn | TabRead | TabBroke | TabRegrouped | GroupClosed
    | PersonSaid | PersonAnswered | BrokerRestarted | BrokerListens | TimePassed
)  # fmt: skip
