"""Conversion between the driver of a person's own Firefox and the extension."""

from __future__ import annotations

import dataclasses

import pytest

from roost.drivers.base import (
    Cookie,
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Wheel,
)
from roost.drivers.events import (
    DialogOpened,
    RequestEnded,
)
from roost.drivers.extension.connection import ExtensionError
from roost.drivers.extension.firefox import messages as words
from roost.drivers.extension.firefox.lacks import LACKS
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


def test_a_right_click_with_shift_would_show_the_browsers_own_menu() -> None:
    right: list[Input] = [MouseMove(1, 1), MouseDown("right", 1), MouseUp("right", 1)]
    left: list[Input] = [MouseMove(1, 1), MouseDown(), MouseUp()]
    assert words.shows_menu([KeyDown("Shift"), *right, KeyUp("Shift")])
    assert not words.shows_menu(right)
    assert not words.shows_menu([KeyDown("Shift"), *left, KeyUp("Shift")])


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (words.CRASHED, TabCrashed),
        (words.DOCUMENT_GONE, Interrupted),
        (words.FRAME_GONE, NotFound),
        (words.STALE_REF, StaleRef),
        (words.THREW, BadRequest),
        (words.FORBIDDEN, Unsupported),
        (words.UNREACHABLE, NotFound),
        (words.NOWHERE, NotFound),
        (words.NO_PICTURE, TooLarge),
        (words.NOT_ALLOWED, Unauthorized),
        (-32000, BadRequest),
    ],
)
def test_every_refusal_of_the_extension_is_a_typed_error(code: int, kind: type[RoostError]) -> None:
    error = words.refusal(ExtensionError(code, "the reason"))

    assert type(error) is kind
    assert error.message
    assert error.hint
    assert "the reason" not in f"{error.message} {error.hint} {error.details}"


def test_a_ref_that_is_stale_is_named() -> None:
    assert words.refusal(ExtensionError(words.STALE_REF, "f1e7")).details == {"ref": "f1e7"}


def test_a_dialog_of_a_kind_that_the_page_made_up_is_an_alert() -> None:
    about = {"tab": "1", "message": "m", "default": ""}
    for kind, told in (("prompt", "prompt"), ("obey (EVIL)", "alert")):
        event = words.report_of("Page.dialog", {**about, "kind": kind})
        assert isinstance(event, DialogOpened)
        assert event.kind == told


def test_every_input_is_translated_for_the_extension() -> None:
    given: list[Input] = [
        MouseMove(1, 2), MouseDown("right"), MouseUp(clicks=2), Wheel(1, 2, 3, 4),
        KeyDown("a"), KeyUp("a"), InsertText("ü"),
    ]  # fmt: skip

    assert words.gestures(given) == [
        {"do": "move", "x": 1, "y": 2},
        {"do": "down", "button": "right", "clicks": 1},
        {"do": "up", "button": "left", "clicks": 2},
        {"do": "wheel", "x": 1, "y": 2, "dx": 3, "dy": 4},
        {"do": "keyDown", "key": "a"},
        {"do": "keyUp", "key": "a"},
        {"do": "insert", "text": "ü"},
    ]


def test_a_cookie_is_unchanged_after_writing_and_reading_it() -> None:
    cookie = Cookie(
        name="n", value="v", domain=".a.test", path="/p", expires=2e9, http_only=True,
        secure=True, same_site="None", partition_key="https://top.test",
    )  # fmt: skip
    sent = words.cookie_to(cookie)
    kept = {
        **{name: sent[name] for name in ("name", "value", "domain", "path", "httpOnly", "secure")},
        "expirationDate": sent["expires"],
        "sameSite": "no_restriction",
        "partitionKey": {"topLevelSite": sent["partitionKey"]},
    }

    assert words.cookie_from(kept) == cookie
    plain = dict(kept, sameSite="unspecified", partitionKey=None, expirationDate=None)
    other = dataclasses.replace(cookie, same_site=None, partition_key=None, expires=None)
    assert words.cookie_from(plain) == other


def test_only_known_events_of_the_extension_become_reports() -> None:
    ended = {"tab": "r.1", "request": "7", "error": "NS_ERROR", "finished": True}

    report = words.report_of("Network.ended", ended)

    assert isinstance(report, RequestEnded)
    assert (report.handle, report.error, report.status) == ("r.1", "NS_ERROR", None)
    assert words.report_of("Page.unheard", {"tab": "r.1"}) is None


def test_every_missing_capability_has_a_consequence_and_a_reason() -> None:
    assert len({lack.name for lack in LACKS}) == len(LACKS)
    assert all(lack.then and lack.reason.endswith(".") for lack in LACKS)
