"""Drawings: the person shows an agent something in a page, and the agent reads it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import re
from typing import Any

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.dashboard import DrawnShape, PersonDrawing
from roost.broker.broker import Broker
from roost.broker.drawings import Drawing, DrawnElement
from roost.broker.work import page_use, secret_documents
from roost.core.rows import Tab
from roost.errors import BadRequest, DialogOpen, PolicyDenied, RoostError
from roost.hints import Hint
from roost.page.page import Page
from roost.vocabulary import AgentId, SessionId

FIND_SECONDS = 2.0
"""How long a drawing waits for a page to say which elements were drawn on."""
FRAMES = 16
ELEMENTS = 20
JPEG = b"\xff\xd8\xff"
_REF = re.compile(r"(?:f\d+)?e\d+")


async def draw(broker: Broker, row: Tab, drawn: PersonDrawing) -> None:
    """Keep the drawing, and tell the session's agent of it with its next reply. Raises
    ``PolicyDenied`` if the picture may show a secret.

    A page that does not answer, or that shows a dialog, only costs the elements: the agent still
    gets the words and the picture.
    """
    assert row.session is not None
    picture = _picture(drawn.picture)
    await _check_picture(broker, row)
    elements: list[DrawnElement] = []
    with contextlib.suppress(RoostError, TimeoutError):
        async with asyncio.timeout(FIND_SECONDS):
            elements = await _elements(broker, row, drawn.shapes)
    if row.session not in broker.state.sessions:
        return  # it ended while the page was asked
    drawing = Drawing(
        tab=row.id,
        drawn_at=broker.clock.now(),
        text=" ".join(drawn.text.split()),
        kinds=tuple(shape.kind for shape in drawn.shapes),
        region=_region(drawn.shapes),
        elements=tuple(elements),
        picture=picture,
    )
    broker.drawings.add(row.session, drawing)
    broker.watchers.note(row.session, _note(drawing))
    broker.audit.write(drawing.drawn_at, "shown by person", {"session": row.session, "tab": row.id})


async def drawings(broker: Broker, agent: AgentId, op: ops.Drawings) -> views.DrawingsView:
    session = broker.decide(core.session_for, agent, op.session)
    shown = []
    for number, drawing in enumerate(broker.drawings.newest(session.id)):
        path = None
        if not op.inline:
            name = f"drawing-{int(drawing.drawn_at * 1000)}-{number}.jpeg"
            folders = broker.folders(agent, session.id)
            path = str(folders.write(drawing.picture, None, name, "inline"))
        shown.append(_view(drawing, path))
    return views.DrawingsView(session=session.id, drawings=shown)


def untold_pictures(broker: Broker, session: SessionId) -> list[views.ShownPicture]:
    """Return the pictures of the drawings that the session's agent has not seen yet."""
    return [
        views.ShownPicture(data=base64.b64encode(one.picture).decode("ascii"))
        for one in broker.drawings.take_untold(session)
    ]


def _view(drawing: Drawing, path: str | None) -> views.DrawingView:
    x, y, width, height = drawing.region
    return views.DrawingView(
        tab=drawing.tab,
        text=drawing.text,
        kinds=list(drawing.kinds),
        x=x,
        y=y,
        width=width,
        height=height,
        elements=[
            views.DrawnElementView(ref=one.ref, role=one.role, name=one.name)
            for one in drawing.elements
        ],
        data=base64.b64encode(drawing.picture).decode("ascii") if path is None else None,
        path=path,
    )


def _note(drawing: Drawing) -> str:
    """Return the line for the next reply: the person's words and Roost's, never page text."""
    x, y, width, height = drawing.region
    refs = ", ".join(one.ref for one in drawing.elements)
    where = f"x={x:g}, y={y:g}, {width:g}x{height:g}" + (f", elements: {refs}" if refs else "")
    said = f"The person shows you something in tab {drawing.tab} ({where}) and says:"
    return f"{said} “{drawing.text}” " + Hint(
        "Its picture is kept[; see it again with {Drawings}]."
    )


def _picture(data: str) -> bytes:
    try:
        picture = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        picture = b""
    if not picture.startswith(JPEG):
        raise BadRequest("picture: a JPEG in base64 is needed.", field="picture")
    return picture


async def _check_picture(broker: Broker, row: Tab) -> None:
    """Raise ``PolicyDenied`` if the page shows a secret, or does not say whether it does."""
    if not secret_documents.may_show_secret(broker, row):
        return
    try:
        async with asyncio.timeout(FIND_SECONDS):
            await secret_documents.check_picture(page_use.in_page(broker, row, None))
    except (DialogOpen, TimeoutError):
        raise PolicyDenied(
            "A secret was filled into a page of this session, and the page does not answer.",
            hint="Show it again when the page answers.",
        ) from None


def _region(shapes: list[DrawnShape]) -> tuple[float, float, float, float]:
    boxes = [shape.box for shape in shapes]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right = max(box[0] + box[2] for box in boxes)
    bottom = max(box[1] + box[3] for box in boxes)
    return round(left), round(top), round(right - left), round(bottom - top)


async def _elements(broker: Broker, row: Tab, shapes: list[DrawnShape]) -> list[DrawnElement]:
    """Return the elements of all frames that the shapes mean, without repeating one."""
    at = page_use.in_page(broker, row, None)  # the person shows it, so no policy judges it
    async with page_use.UnlessDialog(at.record):
        frames: list[str | None] = [None]
        frames += [frame for frame, _ in (await at.page.child_frames())[:FRAMES]]
        found: dict[str, DrawnElement] = {}
        for frame in frames:
            for shape in shapes:
                for one in await _in_frame(at.page, frame, shape):
                    if _REF.fullmatch(str(one["ref"])):
                        element = DrawnElement(one["ref"], one["role"][:40], one["name"])
                        found.setdefault(element.ref, element)
    at.remember()
    return list(found.values())[:ELEMENTS]


async def _in_frame(page: Page, frame: str | None, shape: DrawnShape) -> list[dict[str, Any]]:
    """Return what the shape means in that frame. A child frame that is gone, or that the shape does
    not touch, has nothing."""
    x, y, width, height = shape.meant
    try:
        left, top = await page.offset(frame)
        if frame is not None and (x + width < left or y + height < top):
            return []
        answer = await page.call(
            frame, "pointedAt", x=x - left, y=y - top, width=width, height=height
        )
    except RoostError:
        if frame is None:
            raise
        return []
    elements: list[dict[str, Any]] = answer["elements"]
    return elements
