from __future__ import annotations

import inspect
from datetime import UTC, datetime

import pytest

from roost.api import views
from roost.api.operations import OPERATIONS
from roost.api.views import StatusView, TabsView, View
from roost.vocabulary import Color, JarPolicy, Lifetime

STATUS = StatusView(
    broker=views.BrokerView(pid=1, version="1", uptime_seconds=2, http=None),
    browsers=[views.BrowserView(id="b", kind="b", headless=True, tabs=1, capacity=12)],
    agents=[
        views.AgentView(
            id="agent_123456", pid=3, session="s1", idle_seconds=4, connected=True, name="ada"
        )
    ],
    sessions=[
        views.SessionView(
            id="s1",
            name="ada",
            color=Color.BLUE,
            jar=JarPolicy.FRESH,
            named=False,
            lifetime=Lifetime.ANONYMOUS,
            paused=False,
            created_at=datetime(2026, 1, 2, tzinfo=UTC),
            browser="b",
            tabs=[views.TabView(tab="t1", url="u", title="", current=True)],
        )
    ],
    requests=[views.RequestView(session="s1", browser="b", agent="a", waiting_seconds=1)],
    reservations=[views.ReservationView(session="s1", browser="b", agent="a", expires_in_ms=1)],
)


def test_the_status_has_every_field_the_contract_names() -> None:
    """Scripts rely on these names of `status --json`, also while they hold nothing."""
    wire = STATUS.to_wire()
    assert set(wire) == {
        "broker", "browsers", "agents", "sessions", "requests", "reservations",
    }  # fmt: skip
    assert set(wire["broker"]) == {"pid", "version", "uptimeSeconds", "http"}
    assert set(wire["browsers"][0]) >= {
        "id", "kind", "version", "pid", "headless", "tabs", "capacity",
    }  # fmt: skip
    assert set(wire["agents"][0]) >= {"id", "pid", "session", "idleSeconds", "connected"}
    assert set(wire["sessions"][0]) >= {
        "id", "name", "color", "jar", "named", "lifetime", "paused", "createdAt", "browser", "tabs",
    }  # fmt: skip
    assert set(wire["sessions"][0]["tabs"][0]) == {"tab", "url", "title", "current"}
    assert wire["sessions"][0]["createdAt"] == "2026-01-02T00:00:00Z"


def test_a_reply_survives_the_wire() -> None:
    assert StatusView.model_validate(STATUS.to_wire()) == STATUS


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.op)
def test_every_reply_can_be_parsed_without_its_empty_fields(row: type) -> None:
    """The wire leaves out None, so nothing that may be None can be required."""
    reply: type[View] = row.reply  # type: ignore[attr-defined]
    for view in _views_in(reply):
        for name, field in view.model_fields.items():
            may_be_none = "None" in str(field.annotation)
            assert not (may_be_none and field.is_required()), f"{view.__name__}.{name}"


def _views_in(view: type[View]) -> set[type[View]]:
    found, waiting = {view}, [view]
    while waiting:
        for field in waiting.pop().model_fields.values():
            for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
                if inspect.isclass(part) and issubclass(part, View) and part not in found:
                    found.add(part)
                    waiting.append(part)
    return found


def test_a_newer_brokers_reply_is_understood() -> None:
    assert views.Pong.model_validate({"somethingNew": 1}) == views.Pong()


def test_notes_stand_in_any_reply() -> None:
    assert views.Pong(notes=["read this"]).to_wire() == {"notes": ["read this"]}
    assert views.Pong().to_wire() == {}


def test_news_stands_before_the_notes_of_the_reply_and_replaces_none() -> None:
    view = TabsView(tabs=[], notes=["The page is not shown."])
    assert view.with_news(["A tab was parked."], ()).notes == [
        "A tab was parked.",
        "The page is not shown.",
    ]
    assert view.with_news([], ()).notes == ["The page is not shown."]
