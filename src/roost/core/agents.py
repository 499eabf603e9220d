"""Agents live by a connection, by the grace after a lost connection, by a lease, or by a process.

A connected agent never ends for being idle. If its process is killed, ``disconnected`` starts the
grace; ``expired`` then calls ``end_agent``, which ends the agent's anonymous session with its tabs.
An ended agent holds no slot and no place in a queue.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from roost.core import batches, captures, consent, jars, pool, sessions, tabs
from roost.core.effects import EndAgent, WriteAudit
from roost.core.events import AgentDisconnected, AgentLeft, CallEnded, SubagentEnded
from roost.core.rows import Agent, Session, TabState
from roost.core.sessions import SessionSpec
from roost.core.state import State
from roost.errors import TabGone, Unauthorized
from roost.vocabulary import (
    GRACE_SECONDS,
    LATE_SECONDS,
    LEASE_SECONDS,
    RESTART_GRACE_SECONDS,
    RESUMABLE_SECONDS,
    SUBAGENT_SECONDS,
    SUBAGENTS_RESTING,
    AgentId,
    Lifetime,
    SessionId,
    shown,
)

IDLE = f"because its sub-agent made no call for {SUBAGENT_SECONDS / 60:.0f} minutes"


def connect_agent(
    state: State,
    *,
    agent: AgentId,
    pid: int,
    process_started: str,
    name: str,
    secret_digest: str,
    session: SessionSpec,
    lease: bool = False,
    by_process: bool = False,
    conversation: str = "",
    folders: tuple[str, ...] = (),
    program: str = "",
) -> Session:
    """Record a new agent, in a new session or in the one it asked to join.

    lease: the agent has no connection. It came with a token of that session, works in that session
        only, and must renew its lease.
    by_process: the agent has no connection either. It ends with the process ``pid``, which is its
        client's or its terminal's.
    conversation: which conversation of that client the agent is.
    program: the client program and its folder, as the kernel reports them.
    """
    # A token's holder may be in a counted session.
    find = sessions.found_or_made if lease else sessions.joinable
    row = find(state, session)
    state.put(
        Agent(
            id=agent,
            pid=pid,
            process_started=process_started,
            name=name,
            own_session=row.id,
            secret_digest=secret_digest,
            connected=not lease,
            lease_until=state.now + LEASE_SECONDS if lease else None,
            by_process=by_process,
            conversation=conversation,
            folders=folders,
            program=program,
            browser=session.browser,
            policy=session.policy,
            profile=session.profile,
            allow=session.allow,
            deny=session.deny,
            layers=session.layers,
        )
    )
    sessions.join(state, agent, row)
    state.emit(WriteAudit("agent connected", {"agent": shown(agent), "session": row.id}))
    return state.sessions[row.id]


def resume_agent(
    state: State, agent: AgentId, pid: int | None = None, process_started: str = ""
) -> Session | None:
    """Record that the agent is connected again, perhaps from another process.

    Returns the agent's own session if it still has one.
    """
    row = state.agents.get(agent)
    if row is None:
        raise Unauthorized("That agent has ended.", hint="Say hello without a resume secret.")
    # A connected agent needs no lease: it never ends for being idle.
    row = replace(row, connected=True, awaited_until=None, lease_until=None)
    if pid is not None:
        row = replace(row, pid=pid, process_started=process_started)
    state.put(row)
    # The agent's session may have ended and its id may name another session now.
    is_member = state.member(agent, row.own_session) is not None
    return state.sessions[row.own_session] if is_member else None


def disconnected(state: State, event: AgentDisconnected) -> None:
    """Start the agent's grace."""
    agent = state.agents.get(event.agent)
    if agent is not None and agent.connected:
        state.put(replace(agent, connected=False, awaited_until=state.now + GRACE_SECONDS))
        for member in state.memberships(agent.id):
            # The session may be unattended now, so its tabs may be parked for a waiting session.
            state.freed.add(state.sessions[member.session].browser)


