from __future__ import annotations

from pathlib import Path

import pytest

from roost.errors import Internal
from roost.local.home import Home
from roost.shim import broker_connection
from roost.shim.broker_connection import Connector
from roost.vocabulary import AgentId
from roost.wire.hello import Hello, Welcome
from tests.shim.stand_in_broker import stand_in_broker


def dying(times: int) -> tuple[list[str], object]:
    """Make so many starts fail because their broker is killed before it is ready."""
    starts: list[str] = []

    def ensure_broker(home: Home, *, options: tuple[str, ...]) -> None:
        starts.append("start")
        if len(starts) <= times:
            raise Internal("It ended before it was ready.")

    return starts, ensure_broker


def test_a_broker_that_is_killed_while_it_starts_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, ensure_broker = dying(2)
    monkeypatch.setattr(broker_connection, "ensure_broker", ensure_broker)
    monkeypatch.setattr(broker_connection, "RETRY_SECONDS", (0.0, 0.0))
    with stand_in_broker(tmp_path / "home") as broker:
        monkeypatch.setattr(broker_connection, "greet", lambda sock, hello: _welcome())
        Connector(broker.home, Hello(token="")).reach("tester").sock.close()
    assert len(starts) == 3


def test_a_broker_that_cannot_start_at_all_is_told_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, ensure_broker = dying(100)
    monkeypatch.setattr(broker_connection, "ensure_broker", ensure_broker)
    monkeypatch.setattr(broker_connection, "RETRY_SECONDS", (0.0, 0.0))
    with pytest.raises(Internal):
        Connector(Home(tmp_path), Hello(token="")).reach("tester")
    assert len(starts) == 3


def _welcome() -> Welcome:
    return Welcome(version=1, agent=AgentId("agent_x"))
