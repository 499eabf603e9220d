"""THE table of operations: everything a caller may ask of the broker.

Each class is one row: its fields are the arguments (camelCase on the wire, as agents know them from
Playwright), its type parameter what it answers, its class variables what every front end needs to
know about it. Descriptions are what agents read, so they are short.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from roost.api import views
from roost.errors import BadRequest
from roost.vocabulary import LOOP_ITERATIONS, LOOP_ITERATIONS_MAX, LOOP_PHRASE_CHARS, JarPolicy

R = TypeVar("R", bound=views.View, covariant=True)


class Audience(StrEnum):
    """Who may be shown the operation."""

    CORE = "core"
    """A tool every agent sees."""
    INNER = "inner"
    """For front ends and the command line; an agent may call it, it is no tool."""
    OPERATOR = "operator"
    """The person's alone."""


class Answers(Generic[R]):
    """Marks what an operation answers, so that ``await api.call(op)`` is typed."""


class Operation(BaseModel):
    """Base of all rows."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid"
    )
    op: ClassVar[str]
    title: ClassVar[str]
    reply: ClassVar[type[views.View]]
    audience: ClassVar[Audience] = Audience.CORE
    read_only: ClassVar[bool] = False
    """Changes nothing, so it may be repeated after a broker restart."""
    destructive: ClassVar[bool] = False
    audited: ClassVar[tuple[str, ...]] = ()
    """Arguments that stand in the audit trail. Typed text and scripts never do."""

    def only_reads(self) -> bool:
        """As ``read_only``, of this very call."""
        return self.read_only

    def to_wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class SessionOperation(Operation):
    """Works in one session."""

    session: str | None = Field(None, max_length=64, description="Session; default: your own")


class PageOperation(SessionOperation):
    """Works on one tab."""

    tab: str | None = Field(None, max_length=32, description="Tab; default: your current one")


# --- pages -------------------------------------------------------------------------------------


class Navigate(PageOperation, Answers[views.PageView]):
    """Open an address in the tab and wait for the page."""

    op = "browser_navigate"
    title = "Navigate"
    reply = views.PageView
    audited = ("url",)
    url: str = Field(description="http(s) address or about:blank")


class Evaluate(PageOperation, Answers[views.ValueView]):
    """Run a JavaScript function in the page and return its JSON value."""

    op = "browser_evaluate"
    title = "Run JavaScript"
    reply = views.ValueView
    function: str = Field(max_length=1_000_000, description="() => { … }")


class TakeScreenshot(PageOperation, Answers[views.PictureView]):
    """Take a picture of the tab, in the background."""

    op = "browser_take_screenshot"
    title = "Take a screenshot"
    reply = views.PictureView
    read_only = True
    type: Literal["jpeg", "png"] = "jpeg"
    quality: int = Field(60, ge=1, le=100)
    scale: float = Field(0.5, ge=0.1, le=2.0)
    full_page: bool = False


class Tabs(SessionOperation, Answers[views.TabsView]):
    """List, open, close or select tabs of your session."""

    op = "browser_tabs"
    title = "Manage tabs"
    reply = views.TabsView
    audited = ("action", "url")
    action: Literal["list", "new", "close", "select"]
    tab: str | None = Field(None, max_length=32)
    index: int | None = Field(None, ge=0, description="Position in the list, instead of tab")
    url: str | None = Field(None, description="For new")
    evict: bool = Field(True, description="For new: close your oldest tab if the pool is full")

    def only_reads(self) -> bool:
        return self.action == "list"


class Close(PageOperation, Answers[views.TabsView]):
    """Close the tab."""

    op = "browser_close"
    title = "Close the tab"
    reply = views.TabsView
    destructive = True


# --- sessions ----------------------------------------------------------------------------------


class SessionOpen(Operation, Answers[views.SessionView]):
    """Open a session of your own (own tabs, cookies, colour), for example for a sub-agent."""

    op = "session_open"
    title = "Open a session"
    reply = views.SessionView
    audited = ("session", "name", "jar", "profile", "url")
    session: str | None = Field(None, description="Your name for it; found again if it exists")
    name: str | None = Field(None, max_length=80, description="Shown to the person")
    jar: JarPolicy | None = None
    profile: str | None = Field(None, max_length=64)
    browser: str | None = Field(None, max_length=32)
    url: str | None = None
    named: bool = Field(False, description="Keep it after you leave, until it is disposed")


class SessionList(Operation, Answers[views.SessionsView]):
    """List your sessions and their tabs."""

    op = "session_list"
    title = "List sessions"
    reply = views.SessionsView
    read_only = True


class SessionDispose(Operation, Answers[views.DisposedView]):
    """End a session: close its tabs, forget its cookies and files."""

    op = "session_dispose"
    title = "Dispose a session"
    reply = views.DisposedView
    destructive = True
    audited = ("session",)
    session: str = Field(max_length=64)


class SessionShow(SessionOperation, Answers[views.SessionView]):
    """Show one session."""

    op = "session_show"
    title = "Show a session"
    reply = views.SessionView
    audience = Audience.INNER
    read_only = True


class SessionPause(SessionOperation, Answers[views.SessionView]):
    """Hand the session over to the person."""

    op = "session_pause"
    title = "Pause a session"
    reply = views.SessionView
    audience = Audience.INNER
    audited = ("session",)


class SessionResume(SessionOperation, Answers[views.SessionView]):
    """Take the session back from the person."""

    op = "session_resume"
    title = "Resume a session"
    reply = views.SessionView
    audience = Audience.INNER
    audited = ("session",)


# --- tab space ---------------------------------------------------------------------------------


class TabSpaceRequest(SessionOperation, Answers[views.SpaceView]):
    """Queue for a tab slot when the pool is full."""

    op = "tab_space_request"
    title = "Ask for a tab slot"
    reply = views.SpaceView


class TabSpaceGrant(SessionOperation, Answers[views.GrantView]):
    """Give one of your tabs (default: least recently used) to the first in the queue."""

    op = "tab_space_grant"
    title = "Give up a tab"
    reply = views.GrantView
    destructive = True
    audited = ("tab",)
    tab: str | None = Field(None, max_length=32)


class TabSpaceStatus(SessionOperation, Answers[views.SpaceView]):
    """Your place in the queue; waits up to waitSeconds for a reserved slot."""

    op = "tab_space_status"
    title = "Look at the queue"
    reply = views.SpaceView
    read_only = True
    wait_seconds: float = Field(0, ge=0, le=60)


# --- focus loops -------------------------------------------------------------------------------


class LoopStart(SessionOperation, Answers[views.LoopView]):
    """Start a focus loop: you are given the prompt again until done."""

    op = "loop_start"
    title = "Start a loop"
    reply = views.LoopView
    prompt: str = Field(max_length=100_000)
    max_iterations: int = Field(LOOP_ITERATIONS, ge=0, le=LOOP_ITERATIONS_MAX)
    completion_phrase: str | None = Field(None, max_length=LOOP_PHRASE_CHARS)
    completion_promise: str | None = Field(
        None, max_length=LOOP_PHRASE_CHARS, description="Same as completionPhrase"
    )


class LoopStop(SessionOperation, Answers[views.LoopView]):
    """Stop the session's loop."""

    op = "loop_stop"
    title = "Stop the loop"
    reply = views.LoopView


