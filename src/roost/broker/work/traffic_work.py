"""The work behind operations on a session's traffic: messages of streams, and HAR recordings."""

from __future__ import annotations

import asyncio
from functools import partial

from roost import core
from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.broker.broker import Broker
from roost.broker.browser.har import Recording
from roost.broker.work import page_use, policy
from roost.core.redaction import redacted_url
from roost.errors import BadRequest, NotFound, TabGone, Unsupported
from roost.hints import Hint
from roost.vocabulary import AgentId, TabId

HAR_FILE = "requests.har"


async def network_messages(
    broker: Broker, agent: AgentId, op: ops.NetworkMessages
) -> views.MessagesView:
    row = await page_use.located(broker, agent, op, "read", acts=False)
    if not broker.browser(row.browser).driver.capabilities.sees_messages:
        raise Unsupported(
            "This browser does not tell Roost of messages of WebSockets and event sources.",
            hint="Use a Chromium that Roost started.",
        )
    record, redact = broker.record(row.id), broker.redactor.text
    chosen = [
        one
        for _, one in record.messages
        # Filter the redacted text, or an agent could guess a secret letter by letter.
        if op.filter is None or op.filter in redact(one.url) or op.filter in redact(one.text)
    ]
    view = views.MessagesView(
        tab=row.id,
        total=len(chosen),
        messages=[
            views.MessageView(
                kind=one.kind,
                url=redacted_url(one.url),
                text=one.text,
                sent=one.sent,
                binary=one.binary,
                name=one.name or None,
            )
            for one in chosen[-op.limit :]
        ],
    )
    if op.clear:
        record.messages.clear()
    return view


async def har(broker: Broker, agent: AgentId, op: ops.Har) -> views.HarView:
    session = broker.decide(core.session_for, agent, op.session)
    policy.check(broker, agent, session.id, policy.deed_of(op, None))
    if op.action == "start":
        if broker.browser(session.browser).driver.capabilities.asks_person:
            raise Unsupported(
                "Roost records no requests of a person's own browser.",
                hint="Work in a session of a browser that Roost started.",
            )
        broker.recordings[session.id] = Recording(
            broker.tasks, broker.redactor, partial(_body, broker)
        )
        return views.HarView(session=session.id, recording=True)
    recording = broker.recordings.pop(session.id, None)
    if recording is None:
        raise NotFound(
            "Nothing is being recorded.", hint=Hint("Begin[ with {Har action=start}] first.")
        )
    if policy.is_judged(broker, agent, session.id):
        recording.without(lambda url: not policy.may_read(broker, agent, session.id, url))
    data = await recording.har(broker.version)
    folders = broker.folders(agent, session.id)
    try:
        path = await asyncio.to_thread(
            folders.write,
            data,
            op.filename,
            HAR_FILE,
            "filename",
            overwrite=op.overwrite,
            secret=True,
        )
    except BadRequest:
        broker.recordings[session.id] = recording  # the caller can name another file
        raise
    return views.HarView(
        session=session.id,
        recording=False,
        requests=len(recording.entries),
        path=str(path),
        bytes=len(data),
    )


async def _body(broker: Broker, tab: TabId, request: str) -> bytes:
    row = broker.state.tabs.get(tab)
    if row is None:
        raise TabGone(f"Tab {tab} is gone.", tab=tab)
    return await broker.page(row).body(request)
