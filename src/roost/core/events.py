"""Events: facts reported to the core, and its only input. Their counterpart is ``effects.py``.

The broker mints agent ids and secrets and puts them into events, so the core needs no randomness.
The core counts session, tab and jar ids itself.
Events may come late, twice or never. So a handler never trusts that what the event names still
exists. Browser events name a tab by the browser's own handle, so a late event of a closed page
cannot affect another tab.
``agent`` is the caller's identity as bound to its connection, never a value that the caller sent.
``session`` and ``tab`` of requests are what the caller sent; None means its own or current one.
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
    """The properties of a session that may have to be made. No id: it gets the next ``s<n>``."""

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
    """A new agent said hello.

    ``lease``: the agent has no connection. It came with a token of that session, works in that
    session only, and must renew its lease.
    """

    agent: AgentId
    pid: int
    process_started: str
    name: str
    secret_digest: str
    session: SessionSpec
    lease: bool = False
    folders: tuple[str, ...] = ()
    program: str = ""
    """The client program and its folder, as the kernel reports them."""


@dataclass(frozen=True, slots=True)
class AgentResumed:
    """The agent came back with its secret, perhaps from another process."""

    agent: AgentId
    pid: int | None = None
    process_started: str = ""


@dataclass(frozen=True, slots=True)
class AgentDisconnected:
    """The agent's connection closed without a goodbye, or its process is gone. The grace starts."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """The agent said goodbye."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    agent: AgentId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpenRequested:
    """The caller wants to open a session, or to find one it opened before.

    ``alias`` is the id the caller sent: for agents a name local to the agent, for the operator
    global.
    """

    agent: AgentId
    alias: str | None
    spec: SessionSpec
    profile_exists: bool = True
    profile_for_any_agent: bool = False
    """True if the person lets every agent clone the profile."""


@dataclass(frozen=True, slots=True)
class SessionDisposeRequested:
    agent: AgentId
    session: str


@dataclass(frozen=True, slots=True)
class SessionTokenIssued:
    """A token was issued for the session. Callers that show it act as the session until it ends."""

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
    """A CDP client needs the session's jar, or (``beside``) an extra jar for itself."""

    agent: AgentId
    session: str | None
    beside: bool = False


@dataclass(frozen=True, slots=True)
class JarReleased:
    """The CDP client that made an extra jar released it or disconnected."""

    jar: JarId


@dataclass(frozen=True, slots=True, kw_only=True)
class TabOpenRequested:
    agent: AgentId
    session: str | None
    url: str
    evict: bool = True
    """If the pool is full, close the session's own LRU tab instead of refusing."""
    page: str | None = None
    """The session's own name for the tab. If a tab of that name exists, it is used."""
    jar: JarId | None = None
    """Extra jar of the session to open the tab in, instead of the session's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabUseRequested:
    """A page operation wants a tab.

    action: verb for the refusal's message.
    acts: False for operations that only read.
    revives: the operation works on a crashed page (navigate, reload).
    """

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
    """The call that asked for the tab ended before the browser answered. Nobody needs the tab."""

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
    """The capture is done, failed or was cancelled. Each frees the turn."""

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
    """The agent wants to stop. The core looks for the phrase in ``said``, its last message."""

    agent: AgentId
    session: str | None
    said: str


# --- from browsers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserUp:
    """A browser is ready. The core compares its rows with what the browser has now.

    handles: the browser's tabs.
    jars: handles of the browser's jars.
    groups, places, jar_of: each tab's group, address and jar, in browsers that show tab groups.
    """

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
    """The browser opened a tab that the broker did not order: a popup, or a tab of the person."""

    browser: BrowserId
    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    """The browser's handle of the jar that the page is in."""
    url: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class TabVanished:
    """The tab closed in the browser: by its page, by the person, or on the broker's order."""

    browser: BrowserId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabMovedOn:
    """A document was committed in the tab. If the tab was crashed, it is no longer."""

    browser: BrowserId
    handle: TabHandle
    url: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TabRead:
    """An operation read the page: its title, and the next free ref and frame numbers."""

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
    """The person moved a tab into that group (None: out of all groups)."""

    browser: BrowserId
    handle: TabHandle
    group: str | None


@dataclass(frozen=True, slots=True)
class GroupClosed:
    """The person closed a group with all its tabs."""

    browser: BrowserId
    group: str


@dataclass(frozen=True, slots=True)
class PersonSaid:
    """The person paused, resumed or ended the session of that group (None: all of that browser)."""

    browser: BrowserId
    what: Literal["pause", "resume", "end"]
    group: str | None = None


@dataclass(frozen=True, slots=True)
class PersonAnswered:
    """The person answered whether agents of that consent label may use that browser."""

    browser: BrowserId
    name: str
    allow: bool


# --- from the broker itself --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrokerRestarted:
    """The journal was just read back. No agent is connected and no browser is up yet."""


@dataclass(frozen=True, slots=True)
class BrokerListens:
    """The broker accepts connections and its endpoint is published: agents can come back."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A deadline may have come, and the broker has handled all input that arrived before.

    Most deadlines are checked at every event. Two kinds are checked only here: an agent must not
    end while its hello waits unread, and a tab is parked for the fair share only when the broker
    has reported which tabs are in use.

    ``busy``: tabs with a call under way, an open dialog, a transfer or a CDP client.
    """

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
