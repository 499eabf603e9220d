"""The table of operations: everything a caller may ask of the broker.

Each class is one row. Its fields are the arguments, in camelCase on the wire, as agents know them
from Playwright. Its type parameter is the view it answers. Its class variables describe it to front
ends. Agents read the docstrings as descriptions, so they are short. Write defaults as ``default=``,
because type checkers otherwise treat the argument as required.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from roost.api import views
from roost.api.jar_operations import *
from roost.api.operation import *
from roost.api.page_operations import *
from roost.errors import BadRequest
from roost.vocabulary import (
    LOOP_ITERATIONS,
    LOOP_ITERATIONS_MAX,
    LOOP_PHRASE_CHARS,
    NAME_PATTERN,
    JarPolicy,
)

# --- pages -------------------------------------------------------------------------------------


class Navigate(ShowingOperation, PageOperation, Answers[views.PageView]):
    """Open an address in the tab and wait for the page."""

    op = "browser_navigate"
    title = "Navigate"
    audited = ("url",)
    url: str = Field(description="http(s) address; localhost:3000 and example.com also work")


class Tabs(ShowingOperation, Answers[views.TabsView]):
    """List, open, close or select tabs of your session."""

    op = "browser_tabs"
    title = "Manage tabs"
    open_world = True
    audited = ("action", "url")
    action: Literal["list", "new", "close", "select"]
    tab: str | None = Field(default=None, max_length=32)
    index: int | None = Field(
        default=None, ge=0, description="Position in the list, instead of tab"
    )
    url: str | None = Field(default=None, description="For new")
    evict: bool = Field(
        default=True, description="For new: close your oldest tab if the pool is full"
    )

    def only_reads(self) -> bool:
        return self.action == "list"


class Close(PageOperation, Answers[views.TabsView]):
    """Close the tab."""

    op = "browser_close"
    title = "Close the tab"
    destructive = True
    open_world = False


class PageOpen(SessionOperation, Answers[views.NamedPageView]):
    """Open a page by a name of the session's own, or find it: then it stays where it is."""

    op = "page_open"
    title = "Open a page by name"
    audience = Audience.INNER
    audited = ("name", "url")
    name: str = Field(pattern=f"^{NAME_PATTERN}$")
    url: str | None = Field(default=None, description="Where a new page goes")


class PageClose(SessionOperation, Answers[views.TabsView]):
    """Close the page of that name."""

    op = "page_close"
    title = "Close a page by name"
    audience = Audience.INNER
    destructive = True
    audited = ("name",)
    name: str = Field(max_length=64)


# --- sessions ----------------------------------------------------------------------------------


class SessionOpen(Operation, Answers[views.SessionView]):
    """Open a session of your own (own tabs, cookies, colour), for example for a sub-agent."""

    op = "session_open"
    title = "Open a session"
    open_world = True
    audited = ("session", "name", "jar", "profile", "url")
    session: str | None = Field(
        default=None, description="Your name for it; found again if it exists"
    )
    name: str | None = Field(default=None, max_length=80, description="Shown to the person")
    jar: JarPolicy | None = Field(
        default=None, description="Cookies: none yet, profile's, or the browser's own"
    )
    profile: str | None = Field(default=None, max_length=64)
    browser: str | None = Field(default=None, max_length=32)
    url: str | None = None
    named: bool = Field(default=False, description="Keep it after you leave, until it is disposed")


class SessionList(Operation, Answers[views.SessionsView]):
    """List your sessions and their tabs."""

    op = "session_list"
    title = "List sessions"
    read_only = True
    wait_seconds: float = Field(
        default=0, ge=0, le=60, description="Wait while a person has one (PAUSED)"
    )

    def waits(self) -> float:
        return self.wait_seconds


class SessionDispose(Operation, Answers[views.DisposedView]):
    """End a session: close its tabs, forget its cookies and files."""

    op = "session_dispose"
    title = "Dispose a session"
    idempotent = True
    destructive = True
    audited = ("session",)
    session: str = Field(max_length=64)


class SessionShow(SessionOperation, Answers[views.SessionView]):
    """Show one session."""

    op = "session_show"
    title = "Show a session"
    audience = Audience.INNER
    read_only = True


class SessionToken(SessionOperation, Answers[views.TokenView]):
    """The session's token: whoever holds it is that session over HTTP, and nothing else."""

    op = "session_token"
    title = "Get a session's token"
    audience = Audience.INNER


class SessionHeartbeat(SessionOperation, Answers[views.LeaseView]):
    """Keep the session's agent that has no connection alive for another lease."""

    op = "session_heartbeat"
    title = "Renew a lease"
    audience = Audience.INNER
    read_only = True


class SessionPause(SessionOperation, Answers[views.SessionView]):
    """Hand the session over to the person."""

    op = "session_pause"
    title = "Pause a session"
    audience = Audience.INNER
    audited = ("session",)


class SessionResume(SessionOperation, Answers[views.SessionView]):
    """Take the session back from the person."""

    op = "session_resume"
    title = "Resume a session"
    audience = Audience.INNER
    audited = ("session",)


# --- tab space ---------------------------------------------------------------------------------


class TabSpaceRequest(SessionOperation, Answers[views.SpaceView]):
    """Queue for a tab slot when the pool is full."""

    op = "tab_space_request"
    title = "Ask for a tab slot"
    idempotent = True


class TabSpaceGrant(SessionOperation, Answers[views.GrantView]):
    """Give one of your tabs (default: least recently used) to the first in the queue."""

    op = "tab_space_grant"
    title = "Give up a tab"
    destructive = True
    audited = ("tab",)
    tab: str | None = Field(default=None, max_length=32)


