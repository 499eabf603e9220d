"""The work behind operations that read a page: snapshot, find, content, logs, screenshots."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from pathlib import Path

from roost import core
from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.browser.page_records import RequestRecord
from roost.broker.text_limits import short_title, short_url
from roost.broker.work import page_use, shown_page
from roost.broker.work.page_use import InPage
from roost.broker.work.readiness import Readiness
from roost.core.redaction import redacted_url
from roost.drivers.base import Shot
from roost.errors import BadRequest, NotFound, RoostError, Timeout, TooLarge
from roost.page import snapshots
from roost.vocabulary import MIB, AgentId

REMOVE_BADGES_SECONDS = 1.0
"""How long a reply waits for the page to remove the badges."""
AGAIN_SECONDS = 0.05
"""Pause of ``wait_for`` after a call into the page that failed."""
WANTED_CHARS = 200
"""How much of the text a caller waited for is repeated in an error."""
INLINE_BYTES = 6 * MIB
"""The largest screenshot in a reply. Encoding the reply blocks the loop, so it must be bounded."""
SCALES = {"css": 1.0, "device": 1.0}


async def snapshot(broker: Broker, agent: AgentId, op: ops.Snapshot) -> views.SnapshotView:
    async with page_use.reading(broker, agent, op, "read") as at:
        reading = await snapshots.read(
            at.page,
            max_chars=op.max_chars,
            target=op.target,
            depth=op.depth,
            interactive=op.interactive or None,
            after=op.after,
            reader=agent,
        )
        return views.SnapshotView(**at.where(), snapshot=reading.text, truncated=reading.truncated)


async def find(broker: Broker, agent: AgentId, op: ops.Find) -> views.FoundView:
    if (op.text is None) == (op.regex is None):
        raise BadRequest("text: give either text or regex.", field="text")
    async with page_use.reading(broker, agent, op, "search") as at:
        texts, total, truncated = [], 0, False
        for frame in [None, *(frame for frame, _ in await at.page.child_frames())]:
            try:
                found = await at.page.call(
                    frame, "find", text=op.text, regex=op.regex, limit=op.limit
                )
            except NotFound:
                continue
            if found["total"]:
                texts.append(found["text"])
                total += found["total"]
                truncated = truncated or found["truncated"]
        return views.FoundView(
            tab=at.tab, matches="\n".join(texts), total=total, truncated=truncated
        )


async def get_content(broker: Broker, agent: AgentId, op: ops.GetContent) -> views.ContentView:
    async with page_use.reading(broker, agent, op, "read") as at:
        options = {"format": op.format, "maxLength": op.max_length}
        if op.selector is None:
            found = await at.page.call(None, "content", **options)
        else:
            _, found = await at.page.call_where(op.selector, "content", **options)
        found["url"], found["title"] = short_url(found["url"]), short_title(found["title"])
        return views.ContentView(tab=at.tab, **found)


async def page_state(broker: Broker, agent: AgentId, op: ops.PageState) -> views.StateView:
    limits = None if op.limits is None else op.limits.model_dump()
    async with page_use.reading(broker, agent, op, "read") as at:
        state = await at.page.call(None, "pageState", reader=agent, limits=limits)
        return views.StateView(tab=at.tab, state=state)


async def wait_for(broker: Broker, agent: AgentId, op: ops.WaitFor) -> views.WaitView:
    """Wait for the condition across navigations: a later document may also meet it."""
    begun = broker.clock.now()
    wanted = {
        "text": op.text,
        "textGone": op.text_gone,
        "selector": op.selector,
        "url": op.url,
    }
    given = [name for name, value in wanted.items() if value is not None]
    if len(given) + (op.time is not None) != 1:
        raise BadRequest("Give one of text, textGone, selector, url, time.", field="text")
    async with page_use.reading(broker, agent, op, "read", turn=False) as at:
        if op.time is not None:
            await broker.clock.wait(op.time)
        elif not await _met(broker, at, wanted, begun + op.timeout):
            raise Timeout(
                f"{given[0]} {(wanted[given[0]] or '')[:WANTED_CHARS]!r} did not come true within "
                f"{op.timeout:g} s.",
                hint="Take a browser_snapshot to see what the page shows instead.",
            )
        at.record.stir(broker.clock.now())
        waited = int((broker.clock.now() - begun) * 1000)
    shown = await shown_page.shown_tab(broker, agent, op.session, at.tab, op.snapshot)
    return views.WaitView(tab=at.tab, waited_ms=waited, url=at.where()["url"], **shown)


async def _met(broker: Broker, at: InPage, wanted: dict[str, str | None], deadline: float) -> bool:
    """Wait until the page, or one after it, meets the condition. False at the deadline."""
    while (left := deadline - broker.clock.now()) > 0:
        try:
            reply = await at.page.call(None, "waitFor", timeoutMs=int(left * 1000), **wanted)
        except page_use.LEFT as error:
            if error.details.get("field", "function") != "function":
                raise  # the condition itself is wrong, so no other page can meet it either
            # The page navigated away; the next page may meet the condition. Pause, so that a page
            # that fails every call does not keep the broker busy.
            await broker.clock.wait(min(left, AGAIN_SECONDS))
            continue
        if reply["found"]:
            return True
    return False


async def console_messages(
    broker: Broker, agent: AgentId, op: ops.ConsoleMessages
) -> views.ConsoleView:
    row = await page_use.located(broker, agent, op, "read", acts=False)
    record = broker.record(row.id)
    chosen = [said for said in record.console if op.level in (None, said.level)]
    view = views.ConsoleView(
        tab=row.id,
        messages=[
            views.ConsoleMessageView(
                level=said.level,
                text=said.text,
                url=said.url or None,
                line=said.line or None,
            )
            for said in chosen[-op.limit :]
        ],
        total=len(chosen),
    )
    if op.clear:
        record.console.clear()
    return view


async def network_requests(
    broker: Broker, agent: AgentId, op: ops.NetworkRequests
) -> views.NetworkView:
    row = await page_use.located(broker, agent, op, "read", acts=False)
    record = broker.record(row.id)
    chosen = [
        request
        for request in record.requests.values()
        if (op.filter is None or op.filter in request.url) and op.status in (None, _status(request))
    ]
    view = views.NetworkView(
        tab=row.id, requests=[_request(r) for r in chosen[-op.limit :]], total=len(chosen)
    )
    if op.clear:
        record.requests.clear()
    return view


async def network_request(broker: Broker, agent: AgentId, op: ops.NetworkRequest) -> views.BodyView:
    row = await page_use.located(broker, agent, op, "read", acts=False)
    request = broker.record(row.id).requests.get(op.index)
    if request is None:
        raise NotFound(
            f"There is no request {op.index}.", hint="List them with browser_network_requests."
        )
    body = await broker.page(row).body(request.request)
    try:
        text, is_base64 = body.decode("utf-8"), False
    except UnicodeDecodeError:
        text, is_base64 = base64.b64encode(body).decode("ascii"), True
    return views.BodyView(
        tab=row.id,
        request=_request(request),
        body=text[: op.max_length],
        base64=is_base64,
        truncated=len(text) > op.max_length,
    )


async def take_screenshot(
    broker: Broker, agent: AgentId, op: ops.TakeScreenshot
) -> views.ScreenshotView:
    """Take a screenshot. Captures have their own turns (``core/captures.py``), so a screenshot does
    not wait for the tab's actions."""
    row = await page_use.located(broker, agent, op, "capture", acts=False)
    capture = await broker.capture_turn(agent, row.id)
    try:
        at = page_use.in_page(broker, row)
        async with page_use.UnlessDialog(at.record):
            return await _pictured(broker, agent, at, op)
    finally:
        broker.capture_ended(row.id, capture)


