"""The dashboard's side of the broker: what a person who watches the agents sees and asks.

A **viewer** is one open dashboard page. It gets the wall (one tile for each session), the feed
(what agents did) and films of tabs, and performs operations as the operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.api.broker import BrokerApi
from roost.api.views import BrowserView, TabView, View
from roost.local.tcp_peers import Address
from roost.vocabulary import Color


class TileState(StrEnum):
    """What a session does now. If several states apply, the tile shows the first of this list."""

    ASKS = "asks"
    """Its agent asks the person to do something."""
    PAUSED = "paused"
    """A person has it."""
    WAITING = "waiting"
    """It waits for a slot."""
    DIALOG = "dialog"
    """A dialog is open in its current tab."""
    CRASHED = "crashed"
    """The process of its current tab died."""
    LOST = "lost"
    """Its browser is not there, or its current tab is being restored."""
    WORKING = "working"
    """A call of an agent is under way."""
    AWAY = "away"
    """No agent is in it; it is kept for its agent to come back."""
    IDLE = "idle"


class TabAsksView(View):
    """A tab whose page waits for an answer.

    dialog: text of the open dialog: page text.
    chooser: the page asks for one file, or for many.
    """

    tab: str
    dialog: str | None = None
    chooser: Literal["one", "many"] | None = None


class TileView(View):
    """One session on the wall.

    agent: the program that its agent runs in.
    seen: seconds since 1970 of the agent's last call. None: no call yet.
    current: the tab that the tile shows.
    """

    id: str
    name: str
    color: Color
    browser: str
    state: TileState
    paused: bool
    agent: str = ""
    seen: int | None = None
    current: str | None = None
    tabs: list[TabView]
    question: str | None = None
    """What its agent asks the person to do, in the agent's words; for an approval, what the agent
    wants to do, in Roost's words."""
    approval: bool | None = None
    """True if the question is an approval."""
    origin: str | None = None
    """The origin that the approval is about: page text."""
    asking: list[TabAsksView] = Field(default_factory=list)
    """Tabs whose page waits for an answer."""
    parent: str | None = None
    """Set for a sub-agent's session: the session of the agent that started the sub-agent."""
    policy: list[str] = Field(default_factory=list)
    """Sources of the policies that restrict its agents. Empty: everything is allowed."""


class WallView(View):
    """All sessions and what they share. ``started``: when the broker began, since 1970."""

    version: str
    started: int
    browsers: list[BrowserView]
    tiles: list[TileView]
    waiting: list[str]
    """Sessions that wait for a slot, the first in front."""


class FindingView(View):
    """One thing that ``roost doctor`` has checked. ``verdict``: ok, warning or failed."""

    name: str
    verdict: str
    detail: str
    fix: str | None = None


class FindingsView(View):
    """Everything that ``roost doctor`` has checked."""

    findings: list[FindingView]


class ProcessesView(View):
    """What the broker, or one browser, uses with all its processes.

    processor: processor cores in use since the last look. None at the first look.
    """

    name: str
    processes: int
    memory_bytes: int
    processor: float | None = None


class SessionUsageView(View):
    """What the pages of one session use: memory of scripts and documents, and processor cores."""

    session: str
    memory_bytes: int
    processor: float | None = None


class ConsentView(View):
    """The person's answer: agents of that name may use that browser. None: no answer yet."""

    browser: str
    name: str
    allow: bool | None = None


class HouseView(View):
    """The house: what is used and what is set. Sessions in browsers that cannot tell are absent."""

    processes: list[ProcessesView]
    sessions: list[SessionUsageView]
    consents: list[ConsentView]
    settings: dict[str, str]


class FeedView(View):
    """Earlier lines of the audit trail, in order.

    older: pass this as ``before`` to get the lines before these. None: there are none.
    """

    lines: list[dict[str, Any]]
    older: str | None = None


class FilmKind(StrEnum):
    """How a film is shown."""

    TILE = "tile"
    """Small and slow: one of many on the wall."""
    LARGE = "large"
    """Large and fast: the one that the person looks at."""


@dataclass(frozen=True, slots=True)
class FilmWish:
    """A film that a viewer wants: ``number`` is the viewer's own name for it."""

    number: int
    tab: str
    kind: FilmKind


