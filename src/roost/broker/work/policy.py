"""Where calls meet the session's policy (``core.policy``).

All ways to an operation end in ``Caller``, and every operation in a page goes through one of these:

- ``check_tab``: an operation that only reads, judged by the tab's address, before and after it.
- ``CallJudge``: an operation that acts, judged in the frame of its target by ``Page``, in the calls
  that prepare the action. Also what an action's reply shows of the page.
- ``check_address``: an address that is to be opened, and the address that was reached in the end.
- ``check_jar`` and ``check_devtools``: cookies and storage, and DevTools clients.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

from roost import core
from roost.api import policy_operations as ops
from roost.api import policy_views as views
from roost.api.operation import Operation
from roost.api.operations import OPERATIONS, nearest
from roost.api.page_operations import Evaluate
from roost.broker.broker import Broker
from roost.broker.policy_text import WORDS, operation_words, read_policy
from roost.broker.work.running_call import running_call
from roost.core import policy
from roost.core.addresses import origin_of, with_scheme
from roost.core.approvals import is_approved
from roost.core.policy import Group, wanted
from roost.core.policy_layers import PolicyLayer
from roost.core.rows import Session, Tab
from roost.errors import BadRequest
from roost.vocabulary import OPERATOR, AgentId, SessionId, Verdict

logger = logging.getLogger(__name__)
NOBODY = AgentId("")
"""Stands for an agent that brought no policy of its own."""

CLIENT = core.Deed(policy.CDP, frozenset(), "attach a DevTools client")
READING = core.Deed("snapshot", frozenset({Group.READ}), "read this page")


def is_judged(broker: Broker, agent: AgentId, session: SessionId | None) -> bool:
    """Return whether any policy restricts this agent's calls in that session."""
    return any(not layer.is_open for layer in policy.layers_for(broker.state, agent, session))


def deed_of(operation: Operation | type[Operation], origin: str | None) -> core.Deed:
    is_address = Group.NAVIGATE in operation.conduct and not operation.deed
    what = (
        "open that address"
        if is_address
        else operation.deed or operation.title[:1].lower() + operation.title[1:]
    )
    return core.Deed(operation.policy_word(), frozenset(operation.conduct), what, origin)


def check(broker: Broker, agent: AgentId, session: SessionId | None, deed: core.Deed) -> None:
    """Let the running call do it, or raise ``PolicyDenied`` or ``ApprovalNeeded``."""
    if session is None or not is_judged(broker, agent, session):
        return
    call = running_call()
    approved = broker.decide(core.check_deed, agent, session, deed, call.approved)
    if approved is not None and approved not in call.approved:
        call.approved = (*call.approved, approved)
    if deed.is_action and not call.is_counted:
        broker.decide(core.count_action, agent, session)
        call.is_counted = True


def check_tab(broker: Broker, agent: AgentId, operation: Operation, tab: Tab) -> None:
    """Judge an operation by the address of its tab."""
    if is_judged(broker, agent, tab.session):
        check(broker, agent, tab.session, deed_of(operation, origin_of(tab.url)))


def check_again(broker: Broker, agent: AgentId, operation: Operation) -> None:
    """Judge an operation that has read a page once more: the page may have navigated meanwhile."""
    if Group.READ in operation.conduct:
        for tab in running_call().tabs:
            row = broker.state.tabs.get(tab)
            if row is not None:
                check_tab(broker, agent, operation, row)


def check_address(broker: Broker, agent: AgentId, session: SessionId | None, url: str) -> None:
    """Judge an address that the running call opens, or has reached."""
    operation = running_call().operation
    if operation is not None:  # None: a DevTools client, which the policy let in as a whole
        check(broker, agent, session, deed_of(operation, origin_of(with_scheme(url))))


def may_read(broker: Broker, agent: AgentId, session: SessionId, url: str) -> bool:
    """Return whether the policy lets the agent read what comes from that address. Where the policy
    would ask the person, that is no: nobody is asked about a part of a reply."""
    deed = dataclasses.replace(READING, origin=origin_of(url) or policy.OPAQUE)
    return core.judgement(broker.state, agent, session, deed).verdict is Verdict.ALLOW


