"""The bundle in a real Chromium, in an isolated world, as the driver will run it.

Playwright is only the way into the browser here; the pages are served from this folder, from
python3-doc and from the miniwob package.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from roost.local.browsers import find_browser
from tests.page.page_world import HERE, SOURCE, PageWorld, QuietHandler, Stage

PYTHON_DOC = Path("/usr/share/doc/python3-doc/html")
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A page is slow to answer only when something is wrong; nothing waits for this in a passing run.
DEADLINE_MS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# Per module: while Playwright runs, no other test in this process can have a loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = find_browser("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.server.shutdown()
    stage.server.server_close()


@pytest.fixture
def page(tab: Any, stage: Stage) -> Iterator[PageWorld]:
    """The one tab of the run; every test shows its own document in it."""
    world = PageWorld(tab, stage)
    yield world
    world.cdp.detach()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serves a folder on a free local port and gives its address."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        handler = functools.partial(QuietHandler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def python_doc(serve: Callable[[Path], str]) -> str:
    if not (PYTHON_DOC / "library" / "functions.html").exists():
        pytest.skip("python3-doc is not installed")
    return serve(PYTHON_DOC)


@pytest.fixture(scope="session")
def miniwob(serve: Callable[[Path], str]) -> str:
    # Found, not imported: the package pulls in Selenium and Gymnasium.
    package = importlib.util.find_spec("miniwob")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the miniwob package is not installed")
    return serve(Path(next(iter(package.submodule_search_locations))) / "html")


@pytest.fixture(scope="session")
def sources() -> Path:
    """The folder of the bundle's sources, with its build tools installed."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no Node on this machine")
    if not (SOURCE / "node_modules" / "esbuild").exists():
        command = [
            npm,
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--prefer-offline",
        ]
        if subprocess.run(command, cwd=SOURCE, capture_output=True, timeout=50).returncode != 0:
            pytest.skip("the build tools cannot be installed here")
    return SOURCE
