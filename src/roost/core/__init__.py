"""The core decides: it answers requests and queries, hears events, and orders effects.

Lives here: ``machine`` (one decision at a time), ``rules`` (who may use what), ``agents``
(connections, leases, what a dead agent leaves), ``subagents`` (child sessions), ``sessions``,
``tabs`` (select, navigate, crash, close), ``pool`` (slots, the queue, whose a popup is), ``jars``,
``captures`` (turns at screenshots), ``loops`` (focus loops), ``batches`` (how far they have come),
``conditions`` (of pages), ``questions`` (to the person), ``policy`` and ``policy_layers`` (what
agents may do where), ``approvals`` (what the person allows), ``browsers`` (a browser's end and
return), ``groups`` and ``consent`` (the person's own browser), ``addresses`` and ``redaction``,
``events`` and ``effects`` (what the core hears and orders), ``rows``, ``slots``, ``state`` and
``settings``. Pure code.
May import: ``conditions``, ``errors``, ``hints``, ``vocabulary``. Of the standard library: only
modules that compute.
Never here: asyncio, a clock, random, os, logging, JSON, a browser protocol's words. Nothing awaits.
Tests: ``tests/core``; the Hypothesis machine is ``tests/core/test_sharing_machine.py``.
"""

from roost.core.agents import connect_agent, renew_lease, resume_agent
from roost.core.approvals import (
    ApprovalNeeded,
    Wanted,
    ask_approval,
    use_approval,
    withdraw_approvals,
)
from roost.core.batches import batch_of, end_batch, record_batch
from roost.core.captures import request_capture
from roost.core.conditions import (
    conditions_of,
    put_conditions,
    session_conditions,
    tab_conditions,
)
from roost.core.consent import ask_person
from roost.core.jars import request_jar
from roost.core.loops import end_turn, start_loop, stop_loop
from roost.core.policy import (
    Deed,
    Judgement,
    check_deed,
    count_action,
    download_judged,
    judgement,
    origins_source,
    set_policy,
)
from roost.core.pool import OpenTabAnswer, grant_space, open_tab, request_space, use_tab
from roost.core.questions import answer_question, ask_question, take_answer
from roost.core.rules import ConsentNeeded, own_jar, session_for, session_of, tab_named
from roost.core.sessions import (
    SessionSpec,
    dispose_session,
    open_session,
    pause_session,
    record_token,
)
from roost.core.subagents import (
    acting_agent,
    adopt_agent,
    connect_conversation,
    connect_subagent,
    name_conversation,
    subagent_called,
    subagent_of,
)
from roost.core.tabs import request_close, select_tab

# Everything that the broker may ask: ``broker.decide(core.open_tab, agent, …)``. Each request or
# query is a function of the state. ``agent`` is the caller's identity as bound to its connection,
# never a value that the caller sent. ``session`` and ``tab`` are what the caller sent; None means
# its own session or its current tab. The broker mints agent ids and secrets, so the core needs no
# randomness. The core counts session, tab and jar ids itself.
__all__ = [  # requests, queries, and the types they need
    "adopt_agent", "answer_question", "ask_approval", "ask_person", "ask_question", "check_deed",
    "connect_agent", "connect_conversation", "connect_subagent", "count_action", "dispose_session",
    "end_batch", "end_turn", "grant_space", "name_conversation", "open_session", "open_tab",
    "pause_session", "put_conditions", "record_batch", "record_token", "renew_lease",
    "request_capture", "request_close", "request_jar", "request_space", "resume_agent",
    "select_tab", "set_policy", "start_loop", "stop_loop", "subagent_called", "take_answer",
    "use_approval", "use_tab", "withdraw_approvals",
    "acting_agent", "batch_of", "conditions_of", "download_judged", "judgement", "origins_source",
    "own_jar", "session_conditions", "session_for", "session_of", "subagent_of", "tab_conditions",
    "tab_named",
    "ApprovalNeeded", "ConsentNeeded", "Deed", "Judgement", "OpenTabAnswer", "SessionSpec",
    "Wanted",
]  # fmt: skip