def check_jar(broker: Broker, agent: AgentId, session: Session, operation: Operation) -> None:
    check(broker, agent, session.id, deed_of(operation, None))


def check_conditions(
    broker: Broker, agent: AgentId, session: Session, operation: Operation
) -> None:
    """Judge what holds for all pages of a session, such as an init script. If the policy forbids
    actions on some origins, refuse whatever acts on every origin."""
    layers = policy.layers_for(broker.state, agent, session.id)
    deed = deed_of(operation, policy.OPAQUE)
    for layer in layers:
        if layer.read_only:
            found = core.Judgement(Verdict.DENY, "there are origins in `read_only`", layer.source)
            raise policy.refusal(session.id, deed, found)
    check(broker, agent, session.id, deed)


def check_devtools(broker: Broker, agent: AgentId, session: Session) -> None:
    """Refuse a DevTools client in a session whose policy restricts anything, unless a rule allows
    ``cdp``: Roost does not read the commands and replies of such a client."""
    try:
        check(broker, agent, session.id, CLIENT)
    except core.ApprovalNeeded as needed:
        broker.decide(core.ask_approval, needed)
        raise needed.shown() from None


def denies_devtools(broker: Broker, agent: AgentId, session: SessionId) -> bool:
    """Return whether the policy, as it is now, denies a DevTools client. Changes nothing."""
    found = core.judgement(broker.state, agent, session, CLIENT)
    return found.verdict is Verdict.DENY


class CallJudge:
    """Judges what one operation reads and does in the frames of a page."""

    def __init__(
        self, broker: Broker, agent: AgentId, session: SessionId, operation: Operation
    ) -> None:
        self._broker = broker
        self._agent = agent
        self._session = session
        self._operation = operation
        self._passed: set[core.Deed] = set()
        """What was judged already: a snapshot asks once for each frame and step."""

    def may_read(self, origin: str) -> None:
        self._check(dataclasses.replace(READING, origin=origin))

    def may_act(self, origin: str) -> None:
        self._check(deed_of(self._operation, origin))

    def may_run(self, origin: str) -> None:
        self._check(deed_of(Evaluate, origin))

    def may_log_in(self, origin: str) -> None:
        what = "press a button or Enter in a form with a password"
        self._check(core.Deed(policy.LOGIN, frozenset({Group.ACT}), what, origin))

    def may_download(self, origin: str) -> None:
        self._check(policy.download(origin))

    def _check(self, deed: core.Deed) -> None:
        if deed not in self._passed:
            check(self._broker, self._agent, self._session, deed)
            self._passed.add(deed)


def judge_for(broker: Broker, agent: AgentId, tab: Tab, operation: Operation) -> CallJudge | None:
    """Return the judge of an operation in that tab, or None if no policy restricts it."""
    session = tab.session
    if session is None or not is_judged(broker, agent, session):
        return None
    return CallJudge(broker, agent, session, operation)


def restrictions(broker: Broker, session: SessionId) -> list[str]:
    """Return where the policies that restrict the session's agents come from."""
    layers = _layers(broker, OPERATOR, session)
    return [layer.source for layer in layers if not layer.is_open]


# --- operations on policies ----------------------------------------------------------------------


async def show(broker: Broker, agent: AgentId, op: ops.PolicyShow) -> views.PolicyView:
    if agent == OPERATOR and op.session is None:
        return _view(broker, None, policy.starting_layers(broker.state, ()))
    session = broker.decide(core.session_for, agent, op.session).id
    return _view(broker, session, _layers(broker, agent, session))


async def explain(broker: Broker, agent: AgentId, op: ops.PolicyExplain) -> views.JudgementView:
    session = broker.decide(core.session_for, agent, op.session).id
    deed = _named(op.action, None if op.url is None else origin_of(with_scheme(op.url)))
    members = [agent] if agent != OPERATOR else list(broker.state.agents_in(session))
    judged = [(one, broker.decide(core.judgement, one, session, deed)) for one in members]
    # A session may have no agent now; then the session's own policy decides.
    judged = judged or [(NOBODY, broker.decide(core.judgement, NOBODY, session, deed))]
    by, found = max(judged, key=lambda one: list(Verdict).index(one[1].verdict))
    is_asked = found.verdict is Verdict.ASK
    return views.JudgementView(
        session=session,
        operation=deed.operation,
        origin=deed.origin,
        verdict=found.verdict,
        rule=found.rule,
        source=found.source or None,
        approved=is_approved(broker.state, by, session, wanted(deed)) if is_asked else None,
    )


