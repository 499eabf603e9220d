"""The work behind operations that picture a page: screenshots and PDF files."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.work import page_use, policy, secret_documents
from roost.broker.work.page_use import InPage
from roost.broker.work.readiness import Readiness
from roost.drivers.base import Picture, Shot
from roost.errors import BadRequest, RoostError, TooLarge
from roost.vocabulary import MIB, AgentId

REMOVE_BADGES_SECONDS = 1.0
"""How long a reply waits for the page to remove the badges."""
INLINE_BYTES = 6 * MIB
"""The largest screenshot in a reply. Encoding the reply blocks the loop, so it must be bounded."""
REGION_PIXELS = 16_000_000
"""The most pixels of an enlarged region. The browser holds them in memory for all sessions."""
SCALES = {"css": 1.0, "device": 1.0}


async def take_screenshot(
    broker: Broker, agent: AgentId, op: ops.TakeScreenshot
) -> views.ScreenshotView:
    async with _capturing(broker, agent, op) as at:
        readiness = await _come_to_rest(broker, at, op.max_wait_ms)
        await secret_documents.check_picture(at)
        labels = None
        if op.annotate:
            labels = (await at.page.call(None, "drawBadges", fullPage=op.full_page))["labels"]
        try:
            shot = await _shot(at, op)
            # Scrolling to a target and drawing badges change the page, so wait for a frame then.
            is_changed = op.target is not None or op.annotate
            picture = await _captured(at, shot, readiness, is_changed=is_changed)
        finally:
            if op.annotate:
                # If the page hangs or is gone, the badges stay. The caller need not wait for that.
                with contextlib.suppress(TimeoutError, RoostError):
                    async with asyncio.timeout(REMOVE_BADGES_SECONDS):
                        await at.page.call(None, "removeBadges")
        return _view(agent, at, op, shot, picture, readiness, labels)


async def zoom_screenshot(
    broker: Broker, agent: AgentId, op: ops.ZoomScreenshot
) -> views.ScreenshotView:
    if op.width * op.height * op.scale**2 > REGION_PIXELS:
        raise TooLarge(
            f"The region has more than {REGION_PIXELS} pixels at that scale.",
            hint="Choose a smaller region or scale.",
        )
    async with _capturing(broker, agent, op) as at:
        readiness = await _come_to_rest(broker, at, op.max_wait_ms)
        await secret_documents.check_picture(at)
        clip = (op.x, op.y, op.width, op.height)
        shot = Shot(format=op.type, quality=op.quality, scale=op.scale, clip=clip)
        picture = await _captured(at, shot, readiness, is_changed=False)
        return _view(agent, at, op, shot, picture, readiness)


async def pdf_save(broker: Broker, agent: AgentId, op: ops.PdfSave) -> views.FileView:
    async with page_use.reading(broker, agent, op, "print") as at:
        await secret_documents.check_picture(at)
        data = await at.page.tab.pdf()
        folders = broker.folders(agent, at.row.session)
        path = folders.write(data, op.filename, f"{at.tab}.pdf", "filename", overwrite=op.overwrite)
        return views.FileView(tab=at.tab, path=str(path), bytes=len(data))


@asynccontextmanager
async def _capturing(
    broker: Broker, agent: AgentId, op: ops.TakeScreenshot | ops.ZoomScreenshot
) -> AsyncIterator[InPage]:
    """Give access to the page for a screenshot. Captures have their own turns
    (``core/captures.py``), so a screenshot does not wait for the tab's actions."""
    row = await page_use.located(broker, agent, op, "capture", acts=False)
    capture = await broker.capture_turn(agent, row.id)
    try:
        at = page_use.in_page(broker, row, policy.judge_for(broker, agent, row, op))
        async with page_use.UnlessDialog(at.record):
            yield at
    finally:
        broker.capture_ended(row.id, capture)


async def _come_to_rest(broker: Broker, at: InPage, max_wait_ms: int | None) -> Readiness | None:
    """Wait until the page has come to rest. Return None for a browser that cannot tell."""
    if not broker.browser(at.row.browser).driver.capabilities.page_work:
        return None
    most = page_use.wait_ms(broker)
    seconds = min(most, most if max_wait_ms is None else max_wait_ms) / 1000
    readiness = Readiness(at.page, at.record, broker.clock, seconds)
    await readiness.idle()
    return readiness


async def _captured(
    at: InPage, shot: Shot, readiness: Readiness | None, *, is_changed: bool
) -> Picture:
    """Take the picture of a page that has come to rest. ``is_changed``: Roost has just changed the
    page, so that the last drawn frame is old."""
    taking = at.page.tab.capture
    if readiness is None:
        return await taking(shot)
    if at.broker.browser(at.row.browser).driver.capabilities.draws_for_pictures:
        picture, _ = await asyncio.gather(taking(shot), readiness.rendered())
        return picture
    if is_changed or not readiness.rests():
        await readiness.rendered()
    return await taking(shot)


def _view(
    agent: AgentId,
    at: InPage,
    op: ops.TakeScreenshot | ops.ZoomScreenshot,
    shot: Shot,
    picture: Picture,
    readiness: Readiness | None,
    labels: list[dict[str, Any]] | None = None,
) -> views.ScreenshotView:
    """Return the picture in a reply, or write it to a file: the one that the caller named, else a
    new one in the session's own folder."""
    data = path = None
    if op.filename is not None or not op.inline:
        folders = at.broker.folders(agent, at.row.session)
        fallback = f"{at.tab}-{int(at.broker.clock.now() * 1000)}.{op.type}"
        path = folders.write(
            picture.data, op.filename, fallback, "filename", overwrite=op.overwrite
        )
    elif len(picture.data) > INLINE_BYTES:
        raise TooLarge(
            f"The picture has {len(picture.data)} bytes, and {INLINE_BYTES} are the most in a"
            " reply.",
            hint="Write it to a file with filename, or take a jpeg, a smaller scale or a target.",
            limitBytes=INLINE_BYTES,
        )
    else:
        data = base64.b64encode(picture.data).decode("ascii")
    return views.ScreenshotView(
        tab=at.tab,
        mime_type=picture.mime_type,
        width=picture.width,
        height=picture.height,
        scale=shot.scale,
        left=None if shot.full_page else (0.0 if shot.clip is None else shot.clip[0]),
        top=None if shot.full_page else (0.0 if shot.clip is None else shot.clip[1]),
        data=data,
        path=None if path is None else str(path),
        readiness=None if readiness is None else readiness.view(),
        labels=None if labels is None else [views.LabelView(**label) for label in labels],
    )


async def _shot(at: InPage, op: ops.TakeScreenshot) -> Shot:
    """Return what to capture. If the operation has a target, scroll there and clip to its box."""
    scale = SCALES[op.scale] if isinstance(op.scale, str) else op.scale
    if not 0.1 <= scale <= 2:
        raise BadRequest('scale: expected 0.1 to 2, "css" or "device".', field="scale")
    clip = None
    if op.target is not None:
        frame, ready = await at.page.call_where(op.target, "prepare", action="screenshot")
        x, y = await at.page.offset(frame) if frame is not None else (0.0, 0.0)
        box = ready["box"]
        clip = (box["x"] + x, box["y"] + y, box["width"], box["height"])
    return Shot(format=op.type, quality=op.quality, scale=scale, full_page=op.full_page, clip=clip)
