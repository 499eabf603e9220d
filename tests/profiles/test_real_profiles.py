"""Importing from running browsers: their own files, while they write to them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from roost.drivers.base import Cookie, OriginStorage
from roost.drivers.firefox.launch import FirefoxOptions
from roost.errors import BadRequest
from roost.local.browsers import find_browser
from roost.local.processes import end_tree, identify
from roost.profiles.harvest import Harvest
from roost.profiles.sources import SourceKind, read_source

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

LOOKS, LOOK_AGAIN_SECONDS = 480, 0.25
"""Browsers write their files when they find the time; on a busy machine that is late."""
HOSTS, EACH = 4, 140
"""So many that Chromium, which writes after 512 changes or half a minute, writes at once."""
LAST = f"s{HOSTS - 1}.localhost"
SCRIPT = """localStorage.k = 'v'; localStorage.long = 'ab€'.repeat(999);
localStorage.large = 'abcdefgh'.repeat(150000); localStorage.gone = 1; delete localStorage.gone;"""
STORED = {"k": "v", "long": "ab€" * 999, "large": "abcdefgh" * 150_000}
"""Large enough that Chromium, which keeps the last 4 MiB in a log, has tables, too."""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.strip("/")
        self.send_response(200 if number.isdigit() else 404)
        if number.isdigit():
            for one in range(EACH):
                self.send_header("Set-Cookie", f"c{one}=v{one}; Max-Age=100000; Path=/")
        if number == "0":
            for line in (
                "dom=1; Domain=s0.localhost; Max-Age=1000; SameSite=Lax; HttpOnly; Path=/sub",
                "none=1; Max-Age=1000; SameSite=None; Secure",
                "strict=1; Max-Age=1000; SameSite=Strict",
                "part=1; Max-Age=1000; SameSite=None; Secure; Partitioned",
            ):
                self.send_header("Set-Cookie", line)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if number.isdigit():
            self.wfile.write(self._page(int(number)).encode())

    def _page(self, number: int) -> str:
        on = ""
        if number + 1 < HOSTS:
            port = self.headers["Host"].rpartition(":")[2]
            on = f"location = 'http://s{number + 1}.localhost:{port}/{number + 1}'"
        return f"<meta charset=utf-8><script>{SCRIPT} setTimeout(() => {{ {on} }})</script>"

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://s0.localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _running(command: list[str]) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True) as browser:
        process = identify(browser.pid)
        assert process is not None
        try:
            yield
        finally:
            end_tree(process, grace_seconds=0)


def _written(folder: Path, enough: Callable[[Harvest], bool]) -> tuple[SourceKind, Harvest]:
    """Return what the browser has on disk, once it is complete."""
    for _ in range(LOOKS):
        with contextlib.suppress(BadRequest):
            kind, harvest = read_source(folder)
            if enough(harvest):
                return kind, harvest
        threading.Event().wait(LOOK_AGAIN_SECONDS)  # other processes' files tell nobody
    raise AssertionError("the browser has not written its cookies")


def _check_cookies(cookies: list[Cookie]) -> None:
    of_first = {one.name: one for one in cookies if one.domain.removeprefix(".") == "s0.localhost"}
    plain, dom = of_first["c1"], of_first["dom"]
    assert (plain.value, plain.domain, plain.path) == ("v1", "s0.localhost", "/")
    assert (plain.same_site, plain.http_only, plain.secure) == (None, False, False)
    assert plain.expires is not None
    assert dom.expires is not None
    assert abs(plain.expires - dom.expires - 99_000) < 1
    assert (dom.domain, dom.path, dom.http_only) == (".s0.localhost", "/sub", True)
    assert [of_first[name].same_site for name in ("dom", "none", "strict")] == [
        "Lax",
        "None",
        "Strict",
    ]
    part = of_first["part"]
    assert part.secure
    assert part.partition_key == "http://s0.localhost"
    assert part.cross_site_ancestor is False


def test_a_running_firefox_is_imported_with_cookies_and_storage(tmp_path: Path) -> None:
    options = FirefoxOptions()
    options.prepare(tmp_path)
    with _site() as base:
        command = options.command(tmp_path)[:-1]
        with _running([*command, f"{base}/0"]):
            kind, harvest = _written(
                tmp_path,
                lambda it: (
                    any(LAST in one.origin for one in it.storage)
                    and any(one.domain == LAST for one in it.cookies)
                ),
            )

    assert kind is SourceKind.FIREFOX
    _check_cookies(harvest.cookies)
    assert len([one for one in harvest.cookies if one.domain == LAST]) == EACH
    stored = next(one for one in harvest.storage if one.origin == base)
    assert stored == OriginStorage(base, stored.items)
    assert dict(stored.items) == STORED
    assert not harvest.left_out


def test_a_running_chromium_is_imported_with_cookies_and_storage(tmp_path: Path) -> None:
    with _site() as base:
        command = [find_browser("chromium", None), f"--user-data-dir={tmp_path}", "--headless=new"]
        command += ["--no-first-run", "--password-store=basic", "--remote-debugging-port=0"]
        command += ["--no-sandbox"] if os.getuid() == 0 else []
        with _running([*command, f"{base}/0"]):
            kind, harvest = _written(
                tmp_path, lambda it: len(it.cookies) > 500 and len(it.storage) == HOSTS
            )

    assert kind is SourceKind.CHROMIUM
    _check_cookies(harvest.cookies)
    assert all(dict(one.items) == STORED for one in harvest.storage)
    assert base in {one.origin for one in harvest.storage}
    assert not harvest.left_out
