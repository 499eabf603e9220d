from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.journal import Journal
from roost.conditions import (
    Conditions,
    Credentials,
    Emulation,
    Geolocation,
    Grant,
    OriginHeaders,
    Route,
    Script,
)
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.core.rows import (
    ROW_TYPES,
    Agent,
    Approval,
    Batch,
    Consent,
    Counter,
    Jar,
    Loop,
    Member,
    PageConditions,
    Policy,
    Question,
    Reservation,
    Row,
    Session,
    SlotRequest,
    Tab,
    TabState,
)
from roost.core.rules import session_for
from roost.core.settings import CoreSettings
from roost.core.state import Change, restored
from roost.drivers.fake import FakeBrowser
from roost.errors import Internal, Interrupted
from roost.testing.house import fake_house
from roost.testing.waits import error_of, started, until
from roost.vocabulary import (
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    QuestionAnswer,
    QuestionKind,
    SessionId,
    TabHandle,
    TabId,
    Verdict,
)

URL = "https://site.test/"
A, S, B, J, T = (AgentId("agent_1"), SessionId("s1"), BrowserId("b"), JarId("j1"), TabId("t1"))
EVERYTHING = Conditions(
    routes=(Route(id="r1", url="**", kinds=("xhr",), status=200, headers=(("A", "ü"),)),),
    headers=(OriginHeaders(origin="*", headers=(("A", "b"),)),),
    credentials=(Credentials(origin="https://a.test", username="ada", password="secret"),),
    offline=True,
    emulation=Emulation(device="Pixel 7", geolocation=Geolocation(latitude=1, longitude=2)),
    grants=(Grant(origin="*", names=("camera",)),),
    scripts=(Script(name="s", text="1"),),
)
ROWS: list[Row] = [
    Agent(
        id=A, pid=1, process_started="x", name="ü ☃", own_session=S, secret_digest="d",
        lease_until=1.5,
    ),  # fmt: skip
    Session(
        id=S, name="n", color=Color.RED, lifetime=Lifetime.NAMED, browser=B, policy=JarPolicy.FRESH,
        created_at=1.25, allow=("a.test",), deny=("*.b.test", "c.test"), paused=True,
    ),
    Member(agent=A, session=S, alias="mine", current=T),
    Jar(id=J, session=None, browser=B, policy=JarPolicy.CLONE, handle="h"),
    Tab(
        id=T, session=S, browser=B, jar=J, url=URL, used=7, state=TabState.CRASHED,
        handle=TabHandle("p"), title="ü ☃", opener=TabId("t0"),
    ),
    SlotRequest(session=S, browser=B, agent=A, asked_at=2.5, turn=3),
    Reservation(session=S, browser=B, agent=A, until=9.75),
    Loop(session=S, prompt="p" * 100_000, max_iterations=0, phrase=None, started_at=1.0),
    Question(session=S, kind=QuestionKind.HANDOFF, reason="Log in", agent=A, asked_at=1.0,
             until=2.5, answer=QuestionAnswer.DONE, note="Done."),
    Policy(layers=(PolicyLayer(source="config.toml", origins=("a.example",), tabs=2, rules=(
        PolicyRule(verdict=Verdict.ASK, operations=("evaluate",), clients=("claude",)),)),)),
    Approval(session=S, subject="browser_evaluate", origin="https://a.example", until=3.5),
    Consent(browser=B, name="claude", allow=False),
    Batch(agent=A, digest="0" * 32, done=2, of=3),
    PageConditions(session=S, conditions=EVERYTHING, routes_made=1),
    Counter(name="tab", value=2**40),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def put(*rows: Row) -> list[Change]:
    return [Change(row.table, row.key, row) for row in rows]


def read(path: Path) -> list[Row]:
    journal = Journal(path)
    rows = list(journal.rows())
    journal.close()
    return rows


def by_key(rows: list[Row]) -> dict[tuple[str, str], Row]:
    return {(row.table, row.key): row for row in rows}


def test_every_kind_of_row_is_read_back_as_it_was(path: Path) -> None:
    assert {type(row) for row in ROWS} == set(ROW_TYPES)
    journal = Journal(path)
    journal.write(put(*ROWS))
    journal.close()

    assert by_key(read(path)) == by_key(ROWS)


def test_a_later_row_replaces_an_earlier_and_a_dropped_one_is_gone(path: Path) -> None:
    journal = Journal(path)
    journal.write(put(*ROWS))
    journal.write([Change(Tab.table, T, None), *put(Counter(name="tab", value=5))])
    journal.close()

    rows = by_key(read(path))
    assert (Tab.table, T) not in rows
    assert rows[Counter.table, "tab"] == Counter(name="tab", value=5)


OF_AN_EARLIER_RELEASE = {
    ("agent", "agent_1"): '{"id":"agent_1","pid":7,"process_started":"1","name":"ada","home":"s1",'
    '"secret_digest":"d","connected":true,"awaited_until":null,"lease_until":null,'
    '"folders":["/work"],"program":"","browser":null,"policy":null,"profile":null,"allow":[],'
    '"deny":[]}',
    ("member", "agent_1 s1"): '{"agent":"agent_1","session":"s1","alias":null,"current":null,'
    '"lost":null,"lost_why":""}',
    ("session", "s1"): '{"id":"s1","name":"Session 1","color":"blue","lifetime":"anonymous",'
    '"browser":"fake","policy":"fresh","created_at":1000.0,"profile":null,"allow":[],"deny":[],'
    '"paused":false,"has_opened":false,"kept_until":null,"token_salt":null,"token_digest":null}',
}
"""Rows exactly as release 0.2 wrote them."""


def test_the_journal_of_an_earlier_release_is_read(path: Path) -> None:
    Journal(path).close()
    with sqlite3.connect(path) as db:
        for (table, key), row in OF_AN_EARLIER_RELEASE.items():
            db.execute("INSERT INTO rows VALUES (?, ?, ?)", (table, key, row.encode()))
    db.close()

    state = restored(CoreSettings(default_browser=BrowserId("fake")), read(path))

    agent = state.agents[AgentId("agent_1")]
    assert (agent.own_session, agent.folders) == ("s1", ("/work",))
    assert session_for(state, agent.id, None).id == "s1"


def test_changes_are_written_all_or_none(path: Path) -> None:
    journal = Journal(path)
    halves = Counter(name="\ud800", value=1)
    with pytest.raises(ValueError, match="surrogates"):
        journal.write(put(ROWS[0], halves))
    journal.close()

    assert read(path) == []


def test_only_this_user_can_read_the_journal(path: Path) -> None:
    journal = Journal(path)
    journal.write(put(*ROWS))
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    journal.close()


def test_what_was_written_survives_a_kill(path: Path) -> None:
    journal = Journal(path)
    journal.write(put(*ROWS))

    assert by_key(read(path)) == by_key(ROWS)  # the first one never closed it
    journal.close()


@pytest.mark.parametrize("garbage", [b"not a database, however long it may be" * 99, b"SQLite"])
def test_a_file_that_is_not_a_journal_is_moved_away(path: Path, garbage: bytes) -> None:
    path.write_bytes(garbage)

    assert read(path) == []
    assert path.with_suffix(".broken").read_bytes() == garbage


def test_a_journal_damaged_in_the_middle_is_put_aside(path: Path) -> None:
    """Its head is whole, so it opens; only reading the rows would find out."""
    journal = Journal(path)
    journal.write(put(*(Counter(name=f"n{n}" * 50, value=n) for n in range(500))))
    journal.close()
    data = bytearray(path.read_bytes())
    data[4096 : len(data) // 2] = b"\xa5" * (len(data) // 2 - 4096)
    path.write_bytes(data)

    assert read(path) == []
    assert path.with_suffix(".broken").read_bytes() == data


def test_a_journal_of_another_schema_is_put_aside(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.execute("CREATE TABLE rows (something TEXT)")
    db.close()

    assert read(path) == []
    assert path.with_suffix(".broken").exists()


def test_a_journal_that_is_only_busy_is_not_moved(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or another holder is no damage: everything recorded must still be there."""
    journal = Journal(path)
    journal.write(put(*ROWS))
    journal.close()
    holder = sqlite3.connect(path)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("roost.broker.journal.BUSY_SECONDS", 0)
    with pytest.raises(Internal):
        Journal(path)
    holder.close()

    assert by_key(read(path)) == by_key(ROWS)
    assert not path.with_suffix(".broken").exists()


def test_a_row_that_cannot_be_read_is_left_out(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(path)
    journal.write(put(*ROWS))
    journal.close()
    db = sqlite3.connect(path)
    with db:
        db.execute("INSERT INTO rows VALUES ('ghost', 'g', '{}')")
        db.execute("UPDATE rows SET row = '{\"id\": 1' WHERE kind = 'tab'")
        db.execute("UPDATE rows SET row = '{\"id\": \"x\"}' WHERE kind = 'agent'")
    db.close()

    assert set(by_key(read(path))) == set(by_key(ROWS)) - {("tab", T), ("agent", A)}
    assert "ghost" in caplog.text
    assert "left out" in caplog.text


def test_a_symbolic_link_is_not_followed(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Journal(path)
    assert not (path.parent / "elsewhere").exists()


async def test_the_row_is_written_before_the_browser_is_asked(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        house.driver.may_open.clear()
        call = await started(agent.api.call(ops.Tabs(action="new", url=URL)))
        await until(lambda: house.driver.asked == 1)

        rows = by_key(read(house.home.journal))
        tab = rows["tab", "t1"]
        assert isinstance(tab, Tab)
        assert (tab.state, tab.url) == (TabState.OPENING, URL)
        house.driver.may_open.set()
        await call


async def test_a_decision_that_cannot_be_journaled_has_no_effect(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        house.broker._journal._db.execute("PRAGMA query_only = ON")

        error = await error_of(Interrupted, agent.api.call(ops.Tabs(action="new")))
        assert "journal" in error.message
        assert house.broker.stop_requested.is_set()
        assert house.broker.leaves_browsers
        assert house.driver.asked == 0
        house.broker._journal._db.execute("PRAGMA query_only = OFF")


async def test_a_bug_in_the_core_stops_the_broker_and_leaves_its_browsers(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        before = by_key(list(house.state.rows()))
        house.broker.machine.state.next_number = None  # type: ignore[method-assign,assignment]

        await error_of(Interrupted, agent.api.call(ops.Tabs(action="new")))
        assert house.broker.stop_requested.is_set()
        assert house.broker.leaves_browsers
        assert house.driver.asked == 0
        assert by_key(list(house.state.rows())) == by_key(read(house.home.journal)) == before


async def test_replaying_gives_the_state_that_was(tmp_path: Path) -> None:
    async with fake_house(tmp_path, browser=FakeBrowser(), pool=3) as house:
        ada, bob = house.admit(), house.admit()
        for _ in range(3):
            await ada.api.call(ops.Tabs(action="new", url=URL))
        await bob.api.call(ops.TabSpaceRequest())
        await ada.api.call(ops.SessionOpen(session="more", named=True))
        await ada.api.call(ops.LoopStart(prompt="x"))
        await ada.api.call(ops.TabSpaceGrant())
        replayed = restored(house.state.settings, read(house.home.journal))

        assert replayed._rows == house.state._rows
        assert replayed.pools == house.state.pools
        deadlines = [row.deadline for row in house.state.rows() if row.deadline is not None]
        assert replayed.next_deadline() == min(deadlines)
