"""A web site that knows which of its documents are open in browsers right now.

Every document holds one connection to the site while it lives. The site calls the roll on these
connections and each document answers with a request, so the site is a witness that depends on
neither Roost nor a keeper. Every address, title, cookie and stored value carries the mark of one
agent; the site reports requests that carry two.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

MARK = re.compile(r"mk\d+z")
COOKIES = ("c0", "c1", "c2")
ENTRIES = ("s0", "s1", "s2")
PAGE = """<!doctype html><html lang=en><title>{mark}</title><h1>{path}</h1>
<label>Note <input id=note></label>
<script>
  const serial = {serial};
  let line;
  const open = () => {{
    line = new EventSource("/open/{serial}{path}");
    line.onmessage = (roll) => fetch(`/here/{serial}/${{roll.data}}`).catch(() => null);
    // Chromium gives the connection up for good when its network service dies.
    line.onerror = () => line.readyState === EventSource.CLOSED && setTimeout(open, 200);
  }};
  addEventListener("pageshow", open);
  addEventListener("pagehide", () => line.close());
</script>
"""
LINE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    b"retry: 200\n"  # milliseconds after which the page replaces a connection that broke
)


@dataclass(frozen=True, slots=True)
class Document:
    """One load of one address."""

    serial: int
    path: str

    @property
    def mark(self) -> str:
        return self.path.split("/")[1]


class WitnessSite:
    """Answers every path of the form ``/MARK/NAME`` with a document that has a serial number."""

    def __init__(self) -> None:
        self.foreign: list[str] = []
        """Requests that carried the marks of two agents."""
        self.requests = 0
        self._serials = count(1)
        self._lock = threading.Lock()
        self._lines: dict[socket.socket, Document] = {}
        self._loads: dict[str, int] = {}
        self._roll = 0
        self._answers: dict[int, int] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._examine(self.path, str(self.headers))
                if self.path.startswith("/open/"):
                    self.close_connection = True
                    with suppress(OSError):
                        site._hold(self.connection, self.path)
                    return
                if self.path.startswith("/here/"):
                    site._answered(self.path)
                body = site._document(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                with suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass  # pytest shows the output of this process

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: object, client_address: object) -> None:
                pass  # a killed browser resets its connections

        self._server = Server(("127.0.0.1", 0), Handler)
        self.host = "127.0.0.1"
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def call_the_roll(self) -> None:
        """Ask every document whether it is there, because connections can outlive their
        documents."""
        with self._lock:
            self._roll += 1
            for line in self._lines:
                with suppress(OSError):
                    line.sendall(self._question())

    def documents(self) -> list[Document]:
        """Return the documents that have answered since the last roll call."""
        with self._lock:
            lines = list(self._lines.values())
            return [one for one in lines if self._answers.get(one.serial) == self._roll]

    def last_load(self, path: str) -> int | None:
        """Return the serial number of the newest document at that path."""
        with self._lock:
            return self._loads.get(path)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _examine(self, path: str, headers: str) -> None:
        self.requests += 1
        if len(set(MARK.findall(path + headers))) > 1:
            self.foreign.append(f"{path}\n{headers}")

    def _document(self, path: str) -> bytes:
        mark = MARK.match(path[1:])
        if mark is None:
            return b""
        serial = next(self._serials)
        with self._lock:
            self._loads[path] = serial
        return PAGE.format(mark=mark[0], path=path, serial=serial).encode()

    def _question(self) -> bytes:
        return f"data: {self._roll}\n\n".encode()

    def _answered(self, path: str) -> None:
        _, _, serial, roll = path.split("/")
        with self._lock:
            self._answers[int(serial)] = int(roll)

    def _hold(self, connection: socket.socket, path: str) -> None:
        """Count the document as open until its side closes the connection."""
        _, _, serial, rest = path.split("/", 3)
        with self._lock:
            connection.sendall(LINE + self._question())
            self._lines[connection] = Document(int(serial), f"/{rest}")
        try:
            while connection.recv(1):
                pass
        finally:
            with self._lock:
                del self._lines[connection]


@contextmanager
def witness_site() -> Iterator[WitnessSite]:
    site = WitnessSite()
    try:
        yield site
    finally:
        site.close()
