"""The work of a batch: several operations, one after the other, each like a call of its own.

``Caller`` performs the steps, so that rules, turns, deadlines and the audit trail apply to each
step as they do to a single call. Between steps nothing is held: other agents' calls, and other
calls of the same agent, run in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.operations import Operation
from roost.broker.broker import Broker
from roost.broker.work import shown_page
from roost.errors import BadRequest, RoostError, Timeout
from roost.vocabulary import OPERATOR, AgentId

ANSWER_SECONDS = 5.0
"""The end of a batch's time that is kept to read the page and to answer."""
Perform = Callable[[Operation, float], Awaitable[views.View]]
"""Performs one operation within the given seconds, as a call of the same agent."""


async def run(
    broker: Broker, agent: AgentId, op: ops.Batch, seconds: float, perform: Perform
) -> views.BatchView:
    """Perform the steps in order, within ``seconds`` for all. A step's error does not raise: the
    steps before it are done, and the caller must learn that."""
    # Refuse a batch with a wrong session or step before anything is done.
    if op.session is not None or agent == OPERATOR:
        acting = broker.decide(core.acting_agent, agent, op.session, None)
        broker.decide(core.session_for, acting, op.session)
    is_recorded = not op.only_reads()
    ends_at = broker.clock.now() + seconds - min(ANSWER_SECONDS, seconds / 5)
    steps: list[views.StepView] = []
    try:
        last: views.View | None = None
        for number in range(1, op.count + 1):
            if is_recorded:
                broker.decide(core.record_batch, agent, op.digest, number - 1, op.count)
            step, last = await _step(op, number, last, ends_at - broker.clock.now(), perform)
            steps.append(step)
            if step.error is not None and (op.stop_on_error or ends_at <= broker.clock.now()):
                break
    finally:
        if is_recorded:
            broker.decide(core.end_batch, agent, op.digest)
    tabs = [tab for tab in (getattr(step.answer, "tab", None) for step in steps) if tab]
    shown = {}
    if tabs:
        acting = broker.decide(core.acting_agent, agent, op.session, tabs[-1])
        shown = await shown_page.shown_tab(broker, acting, op.session, tabs[-1], op.snapshot)
    return views.BatchView(
        of=op.count,
        steps=steps,
        not_begun=op.count - len(steps),
        tab=tabs[-1] if tabs else None,
        **shown,
    )


async def progress(
    broker: Broker, agent: AgentId, op: ops.BatchProgress
) -> views.BatchProgressView:
    row = broker.decide(core.batch_of, agent, op.digest)
    return (
        views.BatchProgressView()
        if row is None
        else views.BatchProgressView(done=row.done, of=row.of)
    )


async def _step(
    op: ops.Batch, number: int, last: views.View | None, left: float, perform: Perform
) -> tuple[views.StepView, views.View | None]:
    """Perform one step. Return its outcome, and the view that the next step's ``@last`` means."""
    operation = op.operations[number - 1]
    try:
        if left <= 0:
            raise Timeout("The batch's time is over.", hint="Send the remaining steps again.")
        if number in op.ref_steps:
            ref = getattr(last, "ref", None)
            if ref is None:
                raise BadRequest(
                    f"Step {number}: @last: the step before returned no ref.",
                    hint="Put a step before it that finds or acts on the element.",
                    field="@last",
                )
            operation = op.operation(number, ref)
        view = await perform(operation, left)
    except RoostError as error:
        told = {**error.to_wire(), "hint": error.hint}
        return views.StepView(tool=operation.op, error=told), None
    return views.StepView(tool=operation.op, answer=view), view
