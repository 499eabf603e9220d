"""The work behind operations that read a page: snapshot, find, content, logs."""

from __future__ import annotations

import base64
from pathlib import Path

from roost import core
from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.browser.page_records import RequestRecord
from roost.broker.work import page_use, policy
from roost.core.addresses import origin_of
from roost.core.redaction import redacted_url
from roost.errors import BadRequest, NotFound
from roost.hints import Hint
from roost.page import snapshots
from roost.vocabulary import AgentId


async def snapshot(broker: Broker, agent: AgentId, op: ops.Snapshot) -> views.SnapshotView:
    async with page_use.reading(broker, agent, op, "read") as at:
        reading = await snapshots.read(
            at.page,
            max_chars=op.max_chars,
            target=op.target,
            depth=op.depth,
            interactive=op.interactive or None,
            after=op.after,
            boxes=op.boxes,
            reader=agent,
        )
        return views.SnapshotView(
            **at.where(), snapshot=reading.text, truncated=reading.truncated, ref=reading.ref
        )


async def find(broker: Broker, agent: AgentId, op: ops.Find) -> views.FoundView:
    if (op.text is None) == (op.regex is None):
        raise BadRequest("text: give either text or regex.", field="text")
    async with page_use.reading(broker, agent, op, "search") as at:
        texts, refs, total, truncated = [], [], 0, False
        for frame in [None, *(frame for frame, _ in await at.page.child_frames())]:
            try:
                found = await at.page.call(
                    frame, "find", text=op.text, regex=op.regex, limit=op.limit
                )
            except NotFound:
                continue
            if found["total"]:
                texts.append(found["text"])
                refs += [match["ref"] for match in found["matches"][:1]]
                total += found["total"]
                truncated = truncated or found["truncated"]
        return views.FoundView(
            tab=at.tab,
            matches="\n".join(texts),
            total=total,
            truncated=truncated,
            ref=refs[0] if refs else None,
        )


async def get_content(broker: Broker, agent: AgentId, op: ops.GetContent) -> views.ContentView:
    async with page_use.reading(broker, agent, op, "read") as at:
        # Read on behind the limit, so that the cut can spare a secret there.
        options = {"format": op.format, "maxLength": op.max_length + broker.redactor.longest}
        if op.selector is None:
            found = await at.page.call(None, "content", **options)
        else:
            _, found = await at.page.call_where(op.selector, "content", **options)
        if found["length"] > op.max_length:
            found["text"] = broker.redactor.cut(found["text"], op.max_length)
            found["truncated"] = True
        found["url"] = broker.limits.url(found["url"])
        found["title"] = broker.limits.title(found["title"])
        return views.ContentView(tab=at.tab, **found)


async def page_state(broker: Broker, agent: AgentId, op: ops.PageState) -> views.StateView:
    limits = None if op.limits is None else op.limits.model_dump()
    async with page_use.reading(broker, agent, op, "read") as at:
        state = await at.page.call(None, "pageState", reader=agent, limits=limits)
        return views.StateView(tab=at.tab, state=state)


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
    redact = broker.redactor.text  # else an agent could guess a secret letter by letter
    chosen = [
        request
        for request in record.requests.values()
        if (op.filter is None or op.filter in redact(request.url))
        and (op.status is None or _has_status(request, op.status))
        and (op.method is None or op.method.upper() == request.method)
        and (op.kind is None or op.kind.lower() == request.kind)
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
            f"There is no request {op.index}.", hint=Hint("List them[ with {NetworkRequests}].")
        )
    policy.check(broker, agent, row.session, policy.deed_of(op, origin_of(request.url)))
    body = await broker.page(row).body(request.request)
    try:
        text, is_base64 = body.decode("utf-8"), False
    except UnicodeDecodeError:
        text, is_base64 = base64.b64encode(body).decode("ascii"), True
    return views.BodyView(
        tab=row.id,
        request=_request(request),
        body=broker.redactor.cut(text, op.max_length),
        base64=is_base64,
        truncated=len(text) > op.max_length,
    )


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


def _has_status(request: RequestRecord, wanted: str) -> bool:
    """Return whether the request's status is the wanted word, number, hundred or range."""
    if wanted in ("pending", "ok", "failed"):
        return _status(request) == wanted
    first, _, last = wanted.partition("-")
    low = int(first.replace("x", "0"))
    high = int(last) if last else low + 99 * first.endswith("xx")
    return request.status is not None and low <= request.status <= high


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
