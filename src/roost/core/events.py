"""Events: facts, which the core cannot refuse. Their counterpart is ``effects.py``.

Requests are functions (``core/__init__.py`` lists them), because somebody waits for their answer.
Facts are data: they may come late, twice or never, and the broker queues those that come while it
decides. So a handler never trusts that what an event names still exists. Browser events name a tab
by the browser's own handle, so a late event of a closed page cannot affect another tab.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from roost.vocabulary import (
    AgentId,
    BrowserId,
    JarId,
    SessionId,
    TabHandle,
    TabId,
)

# --- from agents -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentDisconnected:
    """The agent's connection closed without a goodbye, or its process is gone. The grace starts."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """The agent ended by itself. ``why``: how, for the audit trail."""

    agent: AgentId
    why: str = "said goodbye"


@dataclass(frozen=True, slots=True)
class SubagentEnded:
    """The client reported that the sub-agent ended. The client may continue it later."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call of an agent without a connection ended. The agent's lease starts anew."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class JarReleased:
    """The CDP client that made an extra jar released it or disconnected."""

    jar: JarId


@dataclass(frozen=True, slots=True)
class TabOpenAbandoned:
    """The call that asked for the tab ended before the browser answered. Nobody needs the tab."""

    tab: TabId


@dataclass(frozen=True, slots=True)
class CaptureEnded:
    """The capture is done, failed or was cancelled. Each frees the turn."""

    tab: TabId
    capture: int


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
class TabReady:
    """The page that an ``OpenTab`` effect ordered is open."""

    tab: TabId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabOpenFailed:
    """The page that an ``OpenTab`` effect ordered could not be opened."""

    tab: TabId


@dataclass(frozen=True, slots=True, kw_only=True)
class TabOpened:
    """The browser opened a tab that the broker did not order: a popup, or a tab of the person."""

    browser: BrowserId
    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    """The browser's handle of the jar that the page is in."""
    url: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class TabClosed:
    """The tab closed in the browser: by its page, by the person, or on the broker's order."""

    browser: BrowserId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabNavigated:
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
class SecretFilled:
    """A secret of the person is about to be filled into the tab's document.

    document: when the main document began, in milliseconds; no two documents of a tab agree.
    secret: the name of the secret.
    """

    tab: TabId
    document: float
    secret: str


@dataclass(frozen=True, slots=True)
class DownloadAdmitted:
    """A page of that origin downloads a file into the session, as the policy allows."""

    session: SessionId
    origin: str


@dataclass(frozen=True, slots=True)
class TabCrashed:
    """The page's process died."""

    browser: BrowserId
    handle: TabHandle


# --- from the person, in a browser of their own --------------------------------------------------


@dataclass(frozen=True, slots=True)
class TabMoved:
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
    AgentDisconnected | AgentLeft | SubagentEnded | CallEnded | JarReleased | TabOpenAbandoned
    | CaptureEnded | BrowserUp | BrowserDown | JarMade | JarRemoved | TabReady | TabOpenFailed
    | TabOpened | TabClosed | TabNavigated | TabRead | SecretFilled | DownloadAdmitted
    | TabCrashed | TabMoved | GroupClosed
    | PersonSaid | PersonAnswered | BrokerRestarted | BrokerListens | TimePassed
)  # fmt: skip
