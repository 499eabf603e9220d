"""The page in a reply: what changed on it, or a snapshot of limited length."""

from __future__ import annotations

import asyncio
from typing import Any

from roost.api import page_operations as ops
from roost.broker.broker import Broker
from roost.broker.browser.page_records import CRITICAL
from roost.broker.work import page_use
from roost.broker.work.own_requests import STREAMS
from roost.broker.work.page_use import InPage
from roost.errors import RoostError
from roost.page import snapshots
from roost.vocabulary import AgentId

DIFF_CHARS = 4000
FULL_CHARS = 20_000
DRAWN_SECONDS = 4.0
"""How long to wait until a single-page application has drawn something."""
DRAWN_STEP_MS = 200
QUIET_STEPS = 2
"""Give up after this many steps in which an empty page had no request under way."""
GROWN_SECONDS = 3.0
"""How long to wait while an application that has drawn something adds the rest."""
LOADED_SECONDS = 1.5
"""How long to wait for the requests of such an application, while it adds nothing."""
GROWN_STEP_MS = 100


def look(agent: AgentId, show: str) -> dict[str, Any] | None:
    """Return what ``Page.look`` needs so that an action brings the diff with it."""
    return snapshots.changes(agent, DIFF_CHARS) if show == "diff" else None


async def shown(agent: AgentId, at: InPage, show: str) -> dict[str, Any]:
    """Return the page as fields of a view. ``show``: ``none``, ``diff`` or ``full``."""
    if show == "full":
        reading = await snapshots.read(at.page, max_chars=FULL_CHARS, reader=agent)
        return {"snapshot": reading.text}
    if show == "diff":
        reading = await snapshots.read_changes(at.page, reader=agent, max_chars=DIFF_CHARS)
        return {"snapshot": reading.text or None, "changes": reading.changes}
    return {}


async def shown_tab(
    broker: Broker, agent: AgentId, session: str | None, tab: str, show: str
) -> dict[str, Any]:
    """Return the page of a tab that the call opened, selected or navigated, as fields of a view.

    What the call was asked for is done. So a page that cannot be read, for example because it shows
    a dialog, does not fail the call: the reply then has no snapshot.
    """
    if show == "none":
        return {}
    try:
        where = ops.Snapshot(session=session, tab=tab)
        async with page_use.reading(broker, agent, where, "read") as at:
            if not broker.browser(at.row.browser).driver.capabilities.page_work:
                return {}
            await drawn(at)
            return await shown(agent, at, show)
    except RoostError:
        return {}


async def drawn(at: InPage) -> None:
    """Wait until a page has drawn something, while its scripts or requests may still do so, and
    then while it adds elements. An application whose document is empty at first would be shown as
    an empty or half-drawn page otherwise."""
    loop = asyncio.get_running_loop()
    ends, quiet = loop.time() + min(DRAWN_SECONDS, page_use.wait_ms(at.broker) / 1000), 0
    reply = await at.page.call(None, "drawn", timeoutMs=0)
    while reply["mayDraw"] and quiet < QUIET_STEPS and loop.time() < ends:
        reply = await at.page.call(None, "drawn", timeoutMs=DRAWN_STEP_MS)
        quiet = 0 if at.record.pending(CRITICAL) else quiet + 1
    if reply["mayGrow"]:
        await _grown(at)


async def _grown(at: InPage) -> None:
    """Wait while an application adds elements or loads what it needs for them. An application
    that grows at all may pause for a step."""
    loop = asyncio.get_running_loop()
    began, most = loop.time(), min(GROWN_SECONDS, page_use.wait_ms(at.broker) / 1000)
    quiet, has_grown = 0, False
    while quiet < (QUIET_STEPS if has_grown else 1) and loop.time() - began < most:
        reply = await at.page.call(None, "grows", ms=GROWN_STEP_MS)
        loads = reply["isLoading"] or _is_loading(at)
        is_quiet = not reply["grew"] and (not loads or loop.time() - began > LOADED_SECONDS)
        quiet = quiet + 1 if is_quiet else 0
        has_grown = has_grown or not quiet


def _is_loading(at: InPage) -> bool:
    """Return whether requests are under way that may bring more of the page."""
    open_requests = at.record.open_requests()
    return any(one.kind in CRITICAL and one.mime_type not in STREAMS for one in open_requests)