async def _pictured(
    broker: Broker, agent: AgentId, at: InPage, op: ops.TakeScreenshot
) -> views.ScreenshotView:
    able = broker.browser(at.row.browser).driver.capabilities
    readiness = None
    if able.page_work:
        most = page_use.wait_ms(broker)
        seconds = min(most, most if op.max_wait_ms is None else op.max_wait_ms) / 1000
        readiness = Readiness(at.page, at.record, broker.clock, seconds)
        await readiness.idle()
    labels = None
    if op.annotate:
        labels = (await at.page.call(None, "drawBadges", fullPage=op.full_page))["labels"]
    try:
        shot = await _shot(at, op)
        if readiness is not None and not able.draws_for_pictures:
            # Scrolling to a target and drawing badges change the page, so wait for a frame then.
            is_as_it_was = op.target is None and not op.annotate
            if not (is_as_it_was and readiness.rests()):
                await readiness.rendered()
        taking = at.page.tab.capture(shot)
        if readiness is not None and able.draws_for_pictures:
            picture, _ = await asyncio.gather(taking, readiness.rendered())
        else:
            picture = await taking
    finally:
        if op.annotate:
            # If the page hangs or is gone, the badges stay. The caller need not wait for that.
            with contextlib.suppress(TimeoutError, RoostError):
                async with asyncio.timeout(REMOVE_BADGES_SECONDS):
                    await at.page.call(None, "removeBadges")
    data = path = None
    if op.filename is not None:
        folders = broker.folders(agent, at.row.session)
        path = folders.write(picture.data, op.filename, "", "filename", overwrite=op.overwrite)
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
        labels=None if labels is None else [views.MarkView(**label) for label in labels],
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


async def pdf_save(broker: Broker, agent: AgentId, op: ops.PdfSave) -> views.FileView:
    async with page_use.reading(broker, agent, op, "print") as at:
        data = await at.page.tab.pdf()
        folders = broker.folders(agent, at.row.session)
        path = folders.write(data, op.filename, f"{at.tab}.pdf", "filename", overwrite=op.overwrite)
        return views.FileView(tab=at.tab, path=str(path), bytes=len(data))


async def downloads(broker: Broker, agent: AgentId, op: ops.Downloads) -> views.DownloadsView:
    """List the known downloads and the other files in the folder, which are from the time of an
    earlier broker."""
    session = broker.decide(core.session_for, agent, op.session)
    known = broker.downloads.of(session.id)
    paths = {download.path for download in known}
    found = [path for path in broker.downloads.files(session.id) if path not in paths]
    return views.DownloadsView(
        session=session.id,
        downloads=[
            *(
                views.DownloadView(name=path.name, state="done", path=str(path), bytes=_size(path))
                for path in found
            ),
            *(
                views.DownloadView(
                    name=one.name if one.path is None else one.path.name,
                    state=one.state,
                    path=None if one.path is None else str(one.path),
                    bytes=_size(one.path),
                    url=redacted_url(one.url),
                )
                for one in known
            ),
        ],
    )


def _size(path: Path | None) -> int | None:
    try:
        return None if path is None else path.stat().st_size
    except OSError:
        return None  # the agent has moved or deleted its file


def _status(request: RequestRecord) -> str:
    if request.error is not None or (request.status or 0) >= 400:
        return "failed"
    return "pending" if request.ended_at is None else "ok"


def _request(request: RequestRecord) -> views.RequestLogView:
    ended = request.ended_at
    return views.RequestLogView(
        index=request.number,
        method=request.method,
        url=request.url,
        kind=request.kind,
        status=request.status,
        mime_type=request.mime_type,
        error=request.error,
        duration_ms=None if ended is None else int((ended - request.at) * 1000),
    )
