"""A small web for page tests: documents the tests make, and servers that misbehave on purpose."""

from __future__ import annotations

import base64
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

HEAD = "<!doctype html><html lang=en><head><title>{title}</title></head><body>"


@dataclass(slots=True)
class Answer:
    """``held`` is waited for before a byte is sent; ``endless`` never stops sending it."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    held: threading.Event | None = None
    endless: bytes = b""


Respond = Callable[["Request"], Answer]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def guarded(login: str, answer: Answer) -> Respond:
    """That answer for whoever says ``name:password``, and a challenge for everybody else."""
    wanted = "Basic " + base64.b64encode(login.encode()).decode()
    challenge = Answer(b"No", 401, headers={"WWW-Authenticate": 'Basic realm="r"'})
    return lambda request: answer if request.headers.get("authorization") == wanted else challenge


class Web:
    """Routes by path. The same server answers as 127.0.0.1 and as localhost: two sites."""

    def __init__(self, certificate: Path | None = None) -> None:
        self._routes: dict[str, Respond] = {}
        self._numbers = count(1)
        self.requests: list[Request] = []
        self.over = threading.Event()
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = Request(
                    self.command,
                    self.path,
                    {name.lower(): value for name, value in self.headers.items()},
                    self.rfile.read(length),
                )
                web.requests.append(request)
                respond = web._routes.get(urlsplit(self.path).path)
                answer = Answer(b"nothing here", 404) if respond is None else respond(request)
                try:
                    self._send(answer)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_POST = do_GET

            def _send(self, answer: Answer) -> None:
                if answer.held is not None:
                    while not answer.held.wait(0.05):
                        if web.over.is_set():
                            return
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Cache-Control", "no-store")
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.endless:
                    self.send_header("Connection", "close")
                elif answer.status not in (204, 304) and "Content-Length" not in answer.headers:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                self.close_connection = self.close_connection or "Content-Length" in answer.headers
                while answer.endless and not web.over.wait(0.05):
                    self.wfile.write(answer.endless)
                    self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None:
                pass  # a test's output is its own

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: object, client_address: object) -> None:
                pass  # browsers hang up as they please

        self._server = Server(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.scheme = "https"
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def base(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def other_site(self) -> str:
        """The same pages under another host, so in another process."""
        return f"{self.scheme}://localhost:{self.port}"

    def serve(self, respond: Respond | Answer | bytes, path: str | None = None) -> str:
        """Answer that path (a new one if none is named); gives its whole address."""
        path = path or f"/{next(self._numbers)}"
        if isinstance(respond, bytes):
            respond = Answer(respond)
        if isinstance(respond, Answer):
            answer = respond
            self._routes[path] = lambda request: answer
        else:
            self._routes[path] = respond
        return self.base + path

    def page(self, body: str, *, title: str = "Test", path: str | None = None) -> str:
        return self.serve((HEAD.format(title=title) + body).encode(), path)

    def there(self, url: str) -> str:
        """The same address on the other site."""
        return url.replace(self.base, self.other_site)

    def requested(self, url: str) -> list[Request]:
        path = urlsplit(url).path
        return [request for request in self.requests if urlsplit(request.path).path == path]

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def local_web(certificate: Path | None = None) -> Iterator[Web]:
    web = Web(certificate)
    try:
        yield web
    finally:
        web.close()


def self_signed(folder: Path) -> Path:
    """A certificate that nobody should trust, with its key."""
    path = folder / "self-signed.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    command += ["-subj", "/CN=127.0.0.1", "-keyout", str(path), "-out", str(path) + ".crt"]
    subprocess.run(command, check=True, capture_output=True)
    with path.open("ab") as whole:
        whole.write(Path(f"{path}.crt").read_bytes())
    return path


@contextmanager
def dead_server() -> Iterator[str]:
    """An address that refuses connections: the port is ours, and nobody listens on it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/"
