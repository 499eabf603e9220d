"""The page verbs: one row for each thing that `roost VERB` can do.

The names are playwright-cli's; aliases are those of other tools for agents (agent-browser's first).
A row says which fields of the operation are positional. All other fields are flags
(``arguments.py``). A tool without a row gets a verb that is derived from its operation, so that no
tool lacks one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from roost.api import operations as ops
from roost.api.operation import Audience, Operation


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    words: the verb, for example ``tab new``.
    positional: names of the fields that the words after the verb fill, in order. ``…`` after a
        name: the field takes all remaining words.
    example: a line that shows the verb at work.
    fixed: arguments that the verb always sends, unless a word or flag replaces them.
    aliases: other names.
    about: description; default: the operation's.
    """

    words: str
    operation: type[Operation]
    positional: tuple[str, ...] = ()
    example: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    about: str = ""


_STORED: Final = {
    "list": ((), "List what the page's origin has stored there."),
    "get": (("key",), "Show one stored value."),
    "set": (("key", "value"), "Store a value."),
    "delete": (("key",), "Delete a stored value."),
    "clear": ((), "Delete everything that is stored there."),
}


def _storage_verbs() -> tuple[Verb, ...]:
    """playwright-cli's verbs for the two storages of a page, and the same for IndexedDB."""
    found = []
    for word, kind in (
        ("localstorage", "local"),
        ("sessionstorage", "session"),
        ("indexeddb", "indexeddb"),
    ):
        for action, (positional, about) in _STORED.items():
            places = ("database", "store", *positional) if kind == "indexeddb" else positional
            shown = {"database": "app", "store": "items", "key": "theme", "value": "dark"}
            example = " ".join(["roost", f"{word}-{action}", *(shown[name] for name in places)])
            fixed = {"kind": kind, "action": action}
            aliases = () if kind == "indexeddb" else (f"storage {kind} {action}",)
            found.append(
                Verb(f"{word}-{action}", ops.Storage, places, example, fixed, aliases, about)
            )
    return tuple(found)


def _checked(words: str, value: bool, about: str) -> Verb:
    """A verb that gives one field of a form a value. The process builds ``fields`` from it."""
    return Verb(words, ops.FillForm, ("fields",), f"roost {words} e7", {"fields": value}, (), about)


