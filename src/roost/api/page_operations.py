"""Operations on pages: reading, acting, waiting, pictures, logs. Names are Playwright's."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from roost.api import page_views as views
from roost.api.operation import (
    Answers,
    Audience,
    PageOperation,
    SessionOperation,
    ShowingOperation,
)
from roost.api.views import PageView, ValueView

__all__ = [
    "Click", "ConsoleMessages", "Downloads", "Drag", "Evaluate", "FileUpload", "FillForm", "Find",
    "FormField", "GetContent", "HandleConsent", "HandleDialog", "Har", "Hover", "NavigateBack",
    "NavigateForward", "NetworkMessages", "NetworkRequest", "NetworkRequests", "PageState",
    "PdfSave", "PressKey",
    "Reload", "Resize", "Scroll", "SelectOption", "Snapshot", "StateLimits", "TakeScreenshot",
    "TripleClick", "Type", "WaitFor", "ZoomScreenshot",
]  # fmt: skip

CONTENT_CHARS = 4_000_000
ConsoleLevel = Literal["error", "warn", "info", "log", "debug"]
SELECTOR_CHARS = 1000
ElementState = Literal[
    "visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked",
    "editable",
]  # fmt: skip
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
TARGET = 'Ref (e12), CSS, text=part, role=button[name="Save"], label=…'


def target_field(description: str = TARGET) -> Any:
    return Field(
        max_length=SELECTOR_CHARS,
        validation_alias=AliasChoices("target", "ref"),
        serialization_alias="target",
        description=description,
    )


def optional_target(description: str = TARGET) -> Any:
    return Field(
        default=None,
        max_length=SELECTOR_CHARS,
        validation_alias=AliasChoices("target", "ref"),
        serialization_alias="target",
        description=description,
    )


class ActionOperation(PageOperation):
    """Base of operations that act in the page and answer with what changed."""

    snapshot: Literal["none", "diff", "full"] = Field(
        default="diff", description="What to show of the page afterwards"
    )


# --- reading -----------------------------------------------------------------------------------


class Snapshot(PageOperation, Answers[views.SnapshotView]):
    """Read the page: roles, names, refs. Better than a screenshot for acting."""

    op = "browser_snapshot"
    title = "Read the page"
    read_only = True
    target: str | None = optional_target("Only this part")
    depth: int | None = Field(default=None, ge=1, le=100)
    interactive: bool = Field(default=False, description="Only what can be operated")
    max_chars: int = Field(default=20_000, ge=500, le=1_000_000)
    after: str | None = Field(default=None, max_length=32, description="Go on after this ref")
    boxes: bool = Field(default=False, description="With positions")


class Find(PageOperation, Answers[views.FoundView]):
    """Find text, values or roles: lines with refs, and those around."""

    op = "browser_find"
    title = "Search the page"
    read_only = True
    text: str | None = Field(default=None, max_length=1000)
    regex: str | None = Field(default=None, max_length=1000)
    limit: int = Field(default=20, ge=1, le=200)


class GetContent(PageOperation, Answers[views.ContentView]):
    """Read the page as text, markdown or HTML."""

    op = "browser_get_content"
    title = "Get the content"
    read_only = True
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    format: Literal["text", "markdown", "html"] = "text"
    max_length: int = Field(default=50_000, ge=1, le=CONTENT_CHARS)


class WaitFor(ShowingOperation, PageOperation, Answers[views.WaitView]):
    """Wait until all conditions hold."""

    op = "browser_wait_for"
    title = "Wait"
    read_only = True
    text: str | None = Field(default=None, max_length=1000)
    text_gone: str | None = Field(default=None, max_length=1000)
    selector: str | None = Field(default=None, max_length=SELECTOR_CHARS)
    state: ElementState | None = None
    url: str | None = Field(default=None, max_length=2000, description="Part of it, or with *")
    response: str | None = Field(
        default=None, max_length=2000, description="Address of one since your last action"
    )
    load_state: Literal["domcontentloaded", "load", "networkidle"] | None = None
    function: str | None = Field(
        default=None, max_length=100_000, description="() => … that becomes true"
    )
    time: float | None = Field(default=None, ge=0, le=60, description="Seconds")
    timeout: float = Field(default=10.0, gt=0, le=240, description="Seconds")

    def only_reads(self) -> bool:
        return self.function is None

    def waits(self) -> float:
        return self.timeout if self.time is None else self.time


class ConsoleMessages(PageOperation, Answers[views.ConsoleView]):
    """Read the page's console since it was opened."""

    op = "browser_console_messages"
    title = "Read the console"
    read_only = True
    level: ConsoleLevel | None = None
    limit: int = Field(default=100, ge=1, le=500)
    clear: bool = False

    def only_reads(self) -> bool:
        return not self.clear