class LoopStatus(SessionOperation, Answers[views.LoopView]):
    """Show the session's loop."""

    op = "loop_status"
    title = "Look at the loop"
    reply = views.LoopView
    read_only = True


class LoopTurn(SessionOperation, Answers[views.LoopView]):
    """The agent wants to stop: count an iteration, or end the loop."""

    op = "loop_turn"
    title = "End a loop's turn"
    reply = views.LoopView
    audience = Audience.INNER
    said: str = Field("", max_length=1_000_000)


# --- the house ---------------------------------------------------------------------------------


class Status(Operation, Answers[views.StatusView]):
    """Show what runs: your sessions, the pool, the queue."""

    op = "roost_status"
    title = "Show the status"
    reply = views.StatusView
    read_only = True


class Ping(Operation, Answers[views.Pong]):
    """Do nothing."""

    op = "ping"
    title = "Ping"
    reply = views.Pong
    audience = Audience.INNER
    read_only = True


class BrowserStart(Operation, Answers[views.BrowserView]):
    """Start the browser now instead of at the first page call."""

    op = "browser_start"
    title = "Start the browser"
    reply = views.BrowserView
    audience = Audience.OPERATOR
    browser: str | None = Field(None, max_length=32)


class BrokerStay(Operation, Answers[views.Pong]):
    """Keep the broker running after its last session."""

    op = "broker_stay"
    title = "Stay"
    reply = views.Pong
    audience = Audience.OPERATOR


class BrokerStop(Operation, Answers[views.Pong]):
    """End the broker and its browsers."""

    op = "broker_stop"
    title = "Stop"
    reply = views.Pong
    audience = Audience.OPERATOR
    destructive = True


OPERATIONS: dict[str, type[Operation]] = {
    operation.op: operation
    for operation in (
        Navigate, Evaluate, TakeScreenshot, Tabs, Close,
        SessionOpen, SessionList, SessionDispose, SessionShow, SessionPause, SessionResume,
        TabSpaceRequest, TabSpaceGrant, TabSpaceStatus,
        LoopStart, LoopStop, LoopStatus, LoopTurn,
        Status, Ping, BrowserStart, BrokerStay, BrokerStop,
    )
}  # fmt: skip


def parse(name: object, arguments: object) -> Operation:
    """The operation a caller asked for by name, or ``BadRequest`` naming what is wrong."""
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise BadRequest(
            f"op: there is no operation {str(name)[:64]!r}.",
            hint=f"Known operations: {', '.join(OPERATIONS)}.",
            field="op",
        )
    try:
        return operation.model_validate(arguments)
    except ValidationError as error:
        raise _explained(operation, error) from None


def _explained(operation: type[Operation], error: ValidationError) -> BadRequest:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"])) or "arguments"
    known = ", ".join(info.alias or name for name, info in operation.model_fields.items())
    return BadRequest(
        f"{field}: {first['msg']}.",
        hint=f"{operation.op} takes: {known or 'no arguments'}.",
        field=field,
    )
