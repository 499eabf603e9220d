"""The table of operations: everything a caller may ask of the broker.

Each class is one row. Its fields are the arguments, in camelCase on the wire, as agents know them
from Playwright. Its type parameter is the view it answers. Its class variables describe it to front
ends. Agents read the docstrings as descriptions, so they are short. Write defaults as ``default=``,
because type checkers otherwise treat the argument as required.

To add an operation, write a class here or in one of the ``*_operations`` modules, a function in
``broker.work``, and an entry in ``WORK`` (``broker.doors.caller``). Tools, verbs, routes and
reference pages follow from the class (``make docs``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from roost.api import views
from roost.api.clipboard_operations import *
from roost.api.condition_operations import *
from roost.api.element_operations import *
from roost.api.input_operations import *
from roost.api.jar_operations import *
from roost.api.move_operations import *
from roost.api.operation import *
from roost.api.page_operations import *
from roost.api.policy_operations import *
from roost.api.secret_operations import *
from roost.errors import BadRequest
from roost.vocabulary import (
    BATCH_SECONDS,
    BATCH_STEPS,
    CALL_SECONDS,
    HANDOFF_SECONDS,
    LABEL_PATTERN,
    LOOP_ITERATIONS,
    LOOP_ITERATIONS_MAX,
    LOOP_PHRASE_CHARS,
    NAME_PATTERN,
    JarPolicy,
    QuestionAnswer,
)

# --- pages -------------------------------------------------------------------------------------


class Navigate(ShowingOperation, PageOperation, Answers[views.PageView]):
    """Open an address in the tab and wait for the page."""

    op = "browser_navigate"
    title = "Navigate"
    conduct = ("navigate",)
    audited = ("url",)
    url: str = Field(description="localhost:3000 and example.com work too")


class Tabs(ShowingOperation, Answers[views.TabsView]):
    """List, open, close or select tabs of your session."""

    op = "browser_tabs"
    title = "Manage tabs"
    conduct = ("navigate",)
    open_world = True
    audited = ("action", "url")
    action: Literal["list", "new", "close", "select"]
    tab: str | None = Field(default=None, max_length=32)
    index: int | None = Field(
        default=None, ge=0, description="Position in the list, instead of tab"
    )
    url: str | None = Field(default=None, description="For new")
    label: str | None = Field(
        default=None, pattern=f"^{LABEL_PATTERN}$", description="For new: a name to use as tab"
    )
    evict: bool = Field(
        default=True, description="For new: close your oldest tab if the pool is full"
    )

    def only_reads(self) -> bool:
        return self.action == "list"


class Close(PageOperation, Answers[views.TabsView]):
    """Close the tab."""

    op = "browser_close"
    title = "Close the tab"
    conduct = ()
    destructive = True
    open_world = False


class PageOpen(SessionOperation, Answers[views.NamedPageView]):
    """Open a page by a name of the session's own, or find it: then it stays where it is."""

    op = "page_open"
    title = "Open a page by name"
    conduct = ("navigate",)
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
    """Open a session of your own (tabs, cookies, colour)."""

    op = "session_open"
    title = "Open a session"
    conduct = ("navigate",)
    open_world = True
    audited = ("session", "name", "jar", "profile", "url")
    session: str | None = Field(
        default=None, description="Your name for it; found again if it exists"
    )
    name: str | None = Field(default=None, max_length=80, description="Shown to the person")
    jar: JarPolicy | None = Field(
        default=None, description="Cookies: none, the profile's, or the browser's own"
    )
    profile: str | None = Field(default=None, max_length=64)
    browser: str | None = Field(default=None, max_length=32)
    url: str | None = None
    named: bool = Field(default=False, description="Keep it after you leave")


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


class Handoff(SessionOperation, Answers[views.HandoffView]):
    """Ask the person to do something here (log in, captcha), and wait. If still waiting, repeat."""

    op = "browser_handoff"
    title = "Ask the person to take over"
    open_world = True
    reason: str = Field(min_length=1, max_length=2000, description="What the person should do")
    wait_seconds: float = Field(default=HANDOFF_SECONDS, ge=0, le=HANDOFF_SECONDS)

    def only_reads(self) -> bool:
        """A repeated call asks nothing new: it goes on waiting for the same question's answer."""
        return True

    def waits(self) -> float:
        return self.wait_seconds


