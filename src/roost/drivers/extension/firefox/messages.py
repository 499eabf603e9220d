"""Conversion between the driver and the Firefox extension: input, cookies, errors and events."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from roost.drivers.base import (
    Cookie,
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    TouchDown,
    TouchMove,
    TouchUp,
    Wheel,
)
from roost.drivers.connection import Json
from roost.drivers.events import (
    ConsoleSaid,
    DialogClosed,
    DialogOpened,
    DownloadBegan,
    DownloadEnded,
    DriverEvent,
    RequestEnded,
    RequestSent,
)
from roost.drivers.extension.base import refuse_page
from roost.drivers.extension.connection import ExtensionError
from roost.drivers.extension.firefox.lacks import ELSEWHERE
from roost.drivers.navigation_errors import cannot_open
from roost.errors import (
    BadRequest,
    Interrupted,
    NotFound,
    RoostError,
    StaleRef,
    TabCrashed,
    TooLarge,
    Unauthorized,
    Unsupported,
)
from roost.hints import Hint
from roost.vocabulary import TabHandle

CRASHED = 409
DOCUMENT_GONE = 410
FRAME_GONE = 411
STALE_REF = 412
THREW = 422
FORBIDDEN = 423
UNREACHABLE = 424
NOWHERE = 425
NO_PICTURE = 426
NOT_ALLOWED = 427
_DIALOGS = frozenset({"alert", "confirm", "prompt", "beforeunload"})
_REF = re.compile(r"(?:f\d{1,9})?e\d{1,9}")
_SAME_SITE = {"strict": "Strict", "lax": "Lax", "no_restriction": "None"}


def refusal(error: ExtensionError) -> RoostError:
    """Return the Roost error for an error that the extension answered."""
    make = _REFUSALS.get(error.code)
    if make is None:
        return refuse_page(error)
    return make(str(error))


_REFUSALS: dict[int, Callable[[str], RoostError]] = {
    CRASHED: lambda _: TabCrashed("The page's process died."),
    DOCUMENT_GONE: lambda _: Interrupted(
        "The page was left meanwhile.", hint=Hint("Look where the tab is now[, with {Snapshot}].")
    ),
    FRAME_GONE: lambda _: NotFound("That frame is gone."),
    STALE_REF: lambda ref: (
        StaleRef(f"{ref} is not on this page any more.", ref=ref)
        if _REF.fullmatch(ref)
        else StaleRef("That ref is not on this page any more.", page_said=ref)
    ),
    THREW: lambda thrown: BadRequest(
        "The function threw an exception.", field="function", page_said=thrown
    ),
    FORBIDDEN: lambda _: Unsupported(
        "This page's Content-Security-Policy forbids functions from outside.",
        hint=Hint("Reading works there[: use {Snapshot} or {GetContent}]. ") + ELSEWHERE,
    ),
    UNREACHABLE: cannot_open,
    NOWHERE: lambda why: NotFound("There is no page to go to in that direction.", page_said=why),
    NO_PICTURE: lambda why: TooLarge("There is no picture of it.", page_said=why),
    NOT_ALLOWED: lambda _: Unauthorized(
        "The person's Firefox does not let Roost work on pages.",
        hint="The person has to allow it: Roost's button in Firefox's toolbar, then Allow. Ask "
        "them, then try again.",
    ),
}


def gestures(inputs: Sequence[Input]) -> list[Json]:
    """Return the inputs in the form that ``extension/firefox/input.js`` takes."""
    return [_gesture(one) for one in inputs]


def shows_menu(inputs: Sequence[Input]) -> bool:
    """Return whether these inputs are a right click with Shift.

    Firefox then shows its own menu to the person, and no page can prevent that.
    """
    is_right = any(isinstance(one, MouseDown) and one.button == "right" for one in inputs)
    return is_right and KeyDown("Shift") in inputs


def _gesture(one: Input) -> Json:
    match one:
        case MouseMove(x, y):
            return {"do": "move", "x": x, "y": y}
        case MouseDown(button, clicks):
            return {"do": "down", "button": button, "clicks": clicks}
        case MouseUp(button, clicks):
            return {"do": "up", "button": button, "clicks": clicks}
        case Wheel(x, y, dx, dy):
            return {"do": "wheel", "x": x, "y": y, "dx": dx, "dy": dy}
        case KeyDown(key):
            return {"do": "keyDown", "key": key}
        case KeyUp(key):
            return {"do": "keyUp", "key": key}
        case InsertText(text):
            return {"do": "insert", "text": text}
        case TouchDown() | TouchMove() | TouchUp():
            raise Unsupported("An extension of Firefox cannot touch a page.", hint=ELSEWHERE)


def cookie_from(cookie: Json) -> Cookie:
    """Return the cookie that the extension reports.

    https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/API/cookies/Cookie
    """
    return Cookie(
        name=cookie["name"],
        value=cookie["value"],
        domain=cookie["domain"],
        path=cookie["path"],
        expires=cookie.get("expirationDate"),
        http_only=cookie["httpOnly"],
        secure=cookie["secure"],
        same_site=_SAME_SITE.get(cookie["sameSite"]),
        partition_key=(cookie.get("partitionKey") or {}).get("topLevelSite"),
    )


def cookie_to(cookie: Cookie) -> Json:
    """Return the cookie in the form that ``extension/firefox/jars.js`` takes."""
    return {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": cookie.same_site,
        "partitionKey": cookie.partition_key,
    }


def report_of(method: str, params: Json) -> DriverEvent | None:
    """Return the driver event for an event of the extension; None if there is none."""
    tab = TabHandle(params.get("tab", ""))
    match method:
        case "Page.console":
            return ConsoleSaid(
                handle=tab,
                level=params["level"],
                text=params["text"],
                url=params["url"],
                line=params["line"],
            )
        case "Page.dialog":
            kind = params["kind"]  # the page wrote it: any text is possible
            return DialogOpened(
                handle=tab,
                kind=kind if kind in _DIALOGS else "alert",
                message=params["message"],
                default=params["default"],
            )
        case "Page.dialogOver":
            return DialogClosed(tab)
        case "Network.sent":
            return RequestSent(
                handle=tab,
                request=params["request"],
                url=params["url"],
                method=params["method"],
                kind=params["kind"],
            )
        case "Network.ended":
            return RequestEnded(
                handle=tab,
                request=params["request"],
                status=params.get("status"),
                mime_type=params.get("mimeType"),
                error=params.get("error"),
                finished=params["finished"],
            )
        case "Downloads.began":
            return DownloadBegan(
                handle=tab, download=params["download"], url=params["url"], name=params["name"]
            )
        case "Downloads.ended":
            return DownloadEnded(handle=tab, download=params["download"], path=params["path"])
        case _:
            return None
