"""Fixtures that serve real pages from this machine: the Python manual and MiniWoB."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PYTHON_DOC = Path("/usr/share/doc/python3-doc/html")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing about requests."""


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a folder on a free local port and returns its address."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        handler = functools.partial(QuietHandler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def python_doc(serve: Callable[[Path], str]) -> str:
    if not (PYTHON_DOC / "library" / "functions.html").exists():
        pytest.skip("python3-doc is not installed: sudo apt install python3-doc")
    return serve(PYTHON_DOC)


@pytest.fixture(scope="session")
def miniwob(serve: Callable[[Path], str]) -> str:
    # Find the package without importing it, because it imports Selenium and Gymnasium.
    package = importlib.util.find_spec("miniwob")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the miniwob package is not installed: pip install --no-deps miniwob")
    return serve(Path(next(iter(package.submodule_search_locations))) / "html")