def renew_lease(state: State, agent: AgentId) -> Agent:
    """Start the agent's lease anew, if it lives by one. Raises if the agent has ended."""
    row = state.agents.get(agent)
    if row is None:
        raise Unauthorized("This agent's lease ran out.", hint="Connect again.")
    if row.lease_until is not None:
        # Round up to whole seconds, so that a busy agent's row is written once a second at most.
        row = replace(row, lease_until=ceil(state.now) + LEASE_SECONDS)
        state.put(row)
    return row


def call_ended(state: State, event: CallEnded) -> None:
    """Start the lease of the agent anew, unless the agent has ended during the call."""
    if event.agent in state.agents:
        renew_lease(state, event.agent)


def broker_restarted(state: State) -> None:
    """Adjust the rows after a restart of the broker.

    Agents: no agent can reconnect before the broker listens, so until then no agent has a deadline.
    Tabs: a tab that was still opening is dropped. Its caller is told that the outcome is unknown,
    and any page that came of it is closed as a stray.
    Jars: jars whose session has ended are dropped. A browser that still has one reports it when it
    is up, and the core then removes it as unknown.
    """
    for jar in [jar for jar in state.jars.values() if jar.session is None]:
        state.drop(jar)
    for tab in list(state.tabs.values()):
        if tab.state is TabState.OPENING:
            sessions.tab_open_failed(state, tab.id)
    jars.forget_extra_jars(state)
    for agent in list(state.agents.values()):
        if agent.lease_until is not None:
            state.put(replace(agent, lease_until=state.now + LEASE_SECONDS))
        elif not agent.shares_connection:
            state.put(replace(agent, connected=False, awaited_until=None))
    for agent in [row for row in state.agents.values() if row.idle_until is not None]:
        # Sub-agents could not call while no broker ran.
        state.put(replace(agent, idle_until=state.now + SUBAGENT_SECONDS))
    pool.wait_anew(state)


def broker_listens(state: State) -> None:
    """Start the grace of all agents: from now on they can find the restarted broker."""
    for agent in list(state.agents.values()):
        if agent.lease_until is not None:
            state.put(replace(agent, lease_until=state.now + LEASE_SECONDS))
        elif not agent.connected:
            state.put(replace(agent, awaited_until=state.now + RESTART_GRACE_SECONDS))
    pool.wait_anew(state)


def expired(state: State, agent: Agent) -> None:
    """End an agent whose deadline has passed, or let a sub-agent rest that was idle too long.

    If the wake-up itself came late, give the agent another grace instead: what delayed the broker
    may have delayed the agent as well.
    """
    if agent.idle_until is not None and agent.idle_until <= state.now:
        rest(state, agent, why=IDLE)
        left_over = state.agents.get(agent.id)
        if left_over is None or left_over.life_until is None or left_over.life_until > state.now:
            return
        agent = left_over  # the wake-up came late, so the agent's own time is also over
    assert agent.life_until is not None
    if state.now - agent.life_until > LATE_SECONDS:
        again = state.now + GRACE_SECONDS
        if agent.lease_until is None:
            state.put(replace(agent, awaited_until=again))
        else:
            state.put(replace(agent, lease_until=again))
        return
    why = "did not come back" if agent.lease_until is None else "lease ran out"
    end_agent(state, agent, why=why)


def left(state: State, event: AgentLeft) -> None:
    agent = state.agents.get(event.agent)
    if agent is not None:
        end_agent(state, agent, why=event.why)


def end_agent(state: State, agent: Agent, *, why: str) -> None:
    """End the agent with its sub-agents: release its capture turns, queue places, reservations and
    memberships."""
    _end_subagents(state, agent.id)
    withdraw(state, agent)
    for member in state.memberships(agent.id):
        sessions.leave(state, member)
    state.drop(agent)
    consent.nobody_asks(state, agent.known_as)
    state.emit(EndAgent(agent.id))
    ended = {"agent": shown(agent.id), "name": agent.name, "why": why}
    state.emit(WriteAudit("agent ended", ended))


