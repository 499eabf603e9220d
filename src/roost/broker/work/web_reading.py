"""The work behind ``Read``: an address without the browser, or the page that is open."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from email.message import Message

from roost import __version__, core
from roost.api import element_operations as ops
from roost.api import page_views as views
from roost.api.page_operations import CONTENT_CHARS
from roost.broker.broker import Broker
from roost.broker.browser.proxy import FilteringProxy
from roost.broker.browser.web_fetch import Fetched, fetch
from roost.broker.work import page_use
from roost.core.addresses import BLANK, checked_url, with_scheme
from roost.core.rows import Session
from roost.errors import BadRequest, Internal, Timeout
from roost.hints import Hint
from roost.vocabulary import AgentId

CONVERT_SECONDS = 10.0
"""How long another process may take to turn a document into text."""
_PROGRAM = """
import json, sys
from roost.wire import html_text
base, form = json.loads(sys.stdin.buffer.readline())
html = sys.stdin.buffer.read().decode("utf-8", "replace")
title, text = getattr(html_text, form)(html, base)
sys.stdout.buffer.write(json.dumps([title, text]).encode())
"""
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{1,40})", re.IGNORECASE)
_TEXTS = re.compile(r"text/|application/(?:json|xml|[\w.+-]+\+(?:json|xml)|javascript|yaml)")


async def read(broker: Broker, agent: AgentId, op: ops.Read) -> views.WebTextView:
    if op.url is None:
        return await _of_page(broker, agent, op)
    session = broker.decide(core.session_for, agent, op.session)
    if op.tab is not None:  # refuse another session's tab as every operation does
        await page_use.located(broker, agent, op, "read", acts=False, revives=True)

    def checked(url: str) -> str:
        broker.check_not_own(url)
        address = checked_url(with_scheme(url), session.allow, session.deny)
        if address == BLANK:
            raise BadRequest("url: this address has no content.", field="url")
        return address

    found = await fetch(op.url, _way(broker, session), checked, f"Roost/{__version__}")
    title, text = await _converted(found, op.format)
    return views.WebTextView(
        url=broker.limits.url(found.url),
        title=broker.limits.title(title),
        status=found.status,
        format=op.format,
        text=broker.redactor.cut(text, op.max_length),
        length=len(text),
        truncated=len(text) > op.max_length,
    )


def _way(broker: Broker, session: Session) -> FilteringProxy:
    """Return the way to the network that the session's pages have."""
    jars = broker.browser(session.browser).jars
    own = next((jar for jar in broker.state.jars.values() if jar.session == session.id), None)
    return jars.proxy(None if own is None else own.id) or jars.way_out(session)


async def _of_page(broker: Broker, agent: AgentId, op: ops.Read) -> views.WebTextView:
    async with page_use.reading(broker, agent, op, "read") as at:
        found = await at.page.call(None, "content", format="markdown", maxLength=CONTENT_CHARS)
        text = found["text"]
        if op.format == "outline":
            text = "\n".join(_heading(line) for line in text.splitlines() if _HEADING.match(line))
        return views.WebTextView(
            url=broker.limits.url(found["url"]),
            title=broker.limits.title(found["title"]),
            format=op.format,
            text=broker.redactor.cut(text, op.max_length),
            length=len(text),
            truncated=len(text) > op.max_length,
        )


_HEADING = re.compile(r"(#{1,6}) +(.*)")


def _heading(line: str) -> str:
    found = _HEADING.match(line)
    assert found is not None
    return "  " * (len(found[1]) - 1) + f"- {found[2]}"


async def _converted(found: Fetched, form: str) -> tuple[str, str]:
    kind = Message()
    kind["content-type"] = found.content_type or "text/html"
    mime = kind.get_content_type()
    if mime not in ("text/html", "application/xhtml+xml"):
        if not _TEXTS.match(mime):
            raise BadRequest(
                "url: the document at this address is not text.",
                hint=Hint("Open it in the browser[ with {Navigate}], which downloads it."),
                field="url",
                page_said=mime[:100],
            )
        return "", _decoded(found.body, kind.get_content_charset())
    meta = _META_CHARSET.search(found.body[:4096])
    charset = kind.get_content_charset() or (None if meta is None else meta[1].decode())
    html = _decoded(found.body, charset).encode()
    order = json.dumps([found.url, form]).encode() + b"\n"
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", _PROGRAM, stdin=pipe, stdout=pipe
    )
    try:
        async with asyncio.timeout(CONVERT_SECONDS):
            said, _ = await child.communicate(order + html)
    except TimeoutError:
        raise Timeout(
            "The document takes too long to read.", hint="Open it in the browser."
        ) from None
    finally:
        if child.returncode is None:  # also when the call is cancelled, the process must end
            child.kill()
            await child.wait()
    if child.returncode != 0:
        raise Internal("The document could not be turned into text.")
    title, text = json.loads(said)
    return str(title), str(text)


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:  # no such encoding
        return body.decode("utf-8", "replace")