_ROWS: Final = (
    # --- navigating ------------------------------------------------------------------------------
    Verb("open", ops.Navigate, ("url",), "roost open example.com", aliases=("goto", "navigate")),
    Verb("back", ops.NavigateBack, example="roost back", aliases=("go-back",)),
    Verb("forward", ops.NavigateForward, example="roost forward", aliases=("go-forward",)),
    Verb("reload", ops.Reload, example="roost reload"),
    Verb("close", ops.Close, ("tab",), "roost close"),
    Verb("wait", ops.WaitFor, ("text",), 'roost wait "Saved" --timeout 20', aliases=("wait-for",)),
    # --- reading ---------------------------------------------------------------------------------
    Verb("snapshot", ops.Snapshot, ("target",), "roost snapshot --interactive"),
    Verb("find", ops.Find, ("text",), 'roost find "Add to cart"'),
    Verb("read", ops.Read, ("url",), "roost read https://example.com/docs --format outline"),
    Verb("webmcp list", ops.WebMcpList, example="roost webmcp list", aliases=("webmcp-list",)),
    Verb(
        "webmcp call",
        ops.WebMcpCall,
        ("name", "input"),
        """roost webmcp call add '{"a": 2}'""",
        aliases=("webmcp-call",),
    ),
    Verb("content", ops.GetContent, ("selector",), "roost content main --format html"),
    Verb("get", ops.Get, ("what", "target", "name"), "roost get text e12 --raw"),
    Verb("is", ops.Is, ("state", "target"), "roost is visible 'role=button[name=\"Save\"]'"),
    Verb("highlight", ops.Highlight, ("target",), 'roost highlight e12 --label "This one"'),
    Verb(
        "screenshot",
        ops.TakeScreenshot,
        ("target",),
        "roost screenshot --full-page -o shop.png --type png",
        {"inline": False},
    ),
    Verb(
        "zoom",
        ops.ZoomScreenshot,
        ("x", "y", "width", "height"),
        "roost zoom 100 200 300 150",
        {"inline": False},
    ),
    Verb("pdf", ops.PdfSave, ("filename",), "roost pdf shop.pdf", aliases=("pdf-save",)),
    Verb("page-state", ops.PageState, example="roost page-state --json"),
    # --- acting ----------------------------------------------------------------------------------
    Verb("click", ops.Click, ("target",), "roost click e12"),
    Verb(
        "dblclick",
        ops.Click,
        ("target",),
        "roost dblclick e12",
        {"doubleClick": True},
        ("double-click",),
        "Double-click an element.",
    ),
    Verb("tripleclick", ops.TripleClick, ("target",), "roost tripleclick e12"),
    Verb("hover", ops.Hover, ("target",), "roost hover e12"),
    Verb("fill", ops.Type, ("target", "text"), 'roost fill e5 "ada@example.com" --submit'),
    Verb("fill-secret", ops.FillSecret, ("target", "secret"), "roost fill-secret e6 github"),
    Verb("login", ops.Login, ("name",), "roost login github"),
    Verb("secrets", ops.SecretList, example="roost secrets"),
    Verb("type", ops.PressSequentially, ("text",), 'roost type "hello"'),
    Verb("press", ops.PressKey, ("key",), "roost press Enter", aliases=("key",)),
    Verb("hold", ops.HoldKey, ("key", "seconds"), "roost hold ArrowRight 2"),
    Verb("keydown", ops.KeyDown, ("key",), "roost keydown Shift"),
    Verb("keyup", ops.KeyUp, ("key",), "roost keyup Shift"),
    Verb(
        "clipboard read",
        ops.Clipboard,
        (),
        "roost clipboard read --raw",
        {"action": "read"},
        ("clipboard",),
        "Show your session's own clipboard.",
    ),
    Verb(
        "clipboard write",
        ops.Clipboard,
        ("text",),
        'roost clipboard write "ada@example.com"',
        {"action": "write"},
        about="Put text on your session's own clipboard.",
    ),
    Verb(
        "clipboard clear",
        ops.Clipboard,
        (),
        "roost clipboard clear",
        {"action": "clear"},
        about="Empty your session's own clipboard.",
    ),
    Verb("copy", ops.Copy, ("target",), "roost copy e12", aliases=("clipboard copy",)),
    Verb(
        "cut",
        ops.Copy,
        ("target",),
        "roost cut e5",
        {"cut": True},
        ("clipboard cut",),
        "Cut the selection, or all of a field, to your session's own clipboard.",
    ),
    Verb("paste", ops.Paste, ("target",), "roost paste e5", aliases=("clipboard paste",)),
    Verb("tap", ops.Tap, ("target",), "roost tap e12"),
    Verb("swipe", ops.Swipe, ("direction", "target"), "roost swipe up"),
    Verb("drop", ops.Drop, ("target", "paths…"), "roost drop e9 photo.jpg"),
    Verb("select", ops.SelectOption, ("target", "values…"), "roost select e9 Large"),
    _checked("check", True, "Check a check box or radio button."),
    _checked("uncheck", False, "Uncheck a check box."),
    Verb("fill-form", ops.FillForm, ("fields…",), 'roost fill-form e5=Ada e7=true e9="2 May"'),
    Verb("drag", ops.Drag, ("start_target", "end_target"), "roost drag e3 e8"),
    Verb("upload", ops.FileUpload, ("paths…",), "roost upload photo.jpg"),
    Verb("scroll", ops.Scroll, ("direction",), "roost scroll down"),
    Verb("eval", ops.Evaluate, ("function", "target"), "roost eval '() => document.title' --raw"),
    Verb(
        "dialog accept",
        ops.HandleDialog,
        ("prompt_text",),
        "roost dialog accept",
        {"accept": True},
        ("dialog-accept",),
        "Accept the dialog that is open, with TEXT as the answer to a prompt.",
    ),
    Verb(
        "dialog dismiss",
        ops.HandleDialog,
        (),
        "roost dialog dismiss",
        {"accept": False},
        ("dialog-dismiss",),
        "Dismiss the dialog that is open.",
    ),
    Verb("consent", ops.HandleConsent, example="roost consent"),
    Verb("resize", ops.Resize, ("width", "height"), "roost resize 1280 800"),
    Verb("mouse click", ops.MouseClickXy, ("x", "y"), "roost mouse click 200 120"),
    Verb(
        "mouse move",
        ops.MouseMoveXy,
        ("x", "y"),
        "roost mouse move 200 120",
        aliases=("mousemove",),
    ),
    Verb("mouse down", ops.MouseDown, ("x", "y"), "roost mouse down 10 10", aliases=("mousedown",)),
    Verb("mouse up", ops.MouseUp, ("x", "y"), "roost mouse up 200 120", aliases=("mouseup",)),
    Verb(
        "mouse drag",
        ops.MouseDragXy,
        ("start_x", "start_y", "end_x", "end_y"),
        "roost mouse drag 10 10 200 120",
    ),
    Verb(
        "mouse wheel",
        ops.MouseWheel,
        ("delta_x", "delta_y"),
        "roost mouse wheel 0 400",
        aliases=("mousewheel",),
    ),
    # --- tabs ------------------------------------------------------------------------------------
    Verb(
        "tab list",
        ops.Tabs,
        (),
        "roost tab list",
        {"action": "list"},
        ("tab-list", "tabs"),
        "List the tabs of your session.",
    ),
    Verb(
        "tab new",
        ops.Tabs,
        ("url",),
        "roost tab new example.com --label shop",
        {"action": "new"},
        ("tab-new",),
        "Open a tab, perhaps at an address, perhaps under a label.",
    ),
    Verb(
        "tab close",
        ops.Tabs,
        ("tab",),
        "roost tab close t3",
        {"action": "close"},
        ("tab-close",),
        "Close a tab.",
    ),
    Verb(
        "tab select",
        ops.Tabs,
        ("tab",),
        "roost tab select shop",
        {"action": "select"},
        ("tab-select",),
        "Make a tab your current one.",
    ),
    Verb("page open", ops.PageOpen, ("name", "url"), "roost page open docs example.com"),
    Verb("page close", ops.PageClose, ("name",), "roost page close docs"),
    # --- logs, cookies, files --------------------------------------------------------------------
    Verb("console", ops.ConsoleMessages, ("level",), "roost console error"),
    Verb("requests", ops.NetworkRequests, ("filter",), "roost requests api/", aliases=("network",)),
    Verb("request", ops.NetworkRequest, ("index",), "roost request 3"),
    Verb(
        "cookies",
        ops.Cookies,
        (),
        "roost cookies",
        {"action": "list"},
        ("cookies list", "cookie-list"),
        "List your session's cookies, without their values.",
    ),
    Verb(
        "cookies get",
        ops.Cookies,
        ("name",),
        "roost cookies get theme --raw",
        {"action": "get"},
        ("cookie-get",),
        "Show a cookie with its value.",
    ),
    Verb(
        "cookies set",
        ops.Cookies,
        ("name", "value"),
        "roost cookies set theme dark",
        {"action": "set"},
        ("cookie-set",),
        "Set a cookie.",
    ),
    Verb(
        "cookies delete",
        ops.Cookies,
        ("name",),
        "roost cookies delete theme",
        {"action": "delete"},
        ("cookie-delete",),
        "Delete a cookie.",
    ),
    Verb(
        "cookies clear",
        ops.Cookies,
        (),
        "roost cookies clear",
        {"action": "clear"},
        ("cookie-clear",),
        "Delete all cookies of your session, or of one --domain.",
    ),
    *_storage_verbs(),
    Verb(
        "state save",
        ops.StorageState,
        ("filename",),
        "roost state save login.json",
        {"action": "save"},
        ("state-save",),
        "Save your session's cookies and localStorage to a file.",
    ),
    Verb(
        "state load",
        ops.StorageState,
        ("filename",),
        "roost state load login.json",
        {"action": "load"},
        ("state-load",),
        "Load cookies and localStorage from such a file.",
    ),
    Verb("downloads", ops.Downloads, example="roost downloads"),
    # --- network and device ----------------------------------------------------------------------
    Verb("route", ops.Route, ("url",), "roost route '**/api/user' --body '{}' --status 200"),
    Verb("route-har", ops.RouteHar, ("path",), "roost route-har requests.har --url '**/api/**'"),
    Verb(
        "har start",
        ops.Har,
        (),
        "roost har start",
        {"action": "start"},
        about="Record all requests of your session from now on.",
    ),
    Verb(
        "har stop",
        ops.Har,
        ("filename",),
        "roost har stop requests.har",
        {"action": "stop"},
        about="End the recording and save it as a HAR file.",
    ),
    Verb("messages", ops.NetworkMessages, ("filter",), "roost messages price"),
    Verb("route-list", ops.RouteList, (), "roost route-list", aliases=("routes",)),
    Verb("unroute", ops.Unroute, ("rule",), "roost unroute r1"),
    Verb(
        "network-state-set",
        ops.NetworkState,
        ("state",),
        "roost network-state-set offline",
        aliases=("network-state",),
    ),
    Verb("headers", ops.SetHeaders, ("headers…",), 'roost headers "X-Tenant: a"'),
    Verb(
        "credentials",
        ops.SetCredentials,
        ("origin", "username", "password"),
        "roost credentials https://staging.example.com ada secret",
    ),
    Verb("emulate", ops.Emulate, ("device",), 'roost emulate "iPhone 15" --locale de-DE'),
    Verb("init-script", ops.InitScript, ("script",), "roost init-script --path fake-clock.js"),
    Verb("conditions", ops.Conditions, (), "roost conditions"),
    # --- sharing ---------------------------------------------------------------------------------
    Verb("space request", ops.TabSpaceRequest, example="roost space request"),
    Verb("space grant", ops.TabSpaceGrant, ("tab",), "roost space grant t3"),
    Verb("space status", ops.TabSpaceStatus, example="roost space status --wait-seconds 30"),
    Verb("loop start", ops.LoopStart, ("prompt",), 'roost loop start "Fix the next test"'),
    Verb("loop stop", ops.LoopStop, example="roost loop stop"),
    Verb("loop status", ops.LoopStatus, example="roost loop status"),
    Verb("handoff", ops.Handoff, ("reason",), 'roost handoff "Solve the captcha"'),
    Verb("drawings", ops.Drawings, (), "roost drawings", {"inline": False}),
    Verb(
        "session id",
        ops.SessionShow,
        (),
        "roost session id",
        about="Say which session a page verb would use here, and why.",
    ),
)


