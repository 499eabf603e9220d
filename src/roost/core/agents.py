"""Who is alive: connections, the grace after a lost one, and leases of agents that have none.

An idle but connected agent is never an orphan. A dead one holds nothing and waits for nothing.
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
    """A new agent, in its own session or in one it joins on purpose."""
    find = sessions.found_or_made if event.lease else sessions.joinable  # by token: any session
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
    agent = state.agents.get(event.agent)
    if agent is None:
        raise Unauthorized("That agent has ended.", hint="Say hello without a resume secret.")
    # Whoever has a connection needs no lease: idle but connected is never an orphan.
    agent = replace(agent, connected=True, awaited_until=None, lease_until=None)
    if event.pid is not None:
        agent = replace(agent, pid=event.pid, process_started=event.process_started)
    state.put(agent)
    at_home = state.member(agent.id, agent.home)  # that id may be somebody else's by now
    return None if at_home is None else state.sessions[agent.home]


def disconnected(state: State, event: AgentDisconnected, now: float, out: list[Effect]) -> None:
    agent = state.agents.get(event.agent)
    if agent is not None and agent.connected:
        state.put(replace(agent, connected=False, awaited_until=now + GRACE_SECONDS))
        for member in state.memberships(agent.id):
            # Unattended now, perhaps: a tab of it may be parked for a waiter.
            state.freed.add(state.sessions[member.session].browser)


def renewed(state: State, event: LeaseRenewed, now: float, out: list[Effect]) -> None:
    agent = state.agents.get(event.agent)
    if agent is None:
        raise Unauthorized("This agent's lease ran out.", hint="Connect again.")
    if agent.lease_until is not None:
        # Up to the next whole second, so that a busy agent's row is written once a second.
        state.put(replace(agent, lease_until=ceil(now) + LEASE_SECONDS))


def broker_restarted(state: State, event: BrokerRestarted, now: float, out: list[Effect]) -> None:
    """Nobody is connected, and nobody can come back before the broker listens: until then no agent
    has a deadline. A tab whose opening was under way is dropped: its caller is told that the
    outcome is unknown, and whatever page came of it is a stray. So is whatever is left of jars
    whose session has ended: a browser that still has one names it when it is up, and jars that
    nobody knows are removed then."""
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
    """Agents can find the restarted broker from now on: this is where their grace begins."""
    for agent in list(state.agents.values()):
        if agent.lease_until is not None:
            state.put(replace(agent, lease_until=now + LEASE_SECONDS))
        elif not agent.connected:
            state.put(replace(agent, awaited_until=now + RESTART_GRACE_SECONDS))
    pool.wait_anew(state, now)


def expired(state: State, captures: Captures, agent: Agent, now: float, out: list[Effect]) -> None:
    """End an agent whose deadline has passed. In a late wake-up it gets one more grace instead:
    whatever held up the broker may have held up the agent, too."""
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
    """Give back everything: turns, queue places, reservations, then the sessions it lived in."""
    captures.withdraw(agent.id, now, out)
    pool.withdraw(state, agent.id)
    for member in state.memberships(agent.id):
        sessions.leave(state, member, now, out)
    state.drop(agent)
    consent.nobody_asks(state, agent.known_as)
    out.append(EndAgent(agent.id))
    out.append(Note("agent ended", {"agent": shown(agent.id), "name": agent.name, "why": why}))
