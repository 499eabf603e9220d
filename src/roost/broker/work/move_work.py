"""The work behind operations that move a session to another machine."""

from __future__ import annotations

import asyncio

from roost import core
from roost.api import move_operations as ops
from roost.api.move_operations import STATE_CHARS, TABS_MAX, Luggage, LuggageView, UnpackedView
from roost.broker.broker import Broker
from roost.broker.work import login_reader, page_work
from roost.core.rows import Session
from roost.drivers.base import JarContents
from roost.errors import RoostError
from roost.profiles.storage_state import write_storage_state
from roost.vocabulary import AgentId, JarPolicy

LOAD_SECONDS = 8.0
"""How long one page may load. The tab stays, whether or not its page is complete by then."""


async def pack(broker: Broker, agent: AgentId, op: ops.SessionPack) -> LuggageView:
    """Return the session's addresses and the last backup of its jar. Asks no browser."""
    session = broker.decide(core.session_for, agent, op.session)
    rows = broker.state.tabs_in(session.id)[-TABS_MAX:]
    luggage = Luggage(tabs=[row.url for row in rows], state=_state(broker, session))
    return LuggageView(session=session.id, luggage=luggage)


async def unpack(broker: Broker, agent: AgentId, op: ops.SessionUnpack) -> UnpackedView:
    """Fill the session's jar before any of its pages opens, then open the pages."""
    session = broker.decide(core.session_for, agent, op.session)
    contents, notes = JarContents((), ()), []
    if op.luggage.state is not None:
        contents = await login_reader.storage_state(op.luggage.state.encode(), "luggage.state")
    if not op.luggage.tabs and not contents.cookies and not contents.storage:
        return UnpackedView(session=session.id, tabs=0, cookies=0, origins=0)
    # A session has no jar before its first tab.
    first = await page_work.open_tab(broker, agent, session.id, "about:blank")
    jar = broker.state.jar_of(session.id)
    if jar is not None and jar.policy is not JarPolicy.SHARED:
        refused = sum(await broker.browser(jar.browser).jars.put(jar.id, contents))
        broker.jar_backups.may_have_changed(jar.id)
        if refused:
            notes.append(f"The browser did not take {refused} cookies or origins.")
    opened = 0
    for number, url in enumerate(op.luggage.tabs):
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                if number == 0:
                    await page_work.go(broker, agent, first.tab, url)
                else:
                    await page_work.open_at(broker, agent, session, url)
            opened += 1
        except (RoostError, TimeoutError):
            notes.append(f"Tab {number + 1} of {len(op.luggage.tabs)} could not be opened again.")
    return UnpackedView(
        session=session.id,
        tabs=opened,
        cookies=len(contents.cookies),
        origins=len(contents.storage),
        notes=notes or None,
    )


def _state(broker: Broker, session: Session) -> str | None:
    jar = broker.state.jar_of(session.id)
    if jar is None or jar.policy is JarPolicy.SHARED:
        return None
    kept = broker.jar_backups.kept(jar.id)
    if kept is None:
        return None
    whole = write_storage_state(kept.contents)
    if len(whole) <= STATE_CHARS:
        return whole
    # Storage may be large. Cookies, which hold the logins, are not.
    return write_storage_state(JarContents(kept.cookies, ()))
