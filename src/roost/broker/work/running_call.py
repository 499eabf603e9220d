"""``RunningCall``: what the work of one call has to know about the call itself."""

from __future__ import annotations

import math
from contextvars import ContextVar
from dataclasses import dataclass

from roost import core
from roost.api.operation import Operation
from roost.vocabulary import TabId


@dataclass(slots=True)
class RunningCall:
    """The call that the current code runs for.

    ends_at: when the call must be answered.
    operation: what the caller asked for. None outside of a call.
    tabs: the tabs that the call works on.
    approved: what the person, or an approval of theirs, has allowed this call.
    is_counted: the call was counted as an action of its session.
    opened: a tab that the call opened and that stays open if the call fails. The error then names
        the tab, because the caller would not know of it otherwise.
    """

    ends_at: float = math.inf
    operation: Operation | None = None
    tabs: tuple[TabId, ...] = ()
    approved: tuple[core.Wanted, ...] = ()
    is_counted: bool = False
    opened: TabId | None = None


CALL: ContextVar[RunningCall] = ContextVar("the running call")


def running_call() -> RunningCall:
    """Return the call that the current task runs for, or one without a deadline."""
    return CALL.get(None) or RunningCall()
