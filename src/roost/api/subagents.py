"""Who makes a call on a connection that several agents of one client share.

A client runs sub-agents and conversations. Where they share a connection, the client says with
each call who makes it (``CallOrigin``), or its hooks report it (``operations.SubagentReport``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from roost.api.broker import BrokerApi

ID_CHARS = 200
"""Maximum length of the ids that clients give. Longer ones are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """What a client says about the origin of a call.

    tool_use: the client's id of the call, which a hook reports together with the sub-agent.
    subagent: the sub-agent itself.
    thread: the thread or conversation that makes the call.
    parent_thread: the thread that started this one, if the thread is a sub-agent.
    is_repeated: the call was under way when the broker restarted.
    """

    tool_use: str | None = None
    subagent: str | None = None
    thread: str | None = None
    parent_thread: str | None = None
    is_repeated: bool = False


@runtime_checkable
class SharedConnectionApi(BrokerApi, Protocol):
    """The broker for a connection that several agents of one client may share."""

    def acting_for(self, origin: CallOrigin) -> BrokerApi:
        """Return the broker for the agent that makes the call."""
