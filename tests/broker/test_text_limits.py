from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.text_limits import CONSOLE_CHARS, LOGGED_ADDRESS_CHARS, TITLE_CHARS, TextLimits
from roost.core.addresses import ADDRESS_CHARS, CUT
from roost.drivers.events import (
    ConsoleSaid,
    DialogOpened,
    DownloadBegan,
    DriverEvent,
    RequestEnded,
    RequestSent,
    TabNavigated,
    TabOpened,
)
from roost.testing.house import fake_house
from roost.vault.redaction import Redactor
from roost.vocabulary import TabHandle, TabId
from roost.wire.hello import ClientKind

PAGE = TabHandle("p")
shortened = TextLimits(Redactor().cut).shortened
LONG = "x" * 2_000_000
URL = f"https://x.example/?{LONG}"
EVENTS: list[DriverEvent] = [
    TabNavigated(PAGE, URL, LONG),
    TabOpened(handle=PAGE, opener=None, jar=None, url=URL),
    RequestSent(handle=PAGE, request="1", url=URL, method=LONG, kind="fetch"),
    RequestEnded(handle=PAGE, request="1", mime_type=LONG, error=LONG),
    ConsoleSaid(handle=PAGE, level="error", text=LONG, url=URL),
    DialogOpened(handle=PAGE, kind="prompt", message=LONG, default=LONG),
    DownloadBegan(handle=PAGE, download="1", url=URL, name=f"{LONG}.pdf"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_all_text_that_a_page_chooses_is_cut_as_it_enters_the_broker(event: DriverEvent) -> None:
    texts = [getattr(shortened(event), field.name) for field in fields(event)]
    assert max(len(text) for text in texts if isinstance(text, str)) <= ADDRESS_CHARS + 1
    assert shortened(shortened(event)) == shortened(event)


def test_short_text_is_not_changed() -> None:
    for event in (
        TabNavigated(PAGE, "https://x.example/" + "a" * (ADDRESS_CHARS - 18), "t" * TITLE_CHARS),
        ConsoleSaid(handle=PAGE, level="log", text="c" * CONSOLE_CHARS, url="https://x.example/"),
        RequestSent(handle=PAGE, request="1", url="https://x/", method="GET", kind="fetch"),
        RequestEnded(handle=PAGE, request="1", status=200, mime_type="text/html"),
        DownloadBegan(handle=PAGE, download="1", url="https://x/", name="a.pdf"),
    ):
        assert shortened(event) == event


def test_a_download_with_a_long_name_is_still_known_by_its_ending() -> None:
    began = shortened(DownloadBegan(handle=PAGE, download="1", url=URL, name=f"{LONG}.pdf"))
    assert isinstance(began, DownloadBegan)
    assert began.name.endswith(".pdf")


def test_half_a_password_in_a_long_address_is_not_kept() -> None:
    url = f"https://user:{'p' * LOGGED_ADDRESS_CHARS}@x.example/"
    sent = shortened(RequestSent(handle=PAGE, request="1", url=url, method="GET", kind="fetch"))
    assert isinstance(sent, RequestSent)
    assert sent.url == f"https:{CUT}"


SECRET = "c4nary-value-9"


@pytest.mark.parametrize(
    ("event", "field", "limit"),
    [
        (TabNavigated(PAGE, URL, "x" * (TITLE_CHARS - 5) + SECRET + LONG), "title", TITLE_CHARS),
        (TabNavigated(PAGE, f"https://x/?{'x' * 8175}{SECRET}{LONG}", ""), "url", ADDRESS_CHARS),
        (
            ConsoleSaid(handle=PAGE, level="log", text="x" * 4990 + SECRET + LONG, url=URL),
            "text",
            CONSOLE_CHARS,
        ),
        (
            DialogOpened(handle=PAGE, kind="alert", message="x" * 1999 + SECRET + LONG),
            "message",
            2000,
        ),
    ],
)
def test_no_limit_cuts_a_secret_in_two(event: DriverEvent, field: str, limit: int) -> None:
    redactor = Redactor()
    redactor.register_all({"mail": [SECRET]})
    text = getattr(TextLimits(redactor.cut).shortened(event), field)
    assert "c4" not in text
    assert limit - len(SECRET) <= len(text) <= limit


async def test_rows_views_and_notices_hold_a_short_address_of_a_page_with_a_long_one(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        tab = (await agent.call(ops.Navigate(url="http://x.example/"))).tab
        with agent.watch() as notices:
            house.browser._commit(house.browser.pages[house.handle(tab)], URL, LONG)
            notice = await anext(notices)
        row = house.state.tabs[TabId(tab)]
        assert (len(row.url), len(row.title)) == (ADDRESS_CHARS + 1, TITLE_CHARS)
        assert row.url.endswith(CUT)
        assert notice.data["url"] == row.url
        status = await house.admit(house.hello(ClientKind.CLI)).api.call(ops.Status())
        assert len(status.model_dump_json()) < 2 * ADDRESS_CHARS
