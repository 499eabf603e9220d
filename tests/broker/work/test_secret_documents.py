"""Documents into which a secret was filled (``roost.broker.work.secret_documents``).

The fake driver has no pages, so a stand-in answers for each tab's document. Real pages are in
``tests/e2e/pages/test_secrets.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.broker.work import page_use, secret_documents
from roost.broker.work.page_use import InPage
from roost.core import events as ev
from roost.errors import NotFound, PolicyDenied, RoostError
from roost.page.page import Page
from roost.testing.house import FakeHouse, fake_house
from roost.vocabulary import SessionId, TabId

FIRST, SECOND = "https://site.test/", "https://other.test/"


class Documents:
    """Answers calls into pages: for each tab, the document that it shows, or an error."""

    def __init__(self) -> None:
        self.begun: dict[str, float | RoostError] = {}
        self.shown: dict[str, Any] = {"text": "", "isOpen": False}


@asynccontextmanager
async def two_tabs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[FakeHouse, Documents, list[InPage]]]:
    documents = Documents()
    async with fake_house(folder) as house:
        agent = house.admit()
        tabs = [(await agent.api.call(ops.Navigate(url=FIRST))).tab]
        opened = (await agent.api.call(ops.Tabs(action="new", url=SECOND))).opened
        assert opened is not None
        tabs.append(opened)
        memories = {id(house.broker.record(TabId(tab)).memory): tab for tab in tabs}

        async def call(page: Page, frame: str | None, function: str, **_: Any) -> dict[str, Any]:
            found = documents.begun[memories[id(page.memory)]]
            if isinstance(found, RoostError):
                raise found
            return {"begun": found} if function == "identity" else documents.shown

        async def no_frames(page: Page) -> list[tuple[str, str | None]]:
            return []

        monkeypatch.setattr(Page, "call", call)
        monkeypatch.setattr(Page, "child_frames", no_frames)
        now = house.clock.now() * 1000
        documents.begun = dict.fromkeys(tabs, now + 1000)
        rows = [house.state.tabs[TabId(tab)] for tab in tabs]
        yield house, documents, [page_use.in_page(house.broker, row, None) for row in rows]


def filled(house: FakeHouse, at: InPage, document: float) -> None:
    house.broker.hear(ev.SecretFilled(at.row.id, document, "mail"))


async def test_scripts_are_refused_in_every_tab_until_the_document_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tabs(tmp_path, monkeypatch) as (house, documents, (one, other)):
        for at in (one, other):
            await secret_documents.check_left(at)
        filled(house, one, 5.0)
        documents.begun[one.tab] = 5.0
        for at in (one, other):
            with pytest.raises(PolicyDenied, match=f"tab {one.tab}"):
                await secret_documents.check_left(at)
        session = SessionId(one.row.session or "")
        with pytest.raises(PolicyDenied, match="no protocol client"):
            await secret_documents.check_session_left(house.broker, session)
        documents.begun[one.tab] = 6.0
        for at in (one, other):
            await secret_documents.check_left(at)
        await secret_documents.check_session_left(house.broker, session)
        documents.begun[one.tab] = 5.0  # back in the history
        with pytest.raises(PolicyDenied):
            await secret_documents.check_left(other)


async def test_a_page_that_does_not_answer_counts_as_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tabs(tmp_path, monkeypatch) as (house, documents, (one, other)):
        filled(house, one, 5.0)
        documents.begun[one.tab] = NotFound("silent")
        with pytest.raises(PolicyDenied):
            await secret_documents.check_left(other)
        with pytest.raises(PolicyDenied):
            await secret_documents.check_session_left(
                house.broker, SessionId(one.row.session or "")
            )


async def test_nothing_is_filled_in_beside_a_document_in_which_a_script_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tabs(tmp_path, monkeypatch) as (house, documents, (one, other)):
        origin = "https://site.test"
        await secret_documents.check_no_script_waits(one, origin)
        other.record.script_ran_at = house.clock.now() + 5
        with pytest.raises(PolicyDenied, match=f"tab {other.tab}"):
            await secret_documents.check_no_script_waits(one, origin)
        documents.begun[other.tab] = (house.clock.now() + 6) * 1000  # it was loaded again
        await secret_documents.check_no_script_waits(one, origin)
        documents.begun[other.tab] = NotFound("silent")
        with pytest.raises(PolicyDenied):
            await secret_documents.check_no_script_waits(one, origin)


async def test_a_document_that_is_older_than_the_broker_may_have_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tabs(tmp_path, monkeypatch) as (house, documents, (one, other)):
        documents.begun = dict.fromkeys(documents.begun, 1.0)
        with pytest.raises(PolicyDenied, match=f"tab {one.tab}"):
            await secret_documents.check_no_script_waits(one, "https://site.test")
        documents.begun[one.tab] = house.clock.now() * 1000 + 1000
        await secret_documents.check_no_script_waits(one, "https://site.test")
        with pytest.raises(PolicyDenied, match=f"tab {other.tab}"):  # of the same origin
            await secret_documents.check_no_script_waits(one, "https://other.test")


async def test_pictures_are_checked_in_sessions_that_used_a_secret_and_in_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tabs(tmp_path, monkeypatch) as (house, documents, (one, other)):
        house.broker.redactor.register("mail", "c4nary-value")
        documents.shown = {"text": "It is c4nary-value.", "isOpen": False}
        await secret_documents.check_picture(one)
        filled(house, one, 5.0)
        for at in (one, other):
            with pytest.raises(PolicyDenied, match="readable text"):
                await secret_documents.check_picture(at)
        documents.shown = {"text": "Nothing", "isOpen": True}
        with pytest.raises(PolicyDenied):
            await secret_documents.check_picture(one)
        documents.shown = {"text": "Nothing", "isOpen": False}
        await secret_documents.check_picture(one)
