"""The work behind operations on the mouse by points, and on the keyboard at the focus."""

from __future__ import annotations

from roost.api import input_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.work import page_use
from roost.broker.work.page_actions import acted, named
from roost.broker.work.page_use import InPage
from roost.drivers.base import Dropped, Input, MouseDown, MouseMove, MouseUp
from roost.errors import BadRequest, TooLarge, Unsupported
from roost.hints import Hint
from roost.page import actions
from roost.vocabulary import AgentId

DROP_CHARS = 1_000_000
"""The most data that one drop carries."""


async def mouse_click(broker: Broker, agent: AgentId, op: ops.MouseClickXy) -> views.ActionView:
    async def work(at: InPage) -> str:
        await actions.click_at(
            at.page, (op.x, op.y), button=op.button, count=op.click_count, modifiers=op.modifiers
        )
        times = ("", " twice", " three times")[op.click_count - 1]
        return f"Clicked{times} at {op.x:g}, {op.y:g}."

    return await acted(broker, agent, op, "click in", work)


async def mouse_move(broker: Broker, agent: AgentId, op: ops.MouseMoveXy) -> views.ActionView:
    async def work(at: InPage) -> str:
        await at.page.act(None, [MouseMove(op.x, op.y)])
        return f"The mouse is at {op.x:g}, {op.y:g}."

    return await acted(broker, agent, op, "move the mouse in", work)


async def mouse_down(broker: Broker, agent: AgentId, op: ops.MouseDown) -> views.ActionView:
    at_point = _moves(op.x, op.y)

    async def work(at: InPage) -> str:
        if not broker.browser(at.row.browser).driver.capabilities.holds_buttons:
            raise Unsupported(
                "A mouse button is not held from one call to the next in a person's own browser.",
                hint=Hint("Drag in one call[ with {MouseDragXy} or {Drag}]."),
            )
        # Noted first, because a call that is cancelled may already have pressed the button.
        broker.held_inputs.pressed(at.row, agent, op.button)
        await at.page.act(None, [*at_point, MouseDown(op.button)])
        broker.held_inputs.review()
        return f"The {op.button} mouse button is down."

    return await acted(broker, agent, op, "press the mouse in", work)


async def mouse_up(broker: Broker, agent: AgentId, op: ops.MouseUp) -> views.ActionView:
    at_point = _moves(op.x, op.y)

    async def work(at: InPage) -> str:
        await at.page.act(None, [*at_point, MouseUp(op.button)])
        broker.held_inputs.released(at.row.id, op.button)
        return f"The {op.button} mouse button is up."

    return await acted(broker, agent, op, "release the mouse in", work)


async def mouse_drag(broker: Broker, agent: AgentId, op: ops.MouseDragXy) -> views.ActionView:
    async def work(at: InPage) -> str:
        via = [(point.x, point.y) for point in op.via]
        path = [(op.start_x, op.start_y), *via, (op.end_x, op.end_y)]
        await actions.drag_along(at.page, path, modifiers=op.modifiers)
        return f"Dragged to {op.end_x:g}, {op.end_y:g}."

    return await acted(broker, agent, op, "drag in", work)


async def mouse_wheel(broker: Broker, agent: AgentId, op: ops.MouseWheel) -> views.ActionView:
    async def work(at: InPage) -> str:
        await actions.wheel(at.page, op.x, op.y, op.delta_x, op.delta_y)
        return "Turned the wheel."

    return await acted(broker, agent, op, "scroll", work)


async def press_sequentially(
    broker: Broker, agent: AgentId, op: ops.PressSequentially
) -> views.ActionView:
    async def work(at: InPage) -> str:
        await actions.type_at_focus(at.page, op.text, submit=op.submit)
        done = f"Typed {len(op.text)} characters where the focus is"
        return f"{done} and pressed Enter." if op.submit else f"{done}."

    return await acted(broker, agent, op, "type into", work)


