"""What a policy says to what agents do (``roost.core.policy``)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roost import core
from roost.core import events as ev
from roost.core import policy
from roost.core.approvals import ApprovalNeeded
from roost.core.policy import CONFIG, Deed, Group, covers
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.errors import PolicyDenied
from roost.vocabulary import (
    OPERATOR,
    AgentId,
    JarPolicy,
    Lifetime,
    QuestionAnswer,
    SessionId,
    Verdict,
)
from tests.core.play import URL, Ask, Play, named

HERE, DOCS = "https://app.example.com", "https://docs.example.com"
CLICK = Deed("click", frozenset({Group.ACT}), "click here", HERE)
READ = Deed("snapshot", frozenset({Group.READ}), "read this page", HERE)
EVALUATE = Deed("evaluate", frozenset({Group.ACT}), "run JavaScript here", HERE)
CDP = Deed("cdp", frozenset(), "attach a DevTools client")


def rule(
    verdict: str, *operations: str, on: tuple[str, ...] = (), to: tuple[str, ...] = ()
) -> PolicyRule:
    return PolicyRule(verdict=Verdict(verdict), operations=operations, origins=on, clients=to)


def layer(*rules: PolicyRule, **more: object) -> PolicyLayer:
    return PolicyLayer(source="test", rules=rules, **more)  # type: ignore[arg-type]


def said(deed: Deed, *layers: PolicyLayer, program: str = "/bin/coder /work") -> Verdict:
    return policy.judge(layers, deed, program=program).verdict


def at(deed: Deed, origin: str | None) -> Deed:
    return Deed(deed.operation, deed.groups, deed.what, origin)


def test_without_a_policy_everything_is_allowed() -> None:
    for deed in (CLICK, READ, EVALUATE, CDP):
        assert said(deed) is Verdict.ALLOW
        assert said(deed, layer()) is Verdict.ALLOW


@pytest.mark.parametrize(
    ("operations", "covered"),
    [(("click",), True), (("act",), True), (("*",), True), (("read",), False)],
)
def test_a_rule_covers_operations_by_name_by_group_and_all(
    operations: tuple[str, ...], covered: bool
) -> None:
    assert (said(CLICK, layer(rule("deny", *operations))) is Verdict.DENY) is covered


def test_the_first_rule_that_fits_decides_in_one_layer() -> None:
    here = layer(rule("allow", "evaluate", on=("localhost",)), rule("deny", "evaluate"))
    assert said(at(EVALUATE, "http://localhost:3000"), here) is Verdict.ALLOW
    assert said(EVALUATE, here) is Verdict.DENY


def test_the_strictest_layer_decides_whatever_the_order() -> None:
    allows, asks = layer(rule("allow", "*")), layer(rule("ask", "click"))
    denies = layer(rule("deny", "click"))
    assert said(CLICK, allows, asks) is said(CLICK, asks, allows) is Verdict.ASK
    assert said(CLICK, denies, asks, allows) is said(CLICK, allows, asks, denies) is Verdict.DENY


def test_a_rule_for_one_client_program_leaves_others_alone() -> None:
    only = layer(rule("deny", "click", to=("coder",)))
    assert said(CLICK, only) is Verdict.DENY
    assert said(CLICK, only, program="/bin/other /work") is Verdict.ALLOW


def test_listed_origins_bound_reading_acting_and_opening() -> None:
    listed = layer(origins=("app.example.com", "http://localhost:3000"))
    assert said(CLICK, listed) is Verdict.ALLOW
    assert said(at(READ, DOCS), listed) is Verdict.DENY
    assert said(at(CLICK, "http://localhost:3000"), listed) is Verdict.ALLOW
    assert said(at(CLICK, "http://localhost:3001"), listed) is Verdict.DENY
    assert said(at(CLICK, policy.OPAQUE), listed) is Verdict.DENY
    opened = Deed("tabs", frozenset({Group.NAVIGATE}), "open a tab", None)
    assert said(opened, listed) is Verdict.ALLOW


def test_a_read_only_origin_is_read_but_not_acted_on() -> None:
    docs = layer(read_only=("docs.example.com",))
    assert said(at(READ, DOCS), docs) is Verdict.ALLOW
    assert said(at(CLICK, DOCS), docs) is Verdict.DENY
    assert said(at(EVALUATE, DOCS), docs) is Verdict.DENY
    assert said(CLICK, docs) is Verdict.ALLOW


def test_a_devtools_client_needs_a_rule_of_its_own_in_every_policy_that_is_not_open() -> None:
    asks = rule("ask", "evaluate")
    assert said(CDP, layer(asks)) is Verdict.DENY
    assert said(CDP, layer(asks, rule("allow", "*"))) is Verdict.DENY
    assert said(CDP, layer(asks, rule("allow", "cdp"))) is Verdict.ALLOW
    assert said(CDP, layer(tabs=3)) is Verdict.DENY


@pytest.mark.parametrize(
    ("entry", "origin", "covered"),
    [
        ("example.com", HERE, True),
        ("example.com", "https://evilexample.com", False),
        ("https://app.example.com", HERE, True),
        ("https://app.example.com", "http://app.example.com", False),
        ("https://app.example.com", "https://app.example.com:8443", False),
        ("*.example.com", "https://example.com", False),
        ("loopback", "http://127.0.0.1:8000", True),
        ("10.0.0.0/8", "http://10.2.3.4", True),
        ("example.com", "null", False),
        ("https://app.example.com", "null", False),
    ],
)
def test_an_entry_covers_whole_hosts_or_one_origin(entry: str, origin: str, covered: bool) -> None:
    assert covers((entry,), origin) is covered


# --- in the core ---------------------------------------------------------------------------------


def started(play: Play, *layers: PolicyLayer) -> AgentId:
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, layers=layers)
    return play.agent(f"a{len(play.state.agents)}", spec)


def done(play: Play, agent: AgentId, deed: Deed = CLICK) -> Ask[core.Wanted | None]:
    return Ask(core.check_deed, agent, play.state.agents[agent].own_session, deed)


def test_a_refusal_names_rule_and_source_and_keeps_page_text_apart() -> None:
    play = Play()
    ada = started(play, layer(rule("deny", "click")))
    refusal = play.refused(done(play, ada), PolicyDenied)
    assert "rule 1" in refusal.message
    assert "test" in refusal.message
    assert "roost policy" in refusal.hint
    assert HERE not in refusal.message + refusal.hint
    assert refusal.page_said == HERE


def test_the_configuration_holds_for_everybody_but_the_operator() -> None:
    play = Play()
    ada = started(play)
    play.do(Ask(core.set_policy, CONFIG, (layer(rule("deny", "click")),)))
    play.refused(done(play, ada), PolicyDenied)
    session = play.state.agents[ada].own_session
    play.do(Ask(core.check_deed, OPERATOR, session, CLICK))
    play.restart()
    assert play.state.policies[CONFIG].layers


def test_a_flag_never_widens_what_the_configuration_allows() -> None:
    play = Play()
    play.do(Ask(core.set_policy, CONFIG, (layer(rule("ask", "click")),)))
    ada = started(play, layer(rule("allow", "click")))
    play.refused(done(play, ada), ApprovalNeeded)
    bob = started(play, layer(rule("deny", "click")))
    play.refused(done(play, bob), PolicyDenied)


def test_an_agent_that_joins_brings_its_policy_and_keeps_the_sessions() -> None:
    play = Play()
    strict = layer(rule("deny", "click"))
    spec = named("work")
    ada = play.agent("ada", spec)
    eve = play.agent("eve", replace(spec, layers=(strict,)))
    play.do(done(play, ada))
    play.refused(done(play, eve), PolicyDenied)
    other = layer(rule("deny", "evaluate"))
    made = replace(named("strict"), layers=(other,))
    play.agent("first", made)
    late = play.agent("late", named("strict"))
    play.refused(done(play, late, EVALUATE), PolicyDenied)


def test_every_session_that_an_agent_makes_has_its_policy() -> None:
    play = Play()
    strict = layer(rule("deny", "click"))
    ada = started(play, strict)
    ask = Ask(
        core.open_session, agent=ada, alias="mine", spec=core.SessionSpec(lifetime=Lifetime.NAMED)
    )
    session = play.do(ask).answer
    assert session.layers == (strict,)
    bob = play.agent("bob", core.SessionSpec(lifetime=Lifetime.NAMED))
    play.refused(Ask(core.check_deed, bob, session.id, CLICK), PolicyDenied)


def test_the_person_replaces_the_policy_of_a_running_session_but_not_the_configurations() -> None:
    play = Play()
    ada = started(play, layer(rule("deny", "click")))
    session = play.state.agents[ada].own_session
    play.do(Ask(core.set_policy, session, (layer(),)))
    play.do(done(play, ada))
    play.do(Ask(core.set_policy, CONFIG, (layer(rule("deny", "click")),)))
    play.refused(done(play, ada), PolicyDenied)


def test_an_ask_rule_needs_an_approval_and_one_call_asks_once() -> None:
    play = Play()
    ada = started(play, layer(rule("ask", "evaluate")))
    needed = play.refused(done(play, ada, EVALUATE), ApprovalNeeded)
    play.do(Ask(core.ask_approval, needed))
    play.do(Ask(core.answer_question, needed.session, QuestionAnswer.ONCE))
    approved = play.do(done(play, ada, EVALUATE)).answer
    assert approved is not None
    again = Ask(core.check_deed, ada, needed.session, EVALUATE, (approved,))
    play.do(again)
    play.refused(done(play, ada, EVALUATE), ApprovalNeeded)


def test_an_approval_never_opens_what_the_policy_denies() -> None:
    play = Play()
    ada = started(play, layer(rule("ask", "click")))
    needed = play.refused(done(play, ada), ApprovalNeeded)
    play.do(Ask(core.ask_approval, needed))
    play.do(Ask(core.answer_question, needed.session, QuestionAnswer.SESSION))
    play.do(done(play, ada))
    play.do(Ask(core.set_policy, CONFIG, (layer(rule("deny", "click")),)))
    play.refused(done(play, ada), PolicyDenied)


def test_actions_are_counted_by_the_minute() -> None:
    play = Play()
    ada = started(play, layer(actions_per_minute=2))
    session = play.state.agents[ada].own_session
    count = Ask(core.count_action, ada, session)
    play.do(count)
    play.do(count, after=30.0)
    refusal = play.refused(count, PolicyDenied)
    assert refusal.retry_after_ms == 30_000
    play.do(count, after=30.0)
    play.do(Ask(core.count_action, OPERATOR, session))
    play.do(Ask(core.dispose_session, OPERATOR, session))
    assert not play.state.deeds


def test_the_smallest_limit_of_tabs_holds() -> None:
    play = Play()
    play.do(Ask(core.set_policy, CONFIG, (layer(tabs=3),)))
    ada = started(play, layer(tabs=1))
    play.do(Ask(core.open_tab, ada, None, URL))
    play.refused(Ask(core.open_tab, ada, None, URL), PolicyDenied)


def test_only_listed_profiles_are_cloned() -> None:
    play = Play()
    ada = started(play, layer(profiles=("work",)))

    def opened(profile: str) -> Ask[object]:
        spec = core.SessionSpec(
            lifetime=Lifetime.ANONYMOUS, policy=JarPolicy.CLONE, profile=profile
        )
        return Ask(core.open_session, agent=ada, alias=None, spec=spec, profile_for_any_agent=True)

    play.do(opened("work"))
    play.refused(opened("private"), PolicyDenied)


def test_listed_origins_become_the_domain_list_of_a_new_session() -> None:
    play = Play()
    ada = started(
        play, layer(origins=("https://app.example.com:8443", "*.docs.example", "private"))
    )
    session = play.state.sessions[play.state.agents[ada].own_session]
    assert session.allow == ("app.example.com", "*.docs.example", "private")


def test_a_download_is_judged_by_the_strictest_agent_and_an_approval_is_used_up() -> None:
    play = Play()
    ada = started(play, layer(rule("ask", "download")))
    session = play.state.agents[ada].own_session

    def judged(count: int = 0) -> Verdict:
        return core.download_judged(play.state, session, f"{HERE}/x", count)[0]

    assert judged() is Verdict.ASK
    needed = ApprovalNeeded(ada, session, policy.wanted(policy.download(HERE)))
    play.do(Ask(core.ask_approval, needed))
    play.do(Ask(core.answer_question, session, QuestionAnswer.ONCE))
    assert judged() is Verdict.ALLOW
    play.do(ev.DownloadAdmitted(session, HERE))
    assert judged() is Verdict.ASK
    play.do(Ask(core.set_policy, session, (layer(downloads=2),)))
    assert (judged(1), judged(2)) == (Verdict.ALLOW, Verdict.DENY)


def test_an_agent_takes_what_the_person_set_into_its_next_session() -> None:
    play = Play()
    ada = started(play)
    session = play.state.agents[ada].own_session
    play.do(Ask(core.set_policy, session, (layer(rule("deny", "click")),)))
    play.do(Ask(core.dispose_session, ada, session))
    play.do(Ask(core.open_tab, ada, None, URL))
    fresh = play.state.agents[ada].own_session
    assert fresh != session
    play.refused(done(play, ada), PolicyDenied)
    assert play.state.sessions[fresh].layers


def test_a_sub_agent_has_the_policy_of_its_parent_and_what_the_person_sets_for_it() -> None:
    play = Play()
    strict = layer(rule("deny", "evaluate"))
    parent = play.agent("main")
    for row in (play.state.agents[parent], play.state.sessions[own_session(play, parent)]):
        play.state.put(replace(row, layers=(strict,)))
    children = [AgentId(f"agent_{number:032x}_{number}") for number in (7, 8)]
    above = parent
    for child in children:  # the second is a sub-agent of the first
        play.do(Ask(core.connect_subagent, parent=above, agent=child, conversation="a", kind=""))
        session = own_session(play, child)
        with pytest.raises(PolicyDenied):
            core.check_deed(play.state, child, session, EVALUATE)
        core.check_deed(play.state, child, session, CLICK)
        above = child
    play.do(Ask(core.set_policy, own_session(play, parent), (layer(rule("deny", "click")),)))
    for agent in (parent, *children):
        with pytest.raises(PolicyDenied):
            core.check_deed(play.state, agent, own_session(play, agent), CLICK)
    other = play.agent("other")
    core.check_deed(play.state, other, own_session(play, other), CLICK)


def own_session(play: Play, agent: AgentId) -> SessionId:
    return play.state.agents[agent].own_session
