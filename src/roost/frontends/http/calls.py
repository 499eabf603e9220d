"""The functions behind the routes: build the operation, call ``BrokerApi``, and answer."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from roost.api import operations as ops
from roost.api.door import SESSION_HEADER, Visit
from roost.api.operations import Answers
from roost.api.views import View
from roost.errors import BadRequest, Interrupted
from roost.frontends.http.bodies import (
    PageBody,
    SessionBody,
    asked,
    body_of,
    gone_away,
    operation_of,
    session_named,
    timeout_of,
)
from roost.frontends.http.hints import spell
from roost.frontends.http.replies import reply

R = TypeVar("R", bound=View)
PROMPT_SECONDS = 0.02
"""Cancel a call that takes longer than this if its caller disconnects."""


async def health(request: Request) -> Response:
    return reply({"ok": True})


async def open_session(request: Request) -> Response:
    body = await body_of(request, SessionBody, "POST /session")
    view = await _call(
        request,
        ops.SessionOpen(
            session=body.session_id,
            name=body.name,
            jar=body.jar,
            profile=body.profile,
            browser=body.browser,
            named=True,
        ),
    )
    issued = await _call(request, ops.SessionToken(session=view.id))
    wire = view.to_wire()
    return reply(
        {
            "sessionId": view.id,
            "groupId": view.group,
            "groupName": view.name,
            "createdAt": wire["createdAt"],
            "token": issued.token,
            "tabs": wire["tabs"],
        }
    )


async def dispose_session(request: Request) -> Response:
    view = await _call(request, asked(ops.SessionDispose, session=_path(request, "session")))
    return reply(view.to_wire())


async def list_tabs(request: Request) -> Response:
    tabs = asked(ops.Tabs, action="list", session=_path(request, "session"))
    view = await _call(request, tabs)
    return reply(view.to_wire())


async def heartbeat(request: Request) -> Response:
    view = await _call(request, asked(ops.SessionHeartbeat, session=_path(request, "session")))
    return reply({"expiresInMs": None} | view.to_wire())


async def open_page(request: Request) -> Response:
    body = await body_of(request, PageBody, "POST /pages")
    session = _session(request, body.session_id)
    page = asked(ops.PageOpen, name=body.name, url=body.url, session=session)
    view = await _call(request, page)
    return reply(view.to_wire())


async def close_page(request: Request) -> Response:
    page = asked(ops.PageClose, name=_path(request, "name"), session=_session(request))
    return reply((await _call(request, page)).to_wire())


async def call_tool(request: Request) -> Response:
    """Call any operation by its name.

    The path names a session, so check that session first. A foreign session answers as if it did
    not exist, even for operations that need none.
    """
    session, visit = _path(request, "session"), _visit(request)
    if session != visit.session:
        await visit.api.call(asked(ops.SessionShow, session=session))
    operation = await operation_of(request, _path(request, "tool"), session)
    view: View = await _call(request, operation, timeout_of(request))  # type: ignore[arg-type]
    return reply(view.to_wire())


async def _call(request: Request, operation: Answers[R], timeout: float | None = None) -> R:
    """Perform the operation, and cancel it if the caller disconnects meanwhile."""
    task = asyncio.current_task()
    assert task is not None
    hang_up = _HangUp(request.receive, task)
    timer = asyncio.get_running_loop().call_later(PROMPT_SECONDS, hang_up.listen)
    try:
        view = await _visit(request).api.call(operation, timeout=timeout)
        return view.spelled(spell)
    except asyncio.CancelledError:
        if not hang_up.is_heard:
            raise
        task.uncancel()
        raise Interrupted("You went away before the answer.") from None
    finally:
        timer.cancel()
        hang_up.close()


class _HangUp:
    """Cancels the task of a caller that disconnects. Most calls end before ``listen`` is needed."""

    def __init__(self, receive: Receive, task: asyncio.Task[Any]) -> None:
        self._receive = receive
        self._task = task
        self._listening: asyncio.Task[None] | None = None
        self.is_heard = False

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._listening = loop.create_task(self._wait(), name="hang-up")

    def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()

    async def _wait(self) -> None:
        await gone_away(self._receive)
        self.is_heard = True
        self._task.cancel()


def _visit(request: Request) -> Visit:
    visit: Visit = request.scope["visit"]
    return visit


def _session(request: Request, in_body: str | None = None) -> str | None:
    session = session_named(request, in_body)
    if session is None and _visit(request).session is None:
        raise BadRequest(
            "sessionId: the operator's token is good for every session, so name one.",
            hint=f"Pass sessionId or the header {SESSION_HEADER}, or use the session's token.",
            field="sessionId",
        )
    return session


def _path(request: Request, name: str) -> str:
    return str(request.path_params[name])
