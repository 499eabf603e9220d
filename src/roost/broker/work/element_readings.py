"""The work behind operations that ask about one element, show it to the person, or use the tools
that a page offers."""

from __future__ import annotations

import json
from typing import Any

from roost.api import element_operations as ops
from roost.api import page_views as views
from roost.api.views import ValueView
from roost.broker.broker import Broker
from roost.broker.work import page_use, secret_documents
from roost.broker.work.page_use import InPage
from roost.errors import BadRequest, NotFound
from roost.page.page import Json
from roost.vocabulary import AgentId

FRAMES_COUNTED = 50


async def get(broker: Broker, agent: AgentId, op: ops.Get) -> views.ElementValueView:
    async with page_use.reading(broker, agent, op, "read") as at:
        if op.what in ("title", "url"):
            await at.page.call(None, "resolve", target="html")  # the page itself knows its title
            return views.ElementValueView(tab=at.tab, what=op.what, value=at.where()[op.what])
        if op.target is None:
            raise BadRequest(f"target: {op.what} needs an element.", field="target")
        if op.what == "attr" and op.name is None:
            raise BadRequest("name: say which attribute.", field="name")
        if op.what == "count":
            count = await _counted(at, op.target)
            return views.ElementValueView(tab=at.tab, what=op.what, value=count)
        if op.what in ("value", "attr", "html"):
            await secret_documents.check_left(at)
        frame, found = await at.page.call_where(
            op.target,
            "get",
            what=op.what,
            name=op.name,
            names=op.names or None,
            maxLength=op.max_length + broker.redactor.longest,
            timeoutMs=page_use.wait_ms(broker),
        )
        value, is_cut = found["value"], found["truncated"]
        if isinstance(value, str) and len(value) > op.max_length:
            value, is_cut = broker.redactor.cut(value, op.max_length), True
        if op.what == "box" and frame is not None:
            x, y = await at.page.offset(frame)
            value = {**value, "x": value["x"] + x, "y": value["y"] + y}
        return views.ElementValueView(
            tab=at.tab, what=op.what, value=value, ref=found["ref"], truncated=is_cut
        )


async def _counted(at: InPage, target: str) -> int:
    """Return how many elements fit, in the first frame that has any: a target means elements of one
    frame."""
    for frame in [None, *(frame for frame, _ in (await at.page.child_frames())[:FRAMES_COUNTED])]:
        try:
            count = int((await at.page.call(frame, "get", what="count", target=target))["value"])
        except NotFound:
            continue  # the frame is gone
        if count:
            return count
    return 0


async def is_(broker: Broker, agent: AgentId, op: ops.Is) -> views.ElementStateView:
    async with page_use.reading(broker, agent, op, "read") as at:
        wait_ms = page_use.wait_ms(broker)
        if op.state in ("visible", "hidden"):
            found = await _seen(at, op)
        else:
            _, found = await at.page.call_where(op.target, "is", state=op.state, timeoutMs=wait_ms)
        return views.ElementStateView(
            tab=at.tab, state=op.state, value=found["value"], ref=found.get("ref")
        )


async def _seen(at: InPage, op: ops.Is) -> Json:
    """Ask the frame that has the element. The main frame answers for an element that no frame
    has."""
    try:
        frame, _ = await at.page.call_where(op.target, "resolve")
    except NotFound:
        frame = None
    return await at.page.call(frame, "is", state=op.state, target=op.target)


async def highlight(broker: Broker, agent: AgentId, op: ops.Highlight) -> views.ElementStateView:
    async with page_use.reading(broker, agent, op, "show") as at:
        if op.target is None:
            for frame in [None, *(frame for frame, _ in await at.page.child_frames())]:
                await at.page.call(frame, "removeHighlight")
            return views.ElementStateView(tab=at.tab, state="highlighted", value=False)
        _, shown = await at.page.call_where(
            op.target,
            "highlight",
            label=op.label,
            seconds=op.seconds,
            timeoutMs=page_use.wait_ms(broker),
        )
        return views.ElementStateView(tab=at.tab, state="highlighted", value=True, ref=shown["ref"])


async def webmcp_list(broker: Broker, agent: AgentId, op: ops.WebMcpList) -> views.PageToolsView:
    async with page_use.reading(broker, agent, op, "read") as at:
        found = await at.page.call(None, "pageTools")
        tools = [
            views.PageToolView(
                name=one["name"], description=one["description"], input_schema=one["inputSchema"]
            )
            for one in found["tools"]
        ]
        return views.PageToolsView(tab=at.tab, tools=tools)


async def webmcp_call(broker: Broker, agent: AgentId, op: ops.WebMcpCall) -> ValueView:
    given = _arguments(op.input)
    async with page_use.acting(broker, agent, op, "call tools of") as at:
        await secret_documents.check_left(at)
        async with page_use.UnlessDialog(at.record):
            called = await at.page.call(None, "callPageTool", name=op.name, input=given)
        try:
            value = json.loads(called["value"])
        except ValueError:
            value = called["value"]
        return ValueView(tab=at.tab, value=value)


def _arguments(given: dict[str, Any] | str) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    try:
        value = json.loads(given)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadRequest("input: expected a JSON object.", field="input")
    return value
