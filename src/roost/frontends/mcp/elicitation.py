"""Show the person in their MCP client that an agent asks for them.

A client that declares elicitation is sent the question with the dashboard's address while a call of
its agent waits. What the client answers is ignored: some clients answer by themselves, so only the
dashboard, and commands of the person, answer questions.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from roost.api import operations as ops
from roost.api.broker import ENDS_WHEN_ASKED, BrokerApi, Notices
from roost.api.views import View
from roost.errors import ApprovalPending, RoostError
from roost.frontends.mcp.toolset import Reply
from roost.vocabulary import NoticeKind, QuestionKind
from roost.wire.marks import one_line

REASON_CHARS = 300
ANSWER = "Run `roost dashboard` to look and answer."
NO_REQUESTS = "2026-07-28"
"""From this version of MCP on, a server asks by the result of a call."""
logger = logging.getLogger(__name__)
Context: TypeAlias = ServerRequestContext[Any, Any]
KeepNotes: TypeAlias = Callable[[View], None]


async def call_showing_questions(
    ctx: Context,
    params: types.CallToolRequestParams,
    api: BrokerApi,
    call: Coroutine[Any, Any, Reply],
    *,
    may_repeat: bool,
    keep: KeepNotes,
) -> Reply | types.InputRequiredResult:
    """Make the call and return its reply. Meanwhile show questions that are asked, if the client
    can show them.

    From 2026-07-28 on, servers send no requests. A call that asks then ends with the question as
    its result. The client shows the question and makes the call again, and that call waits.

    may_repeat: the call may be made again without doing anything twice, so it can be ended at any
        time. Other calls end by themselves when they ask for an approval, before they do anything.
    keep: gets the view of a call that was made to show a question. It may hold notes for the agent.
    """
    about = ctx.session.client_params
    able = None if about is None else about.capabilities.elicitation
    if about is None or able is None:
        return await call
    with api.watch() as notices:  # before the call, which may ask at once
        if str(about.protocol_version) < NO_REQUESTS:
            work = _show_all(ctx, api, able, notices, keep)
            showing = asyncio.get_running_loop().create_task(work, name="show questions")
            try:
                return await call
            finally:
                showing.cancel()
                await asyncio.gather(showing, return_exceptions=True)
        if params.input_responses is not None:
            return await call
        if may_repeat:
            return await _until_asked(api, able, call, notices, keep)
        return await _until_approval(api, able, call, notices, keep)


async def _until_asked(
    api: BrokerApi,
    able: types.ElicitationCapability,
    call: Coroutine[Any, Any, Reply],
    notices: Notices,
    keep: KeepNotes,
) -> Reply | types.InputRequiredResult:
    loop = asyncio.get_running_loop()
    working = loop.create_task(call, name="call")
    asking = loop.create_task(_next_question(notices), name="wait for a question")
    try:
        await asyncio.wait({working, asking}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
    finally:
        for task in (working, asking):
            task.cancel()
        await asyncio.gather(working, asking, return_exceptions=True)
    return await _shown(api, able, asking.result(), keep)


async def _until_approval(
    api: BrokerApi,
    able: types.ElicitationCapability,
    call: Coroutine[Any, Any, Reply],
    notices: Notices,
    keep: KeepNotes,
) -> Reply | types.InputRequiredResult:
    before = ENDS_WHEN_ASKED.set(True)
    try:
        return await call
    except ApprovalPending:
        notices.close()  # what was asked is among the notices that came already
        asked = await _next_question(notices)
        if asked is None:  # another call had asked, and the person has not answered
            raise
    finally:
        ENDS_WHEN_ASKED.reset(before)
    return await _shown(api, able, asked, keep)


async def _shown(
    api: BrokerApi, able: types.ElicitationCapability, asked: str | None, keep: KeepNotes
) -> types.InputRequiredResult:
    """Return the result that has the client show the question."""
    assert asked is not None
    request = _request(able, asked, await _address(api, keep))
    return types.InputRequiredResult(input_requests={"question": request})


async def _next_question(notices: Notices) -> str | None:
    """Wait for a question and return it in words for the person. None: the notices have ended."""
    async for notice in notices:
        if notice.kind != NoticeKind.QUESTION_ASKED:
            continue
        reason = one_line(str(notice.data.get("reason", "")))[:REASON_CHARS]
        if notice.data.get("kind") == QuestionKind.APPROVAL:
            origin = one_line(str(notice.data.get("origin", "")))[:REASON_CHARS]
            where = f" on {origin}" if origin else ""
            return f"The agent wants to {reason}{where}. {ANSWER}"
        return f"The agent asks for you: “{reason}” {ANSWER}"
    return None


async def _address(api: BrokerApi, keep: KeepNotes) -> str | None:
    """Return the dashboard's address. The address alone does not log the person in."""
    status = await api.call(ops.Status())
    keep(status)
    return None if status.broker.http is None else f"{status.broker.http}/dashboard/"


def _request(
    able: types.ElicitationCapability, asked: str, address: str | None
) -> types.ElicitRequest:
    if able.url is None or address is None:
        nothing: dict[str, Any] = {"type": "object", "properties": {}}
        return types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=asked, requested_schema=nothing)
        )
    return types.ElicitRequest(
        params=types.ElicitRequestURLParams(
            message=asked, url=address, elicitation_id=secrets.token_hex(8)
        )
    )


async def _show_all(
    ctx: Context,
    api: BrokerApi,
    able: types.ElicitationCapability,
    notices: Notices,
    keep: KeepNotes,
) -> None:
    """Send the client each question. What it answers, or that it refuses, changes nothing."""
    while (asked := await _next_question(notices)) is not None:
        try:
            request = _request(able, asked, await _address(api, keep))
            await ctx.session.send_request(request, types.ElicitResult)
        except (MCPError, RoostError) as error:
            logger.debug("a client did not show a question: %s", error)
