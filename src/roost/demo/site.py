"""The demo's web site: one page for every address, on this machine, so no network is needed."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import unquote

_PAGE = """<!doctype html><meta charset=utf-8><title>{title}</title>
<style>
html {{ font: 2.2em sans-serif; background: hsl({hue} 60% 92%); color: hsl({hue} 60% 22%) }}
body {{ margin: 1.5em }}
i {{ float: left; width: 26%; height: 5em; margin-right: 5%; border-radius: .4em }}
i {{ background: hsl({hue} 50% 78%) }}
</style><h1>{title}</h1><p>A page of Roost's demo.</p><i></i><i></i><i></i>"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = "".join(c for c in unquote(self.path) if c.isalnum() or c in "/-_.")
        title = name.strip("/") or "home"
        body = _PAGE.format(title=title, hue=sum(map(ord, title)) * 37 % 360).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass  # the terminal is for the demo's own output


class Site:
    """Serves from a thread until it is closed."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="demo site")

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{path}"
