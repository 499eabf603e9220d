"""Agents live by a connection, by the grace after a lost connection, or by a lease.

A connected agent never ends for being idle. An ended agent holds no slot and no place in a queue.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from roost.core import consent, jars, pool, sessions
from roost.core.captures import Captures
from roost.core.effects import Effect, EndAgent, Note
from roost.core.events import (
    AgentConnected,
    AgentDisconnected,
    AgentLeft,
    AgentResumed,
    BrokerListens,
    BrokerRestarted,
    LeaseRenewed,
    TabOpenFailed,
)
from roost.core.rows import Agent, Session, TabState
from roost.core.state import State
from roost.errors import Unauthorized
from roost.vocabulary import (
    GRACE_SECONDS,
    LATE_SECONDS,
    LEASE_SECONDS,
    RESTART_GRACE_SECONDS,
    shown,
)


def connected(state: State, event: AgentConnected, now: float, out: list[Effect]) -> Session:
    """Record a new agent, in a new session or in the one it asked to join."""
    # A token's holder may be in a counted session.
    find = sessions.found_or_made if event.lease else sessions.joinable
    session = find(state, event.session, now, out)
    state.put(
        Agent(
            id=event.agent,
            pid=event.pid,
            process_started=event.process_started,
            name=event.name,
            home=session.id,
            secret_digest=event.secret_digest,
            connected=not event.lease,
            lease_until=now + LEASE_SECONDS if event.lease else None,
            folders=event.folders,
            program=event.program,
            browser=event.session.browser,
            policy=event.session.policy,
            profile=event.session.profile,
            allow=event.session.allow,
            deny=event.session.deny,
        )
    )
    sessions.join(state, event.agent, session)
    out.append(Note("agent connected", {"agent": shown(event.agent), "session": session.id}))
    return state.sessions[session.id]


def resumed(state: State, event: AgentResumed, now: float, out: list[Effect]) -> Session | None:
    """Record that the agent is connected again. Return its home session if it still has one."""
    agent = state.agents.get(event.agent)
    if agent is None:
        raise Unauthorized("That agent has ended.", hint="Say hello without a resume secret.")
    # A connected agent needs no lease: it never ends for being idle.
    agent = replace(agent, connected=True, awaited_until=None, lease_until=None)
    if event.pid is not None:
        agent = replace(agent, pid=event.pid, process_started=event.process_started)
    state.put(agent)
    # The home session may have ended and its id may name another session now.
    at_home = state.member(agent.id, agent.home)
    return None if at_home is None else state.sessions[agent.home]


def disconnected(state: State, event: AgentDisconnected, now: float, out: list[Effect]) -> None:
    """Start the agent's grace."""
    agent = state.agents.get(event.agent)
    if agent is not None and agent.connected:
        state.put(replace(agent, connected=False, awaited_until=now + GRACE_SECONDS))
        for member in state.memberships(agent.id):
            # The session may be unattended now, so its tabs may be parked for a waiting session.
            state.freed.add(state.sessions[member.session].browser)


def renewed(state: State, event: LeaseRenewed, now: float, out: list[Effect]) -> None:
    agent = state.agents.get(event.agent)
    if agent is None:
        raise Unauthorized("This agent's lease ran out.", hint="Connect again.")
    if agent.lease_until is not None:
        # Round up to whole seconds, so that a busy agent's row is written once a second at most.
        state.put(replace(agent, lease_until=ceil(now) + LEASE_SECONDS))


def broker_restarted(state: State, event: BrokerRestarted, now: float, out: list[Effect]) -> None:
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
            sessions.tab_open_failed(state, TabOpenFailed(tab.id), now, out)
    jars.forget_extra_jars(state)
    for agent in list(state.agents.values()):
        if agent.lease_until is not None:
            state.put(replace(agent, lease_until=now + LEASE_SECONDS))
        else:
            state.put(replace(agent, connected=False, awaited_until=None))
    pool.wait_anew(state, now)


def broker_listens(state: State, event: BrokerListens, now: float, out: list[Effect]) -> None:
    """Start the grace of all agents: from now on they can find the restarted broker."""
    for agent in list(state.agents.values()):
        if agent.lease_until is not None:
            state.put(replace(agent, lease_until=now + LEASE_SECONDS))
        elif not agent.connected:
            state.put(replace(agent, awaited_until=now + RESTART_GRACE_SECONDS))
    pool.wait_anew(state, now)


def expired(state: State, captures: Captures, agent: Agent, now: float, out: list[Effect]) -> None:
    """End an agent whose deadline has passed.

    If the wake-up itself came late, give the agent another grace instead: what delayed the broker
    may have delayed the agent as well.
    """
    assert agent.deadline is not None
    if now - agent.deadline > LATE_SECONDS:
        again = now + GRACE_SECONDS
        if agent.lease_until is None:
            state.put(replace(agent, awaited_until=again))
        else:
            state.put(replace(agent, lease_until=again))
        return
    why = "did not come back" if agent.lease_until is None else "lease ran out"
    end_agent(state, captures, agent, now, out, why=why)


def left(state: State, captures: Captures, event: AgentLeft, now: float, out: list[Effect]) -> None:
    agent = state.agents.get(event.agent)
    if agent is not None:
        end_agent(state, captures, agent, now, out, why="said goodbye")


def end_agent(
    state: State, captures: Captures, agent: Agent, now: float, out: list[Effect], *, why: str
) -> None:
    """End the agent: release its capture turns, queue places, reservations and memberships."""
    captures.withdraw(agent.id, now, out)
    pool.withdraw(state, agent.id)
    for member in state.memberships(agent.id):
        sessions.leave(state, member, now, out)
    state.drop(agent)
    consent.nobody_asks(state, agent.known_as)
    out.append(EndAgent(agent.id))
    out.append(Note("agent ended", {"agent": shown(agent.id), "name": agent.name, "why": why}))
