"""Agents, browsers, the person and the clock around the core, as a Hypothesis state machine.

They act in any order. Time moves independently of the wake-ups. The browser's reports come late,
twice or never. After every event ``Watch`` checks the rows against the rules of sharing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from roost import core
from roost.core import effects as fx
from roost.core import events as ev
from roost.core.machine import Decision, Machine, happened
from roost.core.settings import CoreSettings
from roost.core.state import State
from roost.errors import RoostError
from roost.vocabulary import (
    OPERATOR,
    AgentId,
    BrowserId,
    JarId,
    JarPolicy,
    Lifetime,
    QuestionAnswer,
    QuestionKind,
    Reads,
    SessionId,
    TabHandle,
    TabId,
)
from tests.core.invariants import Watch
from tests.core.play import Ask, said

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., None])
B1, B2 = BrowserId("b1"), BrowserId("b2")
PICK = range(12)
EITHER = (False, True)
MOMENTS = (0.2, 0.9, 3.0, 5.0, 11.0, 31.0, 130.0, 601.0)
STEPS: list[tuple[str, dict[str, Sequence[Any]]]] = []
START: dict[str, Sequence[Any]] = {
    "limit": (1, 2, 3, 4, 6),
    "other": (0, 2),
    "reads": (Reads.PRIVATE, Reads.PRIVATE, Reads.SHARED),
    "tabs": range(4),
    "more": range(4),
    "waiting": range(3),
    "mine": (0, 2),
}


def drawn(choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {name: st.sampled_from(values) for name, values in choices.items()}


def step(**choices: Sequence[Any]) -> Callable[[Method], Method]:
    """Register a method as a rule for Hypothesis and as a step of ``walk``."""

    def registered(method: Method) -> Method:
        STEPS.append((method.__name__, choices))
        as_rule: Any = rule(**drawn(choices))
        return cast(Method, as_rule(method))

    return registered


def walk(seed: int, steps: int = 25) -> None:
    """Run the machine with seeded random steps: without shrinking, but with many more steps per
    second."""
    die = random.Random(seed)

    def thrown(choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        return {name: die.choice(values) for name, values in choices.items()}

    machine = Sharing()
    machine.broker_starts(**thrown(START))
    for _ in range(steps):
        name, choices = die.choice(STEPS)
        getattr(machine, name)(**thrown(choices))


def one_of(items: list[T], pick: int) -> T | None:
    return items[pick % len(items)] if items else None


class Bug(Exception):
    """A bug in the core."""


class Sharing(RuleBasedStateMachine):
    now = 1000.0
    decisions = 0

    @initialize(**drawn(START))
    def broker_starts(
        self, limit: int, other: int, reads: Reads, tabs: int, more: int, waiting: int, mine: int
    ) -> None:
        self.settings = CoreSettings(
            default_browser=B1,
            pool_limits={B1: limit, B2: other},
            reads=reads,
            grouped=frozenset({B2}),
            personal=frozenset({B2}),
        )
        self.machine = Machine(self.settings)
        self.watch = Watch(self.settings)
        self.minted = 0
        self.everybody: list[AgentId] = []
        self.pages: dict[BrowserId, dict[TabHandle, str | None]] = {B1: {}, B2: {}}
        self.jars: dict[BrowserId, set[str]] = {B1: set(), B2: set()}
        self.strip: dict[TabHandle, str] = {}
        """The groups that a person sees in B2, their own browser."""
        self.to_do: list[fx.Effect] = []
        self.said: list[ev.Event] = []
        self.captures: list[tuple[TabId, int]] = []
        self.people_come(tabs, more, waiting)
        self.the_person_answers(allow=True)
        for _ in range(mine):
            self.an_agent_comes(lease=False, browser=B2)
            self.open_tab(self.everybody[-1], 0, evict=False)
            self.perform(len(self.to_do) - 1, fails=False)

    def people_come(self, tabs: int, more: int, waiting: int) -> None:
        """Start most runs with some agents at work, one of them with more tabs, and some waiting
        for a slot."""
        for number in range(tabs):
            if number == 1:
                self.an_agent_joins("shop", lease=False, shared=False)
            else:
                self.an_agent_comes(lease=number == 2, browser=None)
            self.open_tab(self.everybody[-1], 0, evict=False)
            self.perform(0, fails=False)
            self.a_capture_is_wanted(number, number)
        for _ in range(more if tabs else 0):
            self.open_tab(self.everybody[0], 0, evict=False)
            self.perform(len(self.to_do) - 1, fails=False)
        for number in range(waiting):
            if number == 0:
                self.an_agent_joins("mail", lease=False, shared=False)
            else:
                self.an_agent_comes(lease=True, browser=None)
            self.say(Ask(core.request_space, self.everybody[-1], None))

    def say(self, event: ev.Event | Ask[Any]) -> Decision[Any]:
        self.decisions += 1
        if self.decisions % 7 == 0:
            self.fail_at(event)
        outcome = said(self.machine, self.now, event)
        self.to_do += [
            effect
            for effect in outcome.effects
            if isinstance(effect, (fx.OpenTab, fx.CloseTab, fx.RemoveJar, fx.CloseStray))
        ]
        self.watch.see(self.machine, event, self.now, outcome)
        if isinstance(outcome.refusal, core.ConsentNeeded):
            refusal = outcome.refusal
            self.say(Ask(core.ask_person, refusal.agent, refusal.browser))
        return outcome

    def fail_at(self, event: ev.Event | Ask[Any]) -> None:
        """Decide about the event, but fail by a bug at the end. Nothing of it may remain."""
        state = self.machine.state
        captures, popups, deeds = state.captures, state.popups, state.deeds

        def fails(state: State) -> None:
            with suppress(RoostError):
                event(state) if isinstance(event, Ask) else happened(state, event)
            raise Bug

        try:
            self.machine.decide(self.now, fails)
        except Bug:
            pass
        self.watch.nothing_happened(self.machine)
        now = (state.captures, state.popups, state.deeds)
        assert now == (captures, popups, deeds), "a bug changed captures"

    def browser_says(self, event: ev.Event) -> None:
        self.said.append(event)
        self.say(event)

    def mint(self) -> int:
        self.minted += 1
        return self.minted

    # --- who and what ----------------------------------------------------------------------------

    def somebody(self, pick: int) -> AgentId:
        """Return an agent: mostly a living one, sometimes a dead one, or the operator if there
        is none."""
        alive = list(self.watch.facts.agents)
        if pick == 11:
            return one_of(self.everybody, self.minted) or OPERATOR
        return one_of(alive, pick) or OPERATOR

    def a_session(self, agent: AgentId, pick: int) -> str | None:
        """Return the agent's own session by default, by alias or by id, or a guess at another's."""
        if pick < 6 and agent != OPERATOR:
            return None
        if pick < 8:
            return one_of(["x", "shop", "mail"], pick)
        return one_of([str(session) for session in self.watch.facts.sessions], pick)

    def a_tab(self, agent: AgentId, pick: int) -> str | None:
        """Return the current tab by default, one of the agent's own, or a guess."""
        if pick < 3:
            return None
        mine = self.watch.facts.sessions_of(agent)
        tabs = self.watch.facts.tabs.values()
        if pick < 8:
            return one_of([str(tab.id) for tab in tabs if tab.session in mine], pick)
        return one_of([*(str(tab.id) for tab in tabs), "t1", "t999"], pick)

    def a_page(self, pick: int) -> tuple[BrowserId, TabHandle] | None:
        return one_of([(b, handle) for b, pages in self.pages.items() for handle in pages], pick)

    # --- agents ----------------------------------------------------------------------------------

    def agent_comes(self, spec: core.SessionSpec, *, lease: bool) -> None:
        agent = AgentId(f"agent_{self.mint():032x}_{self.minted}")
        self.everybody.append(agent)
        self.say(
            Ask(core.connect_agent, agent=agent, pid=self.minted, process_started="1", name="agent",
                secret_digest="d", session=spec, lease=lease,
            )
        )  # fmt: skip

    @step(lease=EITHER, browser=(None, None, None, B2))
    def an_agent_comes(self, lease: bool, browser: BrowserId | None) -> None:
        spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, browser=browser)
        self.agent_comes(spec, lease=lease)

    @step(name=("shop", "mail"), lease=EITHER, shared=EITHER)
    def an_agent_joins(self, name: str, lease: bool, shared: bool) -> None:
        policy = JarPolicy.SHARED if shared and name == "mail" else None
        id = SessionId(name)
        self.agent_comes(
            core.SessionSpec(lifetime=Lifetime.NAMED, id=id, policy=policy), lease=lease
        )

    @step(number=range(1, 3))
    def an_agent_comes_to_resume(self, number: int) -> None:
        spec = core.SessionSpec(lifetime=Lifetime.RESUMABLE, id=SessionId(f"thread-{number}"))
        self.agent_comes(spec, lease=False)

    # --- sub-agents ------------------------------------------------------------------------------

    @step(who=PICK, number=range(3), opens=(False, True, True), is_child=(True, True, False))
    def a_subagent_calls(self, who: int, number: int, opens: bool, is_child: bool) -> None:
        """Let a sub-agent, or a further conversation, call on somebody's connection."""
        parent, known = self.somebody(who), f"sub-{number}"
        new = AgentId(f"agent_{self.mint():032x}_{self.minted}")
        if is_child:
            ask: Ask[Any] = Ask(
                core.connect_subagent, parent=parent, agent=new, conversation=known, kind="Explore"
            )
        else:
            ask = Ask(core.connect_conversation, beside=parent, agent=new, conversation=known)
        made = self.say(ask) if parent in self.watch.facts.agents else None
        if made is None or made.refusal is not None:
            return
        if made.answer.id == new:
            self.everybody.append(new)
        self.say(Ask(core.subagent_called, made.answer.id))
        if opens:
            self.open_tab(made.answer.id, 0, evict=True)
            self.perform(len(self.to_do) - 1, fails=False)

    @step(pick=PICK)
    def a_subagent_ends(self, pick: int) -> None:
        rows = self.watch.facts.agents.values()
        subagents = [row.id for row in rows if row.parent is not None]
        self.say(ev.SubagentEnded(one_of(subagents, pick) or self.somebody(pick)))

    @step(number=(0, 0, 0, 10))
    def many_subagents_end(self, number: int) -> None:
        """Let more sub-agents rest than one agent may have."""
        for each in range(number):
            self.a_subagent_calls(0, each + 10, opens=True, is_child=True)
            self.a_subagent_ends(each)

    @step(who=PICK, parent=PICK, number=range(2))
    def an_agent_is_adopted(self, who: int, parent: int, number: int) -> None:
        agent, above = self.somebody(who), self.somebody(parent)
        row = self.watch.facts.agents.get(agent)
        if row is not None and not row.shares_connection:
            self.say(Ask(core.adopt_agent, agent, above, conversation=f"thread-{number}"))

    @step(who=PICK, where=PICK, which=PICK, selects=EITHER)
    def a_call_names_something_of_a_parent(
        self, who: int, where: int, which: int, selects: bool
    ) -> None:
        """Let mostly a sub-agent name a session or tab, mostly one of its parent's."""
        facts = self.watch.facts
        subagents = [row.id for row in facts.agents.values() if facts.parents(row.id)]
        agent = one_of(subagents, who) or self.somebody(who)
        above = one_of(facts.parents(agent), who) or agent
        session = self.a_session(agent, where)
        tab = self.a_tab(above if which < 8 else agent, which)
        answer = self.say(Ask(core.acting_agent, agent, session, tab, selects=selects))
        if answer.refusal is None:
            use = Ask(core.use_tab, answer.answer, session, tab, action="click", acts=True)
            self.say(use)

    @step(pick=PICK)
    def a_connection_breaks(self, pick: int) -> None:
        agent = self.somebody(pick)
        row = self.watch.facts.agents.get(agent)
        if row is None or not row.shares_connection:
            self.say(ev.AgentDisconnected(agent))

    @step(pick=PICK)
    def an_agent_says_goodbye(self, pick: int) -> None:
        self.say(ev.AgentLeft(self.somebody(pick)))

    @step(pick=PICK, lease=EITHER)
    def an_agent_comes_back(self, pick: int, lease: bool) -> None:
        agent = self.somebody(pick)
        row = self.watch.facts.agents.get(agent)
        if row is not None and row.shares_connection:
            return
        if lease or (row is not None and row.lease_until is not None):
            self.say(Ask(core.renew_lease, agent))
        else:
            self.say(Ask(core.resume_agent, agent))

    @step(who=PICK, name=(None, None, "x", "shop"), id=(None, "shop", "mail"), clone=EITHER)
    def a_session_is_opened(self, who: int, name: str | None, id: str | None, clone: bool) -> None:
        agent = self.somebody(who)
        spec = core.SessionSpec(
            lifetime=Lifetime.NAMED if agent == OPERATOR else Lifetime.ANONYMOUS,
            id=None if id is None else SessionId(id),
            policy=JarPolicy.CLONE if clone else None,
            profile="work" if clone else None,
        )
        is_open = id == "mail"
        self.say(
            Ask(
                core.open_session, agent=agent, alias=name, spec=spec, profile_for_any_agent=is_open
            )
        )

    @step(who=PICK, which=PICK)
    def a_session_is_disposed(self, who: int, which: int) -> None:
        agent = self.somebody(who)
        self.say(Ask(core.dispose_session, agent, self.a_session(agent, which) or "x"))

    @step(who=PICK, which=PICK, evict=EITHER)
    def a_tab_is_opened(self, who: int, which: int, evict: bool) -> None:
        self.open_tab(self.somebody(who), which, evict)

    @step(who=PICK, evict=EITHER, after=(0.0, 0.0, 11.0, 31.0))
    def a_tab_is_opened_at_home_at_once(self, who: int, evict: bool, after: float) -> None:
        self.now += after
        self.open_tab(self.somebody(who), 0, evict)
        self.perform(len(self.to_do) - 1, fails=False)

    @step(who=PICK, which=PICK, evict=EITHER, page=("cart", "help"))
    def a_page_is_opened_by_name(self, who: int, which: int, evict: bool, page: str) -> None:
        agent = self.somebody(who)
        url, session = "https://example.com/", self.a_session(agent, which)
        self.say(Ask(core.open_tab, agent=agent, session=session, url=url, evict=evict, page=page))

    @step(which=PICK)
    def a_token_is_issued(self, which: int) -> None:
        session = one_of(list(self.watch.facts.sessions), which) or SessionId("nothing")
        self.say(Ask(core.record_token, session, "salt", f"digest-{self.mint()}"))

    def open_tab(self, agent: AgentId, which: int, evict: bool) -> None:
        session = self.a_session(agent, which)
        url = "chrome://settings" if which == 11 else "https://example.com/"
        self.say(Ask(core.open_tab, agent=agent, session=session, url=url, evict=evict))

    @step(who=PICK, where=PICK, which=PICK, acts=EITHER, revives=EITHER)
    def a_tab_is_used(self, who: int, where: int, which: int, acts: bool, revives: bool) -> None:
        agent = self.somebody(who)
        self.say(
            Ask(
                core.use_tab,
                agent,
                self.a_session(agent, where),
                self.a_tab(agent, which),
                action="click",
                acts=acts,
                revives=revives,
            )
        )

    @step(who=PICK, which=PICK)
    def a_tab_is_selected(self, who: int, which: int) -> None:
        agent = self.somebody(who)
        self.say(Ask(core.select_tab, agent, None, self.a_tab(agent, which) or "t1"))

    @step(who=PICK, where=PICK, which=PICK)
    def a_tab_is_closed(self, who: int, where: int, which: int) -> None:
        agent = self.somebody(who)
        session, tab = self.a_session(agent, where), self.a_tab(agent, which)
        self.say(Ask(core.request_close, agent, session, tab))

    @step(who=PICK, where=PICK)
    def space_is_wanted(self, who: int, where: int) -> None:
        agent = self.somebody(who)
        self.say(Ask(core.request_space, agent, self.a_session(agent, where)))

    @step(
        second_has=(1, 1, 2),
        pause=(0, 0, 0, 1, 2),
        seconds=(9.9, 10.0, 10.5, 31.0),
        busy=(*range(8), 0b111100, 0b1111100),
        again=EITHER,
    )
    def one_has_many_tabs_and_others_wait(
        self, second_has: int, pause: int, seconds: float, busy: int, again: bool
    ) -> None:
        """Let one agent fill the pool while others wait, one of them with tabs of its own, until
        the core is woken. Some tabs are busy, and sometimes the person has paused one of the
        sessions."""
        limit = self.settings.limit(B1)
        for _ in range(3):
            self.an_agent_comes(lease=False, browser=None)
        holder, second, third = self.everybody[-3:]
        for agent, tabs in ((second, second_has), (holder, limit)):
            for _ in range(tabs):
                self.open_tab(agent, 0, evict=False)
                self.perform(len(self.to_do) - 1, fails=False)
        self.say(Ask(core.request_space, second, None))
        self.now += 5.0
        self.say(Ask(core.request_space, third, None))
        if pause:
            paused = self.watch.facts.agents[holder if pause == 1 else third].own_session
            self.say(Ask(core.pause_session, OPERATOR, paused, True))
        for _ in range(2 if again else 1):
            self.the_core_is_woken_in_the_end(seconds, busy)

    @step(who=PICK, where=PICK, which=PICK)
    def space_is_granted(self, who: int, where: int, which: int) -> None:
        agent = self.somebody(who)
        session, tab = self.a_session(agent, where), self.a_tab(agent, which)
        self.say(Ask(core.grant_space, agent, session, tab))

    @step(who=PICK, which=PICK)
    def a_capture_is_wanted(self, who: int, which: int) -> None:
        tab = one_of(list(self.watch.facts.tabs), which) or TabId("t1")
        self.captures.append((tab, self.mint()))
        self.say(Ask(core.request_capture, self.somebody(who), tab, self.minted))

    @step(which=PICK)
    def a_capture_ends(self, which: int) -> None:
        tab, capture = one_of(self.captures[-4:], which) or (TabId("t1"), 0)
        self.say(ev.CaptureEnded(tab, capture))

    @step(who=PICK, turn=("start", "go on", "done", "stop"))
    def a_loop_turns(self, who: int, turn: str) -> None:
        agent = self.somebody(who)
        session = self.a_session(agent, 0)
        if turn == "start":
            event: Ask[Any] = Ask(
                core.start_loop,
                agent=agent,
                session=session,
                prompt="go",
                max_iterations=1,
                phrase="done",
            )
        elif turn == "stop":
            event = Ask(core.stop_loop, agent, session)
        else:
            event = Ask(core.end_turn, agent, session, turn)
        self.say(event)

    # --- the person ------------------------------------------------------------------------------

    @step(who=PICK, turn=("ask", "answer", "take"))
    def the_person_is_asked_something(self, who: int, turn: str) -> None:
        agent = self.somebody(who)
        session = self.a_session(agent, 0)
        kind = QuestionKind.HANDOFF
        events: dict[str, Ask[Any]] = {
            "ask": Ask(core.ask_question, agent=agent, session=session, kind=kind, reason="Log in"),
            "take": Ask(core.take_answer, agent, session),
        }
        known = one_of(list(self.watch.facts.questions), who) or SessionId("s1")
        answered = Ask(core.answer_question, known, QuestionAnswer.DONE)
        self.say(events.get(turn, answered))

    @step(who=PICK, which=PICK, paused=EITHER)
    def a_session_is_paused_or_handed_back(self, who: int, which: int, paused: bool) -> None:
        agent = OPERATOR if who % 2 else self.somebody(who)
        self.say(Ask(core.pause_session, agent, self.a_session(agent, which), paused))

    @step(which=PICK, verb=("open", "use", "close", "dispose"))
    def the_operator_acts(self, which: int, verb: str) -> None:
        session = str(one_of(list(self.watch.facts.sessions), which) or "nothing")
        tab = str(one_of(list(self.watch.facts.tabs), which) or "t1")
        events: dict[str, Ask[Any]] = {
            "open": Ask(core.open_tab, agent=OPERATOR, session=session, url="about:blank"),
            "use": Ask(
                core.use_tab, agent=OPERATOR, session=None, tab=tab, action="click", acts=True
            ),
            "close": Ask(core.request_close, OPERATOR, None, tab),
            "dispose": Ask(core.dispose_session, OPERATOR, session),
        }
        self.say(events[verb])

    def a_group(self, pick: int) -> str | None:
        """Return the group of a session of B2 (mostly), of an ended session, or none."""
        live = [s.group for s in self.watch.facts.sessions.values() if s.browser == B2]
        return one_of([*live, *live, "s1@7", None], pick)

    @step(which=PICK, where=PICK)
    def the_person_moves_a_tab(self, which: int, where: int) -> None:
        page = one_of(list(self.strip), which)
        if page is None:
            return
        group = self.a_group(where)
        if group is None:
            del self.strip[page]
        else:
            self.strip[page] = group
        self.browser_says(ev.TabMoved(B2, page, group))

    @step(where=PICK, jar=PICK)
    def the_person_opens_a_tab_in_a_group(self, where: int, jar: int) -> None:
        group = self.a_group(where)
        if group is not None:
            page, place = TabHandle(f"page-{self.mint()}"), one_of([None, *self.jars[B2]], jar)
            self.pages[B2][page], self.strip[page] = place, group
            self.browser_says(
                ev.TabOpened(
                    browser=B2, handle=page, opener=None, jar=place, url="about:blank", group=group
                )
            )

    @step(where=PICK)
    def the_person_closes_a_group(self, where: int) -> None:
        group = self.a_group(where)
        if group is not None:
            self.browser_says(ev.GroupClosed(B2, group))
            for page in [page for page, one in self.strip.items() if one == group]:
                del self.strip[page]
                self.pages[B2].pop(page, None)
                self.browser_says(ev.TabClosed(B2, page))

    @step(allow=(True, True, False))
    def the_person_answers(self, allow: bool) -> None:
        self.say(ev.PersonAnswered(B2, "agent", allow))

    @step(what=("pause", "resume", "resume", "end"), where=PICK)
    def the_person_speaks(self, what: Any, where: int) -> None:
        self.say(ev.PersonSaid(B2, what, self.a_group(where)))

    @step(new_ids=EITHER, kept=range(4))
    def the_persons_browser_comes_back(self, new_ids: bool, kept: int) -> None:
        """Report the person's browser with its groups: under new handles if it was restarted,
        else unchanged."""
        self.say(ev.BrowserDown(B2))
        strip = dict(list(self.strip.items())[0 if kept else 1 :])
        self.strip = {
            TabHandle(f"page-{self.mint()}") if new_ids else page: group
            for page, group in strip.items()
        }
        self.pages[B2] = dict.fromkeys(self.strip)
        self.say(
            ev.BrowserUp(
                browser=B2,
                handles=frozenset(self.strip),
                jars=frozenset(self.jars[B2]),
                groups=self.strip,
                places=dict.fromkeys(self.strip, "https://example.com/"),
            )
        )

    # --- browsers --------------------------------------------------------------------------------

    @step(which=PICK, fails=(False, False, False, True))
    def a_browser_does_as_told(self, which: int, fails: bool) -> None:
        self.perform(which, fails)

    @step()
    def a_browser_keeps_up(self) -> None:
        while self.to_do:
            self.perform(0, fails=False)

    def perform(self, which: int, fails: bool) -> None:
        effect = one_of(self.to_do, which)
        if effect is None:
            return
        self.to_do.remove(effect)
        match effect:
            case fx.OpenTab() if fails:
                self.browser_says(ev.TabOpenFailed(effect.tab))
            case fx.OpenTab():
                handle = TabHandle(f"page-{self.mint()}")
                self.pages[effect.browser][handle] = self.ready_jar(effect.browser, effect.jar)
                row = self.watch.facts.tabs.get(effect.tab)
                if effect.browser == B2 and row is not None and row.session is not None:
                    self.strip[handle] = self.watch.facts.sessions[row.session].group
                self.browser_says(ev.TabReady(effect.tab, handle))
            case fx.CloseTab() | fx.CloseStray() if effect.handle is not None:
                self.pages[effect.browser].pop(effect.handle, None)
                self.browser_says(ev.TabClosed(effect.browser, effect.handle))
            case fx.RemoveJar():
                if effect.handle is not None:
                    self.jars[effect.browser].discard(effect.handle)
                if effect.jar is not None:
                    self.browser_says(ev.JarRemoved(effect.jar))
            case _:
                pass

    def ready_jar(self, browser: BrowserId, jar: JarId) -> str | None:
        row = self.watch.facts.jars.get(jar)
        if row is None or row.handle is not None:
            return None if row is None else row.handle
        handle = "default" if row.policy is JarPolicy.SHARED else f"jar-{self.mint()}"
        self.jars[browser].add(handle)
        self.browser_says(ev.JarMade(jar, handle))
        return handle

    @step(which=PICK, known=("opener", "both", "jar", "nothing"), more=PICK)
    def a_page_opens_by_itself(self, which: int, known: str, more: int) -> None:
        for _ in range(7 if more == 11 else 1):
            browser, opener = self.a_page(which) or (B1, None)
            jar = None if opener is None else self.pages[browser][opener]
            handle = TabHandle(f"page-{self.mint()}")
            self.pages[browser][handle] = None if known == "nothing" else jar
            self.browser_says(
                ev.TabOpened(
                    browser=browser, handle=handle, url="https://example.com/popup",
                    opener=opener if known in ("opener", "both") else None,
                    jar=jar if known in ("both", "jar") else None,
                )
            )  # fmt: skip

    @step(which=PICK, what=("vanish", "break", "move on"))
    def a_page_changes(self, which: int, what: str) -> None:
        browser, page = self.a_page(which) or (B1, TabHandle("page-0"))
        if what == "vanish":
            self.pages[browser].pop(page, None)
            self.browser_says(ev.TabClosed(browser, page))
        elif what == "break":
            self.browser_says(ev.TabCrashed(browser, page))
        else:
            self.browser_says(ev.TabNavigated(browser, page, "https://example.com/2", "Two"))

    @step(which=PICK)
    def an_open_call_is_given_up(self, which: int) -> None:
        opening = [t.id for t in self.watch.facts.tabs.values() if t.state == "opening"]
        self.say(ev.TabOpenAbandoned(one_of(opening, which) or TabId("t1")))

    @step(browser=(B1, B1, B2), returns=EITHER)
    def a_browser_dies(self, browser: BrowserId, returns: bool) -> None:
        self.pages[browser].clear()
        self.jars[browser].clear()
        self.say(ev.BrowserDown(browser))
        if returns:
            self.say(ev.BrowserUp(browser=browser))

    @step(browser=(B1, B1, B2), kept=range(0, 4), stray=EITHER)
    def a_browser_is_there_again(self, browser: BrowserId, kept: int, stray: bool) -> None:
        """Report the browser with all or some of its pages, and with unknown pages and jars."""
        pages, jars = list(self.pages[browser]), list(self.jars[browser])
        if kept < 3:
            pages, jars = pages[kept:], jars[kept:]
        self.pages[browser] = {page: self.pages[browser][page] for page in pages}
        self.jars[browser] = set(jars)
        if stray:
            self.pages[browser][TabHandle(f"stray-{self.mint()}")] = None
            self.jars[browser].add(f"stray-{self.minted}")
        there = frozenset(self.pages[browser])
        self.say(ev.BrowserUp(browser=browser, handles=there, jars=frozenset(self.jars[browser])))

    @step(which=PICK)
    def old_news_comes_again(self, which: int) -> None:
        said = [e for e in self.said if isinstance(e, ev.TabReady) or which > 5]
        event = one_of(said[-6:], which)
        if event is not None:
            self.say(event)

    # --- time, and the broker itself -------------------------------------------------------------

    @step(seconds=MOMENTS)
    def time_moves(self, seconds: float) -> None:
        """Let time pass without waking the core."""
        self.now += seconds

    @step(seconds=MOMENTS, busy=(0, 0, *range(8)))
    def the_core_is_woken_in_the_end(self, seconds: float, busy: int) -> None:
        self.now += seconds
        tabs = enumerate(self.watch.facts.tabs)
        self.say(ev.TimePassed(frozenset(tab for bit, tab in tabs if busy >> bit & 1)))

    @step(seconds=(3601.0, 90_000.0), on_time=EITHER, chance=range(0, 4))
    def a_long_time_passes(self, seconds: float, on_time: bool, chance: int) -> None:
        if chance:
            return
        end = self.now + seconds
        for _ in range(50 if on_time else 0):  # whoever waits for its share wakes it every second
            next_one = self.machine.next_deadline() or end
            if next_one < end:
                self.now = max(self.now, next_one)
                self.say(ev.TimePassed())
        self.now = end

    @step(seconds=MOMENTS, listens=(0.0, 0.5, 20.0))
    def the_broker_dies_and_comes_again(self, seconds: float, listens: float) -> None:
        self.now += seconds
        self.machine = Machine(self.settings, list(self.watch.journal.values()))
        self.watch.broker_died()
        self.to_do.clear()
        before = set(self.watch.facts.agents)
        self.say(ev.BrokerRestarted())
        self.now += listens
        self.say(ev.TimePassed())
        self.say(ev.BrokerListens())
        assert set(self.watch.facts.agents) == before, "somebody was ended by the restart"
