"""Compare a person's own Chromium with the managed one, and measure the link's throughput."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bench.beside_managed import LINK_SECONDS, NAME, a_screen, latencies
from bench.report import Row
from bench.site import browser_home, site
from bench.timing import timed
from roost.api.door import Admission, LinkEnd
from roost.client.client import connect
from roost.drivers.base import NO_BUNDLE, Group
from roost.drivers.extension import OwnChromiumDriver
from roost.drivers.extension.host_link import HostLink
from roost.errors import Unauthorized
from roost.frontends.socket.server import SocketServer
from roost.host.native import native_message
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import Peer, identify
from roost.vocabulary import OPERATOR, WIRE_VERSION, Color, JarPolicy
from roost.wire.framing import encode
from roost.wire.hello import Hello, Welcome
from tests.support.own_browser import OwnChromium, has_allowed

CAPTURE_BYTES = 5_000_000
# A script's value may have at most 4 MiB. A capture may have more.
VALUE_BYTES = 4_000_000
CAPTURES = 15


def rows() -> list[Row]:
    with a_screen() as display, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        beside = asyncio.run(_beside_managed(display, Path(folder) / "one"))
        link = asyncio.run(_link_alone(Path(folder) / "two"))
        return [*beside, link, asyncio.run(_whole_way(display, Path(folder) / "three"))]


# --- beside the managed browser -----------------------------------------------------------------


async def _beside_managed(display: str, folder: Path) -> list[Row]:
    with (
        site() as base,
        browser_home("chromium", headless=False, prepare=_allow) as home,
    ):
        browser = OwnChromium(home, folder, display)
        browser.start()
        try:
            async with (
                await connect(home=home, name=NAME) as managed,
                await connect(home=home, name=NAME, browser="mine-chromium") as own,
            ):
                return await latencies("own Chromium", managed, own, f"{base}/page")
        finally:
            browser.kill()


def _allow(home: Home) -> None:
    has_allowed(home)


# --- the link by itself -------------------------------------------------------------------------


class _Door:
    """A door that admits links only, for a socket with a driver behind it and no broker."""

    def __init__(self, on_link: Callable[[LinkEnd], None]) -> None:
        self._on_link = on_link

    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        raise Unauthorized("Only links here.")

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        self._on_link(link)
        return Welcome(version=WIRE_VERSION, agent=OPERATOR)

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        pass


@asynccontextmanager
async def _listening(home: Home, on_link: Callable[[LinkEnd], None]) -> AsyncIterator[None]:
    home.create()
    home.operator_token()
    server = SocketServer(_Door(on_link), socket_path(home))
    await server.start()
    process = identify(os.getpid())
    assert process is not None
    write_endpoint(home, Endpoint(socket_path(home), process, "bench", WIRE_VERSION))
    try:
        yield
    finally:
        await server.aclose()


async def _link_alone(folder: Path) -> Row:
    """Measure the native host alone: from the browser's write to the broker's read."""
    home, came = Home(folder / "home"), asyncio.Event()
    arrived: asyncio.Queue[int] = asyncio.Queue()

    def linked(link: LinkEnd) -> None:
        link.start(lambda frame: arrived.put_nowait(len(frame)), lambda: None)
        came.set()

    capture = native_message(encode({"id": 1, "result": {"data": "A" * CAPTURE_BYTES}}))
    hello = {"method": "Roost.hello", "params": {"kind": "chromium", "product": "none"}}
    command = [sys.executable, "-P", "-m", "roost.host"]
    environ = {**os.environ, "ROOST_HOME": str(home.path)}
    async with _listening(home, linked):
        host = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
        )
        assert host.stdin is not None
        pipe = host.stdin

        async def carry() -> None:
            pipe.write(capture)
            while await arrived.get() < CAPTURE_BYTES:
                pass

        pipe.write(native_message(encode(hello)))
        async with asyncio.timeout(LINK_SECONDS):
            await came.wait()
        seconds = statistics.median([await timed(carry) for _ in range(CAPTURES)])
        pipe.close()
        await host.wait()
    return Row(
        "own Chromium: what the link carries of a 5 MB capture",
        CAPTURE_BYTES / seconds / 1e6,
        "MB/s",
        limit=40,
        at_least=True,
        note=f"{seconds * 1000:.0f} ms, browser's pipe to broker",
    )


@asynccontextmanager
async def _driver(display: str, folder: Path) -> AsyncIterator[OwnChromiumDriver]:
    home = Home(folder / "home")
    driver, came = OwnChromiumDriver(HostLink(home, "mine-chromium"), NO_BUNDLE), asyncio.Event()

    def linked(link: LinkEnd) -> None:
        driver.linked(link)
        came.set()

    async with _listening(home, linked):
        browser = OwnChromium(home, folder, display)
        browser.start()
        try:
            async with asyncio.timeout(LINK_SECONDS):
                await came.wait()
            await driver.start(lambda event: None)
            yield driver
        finally:
            await driver.stop()
            browser.kill()


async def _whole_way(display: str, folder: Path) -> Row:
    """Measure a large value from the page on, through Chrome's debugger and extension APIs.

    The time of a command without the large answer is subtracted.
    """
    async with _driver(display, folder) as driver:
        jar = await driver.make_jar(JarPolicy.SHARED)
        tab = await driver.open_tab(jar, Group("bench", "Bench", Color.BLUE))
        await driver.page(tab).evaluate(f"() => {{ window.picture = 'A'.repeat({VALUE_BYTES}) }}")
        full = [
            await timed(lambda: driver.page(tab).evaluate("() => picture")) for _ in range(CAPTURES)
        ]
        bare = [await timed(lambda: driver.page(tab).evaluate("() => 1")) for _ in range(CAPTURES)]
    seconds = statistics.median(full) - statistics.median(bare)
    return Row(
        "own Chromium: 4 MB from a page on",
        VALUE_BYTES / seconds / 1e6,
        "MB/s",
        note=f"{seconds * 1000:.0f} ms, most of it Chrome's own",
    )
