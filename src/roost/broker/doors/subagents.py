"""Which agent makes a call on a connection that several agents of one client share.

The connection's own agent is the client's main conversation. A sub-agent or a further conversation
gets an agent row and a session of its own at its first call. Ids that a client gives are local to
its connection, so no client can claim a sub-agent of another one. Only threads of one client
process, as the kernel reports it, are looked for on each other's connections (Codex).

A call whose origin is not known runs in the session of the connection's own agent.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TypeVar

from roost import core
from roost.api import operations as ops
from roost.api.broker import BrokerApi, Notices
from roost.api.operations import Answers, Operation
from roost.api.subagents import CallOrigin
from roost.api.views import View
from roost.broker.broker import Broker
from roost.broker.doors.caller import Caller
from roost.broker.subagent_reports import MAIN
from roost.core.rows import Agent
from roost.errors import Interrupted
from roost.vocabulary import AgentId

R = TypeVar("R", bound=View)
NOT_REPORTED = (
    "Claude Code's hook did not report in time whether a sub-agent made this call, so it ran in the"
    " session of the main conversation. Sub-agents that need pages of their own: pass session."
)


class SubagentCaller(Caller):
    """The broker for a sub-agent. A call that names a session or tab of a parent runs as
    that parent; every other call runs in the sub-agent's own session."""

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        self._broker.decide(core.subagent_called, self._agent)
        return await super().call(operation, timeout=timeout)

    def _performer(self, operation: Operation) -> AgentId:
        return self._broker.decide(
            core.acting_agent,
            self._agent,
            getattr(operation, "session", None),
            getattr(operation, "tab", None),
            selects=isinstance(operation, ops.Tabs) and operation.action == "select",
        )


class SharedConnection:
    """The broker for one connection of a client. Implements ``api.subagents.SharedConnectionApi``.

    agent: the connection's own agent.
    family: returns the agents of the same client's other connections.
    """

    def __init__(
        self, broker: Broker, agent: AgentId, family: Callable[[], Sequence[AgentId]]
    ) -> None:
        self._broker = broker
        self._agent = agent
        self._family = family
        self._main = Caller(broker, agent)

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        return await self._main.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._main.watch(session)

    def acting_for(self, origin: CallOrigin) -> BrokerApi:
        return _OriginCaller(self, origin)

    async def caller(self, origin: CallOrigin) -> BrokerApi:
        """Return the broker for the agent that makes the call."""
        if self._agent not in self._broker.state.agents:
            return self._main  # the call will be answered that the agent has ended
        if origin.thread is not None:
            return caller_for(self._broker, self._of_thread(origin).id)
        if origin.subagent is not None:
            return self.of_subagent(origin.subagent)
        if origin.tool_use is not None:
            return self.of_subagent(await self._reported(origin))
        return self._main

    def of_subagent(self, subagent: str) -> BrokerApi:
        """Return the broker for the sub-agent, which gets a session at its first call."""
        return caller_for(self._broker, self.agent_of(subagent))

    def agent_of(self, subagent: str) -> AgentId:
        """Return the agent of the sub-agent, or the connection's own for ``MAIN``."""
        if subagent == MAIN:
            return self._agent
        kind = self._broker.subagent_reports.kind(self._agent, subagent)
        return self._child(subagent, kind).id

    async def _reported(self, origin: CallOrigin) -> str:
        reports, agent = self._broker.subagent_reports, self._agent
        if self._broker.state.subagents(agent):
            reports.expect(agent)  # a broker restart has lost the earlier reports
        if not reports.are_expected(agent):
            return MAIN
        assert origin.tool_use is not None
        found = await reports.reported(agent, origin.tool_use)
        if found is not None:
            return found
        if origin.is_repeated:
            raise Interrupted(
                "The broker restarted during this call, and no longer knows which sub-agent"
                " made it."
            )
        if reports.note_once(agent):
            own = self._broker.state.agents[agent].own_session
            self._broker.watchers.note(own, NOT_REPORTED)
        return MAIN

    def _of_thread(self, origin: CallOrigin) -> Agent:
        """Return the agent of the thread. The first thread is the connection's own."""
        thread, state = origin.thread or "", self._broker.state
        own = state.agents[self._agent]
        if not own.conversation:
            parent = None if origin.parent_thread is None else self._thread(origin.parent_thread)
            if parent is None:
                return self._broker.decide(core.name_conversation, own.id, thread)
            return self._broker.decide(core.adopt_agent, own.id, parent, conversation=thread)
        if own.conversation == thread:
            return own
        if origin.parent_thread is not None:
            return self._child(thread, "")
        return self._broker.decide(
            core.connect_conversation, beside=own.id, agent=_new_id(own), conversation=thread
        )

    def _thread(self, thread: str) -> AgentId | None:
        """Return the agent of that thread among the connections of the same client."""
        state = self._broker.state
        family = [state.agents[agent] for agent in self._family() if agent in state.agents]
        for row in family:
            if row.conversation == thread:
                return row.id
            known = state.subagent(row.id, thread)
            if known is not None:
                return known
        # The parent may have made no call yet. Then it is the only connection without a thread.
        unknown = [row for row in family if not row.conversation]
        if len(unknown) != 1:
            return None
        return self._broker.decide(core.name_conversation, unknown[0].id, thread).id

    def _child(self, conversation: str, kind: str) -> Agent:
        own = self._broker.state.agents[self._agent]
        return self._broker.decide(
            core.connect_subagent,
            parent=own.id,
            agent=_new_id(own),
            conversation=conversation,
            kind=kind,
        )


def caller_for(broker: Broker, agent: AgentId) -> Caller:
    """Return the broker for an agent that may be a sub-agent."""
    row = broker.state.agents.get(agent)
    is_subagent = row is not None and row.parent is not None
    return SubagentCaller(broker, agent) if is_subagent else Caller(broker, agent)


class _OriginCaller:
    """The broker for one call: it finds out who makes the call when it is made."""

    def __init__(self, connection: SharedConnection, origin: CallOrigin) -> None:
        self._connection = connection
        self._origin = origin

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        api = await self._connection.caller(self._origin)
        return await api.call(operation, timeout=timeout)

    def watch(self, session: str | None = None) -> Notices:
        return self._connection.watch(session)


def _new_id(own: Agent) -> AgentId:
    return AgentId(f"agent_{secrets.token_hex(16)}_{own.pid}")
