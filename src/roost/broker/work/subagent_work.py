"""The work of a report about a sub-agent, which a hook of the agent's client sends."""

from __future__ import annotations

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.broker.broker import Broker
from roost.core import events as ev
from roost.vocabulary import AgentId


async def report(broker: Broker, agent: AgentId, op: ops.SubagentReport) -> views.Pong:
    """Record the report. It concerns sub-agents of the caller only."""
    reports = broker.subagent_reports
    if op.event == "PreToolUse":
        reports.began(agent, op.tool_use_id, op.subagent, op.kind, op.command)
    elif op.event == "SubagentStop":
        reports.stopped(agent, op.subagent)
        ended = broker.decide(core.subagent_of, agent, op.subagent)
        if ended is not None:
            broker.hear(ev.SubagentEnded(ended))
    else:
        reports.ended(agent, op.tool_use_id)
    return views.Pong()
