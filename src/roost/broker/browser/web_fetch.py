"""Fetch one address for a session, as its pages would reach it, without a browser and its cookies.

Every hop goes through the session's filtering proxy object: the same lists, the same look-up of
names, the same refusal of Roost's own ports.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import h11

from roost.broker.browser.proxy import FilteringProxy
from roost.core.addresses import host_of
from roost.errors import NotFound, RoostError, TooLarge
from roost.vocabulary import MIB

FETCH_BYTES = 5 * MIB
FETCH_SECONDS = 10.0
REDIRECTS = 5
CHUNK = 64 * 1024
_REDIRECTING = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response. ``url``: where the last redirect led."""

    url: str
    status: int
    content_type: str
    body: bytes


async def fetch(url: str, way: FilteringProxy, check: Callable[[str], str], agent: str) -> Fetched:
    """Return the response of that address.

    way: the session's proxy object, which checks and connects.
    check: called with each address before it is fetched; raises if the session may not open it.
    agent: value of the User-Agent header.
    """
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            for _ in range(REDIRECTS + 1):
                address = check(url)
                answer, location = await _once(address, way, agent)
                if location is None:
                    return answer
                url = urljoin(address, location)
    except TimeoutError:
        raise _unreachable(url, f"no answer within {FETCH_SECONDS:g} s") from None
    except (OSError, ssl.SSLError, h11.RemoteProtocolError) as error:
        raise _unreachable(url, str(error)) from None
    raise _unreachable(url, f"more than {REDIRECTS} redirects")


def _unreachable(url: str, why: str) -> RoostError:
    return NotFound(
        f"{host_of(url)[:200]} could not be read.",
        hint="Check the address, or open it in the browser.",
        page_said=why[:500],
    )


async def _once(url: str, way: FilteringProxy, agent: str) -> tuple[Fetched, str | None]:
    """Send one GET. Return the response, and where it redirects to, if it does."""
    parts = urlsplit(url)
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    reader, writer = await way.connection(host_of(url), port, tunnel=is_secure)
    try:
        if is_secure:
            context = await asyncio.to_thread(ssl.create_default_context)
            await writer.start_tls(context, server_hostname=parts.hostname)
        goes_above = way.upstream is not None and not is_secure
        target = url.partition("#")[0] if goes_above else _path(parts.path, parts.query)
        client = h11.Connection(h11.CLIENT)
        headers = [
            ("Host", parts.netloc.rpartition("@")[2]),
            ("User-Agent", agent),
            ("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.1"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ]
        writer.write(client.send(h11.Request(method="GET", target=target, headers=headers)) or b"")
        writer.write(client.send(h11.EndOfMessage()) or b"")
        return await _answer(url, client, reader)
    finally:
        writer.close()


def _path(path: str, query: str) -> str:
    return (path or "/") + (f"?{query}" if query else "")


async def _answer(
    url: str, client: h11.Connection, reader: asyncio.StreamReader
) -> tuple[Fetched, str | None]:
    status, kind, location, size = 0, "", None, 0
    parts: list[bytes] = []
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Response):
            status = event.status_code
            fields = {name.decode(): value.decode("latin-1") for name, value in event.headers}
            kind = fields.get("content-type", "")
            if status in _REDIRECTING and "location" in fields:
                return Fetched(url, status, kind, b""), fields["location"]
        elif isinstance(event, h11.Data):
            size += len(event.data)
            if size > FETCH_BYTES:
                raise TooLarge(
                    f"The document has more than {FETCH_BYTES} bytes.",
                    hint="Open it in the browser.",
                    limitBytes=FETCH_BYTES,
                )
            parts.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            return Fetched(url, status, kind, b"".join(parts)), location
