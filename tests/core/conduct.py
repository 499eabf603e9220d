"""The sharing machine with policies and approvals: what agents may do, whatever happens besides.

``Conduct`` keeps its own records of layers, approvals and actions, made from the journal's rows.
``EXPECTED`` says of each layer what it says to each deed, so the oracle judges nothing itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from hypothesis.stateful import rule

from roost import core
from roost.core import policy
from roost.core.approvals import ApprovalNeeded
from roost.core.machine import Decision
from roost.core.policy import CONFIG, Deed, Group
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.core.rows import Approval, Policy
from roost.errors import ApprovalPending, PolicyDenied
from roost.vocabulary import (
    APPROVAL_ANSWERS,
    APPROVAL_SECONDS,
    OPERATOR,
    AgentId,
    Lifetime,
    QuestionAnswer,
    QuestionKind,
    SessionId,
    Verdict,
)
from tests.core.invariants import Event, Facts
from tests.core.play import Ask, asks
from tests.core.sharing import EITHER, MOMENTS, PICK, START, Sharing, drawn, one_of

Method = TypeVar("Method", bound=Callable[..., None])
POLICY_STEPS: list[tuple[str, dict[str, Sequence[Any]]]] = []
ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
HERE, DOCS = "https://here.example", "https://docs.example"
DEEDS = {
    "click here": Deed("click", frozenset({Group.ACT}), "click here", HERE),
    "click in docs": Deed("click", frozenset({Group.ACT}), "click here", DOCS),
    "read docs": Deed("snapshot", frozenset({Group.READ}), "read this page", DOCS),
    "evaluate": Deed("evaluate", frozenset({Group.ACT}), "run JavaScript here", HERE),
    "cdp": Deed("cdp", frozenset(), "attach a DevTools client"),
}
MOST_ACTIONS = 2


def _rule(verdict: Verdict, *operations: str) -> PolicyRule:
    return PolicyRule(verdict=verdict, operations=operations)


LAYERS = {
    layer.source: layer
    for layer in (
        PolicyLayer(source="open"),
        PolicyLayer(source="asks", rules=(_rule(ASK, "evaluate", "click"),)),
        PolicyLayer(source="denies", rules=(_rule(DENY, "evaluate"),)),
        PolicyLayer(source="allows", rules=(_rule(ALLOW, "*"),)),
        PolicyLayer(source="listed", origins=("here.example",)),
        PolicyLayer(source="reads docs", read_only=(DOCS,)),
        PolicyLayer(source="cdp", rules=(_rule(ALLOW, "cdp"), _rule(ASK, "evaluate"))),
        PolicyLayer(source="slow", actions_per_minute=MOST_ACTIONS),
    )
}
EXPECTED: dict[str, dict[str, Verdict]] = {
    "open": {},
    "asks": {"click here": ASK, "click in docs": ASK, "evaluate": ASK, "cdp": DENY},
    "denies": {"evaluate": DENY, "cdp": DENY},
    "allows": {"cdp": DENY},
    "listed": {"click in docs": DENY, "read docs": DENY, "cdp": DENY},
    "reads docs": {"click in docs": DENY, "cdp": DENY},
    "cdp": {"evaluate": ASK},
    "slow": {"cdp": DENY},
}
"""What a layer says; where nothing is written, it allows."""


def policy_step(**choices: Sequence[Any]) -> Callable[[Method], Method]:
    """Register a method as a rule for Hypothesis and as a step of ``policy_walk``."""

    def registered(method: Method) -> Method:
        POLICY_STEPS.append((method.__name__, choices))
        as_rule: Any = rule(**drawn(choices))
        return cast(Method, as_rule(method))

    return registered


def policy_walk(seed: int, steps: int = 60) -> None:
    """Run the machine with seeded random steps that concern policies."""
    die = random.Random(seed)
    machine = Conduct()
    machine.broker_starts(**{name: die.choice(values) for name, values in START.items()})
    for _ in range(steps):
        name, choices = die.choice(POLICY_STEPS)
        getattr(machine, name)(**{key: die.choice(values) for key, values in choices.items()})


class Conduct(Sharing):
    """Sharing, with policies."""

    def say(self, event: Event) -> Decision[Any]:
        before = self.watch.facts
        config = self.watch.journal.get(("policy", ""))
        layers = config.layers if isinstance(config, Policy) else ()
        outcome = super().say(event)
        if asks(event, core.check_deed):
            self.judged(event, before, layers, outcome)
        elif asks(event, core.count_action) and outcome.refusal is None:
            self.counted(event, before, layers)
        elif asks(event, core.open_session, core.open_tab):
            self.inherited(event.agent, before)
        return outcome

    def __init__(self) -> None:
        super().__init__()
        self.actions: dict[SessionId, list[float]] = {}

    def judged(
        self, event: Any, before: Facts, config: tuple[PolicyLayer, ...], outcome: Decision[Any]
    ) -> None:
        """Compare the decision with what the layers were expected to say."""
        name = next(name for name, deed in DEEDS.items() if deed == event.deed)
        expected = self.expected(name, event.agent, event.session, before, config)
        refusal = outcome.refusal
        if expected is ALLOW:
            assert refusal is None, "an allowed deed was refused"
        elif expected is DENY:
            assert isinstance(refusal, PolicyDenied), "a denied deed was let through"
        else:
            self.asked(event, before, refusal)

    def expected(
        self,
        deed: str,
        agent: AgentId,
        session: SessionId,
        before: Facts,
        config: tuple[PolicyLayer, ...],
    ) -> Verdict:
        if agent == OPERATOR:
            return ALLOW
        row, caller = before.sessions.get(session), before.agents.get(agent)
        layers = [*config, *(row.layers if row else ()), *(caller.layers if caller else ())]
        said = [EXPECTED[layer.source].get(deed, ALLOW) for layer in layers]
        return max([ALLOW, *said], key=[ALLOW, ASK, DENY].index)

    def asked(self, event: Any, before: Facts, refusal: Exception | None) -> None:
        """Without an answer of the person that covers it, nothing that must be asked is done."""
        deed, session = event.deed, event.session
        answers = [row for row in before.approvals.values() if self.covers(row, deed, session)]
        question = before.questions.get(session)
        is_late = question is not None and question.until <= self.now
        if question is not None and is_late and question.kind is QuestionKind.APPROVAL:
            same = (question.subject, question.origin) == (deed.operation, deed.origin or "")
            answers += [Approval(session=session, subject=deed.operation, origin=None, allow=False,
                                 until=self.now + 1)] if same else []  # fmt: skip
        if refusal is None:
            assert any(row.allow for row in answers), "it was done, and nobody was asked"
            once = [row for row in answers if row.until is not None]
            gone = [row for row in once if row.key not in self.watch.facts.approvals]
            assert not once or gone, "an approval for one call was not used up"
        elif isinstance(refusal, PolicyDenied):
            assert any(not row.allow for row in answers), "the person did not say no"
        else:
            assert isinstance(refusal, ApprovalPending)
            assert not answers, "the person had answered"

    def covers(self, row: Approval, deed: Deed, session: SessionId) -> bool:
        is_alive = row.until is None or row.until > self.now
        is_here = row.session == session  # agents of this machine have no program
        return (
            is_alive
            and is_here
            and row.subject == deed.operation
            and row.origin in (None, deed.origin)
        )

    def counted(self, event: Any, before: Facts, config: tuple[PolicyLayer, ...]) -> None:
        session, agent = event.session, event.agent
        row, caller = before.sessions.get(session), before.agents.get(agent)
        layers = [*config, *(row.layers if row else ()), *(caller.layers if caller else ())]
        if agent == OPERATOR or all(layer.actions_per_minute is None for layer in layers):
            return
        times = self.actions.setdefault(session, [])
        times.append(self.now)
        recent = [at for at in times if at > self.now - policy.MINUTE]
        assert len(recent) <= MOST_ACTIONS, "more actions than the policy allows"

    def inherited(self, agent: AgentId, before: Facts) -> None:
        """A session that an agent makes starts with the agent's policy."""
        after = self.watch.facts
        for session in after.sessions.keys() - before.sessions:
            if (agent, session) in after.members:
                layers = after.sessions[session].layers
                assert layers == after.agents[agent].layers, "a new session got rid of the policy"

    # --- steps -----------------------------------------------------------------------------------

    @policy_step(layer=tuple(LAYERS), lease=EITHER)
    def an_agent_comes_with_a_policy(self, layer: str, lease: bool) -> None:
        spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, layers=(LAYERS[layer],))
        self.agent_comes(spec, lease=lease)

    @policy_step(name=("shop", "mail"), layer=tuple(LAYERS))
    def an_agent_joins_with_a_policy(self, name: str, layer: str) -> None:
        id = SessionId(name)
        spec = core.SessionSpec(lifetime=Lifetime.NAMED, id=id, layers=(LAYERS[layer],))
        self.agent_comes(spec, lease=False)

    @policy_step(layer=tuple(LAYERS), seldom=range(4))
    def the_configuration_is_read(self, layer: str, seldom: int) -> None:
        self.say(Ask(core.set_policy, CONFIG, () if seldom else (LAYERS[layer],)))

    @policy_step(which=PICK, layer=tuple(LAYERS))
    def the_person_sets_a_policy(self, which: int, layer: str) -> None:
        session = one_of(list(self.watch.facts.sessions), which)
        self.say(Ask(core.set_policy, session or "s999", (LAYERS[layer],)))

    @policy_step(who=PICK, deed=tuple(DEEDS), is_asked=EITHER)
    def something_is_done(self, who: int, deed: str, is_asked: bool) -> None:
        agent = self.somebody(who)
        session = one_of(sorted(self.watch.facts.sessions_of(agent)), who)
        if session is None:
            return
        outcome = self.say(Ask(core.check_deed, agent, session, DEEDS[deed]))
        if isinstance(outcome.refusal, ApprovalNeeded) and is_asked:
            self.say(Ask(core.ask_approval, outcome.refusal))

    @policy_step(who=PICK, deed=("click here", "evaluate"), answer=APPROVAL_ANSWERS)
    def something_is_asked_and_answered_and_done(
        self, who: int, deed: str, answer: QuestionAnswer
    ) -> None:
        self.something_is_done(who, deed, True)
        session = one_of(sorted(self.watch.facts.sessions_of(self.somebody(who))), who)
        if session is not None:
            self.say(Ask(core.answer_question, session, answer))
        self.something_is_done(who, deed, False)
        self.something_is_done(who, deed, False)

    @policy_step(who=PICK, deed=("click here", "evaluate"))
    def nobody_answers_what_is_asked(self, who: int, deed: str) -> None:
        self.something_is_done(who, deed, True)
        self.now += APPROVAL_SECONDS
        self.something_is_done(who, deed, False)
        self.something_is_done(who, deed, False)

    @policy_step(which=PICK, answer=APPROVAL_ANSWERS)
    def an_approval_is_answered(self, which: int, answer: QuestionAnswer) -> None:
        session = one_of(list(self.watch.facts.questions), which) or SessionId("s1")
        self.say(Ask(core.answer_question, session, answer))

    @policy_step(who=PICK)
    def an_action_is_counted(self, who: int) -> None:
        agent = self.somebody(who)
        session = one_of(sorted(self.watch.facts.sessions_of(agent)), who)
        if session is not None:
            for _ in range(MOST_ACTIONS + 1):
                self.say(Ask(core.count_action, agent, session))

    @policy_step(seconds=(*MOMENTS, 601.0))
    def some_time_passes(self, seconds: float) -> None:
        self.now += seconds

    @policy_step(who=PICK, alias=("x", None))
    def a_session_is_made(self, who: int, alias: str | None) -> None:
        spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS)
        agent = self.somebody(who)
        if agent != OPERATOR:
            self.say(Ask(core.open_session, agent=agent, alias=alias, spec=spec))

    @policy_step(who=PICK)
    def a_session_is_disposed_and_its_agent_goes_on(self, who: int) -> None:
        agent = self.somebody(who)
        row = self.watch.facts.agents.get(agent)
        if row is not None:
            self.say(Ask(core.dispose_session, agent, row.own_session))
            self.say(Ask(core.open_tab, agent, None, "about:blank"))