class NetworkRequests(PageOperation, Answers[views.NetworkView]):
    """List the page's requests since it was opened, without secrets."""

    op = "browser_network_requests"
    title = "List network requests"
    read_only = True
    filter: str | None = Field(default=None, max_length=1000, description="Part of the address")
    status: str | None = Field(
        default=None,
        pattern=r"^(pending|ok|failed|[1-5]xx|\d{3}(-\d{3})?)$",
        description="pending, ok, failed, 404, 4xx",
    )
    method: str | None = Field(default=None, max_length=20)
    kind: str | None = Field(default=None, max_length=20, description="document, script, xhr, …")
    limit: int = Field(default=50, ge=1, le=500)
    clear: bool = False

    def only_reads(self) -> bool:
        return not self.clear


class NetworkMessages(PageOperation, Answers[views.MessagesView]):
    """Messages of the page's WebSockets and event sources since it was opened."""

    op = "browser_network_messages"
    title = "List network messages"
    audience = Audience.ALL
    read_only = True
    filter: str | None = Field(default=None, max_length=1000, description="Part of address or text")
    limit: int = Field(default=50, ge=1, le=500)
    clear: bool = False

    def only_reads(self) -> bool:
        return not self.clear


class Har(SessionOperation, Answers[views.HarView]):
    """Record all requests of your session with their responses, and save them as a HAR file."""

    op = "browser_har"
    title = "Record a HAR file"
    audience = Audience.ALL
    conduct = ("read",)
    action: Literal["start", "stop"]
    filename: str | None = Field(default=None, max_length=1000, description="For stop")
    overwrite: bool = False


class NetworkRequest(PageOperation, Answers[views.BodyView]):
    """One request with its response body."""

    op = "browser_network_request"
    title = "Read a network request"
    audience = Audience.ALL
    read_only = True
    index: int = Field(ge=1)
    max_length: int = Field(default=50_000, ge=1, le=CONTENT_CHARS)


