"""The pages that benchmarks use, and a Roost of their own."""

from __future__ import annotations

import functools
import http.server
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from roost.local.broker_start import ensure_broker
from roost.local.home import Home
from tests.support.house import real_home

PAGE = b"""<!doctype html><title>Bench</title><button id=b>Button</button><input id=i>
<p>Some text to look at.</p>"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/page":
            self.path = self.path.removeprefix("/doc")
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def site() -> Iterator[str]:
    found = sorted(Path("/usr/share/doc").glob("python3*/html/library/functions.html"))
    folder = found[0].resolve().parents[1] if found else Path("/nonexistent")
    with serving(functools.partial(_Handler, directory=str(folder))) as address:
        yield address


@contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve requests with that handler, and yield the server's address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def browser_home(
    browser: str,
    *,
    headless: bool = True,
    prepare: Callable[[Home], None] = lambda home: None,
    command: Sequence[str] | None = None,
    **settings: int,
) -> Iterator[Home]:
    """Start a broker in a new ROOST_HOME.

    prepare: called with the home before the broker starts.
    command: what starts the broker, if it is not the daemon as it is.
    """
    with (
        tempfile.TemporaryDirectory(prefix="roost-bench-", ignore_cleanup_errors=True) as folder,
        real_home(Path(folder) / "home", browser=browser, headless=headless, **settings) as home,
    ):
        prepare(home)
        ensure_broker(home, command=command)
        yield home