def derived(operation: type[Operation]) -> Verb:
    """Return a verb named like the tool, with the required fields as its words."""
    words = operation.op.removeprefix("browser_").replace("_", "-")
    needed = tuple(name for name, field in operation.model_fields.items() if field.is_required())
    example = " ".join(["roost", words, *(name.upper().replace("_", "-") for name in needed)])
    return Verb(words, operation, needed, example)


_NAMED: Final = {verb.operation for verb in _ROWS}
_BY_COMMAND: Final = {ops.SessionOpen, ops.SessionList, ops.SessionDispose, ops.Status}
"""Tools that commands of their own call."""
DERIVED: Final = tuple(
    derived(operation)
    for operation in ops.OPERATIONS.values()
    if operation.audience in (Audience.CORE, Audience.ALL) and operation not in _NAMED | _BY_COMMAND
)
VERBS: Final = (*_ROWS, *DERIVED)
"""All page verbs."""

GROUPS: Final = {
    "Going": ("open", "back", "forward", "reload", "close", "wait"),
    "Reading": (
        "snapshot", "find", "read", "content", "get", "is", "highlight", "screenshot", "zoom",
        "pdf", "page-state", "webmcp",
    ),
    "Acting": (
        "click", "dblclick", "tripleclick", "hover", "fill", "fill-secret", "login",
        "secrets", "type", "press", "hold", "keydown", "keyup", "tap", "swipe", "drop", "select",
        "check", "uncheck", "fill-form", "drag", "upload", "clipboard", "copy",
        "cut", "paste", "scroll", "eval", "dialog", "consent", "resize", "mouse",
    ),
    "Tabs": ("tab", "page"),
    "Logs, cookies, files": (
        "console", "requests", "request", "cookies", "state", "downloads",
        *(verb.words for verb in _storage_verbs()),
    ),
    "Network and device": (
        "route", "route-har", "route-list", "unroute", "har", "messages", "network-state-set",
        "headers", "credentials", "emulate",
        "init-script", "conditions",
    ),
    "Sharing": ("space", "loop", "handoff", "drawings", "session id", "call"),
    "Others": tuple(verb.words for verb in DERIVED),
}  # fmt: skip
"""The verbs by their first word, as `roost --help` lists them."""

FLAG_ALIASES: Final = {
    "--gone": "--text-gone",
    "--full": "--full-page",
    "--header": "--headers",
    "--request-header": "--request-headers",
    "--kind": "--kinds",
    "--fn": "--function",
    "--load": "--load-state",
}
"""Shorter names of flags."""
SHORT_FLAGS: Final = {"interactive": "-i", "depth": "-d", "tab": "-t"}
"""Letters for the flags of these fields."""