class StateLimits(BaseModel):
    """Most of each kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    headings: int = Field(default=50, ge=0, le=1000)
    links: int = Field(default=100, ge=0, le=1000)
    buttons: int = Field(default=60, ge=0, le=1000)
    inputs: int = Field(default=60, ge=0, le=1000)
    images: int = Field(default=40, ge=0, le=1000)


class PageState(PageOperation, Answers[views.StateView]):
    """The page as data: headings, links, buttons, inputs; with what changed since last time."""

    op = "browser_page_state"
    title = "Get the page's state"
    audience = Audience.ALL
    read_only = True
    limits: StateLimits | None = Field(default=None, description="Most of each kind")


class TakeScreenshot(PageOperation, Answers[views.ScreenshotView]):
    """Take a picture of the tab, once the page has come to rest."""

    op = "browser_take_screenshot"
    title = "Take a screenshot"
    read_only = True
    target: str | None = optional_target("Only this element")
    full_page: bool = False
    type: Literal["jpeg", "png"] = "jpeg"
    quality: int = Field(default=60, ge=1, le=100)
    scale: float | Literal["css", "device"] = Field(default=0.5, description="0.1 to 2")
    annotate: bool = Field(default=False, description="Draw the refs")
    if_changed: bool = Field(default=False, description="Only if it changed")
    filename: str | None = Field(default=None, max_length=1000, description="Write it there")
    inline: bool = Field(default=True, description="false: to a file")
    overwrite: bool = False
    max_wait_ms: int | None = Field(
        default=None, ge=0, le=60_000, description="Most to wait for it to come to rest"
    )


class ZoomScreenshot(PageOperation, Answers[views.ScreenshotView]):
    """Take an enlarged picture of a region of the viewport, given in CSS pixels."""

    op = "browser_zoom_screenshot"
    title = "Take a picture of a region"
    audience = Audience.ALL
    read_only = True
    x: float = Field(ge=0, le=100_000)
    y: float = Field(ge=0, le=100_000)
    width: float = Field(ge=1, le=10_000)
    height: float = Field(ge=1, le=10_000)
    scale: float = Field(default=2, ge=0.1, le=4, description="How much larger the picture is")
    type: Literal["jpeg", "png"] = "png"
    quality: int = Field(default=80, ge=1, le=100)
    filename: str | None = Field(default=None, max_length=1000, description="Write it there")
    inline: bool = Field(default=True, description="false: to a file")
    overwrite: bool = False
    max_wait_ms: int | None = Field(
        default=None, ge=0, le=60_000, description="Most to wait for it to come to rest"
    )


class PdfSave(PageOperation, Answers[views.FileView]):
    """Print the page to a PDF file."""

    op = "browser_pdf_save"
    title = "Save as PDF"
    conduct = ("read",)
    audience = Audience.ALL
    filename: str | None = Field(default=None, max_length=1000)
    overwrite: bool = False


class Downloads(SessionOperation, Answers[views.DownloadsView]):
    """List what your session has downloaded."""

    op = "browser_downloads"
    title = "List downloads"
    audience = Audience.ALL
    read_only = True


# --- going -------------------------------------------------------------------------------------


class NavigateBack(ShowingOperation, PageOperation, Answers[PageView]):
    """Go back to the page before."""

    op = "browser_navigate_back"
    title = "Go back"
    conduct = ("navigate",)
    deed = "go back"


class NavigateForward(ShowingOperation, PageOperation, Answers[PageView]):
    """Go forward."""

    op = "browser_navigate_forward"
    title = "Go forward"
    conduct = ("navigate",)
    deed = "go forward"
    audience = Audience.ALL


class Reload(ShowingOperation, PageOperation, Answers[PageView]):
    """Load the page again."""

    op = "browser_reload"
    title = "Reload"
    conduct = ("navigate",)
    deed = "reload the page"
    audience = Audience.ALL


# --- acting ------------------------------------------------------------------------------------


class Click(ActionOperation, Answers[views.ActionView]):
    """Click an element."""

    op = "browser_click"
    title = "Click"
    deed = "click here"
    audited = ("target",)
    target: str = target_field()
    element: str | None = Field(default=None, max_length=500, description="What it is, for people")
    double_click: bool = False
    button: Literal["left", "right", "middle"] = "left"
    modifiers: list[Modifier] = Field(default_factory=list, max_length=4)


class TripleClick(ActionOperation, Answers[views.ActionView]):
    """Click an element three times, which selects a line or paragraph of text."""

    op = "browser_triple_click"
    title = "Click three times"
    audience = Audience.ALL
    audited = ("target",)
    target: str = target_field()
    element: str | None = Field(default=None, max_length=500, description="What it is, for people")
    modifiers: list[Modifier] = Field(default_factory=list, max_length=4)


class Type(ActionOperation, Answers[views.ActionView]):
    """Type text into a field, replacing what is there."""

    op = "browser_type"
    title = "Type text"
    deed = "type here"
    audited = ("target",)
    target: str = target_field()
    element: str | None = Field(default=None, max_length=500)
    text: str = Field(max_length=1_000_000)
    submit: bool = Field(default=False, description="Press Enter afterwards")
    slowly: bool = Field(default=False, description="Press key by key")


class FormField(BaseModel):
    """One field of a form."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    target: str = target_field()
    value: str | bool | float | list[str] = Field(description="Text, true/false, option(s), date")
    name: str | None = None
    type: str | None = None


