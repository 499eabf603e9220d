"""Views: what operations answer. Names are camelCase on the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from roost.hints import Spelling, spelled
from roost.vocabulary import Color, JarPolicy, Lifetime


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """Return the value with every text in it as ``redact`` returns it."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, View):
        return value.redacted(redact)
    if isinstance(value, Mapping):
        return {redacted(key, redact): redacted(one, redact) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(one, redact) for one in value)
    return value


class ShownPicture(BaseModel):
    """A JPEG picture in base64 that the person shows an agent."""

    model_config = ConfigDict(frozen=True)
    data: str = Field(repr=False)
    mime_type: str = "image/jpeg"


class View(BaseModel):
    """Base of all views. Fields may hold page text; ``roost.frontends.mcp.replies`` marks it.

    notes: lines that the caller should read whatever it asked. Roost's own words, never page text.
        A ``Hint`` among them names operations; front ends spell them.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore"
    )
    raw: ClassVar[frozenset[str]] = frozenset()
    """Fields with encoded pictures, in which there is no text to redact."""
    notes: list[str] | None = None
    _pictures: tuple[ShownPicture, ...] = PrivateAttr(default=())

    @property
    def pictures(self) -> tuple[ShownPicture, ...]:
        """Pictures of the person's for a reader that takes images. They are not on the wire: other
        callers ask for them (``Drawings``)."""
        return self._pictures

    def with_news(self, notes: list[str], pictures: Sequence[ShownPicture]) -> Self:
        """Return the view with lines and pictures that the caller should see whatever it asked."""
        view = self.model_copy(update={"notes": [*notes, *(self.notes or ())]} if notes else None)
        view._pictures = tuple(pictures)
        return view

    def spelled(self, spell: Spelling) -> Self:
        """Return the view with its notes in the words of that reader."""
        if not self.notes:
            return self
        return self.model_copy(update={"notes": [spelled(note, spell) for note in self.notes]})

    def redacted(self, redact: Callable[[str], str]) -> Self:
        """Return the view with every text in it as ``redact`` returns it."""
        texts = {name: redacted(value, redact) for name, value in self if name not in self.raw}
        return self.model_copy(update=texts)

    def largest_text(self) -> int:
        """Return the length of the longest text among the view's own fields."""
        return max((len(value) for _, value in self if isinstance(value, str)), default=0)

    def to_wire(self) -> dict[str, Any]:
        """Return the view as JSON data, in camelCase, without fields that are None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Pong(View):
    """The empty answer to a ping."""


class TabView(View):
    """One tab."""

    tab: str
    url: str
    title: str = ""
    current: bool = False
    state: str | None = None
    """Only given if the tab is not open: opening, crashed, lost or parked."""
    label: str | None = None
    """The session's own name for the tab, which works wherever the id does."""
    owner_id: str | None = None
    """The tab's owner. Only given if agents may read each other's tabs."""


class TabsView(View):
    """The caller's tabs, and what the call did to them.

    current: the caller's current tab.
    opened, closed: the tab that this call opened or closed.
    evicted: tabs that were closed to make room.
    tab_pool: used slots and limit, for example ``3/12``.
    """

    tabs: list[TabView]
    current: str | None = None
    opened: str | None = None
    closed: str | None = None
    evicted: list[str] | None = None
    tab_pool: str | None = None
    snapshot: str | None = None
    """The selected or opened page, or what changed on it, if the caller asked for that."""
    changes: str | None = None
    """How many lines of the page changed, if ``snapshot`` is a diff."""


class PageView(View):
    """A tab after a navigation.

    status: HTTP status of the response.
    opened: True if the call opened the tab.
    evicted: tabs that were closed to make room.
    """

    tab: str
    url: str
    title: str
    status: int | None = None
    opened: bool | None = None
    evicted: list[str] | None = None
    downloads: list[str] | None = None
    """Files that the address turned out to be. The tab stayed where it was."""
    snapshot: str | None = None
    """The page, or what changed on it, if the caller asked for that."""
    changes: str | None = None
    """How many lines of the page changed, if ``snapshot`` is a diff."""


class ValueView(View):
    """A JavaScript value. ``value`` is None for ``undefined``."""

    tab: str
    value: Any = None

    def to_wire(self) -> dict[str, Any]:
        wire = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"value"})
        # The value is plain JSON and may be large. Copying it would take longer than all the rest.
        return wire if self.value is None else wire | {"value": self.value}


class SessionView(View):
    """One session and its tabs."""

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
    """The caller's own name for the session."""
    group: str | None = None
    """The tab group that shows the session, once it has a tab, in browsers with tab groups."""
    kept_seconds: int | None = None
    """Set for a session without agents: how long Roost keeps it for its conversation to return."""
    parent: str | None = None
    """Set for a sub-agent's session: the session of the agent that started the sub-agent."""


class FrontView(View):
    """The tab that the person sees now, above all other windows."""

    session: str
    tab: str


class StepView(View):
    """One step of a batch that was begun.

    tool: the operation's name.
    answer: the view that the operation answers. Over the socket and HTTP it is JSON data.
    error: the error that the operation answers, in its wire shape.
    """

    tool: str
    answer: Any = None
    error: dict[str, Any] | None = None


