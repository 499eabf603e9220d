"""The web site that the contract suites use.

One table of pages is served over HTTP to real browsers and given to the fake browser directly, so
that all drivers see the same pages.
"""

from __future__ import annotations

import html
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from roost.drivers.fake.browser import FakeResponse, Web
from roost.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The answer at one path.

    ``stalls``: take the request and never answer.
    ``dribbles``: send the start of the document, and its title some time later.
    """

    title: str = ""
    status: int = 200
    redirect: str | None = None
    stalls: bool = False
    dribbles: bool = False


PAGES = {
    "/": Page(title="Home"),
    "/other": Page(title="Other"),
    "/letters": Page(title="Ünï·cödé <b> & ☃"),
    "/moved": Page(redirect="/other"),
    "/moved/twice": Page(redirect="/moved"),
    "/round": Page(redirect="/round"),
    "/missing": Page(title="Not here", status=404),
    "/broken": Page(title="Broken", status=500),
    "/stalls": Page(stalls=True),
    "/dribbles": Page(title="At last", dribbles=True),
}
DRIBBLE_BYTES = len('<!doctype html><html lang="en">')
DRIBBLE_SECONDS = 0.2
FAKE_BASE = "http://site.test"
FAKE_NOWHERE = "http://nowhere.test/"


def fake_web(url: str) -> FakeResponse:
    """Answer the fake browser from the table. All other addresses raise ``NotFound``."""
    parts = urlsplit(url)
    page = PAGES.get(parts.path)
    if f"{parts.scheme}://{parts.netloc}" != FAKE_BASE or page is None:
        raise NotFound(f"{url} cannot be reached.", reason="no such host")
    return FakeResponse(
        title=page.title, status=page.status, redirect=page.redirect, stalls=page.stalls
    )


_: Web = fake_web


@contextmanager
def served() -> Iterator[str]:
    """Serve the table over HTTP on a free port. Yield the base address without a slash."""
    server = _Server(("127.0.0.1", 0), _Handler)
    # The server checks this often whether to stop; requests are served at once.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def unreachable() -> Iterator[str]:
    """Yield an address that refuses connections: we hold the port, and nothing listens on it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[_Handler]) -> None:
        super().__init__(address, handler)
        self.released = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        page = PAGES.get(urlsplit(self.path).path, Page(title="Unknown", status=404))
        if page.stalls:
            self.server.released.wait()
            self.close_connection = True
            return
        self.send_response(302 if page.redirect else page.status)
        if page.redirect:
            self.send_header("Location", page.redirect)
        body = _document(page.title)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if page.dribbles:
            self.wfile.write(body[:DRIBBLE_BYTES])
            self.server.released.wait(DRIBBLE_SECONDS)
            body = body[DRIBBLE_BYTES:]
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass  # keep the test's output clean


def _document(title: str) -> bytes:
    name = html.escape(title)
    return f'<!doctype html><html lang="en"><title>{name}</title><h1>{name}</h1></html>'.encode()
