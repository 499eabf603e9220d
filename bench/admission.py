"""Measure a decision of the core at different numbers of sessions: its cost must stay the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from statistics import median
from typing import Concatenate, ParamSpec, TypeVar

from bench.report import Row
from roost import core
from roost.core import events as ev
from roost.core.machine import Machine
from roost.core.rows import Tab
from roost.core.settings import CoreSettings
from roost.core.state import State
from roost.vocabulary import AgentId, BrowserId, Lifetime, TabHandle

P = ParamSpec("P")
T = TypeVar("T")
SIZES = (10, 1_000, 10_000)
CYCLES = 300
ROUNDS = 9
LIMIT = 1.5
BROWSER = BrowserId("fake")
_AT = f"at {', '.join(f'{size:,}' for size in SIZES)} sessions"


def rows() -> list[Row]:
    """Return, for each kind of decision, its cost with the most sessions relative to the fewest."""
    found = []
    for name, pool_is_full, cycle, operations in (
        ("open, use, close a tab", False, Crowd.open_use_close, 4),
        ("arrive, open a tab, leave", False, Crowd.come_and_go, 4),
        ("refused, the pool is full", True, Crowd.be_refused, 1),
        ("request, grant, open", True, Crowd.request_and_grant, 4),
    ):
        crowds = [Crowd(size, pool=size if pool_is_full else 0) for size in SIZES]
        # Measure in turns, so that a busy moment of the machine affects all sizes.
        rounds = [[_cost(crowd, cycle) for crowd in crowds] for _ in range(ROUNDS + 1)][1:]
        costs = [median(costs) / operations * 1e6 for costs in zip(*rounds, strict=True)]
        ratios = [median(costs[n] / costs[0] for costs in rounds) for n in range(len(SIZES))]
        shown = ", ".join(f"{cost:.1f}" for cost in costs)
        note = f"{shown} µs {_AT}"
        found.append(Row(f"core: {name}", max(ratios), "×", limit=LIMIT, note=note))
    return found


def _cost(crowd: Crowd, cycle: Callable[[Crowd], None]) -> float:
    """Return the seconds per cycle."""
    started = time.perf_counter()
    for _ in range(CYCLES):
        cycle(crowd)
    return (time.perf_counter() - started) / CYCLES


class Crowd:
    """A core with ``sessions`` agents, each with a session and one tab, and one further agent."""

    def __init__(self, sessions: int, *, pool: int) -> None:
        self._machine = Machine(CoreSettings(default_browser=BROWSER, pool_limits={BROWSER: pool}))
        self._now = 1_000_000.0
        self._numbers = count(1)
        self._hear(ev.BrowserUp(browser=BROWSER))
        first, *_ = [self._settle() for _ in range(sessions)]
        self._giver = first
        self._guest = self._arrive()

    def open_use_close(self) -> None:
        tab = self._open(self._guest)
        self._ask(core.use_tab, self._guest, None, tab.id, action="read", acts=True)
        self._ask(core.request_close, self._guest, None, tab.id)

    def come_and_go(self) -> None:
        agent = self._arrive()
        self._open(agent)
        self._hear(ev.AgentLeft(agent))

    def be_refused(self) -> None:
        refused = self._machine.decide(
            self._tick(), lambda state: core.open_tab(state, self._guest, None, "about:blank")
        )
        assert refused.refusal is not None

    def request_and_grant(self) -> None:
        """Give the giver's slot to the guest, then swap their roles."""
        self._ask(core.request_space, self._guest, None)
        self._ask(core.grant_space, self._giver, None, None)
        self._open(self._guest)
        self._giver, self._guest = self._guest, self._giver

    def _settle(self) -> AgentId:
        agent = self._arrive()
        self._open(agent)
        return agent

    def _arrive(self) -> AgentId:
        number = next(self._numbers)
        agent = AgentId(f"agent_{number:032x}_{number}")
        self._ask(
            core.connect_agent,
            agent=agent,
            pid=number,
            process_started="",
            name="bench",
            secret_digest="",
            session=core.SessionSpec(lifetime=Lifetime.ANONYMOUS),
        )
        return agent

    def _open(self, agent: AgentId) -> Tab:
        tab = self._ask(core.open_tab, agent, None, "about:blank").tab
        self._hear(ev.TabReady(tab.id, TabHandle(f"page-{tab.id}")))
        return tab

    def _ask(
        self, request: Callable[Concatenate[State, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        decision = self._machine.decide(self._tick(), lambda state: request(state, *args, **kwargs))
        return decision.answer

    def _hear(self, event: ev.Event) -> None:
        self._machine.hear(self._tick(), event)

    def _tick(self) -> float:
        self._now += 0.001
        return self._now
