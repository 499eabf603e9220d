"""What callers get back. Spelt in camelCase on the wire, as contract.md says."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.vocabulary import Color, JarPolicy, Lifetime


class View(BaseModel):
    """Base of all replies. Fields may hold page text; ``roost.frontends.mcp.replies`` marks it.

    notes: lines the caller should read whatever it asked. Roost's own words, never page text.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore"
    )
    notes: list[str] | None = None

    def to_wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Pong(View):
    """Nothing, quickly."""


class TabView(View):
    tab: str
    url: str
    title: str = ""
    current: bool = False
    state: str | None = None
    """Only when it is not simply open: opening, crashed, lost, parked."""
    owner_id: str | None = None
    """Only under shared reads."""


class TabsView(View):
    """The caller's tabs, and what the call did to them."""

    tabs: list[TabView]
    current: str | None = None
    opened: str | None = None
    closed: str | None = None
    evicted: list[str] | None = None
    tab_pool: str | None = None


class PageView(View):
    """Where a tab is after a navigation."""

    tab: str
    url: str
    title: str
    status: int | None = None
    opened: bool | None = None
    evicted: list[str] | None = None
    downloads: list[str] | None = None
    """What was there was a file: the tab stayed where it was."""


class ValueView(View):
    """A JavaScript value. ``undefined`` has none."""

    tab: str
    value: Any = None

    def to_wire(self) -> dict[str, Any]:
        wire = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"value"})
        # Plain JSON already, and perhaps much of it: a copy would take longer than all the rest.
        return wire if self.value is None else wire | {"value": self.value}


class SessionView(View):
    id: str
    name: str
    color: Color
    jar: JarPolicy
    named: bool
    lifetime: Lifetime
    paused: bool
    created_at: datetime
    browser: str
    tabs: list[TabView]
    alias: str | None = None
    """The caller's own name for it."""
    group: str | None = None
    """The tab group that shows it, once it has a tab, in a browser that has groups."""


class NamedPageView(View):
    """``target_id`` is the browser's own id, as CDP clients know it."""

    tab_id: str
    target_id: str
    session_id: str
    url: str


class TokenView(View):
    """A secret: never in logs, the audit trail or other people's views."""

    session: str
    token: str = Field(repr=False)


class LeaseView(View):
    """How long the session's agent without a connection lives if nobody calls; None if there is
    none."""

    session: str
    expires_in_ms: int | None = None


class SessionsView(View):
    sessions: list[SessionView]


class DisposedView(View):
    disposed: str
    tabs_closed: int


class SpaceView(View):
    """The caller's place in the queue for a slot."""

    tab_pool: str
    your_tabs: int
    queued: bool
    position: int | None = None
    you_have_reservation: bool
    reservation_expires_in_ms: int | None = None
    pending_requests: int
    fair_share: int | None = None
    """The slots each session may keep while others wait. None: this browser has no limit."""
    share_enforced_in_ms: int | None = None
    """When a session above its fair share has to give you a slot, unless all its tabs are in use.
    None: you do not wait, you have your share, or nobody is above its own."""
    should_grant: bool
    """Somebody waits and you have many tabs."""


class GrantView(View):
    granted: bool
    closed: str
    tab_pool: str
    pending_requests: int


class LoopView(View):
    active: bool
    prompt: str | None = None
    iteration: int | None = None
    max_iterations: int | None = None
    completion_phrase: str | None = None
    seconds_left: int | None = None


class BrokerView(View):
    pid: int
    version: str
    uptime_seconds: int
    http: str | None = None


class BrowserView(View):
    id: str
    kind: str
    version: str | None = None
    pid: int | None = None
    headless: bool
    tabs: int
    capacity: int


class AgentView(View):
    id: str
    pid: int
    session: str
    idle_seconds: int
    connected: bool
    name: str
    leased: bool = False
    """Has no connection (HTTP): alive while it calls."""


class RequestView(View):
    session: str
    browser: str
    agent: str
    waiting_seconds: int


class ReservationView(View):
    session: str
    browser: str
    agent: str
    expires_in_ms: int


class StatusView(View):
    """The whole house for the operator; for an agent, its own part of it."""

    broker: BrokerView
    browsers: list[BrowserView]
    agents: list[AgentView]
    sessions: list[SessionView]
    requests: list[RequestView]
    reservations: list[ReservationView]

    def to_wire(self) -> dict[str, Any]:
        # contract.md names these fields, so they are there also while they have no value.
        wire = super().to_wire()
        wire["broker"].setdefault("http", None)
        for browser in wire["browsers"]:
            browser.setdefault("version", None)
            browser.setdefault("pid", None)
        return wire