class PersonInput(BaseModel):
    """One thing that the person did with mouse or keyboard in a film.

    x, y: the point, in CSS pixels of the page.
    key: one character, or the DOM's name of a key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["move", "down", "up", "wheel", "key_down", "key_up", "text"]
    x: float = Field(default=0, ge=-100_000, le=100_000)
    y: float = Field(default=0, ge=-100_000, le=100_000)
    dx: float = Field(default=0, ge=-100_000, le=100_000)
    dy: float = Field(default=0, ge=-100_000, le=100_000)
    button: Literal["left", "right", "middle"] = "left"
    clicks: int = Field(default=1, ge=1, le=3)
    key: str = Field(default="", max_length=32)
    text: str = Field(default="", max_length=100_000)


class DrawnShape(BaseModel):
    """One shape of a drawing, in CSS pixels of the viewport.

    x, y: a corner of the box, or the arrow's start.
    to_x, to_y: the opposite corner, or the arrow's tip.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)
    kind: Literal["box", "arrow"]
    x: float = Field(ge=-100_000, le=100_000)
    y: float = Field(ge=-100_000, le=100_000)
    to_x: float = Field(ge=-100_000, le=100_000)
    to_y: float = Field(ge=-100_000, le=100_000)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x, y, width and height of the shape."""
        left, top = min(self.x, self.to_x), min(self.y, self.to_y)
        return left, top, abs(self.to_x - self.x), abs(self.to_y - self.y)

    @property
    def meant(self) -> tuple[float, float, float, float]:
        """x, y, width and height of what the shape means: an arrow means its tip."""
        return (self.to_x, self.to_y, 0.0, 0.0) if self.kind == "arrow" else self.box


class PersonDrawing(BaseModel):
    """What the person shows an agent: shapes on the picture of a tab, and a line of text.

    picture: the drawn part as the person saw it, with the drawing on it: JPEG in base64.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    tab: str = Field(max_length=32)
    text: str = Field(min_length=1, max_length=2000)
    shapes: list[DrawnShape] = Field(min_length=1, max_length=8)
    picture: str = Field(max_length=240_000, repr=False)


class ViewerEar(Protocol):
    """Gets what a viewer sees. No method waits or raises."""

    def showed(self, wall: WallView) -> None:
        """The wall has changed."""

    def fed(self, lines: Sequence[bytes]) -> None:
        """Agents did something: lines of the audit trail, as JSON, in order."""

    def filmed(self, film: int, picture: bytes, viewport: tuple[float, float]) -> None:
        """The next picture of that film, in JPEG. ``viewport``: the page's size in CSS pixels."""

    def missed(self, film: int, why: str) -> None:
        """The film has no picture now. ``why``: the reason, in Roost's words."""


class Viewer(Protocol):
    """One open dashboard."""

    @property
    def api(self) -> BrokerApi:
        """The broker as the operator may use it."""

    @property
    def token(self) -> str:
        """A new token for the same person. It is a secret."""

    def want(self, films: Sequence[FilmWish]) -> None:
        """Say which films to show from now on. All others end."""

    def seen(self, film: int) -> None:
        """Ask for the film's next picture, because the last one was drawn."""

    async def take(self, session: str) -> None:
        """Pause the session and let this viewer, and no other, act in it. Raises ``BadRequest`` if
        another viewer has it, ``SessionGone`` if it is gone."""

    async def give(self, session: str, note: str) -> None:
        """Release what the person holds down, and give the session back to its agent."""

    def act(self, tab: str, inputs: Sequence[PersonInput]) -> None:
        """Send the person's input to a tab of a session that this viewer has taken. Input comes
        after earlier input; if too much waits, it is dropped. Raises ``BadRequest`` or
        ``TabGone``."""

    def begin_file(self, tab: str, name: str, size: int) -> None:
        """Announce a file for the file chooser of a tab in a session that this viewer has taken.
        ``add_bytes`` brings its bytes. Raises ``BadRequest``, ``TooLarge`` or ``TabGone``."""

    async def add_bytes(self, data: bytes) -> None:
        """Add bytes to the file that was announced last. Raises ``BadRequest`` for more bytes than
        were announced."""

    async def choose_files(self, tab: str) -> None:
        """Give the announced files to the page that asks for files. Raises ``BadRequest``,
        ``NotFound`` if the page asks for none, or ``TabGone``."""

    async def feed(self, session: str | None, before: str | None) -> FeedView:
        """Return earlier lines of the audit trail, of one session or of all."""

    async def house(self) -> HouseView:
        """Return what is used and what is set."""

    async def findings(self) -> FindingsView:
        """Run ``roost doctor`` and return its findings."""

    def forbid(self, browser: str, name: str) -> None:
        """Take back the person's consent: agents of that name may no longer use that browser. To
        give consent, the person answers in the browser itself."""

    async def show_agent(self, drawing: PersonDrawing) -> None:
        """Show the drawing to the agent of the tab's session, with its next reply. Raises
        ``BadRequest`` or ``TabGone``."""

    def leave(self) -> None:
        """End everything of this viewer. A session that it has taken stays paused. Safe to call
        twice."""


class DashboardDoor(Protocol):
    """Lets viewers in."""

    async def check_viewer(self, here: Address, there: Address) -> None:
        """Raise ``Unauthorized`` if the process at the other end of that connection is a browser
        that agents use."""

    async def enter(self, *, code: str | None, token: str | None, ear: ViewerEar) -> Viewer:
        """Let a viewer in by a one-time code or by the token that an earlier viewer was given.

        The ear gets the wall and the newest lines of the feed at once. Raises ``Unauthorized``.
        """
