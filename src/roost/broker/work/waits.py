"""The work behind ``WaitFor``: wait until the page, or one after it, meets all conditions."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.browser.page_records import PageRecord
from roost.broker.work import page_use, shown_page
from roost.broker.work.page_actions import run_function
from roost.broker.work.page_use import InPage
from roost.errors import BadRequest, NotFound, Timeout
from roost.hints import Hint
from roost.vocabulary import AgentId
from roost.wire.globs import fits_stars

AGAIN_SECONDS = 0.05
"""Pause after a call into the page that failed."""
POLL_SECONDS = 0.1
"""How often a function is called, and how soon events of the browser are looked at again."""
FRAMES_SECONDS = 0.25
"""How often child frames are searched while the main frame waits for an element."""
FRAMES_SEARCHED = 16
IDLE_SECONDS = 0.5
"""A page without a pending request for this long is idle, as in Playwright."""
WANTED_CHARS = 200
"""How much of what a caller waited for is repeated in an error."""
GONE = frozenset({"hidden", "detached"})
"""States that an element of another frame must not fulfil."""


async def wait_for(broker: Broker, agent: AgentId, op: ops.WaitFor) -> views.WaitView:
    """Wait for the conditions across navigations: a later document may also meet them."""
    begun = broker.clock.now()
    wait = _Wait.of(op)
    if (op.time is None) == (not wait.given):
        names = ", ".join(_CONDITIONS)
        raise BadRequest(f"text: give time alone, or at least one of {names}.", field="text")
    runs = op.function is not None
    action = "run scripts in" if runs else "read"
    async with page_use.reading(broker, agent, op, action, turn=False, acts=runs) as at:
        if op.time is not None:
            await broker.clock.wait(op.time)
        elif not await wait.met(broker, at, begun + op.timeout):
            raise Timeout(
                f"{wait.described()} did not come true within {op.timeout:g} s.",
                hint=Hint("Look at what the page shows instead[, with {Snapshot}]."),
            )
        at.record.stir(broker.clock.now())
        waited = int((broker.clock.now() - begun) * 1000)
    shown = await shown_page.shown_tab(broker, agent, op.session, at.tab, op.snapshot)
    return views.WaitView(tab=at.tab, waited_ms=waited, url=at.where()["url"], **shown)


_CONDITIONS = ("text", "textGone", "selector", "url", "response", "loadState", "function")


@dataclass(frozen=True, slots=True)
class _Wait:
    """The conditions of one wait.

    in_page: conditions that the page bundle waits for, without polling.
    given: all conditions with their values, for error messages.
    """

    op: ops.WaitFor
    in_page: dict[str, str]
    given: dict[str, str]

    @staticmethod
    def of(op: ops.WaitFor) -> _Wait:
        values = (op.text, op.text_gone, op.selector, op.url, op.response, op.load_state,
                  op.function)  # fmt: skip
        pairs = zip(_CONDITIONS, values, strict=True)
        given: dict[str, str] = {name: value for name, value in pairs if value is not None}
        if op.state is not None and op.selector is None:
            raise BadRequest("state: give the selector of the element, too.", field="state")
        in_page = {
            name: value for name, value in given.items() if name not in ("response", "function")
        }
        if op.load_state == "networkidle":
            in_page["loadState"] = "load"
        if op.state is not None:
            in_page["state"] = op.state
        return _Wait(op, in_page, given)

    def described(self) -> str:
        return " and ".join(
            f"{name} {value[:WANTED_CHARS]!r}" for name, value in self.given.items()
        )

    async def met(self, broker: Broker, at: InPage, deadline: float) -> bool:
        """Wait until all conditions hold at the same time. False at the deadline."""
        while (left := deadline - broker.clock.now()) > 0:
            try:
                if self.in_page and not await self._in_page(at, left):
                    continue
                if await self._is_true(at) and self._has_happened(broker, at.record):
                    return True
            except page_use.LEFT as error:
                if error.details.get("field", "function") != "function":
                    raise  # the condition itself is wrong, so no other page can meet it either
                if self.op.function is not None and error.page_said is not None:
                    raise  # the caller's function threw an exception
                # The page navigated away; the next page may meet the condition. Pause, so that a
                # page that fails every call does not keep the broker busy.
                await broker.clock.wait(min(left, AGAIN_SECONDS))
                continue
            await broker.clock.wait(min(left, POLL_SECONDS))
        return False

    async def _in_page(self, at: InPage, left: float) -> bool:
        """Wait for the page's conditions, or until it is time to look at something else."""
        frames = self._frames_to_search(await at.page.child_frames())
        seconds = min(left, FRAMES_SECONDS) if frames else left
        reply = await at.page.call(None, "waitFor", timeoutMs=int(seconds * 1000), **self.in_page)
        if reply["found"]:
            return True
        for frame in frames:
            with contextlib.suppress(NotFound, Timeout):
                found = await at.page.call(frame, "waitFor", timeoutMs=0, **self.in_page)
                if found["found"]:
                    return True
        return False

    def _frames_to_search(self, frames: list[tuple[str, str | None]]) -> list[str]:
        """Return the child frames in which an element may appear. Other conditions are about the
        main frame."""
        is_element = self.in_page.keys() <= {"selector", "state"} and self.op.state not in GONE
        return [frame for frame, _ in frames[:FRAMES_SEARCHED]] if is_element else []

    async def _is_true(self, at: InPage) -> bool:
        if self.op.function is None:
            return True
        return bool(await run_function(at, self.op.function))

    def _has_happened(self, broker: Broker, record: PageRecord) -> bool:
        if self.op.response is not None and not _has_answered(record, self.op.response):
            return False
        return self.op.load_state != "networkidle" or record.is_idle(
            broker.clock.now(), IDLE_SECONDS
        )


def _has_answered(record: PageRecord, wanted: str) -> bool:
    """Return True if a request since the last action with that address got a response."""
    pattern = wanted if "*" in wanted else f"*{wanted}*"
    return any(
        one.status is not None and fits_stars(pattern, one.url)
        for one in record.requests.values()
        if one.number > record.acted_after
    )
