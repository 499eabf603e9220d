"""``roost status`` shows sessions in use before sessions that are only kept."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from roost.api import views
from roost.frontends.cli import status as module
from roost.frontends.cli.terminal import drawn
from roost.vocabulary import Color, JarPolicy, Lifetime

CONVERSATION = "baf16c1a-7e95-4cd1-8bf2-b794facf1e63"


def session(
    id: str, *, kept: int | None = None, tabs: int = 0, parent: str | None = None
) -> views.SessionView:
    return views.SessionView(
        id=id,
        name=f"name of {id}",
        color=Color.BLUE,
        jar=JarPolicy.FRESH,
        named=False,
        lifetime=Lifetime.RESUMABLE,
        paused=False,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        browser="chromium",
        tabs=[
            views.TabView(tab=f"t{number}", url="http://a.example/", title="", current=False)
            for number in range(tabs)
        ],
        kept_seconds=kept,
        parent=parent,
    )


def shown(sessions: list[views.SessionView], *, width: int = 80, **more: Any) -> str:
    agent = views.AgentView(
        id="agent_12345", pid=7, session=CONVERSATION, idle_seconds=3, connected=True, name="claude"
    )
    view = views.StatusView(
        broker=views.BrokerView(pid=1, version="1", uptime_seconds=5, http=None),
        browsers=[],
        agents=[agent],
        sessions=sessions,
        requests=[],
        reservations=[],
        **more,
    )
    return "\n".join(drawn(module._parts(view), width, colored=False))


def test_sessions_that_are_only_kept_are_one_line_after_the_living() -> None:
    text = shown([*(session(f"dead-{n}", kept=3600) for n in range(13)), session("mine", tabs=1)])
    assert "dead-" not in text
    assert "13 sessions of conversations that ended, kept for another 1 h" in text
    assert text.index("AGENT") < text.index("name of mine") < text.index("13 sessions")


def test_sessions_with_agents_come_before_sessions_without() -> None:
    text = shown([session("idle"), session("open", tabs=1), session(CONVERSATION)], width=200)
    order = [text.index(f"name of {id}") for id in (CONVERSATION, "open", "idle")]
    assert order == sorted(order)


def test_sessions_of_sub_agents_stand_below_their_parents() -> None:
    sessions = [session("grandchild", parent="child"), session("other"), session("main")]
    sessions += [session("orphan", parent="ended"), session("child", parent="main")]
    text = shown(sessions, width=200)
    order = [text.index(f"name of {id}") for id in ("other", "main", "child", "grandchild")]
    assert order == sorted(order)
    assert "└ name of child" in text
    assert "  └ name of grandchild" in text
    assert " name of orphan" in text, "its parent is not in the list"


def test_a_conversations_long_id_is_cut_in_a_terminal_and_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert CONVERSATION in shown([session(CONVERSATION)], width=200)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    text = shown([session(CONVERSATION)], width=200)
    assert f"{CONVERSATION[:8]}…" in text
    assert text.count(CONVERSATION) == 1, "only in the name, which this test made of the id"
