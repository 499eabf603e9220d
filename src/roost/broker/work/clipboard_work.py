"""The work behind operations on a session's own clipboard (``drivers.clipboard``)."""

from __future__ import annotations

from roost import core
from roost.api import clipboard_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.work import page_use
from roost.broker.work.page_actions import acted, named
from roost.broker.work.page_use import InPage
from roost.drivers.clipboard import NO_CLIPBOARD, ClipboardDriver
from roost.errors import BadRequest, Unsupported
from roost.page import actions
from roost.vocabulary import AgentId, BrowserId

TEXT, HTML = "text/plain", "text/html"


async def clipboard(broker: Broker, agent: AgentId, op: ops.Clipboard) -> views.ClipboardView:
    session = broker.decide(core.session_for, agent, op.session)
    _check(broker, session.browser)
    mine = broker.clipboard(session.id)
    if op.action == "write":
        if op.text is None and op.html is None:
            raise BadRequest("text: give text, html or both.", field="text")
        given = ((TEXT, op.text), (HTML, op.html))
        mine.items = tuple((kind, text) for kind, text in given if text is not None)
    elif op.text is not None or op.html is not None:
        raise BadRequest("text: only the action write takes text and html.", field="text")
    elif op.action == "clear":
        mine.items = ()
    items = dict(mine.items)
    if op.action != "read":
        return views.ClipboardView(action=op.action, types=list(items))
    return views.ClipboardView(
        action=op.action, types=list(items), text=items.get(TEXT), html=items.get(HTML)
    )


async def copy(broker: Broker, agent: AgentId, op: ops.Copy) -> views.ActionView:
    async def work(at: InPage) -> str:
        _check(broker, at.row.browser)
        what = "the selection"
        if op.target is not None:
            wait_ms = page_use.wait_ms(broker)
            _, about = await at.page.call_where(op.target, "selectAll", timeoutMs=wait_ms)
            what = named(about)
        assert at.row.session is not None  # the core gives out only tabs of sessions
        mine = broker.clipboard(at.row.session)
        before = mine.items
        mine.items = ()
        try:
            await actions.press_key(at.page, "Control+x" if op.cut else "Control+c")
        finally:
            is_empty = not mine.items
            if is_empty:
                mine.items = before
        if is_empty:
            raise BadRequest(
                "Nothing is selected, or the page copied nothing.",
                hint="Name a target, or select something first.",
            )
        chars = len(dict(mine.items).get(TEXT, ""))
        return f"{'Cut' if op.cut else 'Copied'} {what}: {chars} characters."

    return await acted(broker, agent, op, "copy from", work)


async def paste(broker: Broker, agent: AgentId, op: ops.Paste) -> views.ActionView:
    async def work(at: InPage) -> str:
        _check(broker, at.row.browser)
        assert at.row.session is not None  # the core gives out only tabs of sessions
        items = dict(broker.clipboard(at.row.session).items)
        if not items:
            raise BadRequest("Your session's clipboard is empty.", hint="Copy or write first.")
        into = "where the focus is"
        if op.target is not None:
            wait_ms = page_use.wait_ms(broker)
            _, field = await at.page.call_where(op.target, "focusForTyping", timeoutMs=wait_ms)
            into = f"into {named(field)}"
        await actions.press_key(at.page, "Control+v")
        return f"Pasted {len(items.get(TEXT, ''))} characters {into}."

    return await acted(broker, agent, op, "paste into", work)


def _check(broker: Broker, browser: BrowserId) -> None:
    driver = broker.browser(browser).driver
    if not isinstance(driver, ClipboardDriver) or driver.clipboard is None:
        raise Unsupported(NO_CLIPBOARD, hint="Type the text, or work in a headless browser.")