async def set_(broker: Broker, agent: AgentId, op: ops.PolicySet) -> views.PolicyView:
    session = broker.decide(core.session_for, agent, op.session).id
    layer = read_policy(op.policy, op.source)
    broker.decide(core.set_policy, session, (layer,))
    return _view(broker, session, _layers(broker, agent, session))


def apply_config(broker: Broker) -> None:
    """Apply the configuration's policy as a broker starts. If it is wrong, keep the one of the last
    start, which is in the journal. Raises ``BadRequest`` if there is none: nothing may run without
    the policy that the person wrote."""
    try:
        broker.decide(core.set_policy, policy.CONFIG, broker.read_policy())
    except BadRequest as error:
        if policy.CONFIG not in broker.state.policies:
            raise
        logger.error("the last policy stays: %s %s", error.message, error.hint)


async def reload(broker: Broker, agent: AgentId, op: ops.PolicyReload) -> views.PolicyView:
    broker.decide(core.set_policy, policy.CONFIG, broker.read_policy())
    return _view(broker, None, policy.starting_layers(broker.state, ()))


async def forget(broker: Broker, agent: AgentId, op: ops.PolicyForget) -> views.PolicyView:
    session = None
    if op.session is not None:
        session = broker.decide(core.session_for, agent, op.session).id
    broker.decide(core.withdraw_approvals, session)
    return _view(broker, session, _layers(broker, agent, session))


def _layers(broker: Broker, agent: AgentId, session: SessionId | None) -> tuple[PolicyLayer, ...]:
    """Return the layers of an agent's calls in the session; for the operator, of all its agents."""
    members = [agent] if agent != OPERATOR or session is None else broker.state.agents_in(session)
    one_by_one = (policy.layers_for(broker.state, one, session) for one in (*members, NOBODY))
    return tuple(dict.fromkeys(layer for layers in one_by_one for layer in layers))


def _named(word: str, origin: str | None) -> core.Deed:
    """Return the deed that a word of a policy names. Raises ``BadRequest`` for an unknown word."""
    name = word.removeprefix("browser_")
    for kind in OPERATIONS.values():
        if kind.conduct and kind.policy_word() == name:
            return deed_of(kind, origin)
    if name not in WORDS or name == policy.ANYTHING:
        known = {*WORDS, *operation_words()} - {policy.ANYTHING}
        raise BadRequest(
            f"action: a policy does not know {name[:64]!r}.",
            hint=f"{nearest(name, known)}Known are: {', '.join(sorted(known))}.",
            field="action",
        )
    is_group = name in list(Group)
    groups = frozenset({name}) if is_group else frozenset({Group.ACT} & {*_groups(name)})
    return core.Deed(name, groups, WORDS[name].partition(".")[0].lower(), origin)


def _groups(word: str) -> tuple[str, ...]:
    return (Group.ACT,) if word in (policy.LOGIN, policy.UPLOAD) else ()


def _view(
    broker: Broker, session: SessionId | None, layers: tuple[PolicyLayer, ...]
) -> views.PolicyView:
    kept = [row for row in broker.state.approvals.values() if row.until is None]
    return views.PolicyView(
        session=session,
        is_open=all(layer.is_open for layer in layers),
        layers=[_layer_view(layer) for layer in layers],
        approvals=[
            views.ApprovalView(
                subject=row.subject,
                session=row.session,
                program=row.program or None,
                origin=row.origin,
            )
            for row in kept
            if session is None or row.session in (None, session)
        ],
    )


def _layer_view(layer: PolicyLayer) -> dict[str, Any]:
    shown = dataclasses.asdict(layer)
    rules = [{key: value for key, value in rule.items() if value} for rule in shown.pop("rules")]
    kept = {key: value for key, value in shown.items() if value is not None and value != ()}
    if layer.origins is not None:
        kept["origins"] = list(layer.origins)
    return {**kept, "rules": rules} if rules else kept
