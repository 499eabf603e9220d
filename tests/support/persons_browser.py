"""The browser in which a person looks at the dashboard: Chromium or Firefox, driven by Playwright.

A server process keeps the browser running between tests, because every test has an event loop, and
so a Playwright, of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, async_playwright

from roost.local.browsers import find_browser
from roost.local.processes import end_tree, identify

Engine = Literal["chromium", "firefox"]
Scheme = Literal["light", "dark"]
PROGRAM = Path(__file__).with_name("firefox_for_playwright.py")
SCHEME = "layout.css.prefers-color-scheme.content-override"


@dataclass
class PersonsBrowsers:
    """The browsers that were started so far. Firefox has one for each colour scheme."""

    _open: ExitStack = field(default_factory=ExitStack)
    _addresses: dict[tuple[Engine, Scheme], str] = field(default_factory=dict)

    @asynccontextmanager
    async def connect(self, engine: Engine, scheme: Scheme) -> AsyncIterator[Browser]:
        key: tuple[Engine, Scheme] = engine, (scheme if engine == "firefox" else "light")
        if key not in self._addresses:
            self._addresses[key] = self._open.enter_context(_served(*key))
        async with async_playwright() as playwright:
            browser = await getattr(playwright, engine).connect(self._addresses[key])
            try:
                yield browser
            finally:
                await browser.close()

    def close(self) -> None:
        self._open.close()


BROWSERS = PersonsBrowsers()
"""``tests/e2e/conftest.py`` closes them at the end of the run."""


@contextmanager
def _served(engine: Engine, scheme: Scheme) -> Iterator[str]:
    """Start the browser and yield the address at which Playwright reaches it."""
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"host": "127.0.0.1"}
        if engine == "firefox":
            program = Path(folder, "firefox")
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAM} "$@"\n')
            program.chmod(0o700)
            options["channel"] = "moz-firefox"
            options["executablePath"] = str(program)
            options["env"] = {**os.environ, "FIREFOX": str(find_browser("firefox"))}
            options["firefoxUserPrefs"] = {SCHEME: 0 if scheme == "dark" else 1}
        else:
            options["executablePath"] = str(find_browser("chromium"))
            options["args"] = ["--no-sandbox"]
        config = Path(folder, "options.json")
        config.write_text(json.dumps(options), encoding="utf-8")
        command = [sys.executable, "-m", "playwright", "launch-server"]
        started = subprocess.Popen(
            [*command, "--browser", engine, "--config", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        process = identify(started.pid)
        assert process is not None
        assert started.stdout is not None
        try:
            address = started.stdout.readline().strip()
            assert address.startswith("ws://"), address
            yield address
        finally:
            end_tree(process, grace_seconds=0)
            started.stdout.close()
            started.wait()