class Drawings(SessionOperation, Answers[views.DrawingsView]):
    """Read what the person has drawn and written on your page for you, the newest first."""

    op = "browser_drawings"
    title = "See what the person shows"
    audience = Audience.ALL
    read_only = True
    open_world = True
    inline: bool = Field(default=True, description="false: pictures to files")


class SessionAnswer(SessionOperation, Answers[views.SessionView]):
    """Answer what the session asks, and give it back."""

    op = "session_answer"
    title = "Answer a session's question"
    audience = Audience.OPERATOR
    audited = ("session", "answer")
    answer: QuestionAnswer
    note: str = Field(default="", max_length=2000, description="What the agent should know")


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
    note: str = Field(default="", max_length=2000, description="What the agent should know")


class SessionFront(SessionOperation, Answers[views.FrontView]):
    """Show the session's window to the person: its most recently used tab, above other windows."""

    op = "session_front"
    title = "Bring a session to the front"
    audience = Audience.OPERATOR
    idempotent = True
    audited = ("session",)


# --- several operations in one call ------------------------------------------------------------

LAST_REF = "@last"
"""In a batch, the argument that stands for the first ref that the step before returned."""


class Batch(ShowingOperation, Answers[views.BatchView]):
    """Do several steps in one call, until one fails. Target @last: the first ref of the step \
before."""

    op = "browser_batch"
    title = "Batch"
    open_world = True
    steps: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=BATCH_STEPS,
        description="Like {tool: click, target: e12}",
    )
    stop_on_error: bool = True

    @property
    def count(self) -> int:
        return len(self.steps)

    @cached_property
    def digest(self) -> str:
        """The digest of the steps, by which a call that is repeated is recognized."""
        told = json.dumps(self.to_wire(), sort_keys=True, default=str)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The steps as operations. ``BadRequest`` names the step that is wrong."""
        return tuple(self.operation(number) for number in range(1, self.count + 1))

    def operation(self, number: int, last: str | None = None) -> Operation:
        """Return one step as an operation.

        number: the step's number; the first is 1.
        last: ref to put in the place of ``@last``.
        """
        tool, arguments = _step_parts(self.steps[number - 1])
        kind = OPERATIONS.get(tool) or OPERATIONS.get(f"browser_{tool}")
        try:
            if kind is None or kind is Batch or kind.audience not in STEP_AUDIENCES:
                why = "there is no batch in a batch" if kind is Batch else "there is no such tool"
                raise BadRequest(f"tool: {why}: {tool[:64]!r}.", hint=_steps_hint(tool))
            defaults = {"snapshot": "none"} if "snapshot" in kind.model_fields else {}
            if self.session is not None and issubclass(kind, SessionOperation):
                defaults["session"] = self.session
            if last is not None:
                arguments = _with_ref(arguments, last)
            return parse(kind.op, {**defaults, **arguments})
        except BadRequest as error:
            wrong = error.retold(message=f"Step {number}: {error.message}")
            wrong.details["step"] = number
            raise wrong from None

    @cached_property
    def ref_steps(self) -> frozenset[int]:
        """The numbers of the steps that use ``@last``."""
        parts = [_step_parts(step)[1] for step in self.steps]
        return frozenset(n for n, given in enumerate(parts, 1) if _with_ref(given, "") != given)

    def only_reads(self) -> bool:
        return all(step.only_reads() for step in self.operations)

    def waits(self) -> float:
        return BATCH_SECONDS - CALL_SECONDS


class BatchProgress(Operation, Answers[views.BatchProgressView]):
    """How far a batch had come when the broker restarted."""

    op = "batch_progress"
    title = "Ask about a batch"
    audience = Audience.INNER
    read_only = True
    digest: str = Field(max_length=64)


STEP_AUDIENCES = (Audience.CORE, Audience.ALL)


def _step_parts(step: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of a step, which models write in several ways."""
    given = {key: value for key, value in step.items() if value is not None}
    named = next((key for key in ("tool", "name", "op") if isinstance(given.get(key), str)), None)
    tool = "" if named is None else str(given.pop(named))
    nested = next((key for key in ("arguments", "args") if isinstance(given.get(key), dict)), None)
    inner = {} if nested is None else given.pop(nested)
    return tool, {**given, **{key: value for key, value in inner.items() if value is not None}}