class FillForm(ActionOperation, Answers[views.ActionView]):
    """Fill several fields of any kind."""

    op = "browser_fill_form"
    title = "Fill a form"
    fields: list[FormField] = Field(min_length=1, max_length=100)


class SelectOption(ActionOperation, Answers[views.ActionView]):
    """Select options of a list."""

    op = "browser_select_option"
    title = "Select options"
    audited = ("target",)
    target: str = target_field()
    element: str | None = Field(default=None, max_length=500)
    values: list[str] = Field(max_length=1000, description="Values or labels")


class PressKey(ActionOperation, Answers[views.ActionView]):
    """Press a key or combination: Enter, ArrowDown, Control+a."""

    op = "browser_press_key"
    title = "Press a key"
    key: str = Field(min_length=1, max_length=64)


class Hover(ActionOperation, Answers[views.ActionView]):
    """Move the mouse over an element."""

    op = "browser_hover"
    title = "Hover"
    target: str = target_field()
    element: str | None = Field(default=None, max_length=500)


class Drag(ActionOperation, Answers[views.ActionView]):
    """Drag one element onto another."""

    op = "browser_drag"
    title = "Drag"
    start_target: str = Field(
        max_length=SELECTOR_CHARS, validation_alias=AliasChoices("startTarget", "startRef")
    )
    end_target: str = Field(
        max_length=SELECTOR_CHARS, validation_alias=AliasChoices("endTarget", "endRef")
    )
    start_element: str | None = Field(default=None, max_length=500)
    end_element: str | None = Field(default=None, max_length=500)


class Scroll(PageOperation, Answers[views.ScrollView]):
    """Scroll to an element, to a point, or one screen in a direction."""

    op = "browser_scroll"
    title = "Scroll"
    conduct = ("read",)
    target: str | None = optional_target()
    x: float | None = None
    y: float | None = None
    direction: Literal["up", "down", "left", "right"] | None = None


class FileUpload(ActionOperation, Answers[views.ActionView]):
    """Give files to a file field (default: the one whose chooser is open)."""

    op = "browser_file_upload"
    title = "Upload files"
    conduct = ("act", "upload")
    deed = "upload files here"
    paths: list[str] = Field(max_length=100, description="Below your working directory")
    target: str | None = optional_target()


class HandleDialog(ActionOperation, Answers[views.ActionView]):
    """Answer the dialog that is open."""

    op = "browser_handle_dialog"
    title = "Answer a dialog"
    accept: bool
    prompt_text: str | None = Field(default=None, max_length=10_000)


class HandleConsent(ActionOperation, Answers[views.ConsentView]):
    """Answer a cookie banner: reject if it can be, else accept."""

    op = "browser_handle_consent"
    title = "Answer a cookie banner"
    audience = Audience.ALL


class Resize(PageOperation, Answers[views.SizeView]):
    """Give the tab's viewport a size."""

    op = "browser_resize"
    title = "Resize"
    conduct = ()
    idempotent = True
    open_world = False
    audience = Audience.ALL
    width: int = Field(ge=50, le=10_000)
    height: int = Field(ge=50, le=10_000)


class Evaluate(PageOperation, Answers[ValueView]):
    """Run a JavaScript function in the page and return its JSON value."""

    op = "browser_evaluate"
    title = "Run JavaScript"
    deed = "run JavaScript here"
    function: str = Field(max_length=1_000_000, description="() => … or (element) => …")
    target: str | None = optional_target("Element the function gets")
    element: str | None = Field(default=None, max_length=500)