class TabSpaceStatus(SessionOperation, Answers[views.SpaceView]):
    """Your place in the queue; waits up to waitSeconds for a reserved slot."""

    op = "tab_space_status"
    title = "Look at the queue"
    read_only = True
    wait_seconds: float = Field(default=0, ge=0, le=60)

    def waits(self) -> float:
        return self.wait_seconds


# --- focus loops -------------------------------------------------------------------------------


class LoopStart(SessionOperation, Answers[views.LoopView]):
    """Start a focus loop: you are given the prompt again until done."""

    op = "loop_start"
    title = "Start a loop"
    prompt: str = Field(min_length=1, max_length=100_000)
    max_iterations: int = Field(default=LOOP_ITERATIONS, ge=0, le=LOOP_ITERATIONS_MAX)
    completion_phrase: str | None = Field(
        default=None, max_length=LOOP_PHRASE_CHARS, description="Say it, and the loop ends"
    )
    completion_promise: str | None = Field(
        default=None, max_length=LOOP_PHRASE_CHARS, description="Same as completionPhrase"
    )


class LoopStop(SessionOperation, Answers[views.LoopView]):
    """Stop the session's loop."""

    op = "loop_stop"
    title = "Stop the loop"
    idempotent = True


class LoopStatus(SessionOperation, Answers[views.LoopView]):
    """Show the session's loop."""

    op = "loop_status"
    title = "Look at the loop"
    read_only = True


class LoopTurn(SessionOperation, Answers[views.LoopView]):
    """The agent wants to stop: count an iteration, or end the loop."""

    op = "loop_turn"
    title = "End a loop's turn"
    audience = Audience.INNER
    said: str = Field(default="", max_length=1_000_000)


# --- the house ---------------------------------------------------------------------------------


class Status(Operation, Answers[views.StatusView]):
    """Show what runs: your sessions, the pool, the queue."""

    op = "roost_status"
    title = "Show the status"
    read_only = True


class Ping(Operation, Answers[views.Pong]):
    """Do nothing."""

    op = "ping"
    title = "Ping"
    audience = Audience.INNER
    read_only = True


class BrowserStart(Operation, Answers[views.BrowserView]):
    """Start the browser now instead of at the first page call."""

    op = "browser_start"
    title = "Start the browser"
    audience = Audience.OPERATOR
    browser: str | None = Field(default=None, max_length=32)


class BrokerStay(Operation, Answers[views.Pong]):
    """Keep the broker running after its last session."""

    op = "broker_stay"
    title = "Stay"
    audience = Audience.OPERATOR


class BrokerStop(Operation, Answers[views.Pong]):
    """End the broker and its browsers."""

    op = "broker_stop"
    title = "Stop"
    audience = Audience.OPERATOR
    destructive = True


OPERATIONS: dict[str, type[Operation]] = {
    operation.op: operation
    for operation in (
        Navigate, NavigateBack, NavigateForward, Reload,
        Snapshot, Find, GetContent, PageState, WaitFor, TakeScreenshot, PdfSave,
        Click, Type, FillForm, SelectOption, PressKey, Hover, Drag, Scroll,
        FileUpload, HandleDialog, HandleConsent, Resize, Evaluate,
        MouseClickXy, MouseMoveXy, MouseDragXy, MouseWheel,
        ConsoleMessages, NetworkRequests, NetworkRequest, Downloads, Cookies, StorageState,
        Tabs, Close, PageOpen, PageClose,
        SessionOpen, SessionList, SessionDispose, SessionShow, SessionPause, SessionResume,
        SessionToken, SessionHeartbeat,
        ProfileImport, ProfileList, ProfileRemove,
        TabSpaceRequest, TabSpaceGrant, TabSpaceStatus,
        LoopStart, LoopStop, LoopStatus, LoopTurn,
        Status, Ping, BrowserStart, BrokerStay, BrokerStop,
    )
}  # fmt: skip


def parse_for_model(name: str, arguments: Mapping[str, Any]) -> Operation:
    """Return the operation of a front end for models: arguments that the caller did not give come
    from ``Operation.model_defaults``."""
    operation = OPERATIONS.get(name)
    defaults = {} if operation is None else operation.model_defaults
    return parse(name, {**defaults, **arguments})


def parse(name: object, arguments: object) -> Operation:
    """Return the operation with these arguments. ``BadRequest`` names what is wrong."""
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise BadRequest(
            f"op: there is no operation {str(name)[:64]!r}.",
            hint=f"{nearest(str(name), OPERATIONS)}Known operations: {', '.join(OPERATIONS)}.",
            field="op",
        )
    try:
        return operation.model_validate(arguments)
    except ValidationError as error:
        raise explained(operation, operation.op, error) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean …? `` if the name looks misspelt, to begin a hint with."""
    near = get_close_matches(name[:64], list(known), n=1)
    return f"Did you mean {near[0]}? " if near else ""


FIELD_CHARS = 80
"""Maximum length of an argument's name in an error; callers send names of any length."""


def explained(model: type[BaseModel], called: str, error: ValidationError) -> BadRequest:
    """Build the error for invalid arguments: which field, and why.

    model: class that validated the arguments.
    called: name of the operation, as the caller knows it.
    """
    found = error.errors(include_url=False, include_input=False)
    unknown = [one for one in found if one["type"] == "extra_forbidden"]
    # A misspelt argument is often also a missing one. Naming the unknown word helps more.
    first = (unknown or found)[0]
    field = ".".join(map(str, first["loc"]))[:FIELD_CHARS] or "arguments"
    known = [info.alias or name for name, info in model.model_fields.items()]
    near = nearest(field, known) if unknown else ""
    said = "there is no such argument" if unknown else first["msg"]
    return BadRequest(
        f"{field}: {said}.",
        hint=f"{near}{called} takes: {', '.join(known) or 'no arguments'}.",
        field=field,
    )