def _with_ref(value: Any, ref: str) -> Any:
    """Return the arguments with ``@last`` replaced, also inside lists and objects."""
    if isinstance(value, dict):
        return {key: _with_ref(one, ref) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_ref(one, ref) for one in value]
    return ref if value == LAST_REF else value


def _steps_hint(tool: str) -> str:
    known = [op for op, row in OPERATIONS.items() if row.audience in STEP_AUDIENCES]
    known.remove(Batch.op)
    return f"{nearest(tool, known)}A step is {{tool: NAME, …}} with the tool's arguments."


# --- tab space ---------------------------------------------------------------------------------


class TabSpaceRequest(SessionOperation, Answers[views.SpaceView]):
    """Queue for a tab slot when the pool is full."""

    op = "tab_space_request"
    title = "Ask for a tab slot"
    idempotent = True


class TabSpaceGrant(SessionOperation, Answers[views.GrantView]):
    """Give one of your tabs to the first in the queue."""

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


class SubagentReport(Operation, Answers[views.Pong]):
    """A hook of the agent's client reports which sub-agent uses a tool, or that one ended."""

    op = "subagent_report"
    title = "Report a sub-agent"
    audience = Audience.INNER
    read_only = True
    event: Literal["PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop"]
    tool_use_id: str = Field(default="", max_length=200)
    subagent: str = Field(default="", max_length=200)
    """The client's id of the sub-agent. Empty: the main conversation."""
    kind: str = Field(default="", max_length=200)
    command: str = Field(default="", max_length=100_000)
    """What the tool runs in a shell."""


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


class DashboardOpen(Operation, Answers[views.DashboardView]):
    """Give out a code that opens the dashboard once."""

    op = "dashboard_open"
    title = "Open the dashboard"
    audience = Audience.OPERATOR


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
        Snapshot, Find, Get, Is, Highlight, Read, WebMcpList, WebMcpCall,
        GetContent, PageState, WaitFor, TakeScreenshot, ZoomScreenshot,
        PdfSave, Click, TripleClick, Type, FillForm, SelectOption, PressKey, Hover, Drag, Scroll,
        FileUpload, HandleDialog, HandleConsent, Resize, Evaluate,
        PressSequentially, HoldKey, KeyDown, KeyUp, Tap, Swipe, Drop,
        Clipboard, Copy, Paste,
        MouseClickXy, MouseMoveXy, MouseDown, MouseUp, MouseDragXy, MouseWheel,
        Conditions, Route, RouteHar, RouteList, Unroute, NetworkState, SetHeaders, SetCredentials,
        Emulate, InitScript,
        ConsoleMessages, NetworkRequests, NetworkRequest, NetworkMessages, Har,
        Downloads, Cookies, Storage, StorageState,
        Tabs, Close, PageOpen, PageClose,
        SessionOpen, SessionList, SessionDispose, SessionShow, SessionPause, SessionResume,
        SessionFront, Handoff, Drawings, SessionAnswer, SessionToken, SessionHeartbeat,
        SessionPack, SessionUnpack,
        ProfileImport, ProfileList, ProfileRemove,
        FillSecret, Login, SecretList, SecretAdd, SecretRemove, SecretTest,
        PolicyShow, PolicyExplain, PolicySet, PolicyReload, PolicyForget,
        TabSpaceRequest, TabSpaceGrant, TabSpaceStatus,
        LoopStart, LoopStop, LoopStatus, LoopTurn,
        Batch, BatchProgress, SubagentReport,
        Status, Ping, BrowserStart, DashboardOpen, BrokerStay, BrokerStop,
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