def withdraw(state: State, agent: Agent) -> None:
    """Release the agent's capture turns, queue places and reservations, and forget its batches."""
    batches.withdraw(state, agent.id)
    captures.withdraw(state, agent.id)
    pool.withdraw(state, agent.id)


def kept_expired(state: State, session: Session) -> None:
    """End a session that was kept and that nobody came back to, with a sub-agent that rests."""
    resting = [state.agents[agent] for agent in state.agents_in(session.id)]
    if not resting:
        sessions.end_session(state, session, why="nobody came back to it")
    for row in resting:
        end_agent(state, row, why="nobody came back to its session")


# --- sub-agents -----------------------------------------------------------------------------------


def subagent_ended(state: State, event: SubagentEnded) -> None:
    row = state.agents.get(event.agent)
    if row is not None and row.parent is not None:
        rest(state, row, why="when its sub-agent ended")


def rest(state: State, row: Agent, *, why: str) -> None:
    """Let a sub-agent rest: it keeps its session's name, colour and jar, and nothing else.

    A sub-agent on its parent's connection that opened no page keeps nothing and ends. The oldest
    ends as well if more than ``SUBAGENTS_RESTING`` of one parent rest.
    """
    own = state.sessions.get(row.own_session)
    member = None if own is None else state.member(row.id, own.id)
    if own is not None and member is not None and own.paused:
        # A person works in the session.
        state.put(replace(row, idle_until=state.now + SUBAGENT_SECONDS))
        return
    withdraw(state, row)
    for other in state.memberships(row.id):
        if other != member:
            sessions.leave(state, other)
    has_used = own is not None and member is not None and own.has_opened
    if row.shares_connection and not has_used:
        end_agent(state, row, why="the sub-agent ended")
        return
    state.put(replace(row, idle_until=None))
    if own is not None and member is not None and _is_alone(state, own, row.id):
        for tab in state.tabs_in(own.id):
            error = TabGone(f"Tab {tab.id} was closed {why}.", tab=tab.id)
            tabs.close_tab(state, tab, error)
        for table in (state.loops, state.questions):
            if (found := table.get(own.id)) is not None:
                state.drop(found)
        if row.shares_connection:
            state.put(replace(own, kept_until=state.now + RESUMABLE_SECONDS))
    if row.parent is not None:
        _end_oldest(state, row.parent)


def _is_alone(state: State, session: Session, agent: AgentId) -> bool:
    """Return whether only this agent uses the session, so that its tabs may close."""
    is_named = session.lifetime is Lifetime.NAMED
    return not is_named and list(state.agents_in(session.id)) == [agent]


def _end_oldest(state: State, parent: AgentId) -> None:
    rows = map(state.agents.__getitem__, state.subagents(parent))
    resting = [row for row in rows if row.shares_connection and row.idle_until is None]
    kept = {row.id: _kept_until(state, row.own_session) for row in resting}
    resting.sort(key=lambda row: kept[row.id])
    for row in resting[: max(0, len(resting) - SUBAGENTS_RESTING)]:
        end_agent(state, row, why="newer sub-agents rest")


def _kept_until(state: State, session: SessionId) -> float:
    row = state.sessions.get(session)
    return 0.0 if row is None or row.kept_until is None else row.kept_until


def _end_subagents(state: State, parent: AgentId) -> None:
    """End the sub-agents of an agent that ends. Those with a connection of their own go on."""
    for agent in state.subagents(parent):
        row = state.agents[agent]
        if row.shares_connection:
            end_agent(state, row, why="its parent ended")
            continue
        state.put(replace(row, parent=None, is_child=False, idle_until=None))
        session = state.sessions.get(row.own_session)
        if session is not None and session.parent is not None:
            state.put(replace(session, parent=None))