async def hold_key(broker: Broker, agent: AgentId, op: ops.HoldKey) -> views.ActionView:
    """Hold the keys for the time, or until the tab is handed over."""
    pressed = actions.keys_to_hold(op.key)

    async def work(at: InPage) -> str:
        look, at.page.look = at.page.look, None  # read the changes once, after the release
        try:
            await at.page.act(None, pressed.downs)
            was_taken = await broker.held_inputs.key_held(at.row, agent, op.seconds)
            at.page.look = look
            await at.page.act(None, pressed.ups)
        except BaseException:
            broker.let_go(at.row.id)
            raise
        if was_taken:
            return f"Released {op.key} early, because the tab was handed over."
        return f"Held {op.key} for {op.seconds:g} s."

    return await acted(broker, agent, op, "press keys in", work)


async def key_down(broker: Broker, agent: AgentId, op: ops.KeyDown) -> views.ActionView:
    pressed = actions.keys_to_hold(op.key)

    async def work(at: InPage) -> str:
        if not broker.browser(at.row.browser).driver.capabilities.holds_buttons:
            raise Unsupported(
                "A key is not held from one call to the next in a person's own browser.",
                hint=Hint("Hold it in one call[ with {HoldKey}]."),
            )
        # Noted first, because a call that is cancelled may already have pressed the key.
        broker.held_inputs.pressed(at.row, agent, f"key {op.key}")
        await at.page.act(None, pressed.downs)
        broker.held_inputs.review()
        return f"{op.key} is down."

    return await acted(broker, agent, op, "press keys in", work)


async def key_up(broker: Broker, agent: AgentId, op: ops.KeyUp) -> views.ActionView:
    pressed = actions.keys_to_hold(op.key)

    async def work(at: InPage) -> str:
        await at.page.act(None, pressed.ups)
        broker.held_inputs.released(at.row.id, f"key {op.key}")
        return f"{op.key} is up."

    return await acted(broker, agent, op, "release keys in", work)


async def tap(broker: Broker, agent: AgentId, op: ops.Tap) -> views.ActionView:
    point = _point(op.x, op.y)
    if (op.target is None) == (point is None):
        raise BadRequest("target: give a target, or x and y.", field="target")

    async def work(at: InPage) -> str:
        wait_ms = page_use.wait_ms(broker)
        spot = await actions.tap(at.page, op.target, point, wait_ms=wait_ms)
        return f"Tapped {named(spot.about)}." if spot else f"Tapped at {op.x:g}, {op.y:g}."

    return await acted(broker, agent, op, "tap in", work)


async def swipe(broker: Broker, agent: AgentId, op: ops.Swipe) -> views.ActionView:
    point = _point(op.x, op.y)
    if op.target is not None and point is not None:
        raise BadRequest("target: give a target, or x and y, not both.", field="target")

    async def work(at: InPage) -> str:
        await actions.swipe(
            at.page,
            op.direction,
            op.distance,
            target=op.target,
            point=point,
            wait_ms=page_use.wait_ms(broker),
        )
        return f"Swiped {op.direction}."

    return await acted(broker, agent, op, "swipe in", work)


async def drop(broker: Broker, agent: AgentId, op: ops.Drop) -> views.ActionView:
    data = {**op.data, **({} if op.text is None else {"text/plain": op.text})}
    if not op.paths and not data:
        raise BadRequest("paths: give files or data to drop.", field="paths")
    if sum(map(len, data.values())) > DROP_CHARS:
        raise TooLarge(f"The data has more than {DROP_CHARS} characters.", hint="Drop a file.")

    async def work(at: InPage) -> str:
        folders = broker.folders(agent, at.row.session)
        paths = tuple(str(folders.to_read(path, "paths")) for path in op.paths)
        dropped = Dropped(paths, tuple(data.items()))
        spot = await actions.drop(at.page, op.target, dropped, wait_ms=page_use.wait_ms(broker))
        return f"Dropped {len(paths)} files and {len(data)} kinds of data on {named(spot.about)}."

    return await acted(broker, agent, op, "drop on", work)


def _point(x: float | None, y: float | None) -> tuple[float, float] | None:
    if (x is None) != (y is None):
        raise BadRequest("x: give x and y, or neither.", field="x")
    return None if x is None or y is None else (x, y)


def _moves(x: float | None, y: float | None) -> list[Input]:
    point = _point(x, y)
    return [] if point is None else [MouseMove(*point)]
