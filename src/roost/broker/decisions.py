"""``Decisions``: the only way into the core.

``decide`` takes requests and queries, ``hear`` takes facts. Both are synchronous, so nothing can
come between a decision and the slot or turn it reserves. Their order:

1. The core expires what is due, decides, and serves the queues.
2. The changed rows are written to the journal.
3. The listeners get the changed rows.
4. The effects are performed. Those that take time are spawned as tasks. An effect that fails is
   logged, and the remaining effects are still performed.
5. Facts that came meanwhile are decided, each in the same order.
6. ``decide`` returns the answer or raises the refusal.

If the journal cannot be written, or if the core fails by a bug, the decision is undone, no effect
is performed, and the broker stops. Its browsers keep running for the next broker.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from roost.core import events as ev
from roost.core.effects import Effect
from roost.core.machine import Decision, Machine
from roost.core.state import Change, State
from roost.errors import Internal, Interrupted, RoostError

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)


class Decisions:
    """Make decisions one at a time, record them, and have them performed.

    now: returns the time.
    record: writes changed rows to the journal. Raises ``Internal`` if it cannot.
    perform: performs one effect.
    performed: called after the effects of each decision.
    stop: stops the broker.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        now: Callable[[], float],
        record: Callable[[Sequence[Change]], None],
        perform: Callable[[Effect], None],
        performed: Callable[[], None],
        stop: Callable[[], None],
    ) -> None:
        self._machine = machine
        self._now = now
        self._record = record
        self._perform = perform
        self._performed = performed
        self._stop = stop
        self._listeners: list[Callable[[Sequence[Change]], None]] = []
        self._is_deciding = False
        self._unheard: deque[ev.Event] = deque()
        """Facts that came while a decision was being made or performed."""
        self._is_stopped = False

    def when_rows_change(self, callback: Callable[[Sequence[Change]], None]) -> None:
        """Call back with all changed rows, after they are journaled and before any effect."""
        self._listeners.append(callback)

    def decide(
        self,
        request: Callable[Concatenate[State, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Ask the core one request or query: ``broker.decide(core.open_tab, agent, …)``.

        Raises the core's refusal, and ``Interrupted`` if the decision could not be recorded.
        Row listeners and effects must not call this: a nested decision would be performed before
        the one that it interrupts. They report facts with ``hear``, or spawn a task.
        """
        if self._is_deciding:
            raise RuntimeError(f"{request!r} was asked while another decision is performed")
        now = self._now()
        decision = self._decided(
            lambda: self._machine.decide(now, lambda state: request(state, *args, **kwargs))
        )
        self._hear_queued()
        return decision.answer

    def hear(self, event: ev.Event) -> None:
        """Report a fact to the core. While a decision is being performed, the fact is queued.

        Raises ``Interrupted`` if the decision about it could not be recorded.
        """
        self._unheard.append(event)
        if not self._is_deciding:
            self._hear_queued()

    def _hear_queued(self) -> None:
        while self._unheard:
            event = self._unheard.popleft()
            self._decided(partial(self._machine.hear, self._now(), event))

    def _decided(self, decide: Callable[[], Decision[T]]) -> Decision[T]:
        """Make one decision, record it and perform it."""
        self._is_deciding = True
        try:
            decision = self._recorded(decide)
            if decision.changes:
                for told in self._listeners:
                    _unless_it_fails("telling of changed rows", told, decision.changes)
            for effect in decision.effects:
                _unless_it_fails(type(effect).__name__, self._perform, effect)
            self._performed()
        finally:
            self._is_deciding = False
        return decision

    def _recorded(self, decide: Callable[[], Decision[T]]) -> Decision[T]:
        """Make one decision and write its changes to the journal, or undo it and stop."""
        if self._is_stopped:
            # After one failed write, later rows would leave a gap in the journal.
            raise Interrupted("The broker stops.")
        try:
            decision = decide()
            if decision.changes:
                self._write(decision.changes)
        except Internal as error:
            self._fail("the journal cannot be written")
            # The browser may already have done what the caller asked for, hence the hint.
            raise Interrupted(
                f"The broker stops: {error.message}",
                hint=error.hint + " Then check the page before you repeat the action.",
            ) from None
        except Exception:
            self._fail("a decision failed by a bug")
            raise Interrupted("The broker stops: a decision failed inside Roost.") from None
        return decision

    def _write(self, changes: Sequence[Change]) -> None:
        try:
            self._record(changes)
        except BaseException:
            self._machine.roll_back()
            raise

    def _fail(self, why: str) -> None:
        """Stop the broker, because a decision failed and was undone.

        Effects without a journal entry would be unknown to the next broker. The next broker goes on
        from the recorded rows and the open pages.
        """
        logger.critical("%s; stopping", why, exc_info=True)
        self._unheard.clear()
        self._is_stopped = True
        self._stop()


def _unless_it_fails(what: str, do: Callable[[T], None], with_: T) -> None:
    """Call ``do`` and log its error. The rows are already written, so the other effects must still
    be performed. If a page or jar stays open because of the error, the core removes it when it next
    compares that browser with the rows."""
    try:
        do(with_)
    except RoostError as error:
        logger.warning("%s failed: %s", what, error)
    except Exception:
        logger.exception("%s failed", what)
