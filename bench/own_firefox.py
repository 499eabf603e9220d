"""Compare page work in a person's own Firefox with the managed one.

Input is sent by the extension's scripts, and then by the remote agent of a Firefox started with it.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from bench.beside_managed import NAME, a_screen, latencies
from bench.report import Row
from bench.site import browser_home, site
from roost.api import operations as ops
from roost.client.client import connect
from roost.daemon.wiring import MINE_FIREFOX
from roost.local.home import Home
from tests.support.own_browser import has_allowed
from tests.support.own_firefox import OwnFirefox

START_SECONDS = 60.0


def rows() -> list[Row]:
    with a_screen() as display, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        synthetic = asyncio.run(_rows(display, Path(folder) / "one", has_remote=False))
        trusted = asyncio.run(_rows(display, Path(folder) / "two", has_remote=True))
        return [*synthetic, *(row for row in trusted if row.name.endswith("click"))]


async def _rows(display: str, folder: Path, *, has_remote: bool) -> list[Row]:
    with site() as base, browser_home("firefox", headless=False, prepare=_allow) as home:
        browser = OwnFirefox(home, folder, display, has_remote=has_remote)
        try:
            async with (
                await connect(home=home, name=NAME) as managed,
                await connect(home=home, name=NAME, browser=MINE_FIREFOX) as own,
            ):
                # Start one after the other: two that start at once take longer than a call may.
                await managed.call(ops.Navigate(url=f"{base}/page"), timeout=START_SECONDS)
                browser.start()
                title = "own Firefox, trusted" if has_remote else "own Firefox"
                return await latencies(title, managed, own, f"{base}/page")
        finally:
            browser.kill()


def _allow(home: Home) -> None:
    has_allowed(home, MINE_FIREFOX)
