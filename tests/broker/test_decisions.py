"""The only way into the core: the order of steps in a decision, and what happens if one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from roost import core
from roost.broker.decisions import Decisions
from roost.core import effects as fx
from roost.core import events as ev
from roost.core.machine import Machine
from roost.core.rows import Row
from roost.core.settings import CoreSettings
from roost.core.state import Change, State
from roost.errors import Internal, Interrupted, TabGone
from roost.vocabulary import LOOP_SECONDS, AgentId, BrowserId, Lifetime

B1 = BrowserId("b1")
ADA, BOB = AgentId("agent_ada"), AgentId("agent_bob")


class Rig:
    """``Decisions`` with a journal in memory.

    ``steps``: what was journaled, told and performed, in order.
    """

    def __init__(self) -> None:
        self.machine = Machine(CoreSettings(default_browser=B1))
        self.state = self.machine.state
        self.now = 1000.0
        self.journal: dict[tuple[str, str], Row] = {}
        self.can_write = True
        self.steps: list[str] = []
        self.stops = 0
        self.decisions = Decisions(
            self.machine,
            now=lambda: self.now,
            record=self._record,
            perform=self._perform,
            performed=lambda: None,
            stop=self._stop,
        )
        self.decide, self.hear = self.decisions.decide, self.decisions.hear
        for agent in (ADA, BOB):
            self.decide(
                core.connect_agent,
                agent=agent,
                pid=1,
                process_started="1",
                name=agent,
                secret_digest="d",
                session=core.SessionSpec(lifetime=Lifetime.ANONYMOUS),
            )
        self.steps.clear()

    def rows(self) -> dict[tuple[str, str], Row]:
        return {(row.table, row.key): row for row in self.state.rows()}

    def _record(self, changes: Sequence[Change]) -> None:
        if not self.can_write:
            raise Internal("The journal cannot be written.", hint="Free some space.")
        for change in changes:
            self.journal.pop((change.table, change.key), None)
            if change.row is not None:
                self.journal[change.table, change.key] = change.row
        self.steps.append("journal")

    def _perform(self, effect: fx.Effect) -> None:
        self.steps.append(type(effect).__name__)

    def _stop(self) -> None:
        self.stops += 1


def renamed_then_fails(state: State) -> None:
    """A request with a bug: it fails after it has changed rows and ordered effects."""
    state.put(replace(state.agents[ADA], name="renamed"))
    state.drop(state.agents[BOB])
    state.emit(fx.EndAgent(BOB))
    core.request_capture(state, ADA, core.open_tab(state, ADA, None, "about:blank").tab.id, 1)
    raise KeyError("a bug")


def test_due_rows_expire_before_a_query_is_answered() -> None:
    rig = Rig()
    rig.decide(core.start_loop, agent=ADA, session=None, prompt="go")
    rig.now += LOOP_SECONDS
    rig.steps.clear()
    session = rig.decide(core.session_for, ADA, None)
    assert session.id not in rig.state.loops
    assert rig.steps == ["journal", "Tell"], "the end of the loop is journaled, then told"


def test_rows_are_journaled_then_listeners_are_told_then_effects_are_performed() -> None:
    rig = Rig()
    rig.decisions.when_rows_change(lambda changes: rig.steps.append("told"))
    rig.decide(core.open_tab, ADA, None, "about:blank")
    assert rig.steps == ["journal", "told", "OpenTab"]


def test_a_refusal_is_raised_after_what_ran_out_was_performed() -> None:
    rig = Rig()
    rig.decide(core.start_loop, agent=ADA, session=None, prompt="go")
    rig.now += LOOP_SECONDS
    rig.steps.clear()
    with pytest.raises(TabGone):
        rig.decide(core.use_tab, ADA, None, "t9", action="click", acts=True)
    assert rig.steps == ["journal", "Tell"]


def test_a_request_inside_a_decision_is_refused_and_changes_nothing() -> None:
    rig = Rig()
    nested: list[BaseException] = []

    def asks_again(changes: Sequence[Change]) -> None:
        try:
            rig.decide(core.open_tab, BOB, None, "about:blank")
        except RuntimeError as error:
            nested.append(error)

    rig.decisions.when_rows_change(asks_again)
    opened = rig.decide(core.open_tab, ADA, None, "about:blank")
    assert len(nested) == 1
    assert list(rig.state.tabs) == [opened.tab.id]


def test_a_fact_that_comes_during_a_decision_is_decided_after_its_effects() -> None:
    rig = Rig()

    def bob_leaves(changes: Sequence[Change]) -> None:
        if BOB in rig.state.agents:
            rig.hear(ev.AgentLeft(BOB))
            assert BOB in rig.state.agents, "the fact waits for its turn"

    rig.decisions.when_rows_change(bob_leaves)
    rig.decide(core.open_tab, ADA, None, "about:blank")
    assert BOB not in rig.state.agents
    assert rig.steps.index("OpenTab") < rig.steps.index("EndAgent")


def test_a_fact_that_comes_during_a_refused_request_is_decided_before_the_refusal_is_raised() -> (
    None
):
    rig = Rig()
    rig.decide(core.start_loop, agent=ADA, session=None, prompt="go")
    rig.now += LOOP_SECONDS
    rig.decisions.when_rows_change(lambda changes: rig.hear(ev.AgentLeft(BOB)))
    with pytest.raises(TabGone):
        rig.decide(core.use_tab, ADA, None, "t9", action="click", acts=True)
    assert BOB not in rig.state.agents


def test_a_bug_in_a_decision_commits_nothing_and_stops_the_broker() -> None:
    rig = Rig()
    before = dict(rig.journal)
    with pytest.raises(Interrupted):
        rig.decide(renamed_then_fails)
    assert rig.rows() == rig.journal == before
    assert not rig.state.captures
    assert (rig.steps, rig.stops) == ([], 1)
    with pytest.raises(Interrupted):
        rig.decide(core.session_for, ADA, None)
    with pytest.raises(Interrupted):
        rig.hear(ev.AgentLeft(BOB))
    assert rig.rows() == before, "a broker that stops decides nothing more"
    assert rig.stops == 1


def test_a_decision_that_cannot_be_journaled_is_undone() -> None:
    rig = Rig()
    before = dict(rig.journal)
    rig.can_write = False
    with pytest.raises(Interrupted, match="cannot be written"):
        rig.decide(core.open_tab, ADA, None, "about:blank")
    assert rig.rows() == rig.journal == before
    assert (rig.steps, rig.stops) == ([], 1)


def test_an_effect_that_fails_keeps_no_other_from_being_performed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    tab = rig.decide(core.open_tab, ADA, None, "about:blank").tab
    rig.steps.clear()
    rig.decisions.when_rows_change(lambda changes: 1 / 0)  # type: ignore[arg-type]
    rig.decide(core.request_close, ADA, None, tab.id)
    assert rig.steps == ["journal", "CloseTab", "Tell"]
    assert "telling of changed rows failed" in caplog.text
