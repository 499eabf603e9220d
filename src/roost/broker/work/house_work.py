"""House keeping: what the browsers and sessions use, and what is set, for the dashboard."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.api.dashboard import ConsentView, HouseView, ProcessesView, SessionUsageView
from roost.broker.broker import Broker
from roost.core.rows import TabState
from roost.drivers.base import TabUsage, UsageDriver
from roost.errors import RoostError
from roost.local.usage import TreeUsage, tree_usages
from roost.vocabulary import SessionId, TabId

ASK_SECONDS = 2.0
"""Leave a page out that does not report its usage within this time."""
BROKER = "broker"


@dataclass(slots=True)
class UsageMemory:
    """What was measured last, so that the next look can tell the processor's share since then.

    read_at: when the figures were read, by the monotonic clock of the loop.
    """

    read_at: float = 0.0
    trees: Mapping[int, TreeUsage] = field(default_factory=dict)
    tabs: Mapping[TabId, TabUsage] = field(default_factory=dict)


async def house(broker: Broker, before: UsageMemory) -> HouseView:
    """Return the house as it is now. ``before`` is replaced by the new figures."""
    pids = {
        str(browser.id): browser.started.pid
        for browser in broker.browsers.values()
        if browser.started is not None and browser.started.pid is not None
    }
    roots: dict[str, int] = {BROKER: os.getpid(), **pids}
    trees = await asyncio.to_thread(tree_usages, list(roots.values()))
    tabs = await _tab_usages(broker)
    now = asyncio.get_running_loop().time()
    seconds = now - before.read_at if before.read_at else 0.0
    view = HouseView(
        processes=[
            _processes(name, trees[pid], before.trees.get(pid), seconds)
            for name, pid in roots.items()
            if pid in trees
        ],
        sessions=_sessions(broker, tabs, before.tabs, seconds),
        consents=[
            ConsentView(browser=row.browser, name=row.label, allow=row.allow)
            for browser in sorted(broker.state.settings.personal)
            for row in broker.state.consents(browser)
        ],
        settings=dict(broker.settings_shown),
    )
    before.read_at, before.trees, before.tabs = now, trees, tabs
    return view


async def _tab_usages(broker: Broker) -> dict[TabId, TabUsage]:
    """Ask all open tabs of browsers that can tell, at the same time."""
    asked = [
        (row.id, browser.driver.usage(row.handle))
        for row in broker.state.tabs.values()
        if row.session is not None and row.handle is not None and row.state is TabState.OPEN
        for browser in [broker.browser(row.browser)]
        if browser.started is not None and isinstance(browser.driver, UsageDriver)
    ]
    answers = await asyncio.gather(
        *(asyncio.wait_for(usage, ASK_SECONDS) for _, usage in asked), return_exceptions=True
    )
    found = {}
    for (tab, _), answer in zip(asked, answers, strict=True):
        if isinstance(answer, TabUsage):
            found[tab] = answer
        elif not isinstance(answer, RoostError | TimeoutError):
            raise answer
    return found


def _processes(
    name: str, tree: TreeUsage, before: TreeUsage | None, seconds: float
) -> ProcessesView:
    # Processes that ended since then take their seconds with them, so the difference may be < 0.
    used = 0.0 if before is None else tree.processor_seconds - before.processor_seconds
    return ProcessesView(
        name=name,
        processes=tree.processes,
        memory_bytes=tree.memory,
        processor=max(0.0, used / seconds) if seconds and before is not None else None,
    )


def _sessions(
    broker: Broker,
    tabs: Mapping[TabId, TabUsage],
    before: Mapping[TabId, TabUsage],
    seconds: float,
) -> list[SessionUsageView]:
    memory: dict[SessionId, int] = {}
    processor: dict[SessionId, float] = {}
    for tab, usage in tabs.items():
        row = broker.state.tabs.get(tab)
        if row is None or row.session is None:
            continue
        memory[row.session] = memory.get(row.session, 0) + usage.memory
        if seconds and tab in before:
            used = max(0.0, usage.processor_seconds - before[tab].processor_seconds) / seconds
            processor[row.session] = processor.get(row.session, 0.0) + used
    return [
        SessionUsageView(session=one, memory_bytes=memory[one], processor=processor.get(one))
        for one in memory
    ]
