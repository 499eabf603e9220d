"""Prove that the tests notice a missing protection.

Each protecting line of the core and of its door is taken out in turn, and the same run must fail. A
line that is no longer in the source fails here, too, so this list stays complete.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import pytest

from roost import core
from roost.broker.decisions import Decisions
from roost.core import (
    agents,
    approvals,
    captures,
    groups,
    policy,
    pool,
    rules,
    sessions,
    subagents,
    tabs,
)
from roost.core.machine import Machine
from roost.core.slots import Pool
from roost.core.state import State
from tests.broker import test_decisions
from tests.core.conduct import policy_walk
from tests.core.sharing import walk

pytestmark = pytest.mark.slow
TELLING_SEEDS = (755, 872, 189, 116, 103, 63, 59, 58, 56)
"""Walks in which something rare happens, such as that a session loses its share. They come first,
because a run ends with the first walk that fails."""
SEEDS = (*TELLING_SEEDS, *(seed for seed in range(250) if seed not in TELLING_SEEDS))

POLICY_SEEDS = range(60)

REMOVED: dict[str, tuple[Any, str, str, str]] = {
    "reservations hold no slot": (Pool, "free", "- self.reserved", ""),
    "a full pool admits": (pool, "_take_slot", "if pool.has_room:", "if True:"),
    "debt is not paid by whoever opens": (pool, "_take_slot", "1 - pool.free", "1"),
    "a reservation is not used up": (pool, "_take_slot", "state.drop(reservation)", "pass"),
    "anybody's tab is evicted": (
        pool,
        "_take_slot",
        "state.tabs_in(session.id)",
        "state.tabs.values()",
    ),
    "a refusal comes after the eviction": (
        pool,
        "_take_slot",
        "if not evict or len(mine) < needed:",
        "[_evict(state, tab, why='') for tab in mine]\n    if not evict:",
    ),
    "the dead go on waiting": (agents, "withdraw", "pool.withdraw(state, agent.id)", "pass"),
    "the dead go on capturing": (
        agents,
        "withdraw",
        "captures.withdraw(state, agent.id)",
        "pass",
    ),
    "a freed slot serves nobody": (
        Machine,
        "decide",
        "pool.serve_queues(state)",
        "pass",
    ),
    "what ran out serves nobody before the next caller": (
        Machine,
        "_expire",
        "pool.serve_queues(state)",
        "pass",
    ),
    "nothing runs out unless woken": (Machine, "decide", "self._expire(woken)", "pass"),
    "any event ends agents": (
        Machine,
        "_expire",
        "isinstance(row, Agent | SlotRequest) and",
        "isinstance(row, SlotRequest) and",
    ),
    "a late wake-up ends agents": (
        agents,
        "expired",
        "if state.now - agent.life_until > LATE_SECONDS:",
        "if False:",
    ),
    "the grace begins before the broker listens": (
        agents,
        "broker_restarted",
        "awaited_until=None",
        "awaited_until=state.now",
    ),
    "nobody is awaited after a restart": (
        agents,
        "broker_listens",
        "elif not agent.connected:",
        "elif False:",
    ),
    "a share is enforced before the wait is over": (
        pool,
        "enforce_shares",
        "if state.now - request.asked_at < SHARE_SECONDS:",
        "if False:",
    ),
    "a share is never enforced": (
        pool,
        "enforce_shares",
        "tab = _surplus(state, request, busy)",
        "tab = None",
    ),
    "nobody looks again for a tab to take": (
        pool,
        "enforce_shares",
        "state.remind(request, state.now + SHARE_RETRY_SECONDS)",
        "pass",
    ),
    "a current tab is taken": (pool, "_surplus", "tab.id in current or", ""),
    "a busy tab is taken": (pool, "_surplus", "or tab.id in busy", ""),
    "a person's tab is taken": (
        pool,
        "_surplus",
        "if state.sessions[session].paused:",
        "if False:",
    ),
    "a session loses its share": (pool, "_surplus", "held > share]", "held >= share]"),
    "a waiter that has its share takes more": (
        pool,
        "claims_share",
        "and not has_share",
        "",
    ),
    "a slot is taken for a waiter whom a person stopped": (
        pool,
        "claims_share",
        "and not session.paused",
        "",
    ),
    "shares count only those who hold tabs": (
        pool,
        "fair_share",
        "len(pool.stakes) + is_new",
        "len(pool.holders)",
    ),
    "the queue is served from its end": (
        pool,
        "serve_queues",
        "next(iter(pool.queue.values()))",
        "list(pool.queue.values())[-1]",
    ),
    "membership is not asked for a tab": (
        rules,
        "tab_for",
        "state.member(agent, found.session) is not None",
        "True",
    ),
    "membership is not asked for a session": (
        rules,
        "session_for",
        "state.member(agent, session_id) is None",
        "session_id not in state.sessions",
    ),
    "an agent's id is global": (
        sessions,
        "open_session",
        "spec, id=None, browser=browser",
        "spec, browser=browser",
    ),
    "any agent clones any profile": (
        rules,
        "check_profile",
        "or not (is_own or is_for_any)",
        "",
    ),
    "the person is not asked": (
        pool,
        "open_tab",
        "rules.check_welcome(state, into, agent)",
        "pass",
    ),
    "a tab changes hands under its old id": (
        groups,
        "_hand_over",
        "id=_next_id(state),",
        "id=tab.id,",
    ),
    "a tab that changes hands is in nobody's hands": (
        groups,
        "place",
        "_hand_over(state, tab, session)",
        "state.put(tab)",
    ),
    "a closed tab stays current": (tabs, "retire", "if member.current == tab.id:", "if False:"),
    "a parked tab takes a late page": (
        tabs,
        "tab_ready",
        "tab.handle is not None or not tab.holds_slot",
        "False",
    ),
    "a change is not journaled": (
        State,
        "put",
        "self.changes.append(Change(row.table, row.key, row, before))",
        "pass",
    ),
    "a deadline sets no alarm": (State, "put", "if row.deadline is not None and", "if False and"),
    "use is not written down": (
        State,
        "_place",
        "_remove(self._session_tabs, before.session, before.id)",
        "return",
    ),
    "an idle agent is an orphan": (
        agents,
        "connect_agent",
        "connected=not lease",
        "awaited_until=state.now",
    ),
    "a query is answered with what has run out": (
        Machine,
        "decide",
        "self._expire(woken)",
        "woken is None or self._expire(woken)",
    ),
    "a decision is made inside another one": (
        Decisions,
        "decide",
        "if self._is_deciding:",
        "if False:",
    ),
    "a fact that comes meanwhile is decided at once": (
        Decisions,
        "hear",
        "if not self._is_deciding:",
        "if True:",
    ),
    "a decision that failed by a bug leaves traces": (
        Machine,
        "decide",
        "state.roll_back()",
        "pass",
    ),
    "a sub-agent outlives its parent": (
        agents,
        "end_agent",
        "_end_subagents(state, agent.id)",
        "pass",
    ),
    "a child session outlives its parent session": (
        sessions,
        "end_session",
        "for child in state.children(session.id):",
        "for child in ():",
    ),
    "a sub-agent acts as a stranger": (
        subagents,
        "acting_agent",
        "(agent, *state.parents(agent))",
        "list(state.agents)",
    ),
    "a sub-agent changes its parent's current tab": (
        subagents,
        "acting_agent",
        "and selects",
        "and False",
    ),
    "one id stands for two sub-agents": (
        subagents,
        "_recorded",
        "if known is not None:",
        "if False:",
    ),
    "an agent becomes its own parent": (subagents, "adopt_agent", "or is_circle", ""),
    "a sub-agent that ended keeps its tabs": (
        agents,
        "rest",
        "tabs.close_tab(state, tab, error)",
        "pass",
    ),
    "a sub-agent that ended goes on waiting": (agents, "rest", "withdraw(state, row)", "pass"),
    "any number of sub-agents rest": (agents, "rest", "_end_oldest(state, row.parent)", "pass"),
    "an idle sub-agent never rests": (
        agents,
        "expired",
        "if agent.idle_until is not None and agent.idle_until <= state.now:",
        "if False:",
    ),
    "a restart disconnects sub-agents from their parents": (
        agents,
        "broker_restarted",
        "elif not agent.shares_connection:",
        "else:",
    ),
    "a person's tabs close when the sub-agent ends": (
        agents,
        "rest",
        "and own.paused",
        "and False",
    ),
    "a failed capture keeps its turn": (
        captures,
        "end_capture",
        "if turn.capture != event.capture",
        "",
    ),
}


OF_POLICY: dict[str, tuple[Any, str, str, str]] = {
    "the session's policy is not asked": (
        policy,
        "layers_for",
        "() if row is None else row.layers",
        "()",
    ),
    "the agent's policy is not asked": (
        policy,
        "layers_for",
        "return (*layers, *(one for one in caller.layers if one not in layers))",
        "return layers",
    ),
    "the configuration's policy is not asked": (
        policy,
        "starting_layers",
        "(*config.layers, *own)",
        "own",
    ),
    "the last layer decides": (
        policy,
        "judge",
        "if _STRICTNESS[found.verdict] > _STRICTNESS[strictest.verdict]:",
        "if True:",
    ),
    "every origin is listed": (
        policy,
        "_judged",
        "if listed is not None and not covers(listed, origin):",
        "if False:",
    ),
    "read-only origins are acted on": (
        policy,
        "_judged",
        "if Group.ACT in deed.groups and covers(layer.read_only, origin):",
        "if False:",
    ),
    "a policy says nothing about DevTools clients": (
        policy,
        "_judged",
        "if deed.operation == CDP and not layer.is_open:",
        "if False:",
    ),
    "everything is allowed to DevTools clients by a star": (
        policy,
        "_rule_covers",
        "deed.operation == CDP and CDP not in rule.operations",
        "False",
    ),
    "what is denied is done": (policy, "check_deed", "found.verdict is Verdict.DENY", "False"),
    "what must be asked is done": (policy, "check_deed", "if asked not in approved:", "if False:"),
    "once is for good": (approvals, "use_approval", "state.drop(approval)", "pass"),
    "no is a yes": (approvals, "use_approval", "if not approval.allow:", "if False:"),
    "silence is no answer": (
        approvals,
        "expired",
        '_end(state, question, refused, None, "")',
        "state.drop(question)",
    ),
    "approvals outlive their session": (
        sessions,
        "end_session",
        "approvals.forget(state, session)",
        "pass",
    ),
    "actions are not counted": (policy, "count_action", "if len(recent) >= most:", "if False:"),
    "an agent's next session has no policy": (
        sessions,
        "open_session",
        ", layers=row.layers",
        "",
    ),
    "a disposed session takes the policy with it": (
        pool,
        "own_session_of",
        "layers=row.layers,",
        "",
    ),
}


def take_out(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, line: str, new: str) -> None:
    """Replace ``owner.name`` by itself without that line."""
    found = inspect.getattr_static(owner, name)
    function: Any = found.fget if isinstance(found, property) else found
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(line) == 1, f"{name} no longer contains: {line}"
    scope: dict[str, Any] = {}
    source = "from __future__ import annotations\n" + source.replace(line, new)
    exec(source, function.__globals__, scope)
    monkeypatch.setattr(owner, name, scope[name])
    if getattr(core, name, None) is function:  # the broker's list of requests and queries
        monkeypatch.setattr(core, name, scope[name])


def run() -> None:
    test_decisions.test_a_request_inside_a_decision_is_refused_and_changes_nothing()
    test_decisions.test_a_fact_that_comes_during_a_decision_is_decided_after_its_effects()
    for seed in SEEDS:
        walk(seed)


@pytest.mark.parametrize("protection", REMOVED)
def test_taking_out_a_protecting_line_is_noticed(
    protection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(monkeypatch, *REMOVED[protection])
    with pytest.raises((AssertionError, LookupError)):
        run()


@pytest.mark.timeout(240)
def test_with_everything_in_place_the_same_run_finds_nothing() -> None:
    run()


def run_policies() -> None:
    for seed in POLICY_SEEDS:
        policy_walk(seed)


@pytest.mark.parametrize("protection", OF_POLICY)
def test_taking_out_a_protecting_line_of_policies_is_noticed(
    protection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(monkeypatch, *OF_POLICY[protection])
    with pytest.raises((AssertionError, LookupError)):
        run_policies()


@pytest.mark.timeout(240)
def test_with_all_protections_of_policies_the_same_run_finds_nothing() -> None:
    run_policies()