class BatchView(View):
    """The outcome of a batch.

    of: how many steps the batch has.
    steps: the steps that were begun, in order. The last one may have an error.
    not_begun: how many steps were not begun, because an error or the deadline came before.
    tab: the tab of the last step that worked in one.
    snapshot, changes: that tab's page after the batch, if the caller asked for it.
    """

    of: int
    steps: list[StepView]
    not_begun: int = 0
    tab: str | None = None
    snapshot: str | None = None
    changes: str | None = None

    @property
    def failed(self) -> int:
        """How many of the steps failed."""
        return sum(step.error is not None for step in self.steps)

    def spelled(self, spell: Spelling) -> Self:
        """Return the view with notes and hints in the words of that reader."""
        steps = [
            step
            if step.error is None
            else step.model_copy(
                update={"error": {**step.error, "hint": spelled(step.error["hint"], spell)}}
            )
            for step in self.steps
        ]
        return super().spelled(spell).model_copy(update={"steps": steps})


class BatchProgressView(View):
    """How far a batch had come that a restart of the broker interrupted.

    done: steps that were done. None: nothing is known about the batch.
    """

    done: int | None = None
    of: int | None = None


class NamedPageView(View):
    """A page that was opened by name.

    ``target_id`` is the browser's own id, as CDP clients know it.
    """

    tab_id: str
    target_id: str
    session_id: str
    url: str


class TokenView(View):
    """A session's token. It is a secret: never write it to logs, the audit trail or other views."""

    session: str
    token: str = Field(repr=False)


class DashboardView(View):
    """Where the dashboard is, and a code that opens it once. The code is a secret."""

    address: str
    code: str = Field(repr=False)


class LeaseView(View):
    """The lease of the session's agent that has no connection.

    ``expires_in_ms``: time the agent lives if nobody calls. None: the session has no such agent.
    """

    session: str
    expires_in_ms: int | None = None


class SessionsView(View):
    """The caller's sessions."""

    sessions: list[SessionView]


class HandoffView(View):
    """What the person answered.

    answer: ``done``, ``cannot`` or ``waiting``.
    note: what the person says to the agent.
    """

    session: str
    answer: Literal["done", "cannot", "waiting"]
    note: str | None = None


class DrawnElementView(View):
    """An element that the person drew around or pointed at. Role and name are page text."""

    ref: str
    role: str
    name: str


class DrawingView(View):
    """What the person has shown: a drawing on the page, and a line of text.

    text: the person's words.
    kinds: ``box`` or ``arrow`` for each shape.
    x, y, width, height: the drawn part, in CSS pixels of the viewport.
    data, path: the picture of that part with the drawing on it (JPEG), in base64 or as a file.
    """

    tab: str
    text: str
    kinds: list[str]
    x: float
    y: float
    width: float
    height: float
    elements: list[DrawnElementView]
    data: str | None = None
    path: str | None = None


class DrawingsView(View):
    """What the person has shown in this session, the newest first."""

    session: str
    drawings: list[DrawingView]


class DisposedView(View):
    """The session that was disposed, and how many of its tabs were closed."""

    disposed: str
    tabs_closed: int


class SpaceView(View):
    """The caller's place in the queue for a slot.

    tab_pool: used slots and limit, for example ``3/12``.
    position: place in the queue; 1 is next. None if the caller does not wait.
    pending_requests: how many sessions wait.
    """

    tab_pool: str
    your_tabs: int
    queued: bool
    position: int | None = None
    you_have_reservation: bool
    reservation_expires_in_ms: int | None = None
    pending_requests: int
    fair_share: int | None = None
    """Slots that each session may keep while others wait. None: this browser has no limit."""
    share_enforced_in_ms: int | None = None
    """Time until a session above its fair share must give the caller a slot, unless all its tabs
    are in use. None: the caller does not wait or has its share, or no session is above its share.
    """
    should_grant: bool
    """Another session waits and the caller has many tabs."""


class GrantView(View):
    """The tab that was closed for the first session in the queue."""

    granted: bool
    closed: str
    tab_pool: str
    pending_requests: int


class LoopView(View):
    """The session's focus loop. Only ``active`` is given if there is none."""

    active: bool
    prompt: str | None = None
    iteration: int | None = None
    max_iterations: int | None = None
    completion_phrase: str | None = None
    seconds_left: int | None = None


class BrokerView(View):
    """The broker process.

    http: base address of its HTTP front end.
    key_problem: why the key of stored logins and secrets is missing, if it is.
    """

    pid: int
    version: str
    uptime_seconds: int
    http: str | None = None
    key_problem: str | None = None


class BrowserView(View):
    """One browser and how many of its slots are used."""

    id: str
    kind: str
    version: str | None = None
    pid: int | None = None
    headless: bool
    tabs: int
    capacity: int


class AgentView(View):
    """One agent."""

    id: str
    pid: int
    session: str
    idle_seconds: int
    connected: bool
    name: str
    leased: bool = False
    """The agent has no connection (HTTP) and lives by its calls."""


class RequestView(View):
    """A session that waits for a slot."""

    session: str
    browser: str
    agent: str
    waiting_seconds: int


class ReservationView(View):
    """A slot that is reserved for a session."""

    session: str
    browser: str
    agent: str
    expires_in_ms: int


class StatusView(View):
    """The state of the broker: all of it for the operator, for an agent only its own part."""

    broker: BrokerView
    browsers: list[BrowserView]
    agents: list[AgentView]
    sessions: list[SessionView]
    requests: list[RequestView]
    reservations: list[ReservationView]

    def to_wire(self) -> dict[str, Any]:
        # Callers rely on these fields, so they are present even without a value.
        wire = super().to_wire()
        wire["broker"].setdefault("http", None)
        for browser in wire["browsers"]:
            browser.setdefault("version", None)
            browser.setdefault("pid", None)
        return wire
