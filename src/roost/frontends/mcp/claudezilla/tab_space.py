"""Tools for sharing the pool with other agents, and for focus loops."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from roost.api import operations as ops
from roost.api import views
from roost.frontends.mcp.claudezilla.desk import Desk, number_of, pool_of
from roost.frontends.mcp.claudezilla.tool import ClaudezillaTool
from roost.vocabulary import LOOP_ITERATIONS_MAX, LOOP_PHRASE_CHARS


class RequestTabSpace(ClaudezillaTool):
    """Queue for a tab slot when the pool is full."""

    tool = "firefox_request_tab_space"
    title = "Ask for a tab slot"
    category = "multiagent"
    open_world = False
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.TabSpaceRequest())
        if view.you_have_reservation:
            message = "A slot is reserved for you: open your tab now."
        else:
            message = f"You are number {view.position} in the queue; heavy users were told."
        return {
            "queued": view.queued,
            "position": view.position,
            "tabHeavyAgents": [],
            **_space(view),
            "message": message,
        }


class GrantTabSpace(ClaudezillaTool):
    """Close your least recently used tab for the first in the queue."""

    tool = "firefox_grant_tab_space"
    title = "Give up a tab"
    category = "multiagent"
    open_world = False
    destructive = True
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.TabSpaceGrant())
        return {
            "granted": view.granted,
            "closedTabId": number_of(view.closed),
            "tabCount": pool_of(view.tab_pool)["tabCount"],
            "pendingRequests": view.pending_requests,
            "reservationCreated": view.granted,
        }


class GetSlotRequests(ClaudezillaTool):
    """Your place in the queue, your reservation, and whether somebody waits for you."""

    tool = "firefox_get_slot_requests"
    title = "Look at the queue"
    category = "multiagent"
    open_world = False
    read_only = True
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.TabSpaceStatus())
        status = await desk.ask(ops.Status())
        return {
            "pendingRequests": [row.to_wire() for row in status.requests],
            "pendingCount": view.pending_requests,
            "activeReservations": [row.to_wire() for row in status.reservations],
            "yourTabCount": view.your_tabs,
            **_space(view),
            "shouldGrant": view.should_grant,
            "hint": _hint(view),
        }


def _space(view: views.SpaceView) -> dict[str, Any]:
    left = view.reservation_expires_in_ms
    return {
        "youHaveReservation": view.you_have_reservation,
        **({"reservationExpiresInMs": left} if left is not None else {}),
        **pool_of(view.tab_pool),
    }


def _hint(view: views.SpaceView) -> str:
    if view.you_have_reservation:
        return "Open your tab with firefox_create_window before the reservation runs out."
    if view.should_grant:
        return "Somebody waits and you have many tabs: firefox_grant_tab_space."
    return "Nobody waits for you."


class StartLoop(ClaudezillaTool):
    """Start a focus loop: you are given the prompt again until you say the phrase."""

    tool = "firefox_start_loop"
    title = "Start a loop"
    category = "loop"
    open_world = False
    is_data = True
    prompt: str = Field(max_length=100_000)
    max_iterations: int = Field(
        default=0, ge=0, le=LOOP_ITERATIONS_MAX, description="0: no limit but one hour"
    )
    completion_promise: str | None = Field(default=None, max_length=LOOP_PHRASE_CHARS)

    async def run(self, desk: Desk) -> dict[str, Any]:
        started = ops.LoopStart(
            prompt=self.prompt,
            max_iterations=self.max_iterations,
            completion_phrase=self.completion_promise,
        )
        return _loop(await desk.ask(started))


class StopLoop(ClaudezillaTool):
    """Stop your loop."""

    tool = "firefox_stop_loop"
    title = "Stop the loop"
    category = "loop"
    open_world = False
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        was = await desk.ask(ops.LoopStatus())
        await desk.ask(ops.LoopStop())
        return {"stopped": was.active, **_loop(was), "active": False}


class LoopStatus(ClaudezillaTool):
    """Your loop and how far it is."""

    tool = "firefox_loop_status"
    title = "Look at the loop"
    category = "loop"
    open_world = False
    read_only = True
    is_data = True

    async def run(self, desk: Desk) -> dict[str, Any]:
        return _loop(await desk.ask(ops.LoopStatus()))


def _loop(view: views.LoopView) -> dict[str, Any]:
    wire = view.to_wire()
    wire.pop("notes", None)
    if "completionPhrase" in wire:
        wire["completionPromise"] = wire.pop("completionPhrase")
    return wire
