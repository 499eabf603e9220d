"""Sub-agents: each has a session of its own, a child of the session of the agent that started it.

A sub-agent is an agent row with a ``parent``. Most sub-agents call on their parent's connection, so
they live as long as their parent. Some clients start a server process for each sub-agent; such a
sub-agent has a connection of its own (``adopt_agent``).

A sub-agent that ended, or that did not call for ``SUBAGENT_SECONDS``, *rests* (``agents.rest``):
its tabs close, and its session keeps name, colour and jar. The next call of the same sub-agent
continues there.

A call of a sub-agent may name a session or tab of its parent (``acting_agent``). Nothing else of
the parent is the sub-agent's, and nothing of a sibling.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from roost.core import rules, sessions
from roost.core.effects import WriteAudit
from roost.core.rows import Agent, Session
from roost.core.sessions import SessionSpec
from roost.core.state import State
from roost.errors import BadRequest
from roost.vocabulary import (
    SUBAGENT_SECONDS,
    AgentId,
    JarPolicy,
    Lifetime,
    shown,
)

NAME_START_CHARS, KIND_CHARS = 40, 30
"""How much of the parent's name, and of the kind, stands in the name of a sub-agent's session."""
RENEWAL_SECONDS = 30.0
"""A busy sub-agent's row is written once in this time at most."""


def connect_subagent(
    state: State, *, parent: AgentId, agent: AgentId, conversation: str, kind: str = ""
) -> Agent:
    """Record a sub-agent that calls on its parent's connection, with a session of its own.

    agent: id of the new row.
    conversation: the client's id of the sub-agent. It is local to the parent.
    kind: what the client calls this kind of sub-agent, for the session's name.
    """
    rules.check_alive(state, parent)
    return _recorded(state, parent, agent, conversation, kind, is_child=True)


def connect_conversation(
    state: State, *, beside: AgentId, agent: AgentId, conversation: str
) -> Agent:
    """Record a further conversation on the connection of the agent ``beside``.

    Its session is no child: it copies no cookies and uses no tabs of the other conversation.
    """
    rules.check_alive(state, beside)
    return _recorded(state, beside, agent, conversation, "", is_child=False)


def _recorded(
    state: State, parent: AgentId, agent: AgentId, conversation: str, kind: str, *, is_child: bool
) -> Agent:
    known = state.subagent(parent, conversation)
    if known is not None:
        return state.agents[known]
    row = state.agents[parent]
    above = sessions.own_session_of(state, parent)
    spec = SessionSpec(
        lifetime=Lifetime.ANONYMOUS,
        name=_name(state, parent, above, kind or ("sub-agent" if is_child else "conversation")),
        browser=above.browser,
        # The child gets a jar of its own, which starts as a copy of the parent's.
        policy=above.policy if above.policy is JarPolicy.SHARED else JarPolicy.FRESH,
        allow=above.allow,
        deny=above.deny,
        layers=(*above.layers, *(one for one in row.layers if one not in above.layers)),
        parent=above.id if is_child else None,
    )
    session = sessions.made(state, spec)
    made = Agent(
        id=agent,
        pid=0,
        process_started="",
        name=session.name,
        own_session=session.id,
        secret_digest="",
        parent=parent,
        is_child=is_child,
        conversation=conversation,
        idle_until=state.now + SUBAGENT_SECONDS,
        folders=row.folders,
        program=row.program,
        browser=spec.browser,
        policy=spec.policy,
        allow=spec.allow,
        deny=spec.deny,
        layers=spec.layers,
    )
    state.put(made)
    sessions.join(state, agent, session)
    entry = {"agent": shown(agent), "session": session.id, "parent": shown(parent)}
    state.emit(WriteAudit("sub-agent connected", entry))
    return made


def _name(state: State, parent: AgentId, above: Session, kind: str) -> str:
    """Return a name that no other sub-agent of the parent has: ``shop › Explore 2``."""
    taken = {state.agents[agent].name for agent in state.subagents(parent)}
    start = f"{above.name[:NAME_START_CHARS]} › {kind[:KIND_CHARS]}"
    return next(name for n in count(1) if (name := f"{start} {n}") not in taken)


def adopt_agent(state: State, agent: AgentId, parent: AgentId, *, conversation: str) -> Agent:
    """Make an agent with a connection of its own a sub-agent of ``parent``.

    The agent's session becomes a child of the parent's if it is the agent's alone and has opened
    no page yet: a jar that is in use cannot become a copy of another one.
    """
    rules.check_alive(state, agent)
    row = state.agents[agent]
    is_known = row.parent is not None or state.subagent(parent, conversation) is not None
    is_circle = agent in (parent, *state.parents(parent))
    if is_known or is_circle or parent not in state.agents:
        return row
    above = sessions.own_session_of(state, parent)
    row = replace(
        row,
        parent=parent,
        is_child=True,
        conversation=conversation,
        idle_until=state.now + SUBAGENT_SECONDS,
        name=_name(state, parent, above, "sub-agent"),
    )
    state.put(row)
    own = state.sessions.get(row.own_session)
    if own is None or own.lifetime is Lifetime.NAMED or state.jar_of(own.id) is not None:
        return row
    if own.id != above.id and list(state.agents_in(own.id)) == [agent]:
        state.put(replace(own, parent=above.id, name=row.name))
    return row


def name_conversation(state: State, agent: AgentId, conversation: str) -> Agent:
    """Record which conversation of its client an agent belongs to, if that is not known yet."""
    rules.check_alive(state, agent)
    row = state.agents[agent]
    if not row.conversation:
        row = replace(row, conversation=conversation)
        state.put(row)
    return row


def subagent_called(state: State, agent: AgentId) -> Agent:
    """Record that a sub-agent calls: it has ``SUBAGENT_SECONDS`` from now, and rests no longer."""
    rules.check_alive(state, agent)
    row = state.agents[agent]
    if row.parent is None:
        return row
    until = state.now + SUBAGENT_SECONDS
    if row.idle_until is None or until - row.idle_until >= RENEWAL_SECONDS:
        row = replace(row, idle_until=until)
        state.put(row)
        session = state.sessions.get(row.own_session)
        if session is not None and session.kept_until is not None:
            state.put(replace(session, kept_until=None))
    return row


def acting_agent(
    state: State, agent: AgentId, session: str | None, tab: str | None, *, selects: bool = False
) -> AgentId:
    """Return who performs a call of a sub-agent: the sub-agent, or a parent whose session or tab
    the call names.

    selects: the call makes the tab current. A sub-agent must not change its parent's current tab.
    """
    rules.check_alive(state, agent)
    if session is None and tab is None:
        return agent
    for one in (agent, *state.parents(agent)):
        if session is not None:
            has_it = rules.has_session(state, one, session)
        else:
            has_it = rules.has_tab(state, one, tab or "")
        if has_it:
            if one != agent and session is None and selects:
                raise BadRequest(
                    f"tab: {tab} is a tab of the agent that started you, so it cannot become your"
                    " current one.",
                    hint="Pass this tab in each call instead, or open its address in a tab of"
                    " your own.",
                    field="tab",
                )
            return one
    return agent


def subagent_of(state: State, parent: AgentId, conversation: str) -> AgentId | None:
    """Return the sub-agent of that parent which the client knows by that id."""
    return state.subagent(parent, conversation)
