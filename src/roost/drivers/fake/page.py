"""The page work of a fake tab: navigate, evaluate and capture.

The fake has no documents, so there is nothing to click. All other page work is refused
(``Capabilities.page_work`` is False).
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn, TypeVar

from roost.drivers.base import (
    Arrival,
    Dropped,
    FrameInfo,
    Input,
    Picture,
    Shot,
)
from roost.drivers.fake.browser import FakeBrowser, FakePage
from roost.errors import TabCrashed, Unsupported

T = TypeVar("T")
VIEWPORT = (1280, 720)


class FakePageDriver:
    """Does the page work of one tab. ``find`` returns the tab's page or raises why it is gone."""

    def __init__(self, browser: FakeBrowser, find: Callable[[], FakePage]) -> None:
        self._browser = browser
        self._find = find

    async def navigate(self, url: str) -> Arrival:
        page = self._find()
        if page.crashed:
            page.crashed = False
            page.ended = asyncio.get_running_loop().create_future()
        status = await _unless_ended(page, self._browser.load(page, url))
        return Arrival(page.url, page.title, status)

    async def evaluate(
        self, function: str, *, frame: str | None = None, ref: str | None = None
    ) -> Any:
        page = self._live()
        return await _unless_ended(page, self._browser.run(page, function))

    async def capture(self, shot: Shot) -> Picture:
        self._live()
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"{shot.format} pictures")
        sides = VIEWPORT if shot.clip is None else shot.clip[2:]
        width, height = (round(side * shot.scale) for side in sides)
        make = _blank_png if shot.format == "png" else _blank_jpeg
        return Picture(make(width, height), f"image/{shot.format}", width, height)

    async def reload(self) -> Arrival:
        self._refuse()

    async def travel(self, delta: int) -> Arrival:
        self._refuse()

    async def all_frames(self) -> list[FrameInfo]:
        self._refuse()

    async def call_page(
        self,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        self._refuse()

    async def act(
        self, inputs: Sequence[Input], frame: str | None, argument: dict[str, Any]
    ) -> dict[str, Any] | None:
        self._refuse()

    async def send_input(self, inputs: Sequence[Input]) -> None:
        self._refuse()

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        self._refuse()

    async def release(self) -> None:
        self._find()  # no input was ever given, so none is held

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        self._refuse()

    async def choose_files(self, paths: Sequence[str]) -> None:
        self._refuse()

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        self._refuse()

    async def resize(self, width: int, height: int) -> None:
        self._refuse()

    async def pdf(self) -> bytes:
        self._refuse()

    async def body(self, request: str) -> bytes:
        self._refuse()

    def _live(self) -> FakePage:
        page = self._find()
        if page.crashed:
            raise TabCrashed("The page crashed.")
        return page

    def _refuse(self) -> NoReturn:
        self._find()
        raise Unsupported(
            "The fake browser has no pages to do that in.", hint="Use a real browser: roost up."
        )


async def _unless_ended(page: FakePage, work: Coroutine[Any, Any, T]) -> T:
    """Return the work's result, or raise the page's error if the page ends first."""
    task = asyncio.get_running_loop().create_task(work, name=f"fake {page.handle}")
    either: set[asyncio.Future[Any]] = {task, page.ended}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise page.ended.result()
        return task.result()
    finally:
        task.cancel()


def _blank_jpeg(width: int, height: int) -> bytes:
    """Return a valid, all-white greyscale JPEG. Its first block is white; all others repeat it."""
    blocks = -(-width // 8) * -(-height // 8)
    # DC codes: "0" means no change, "10" a change of 7 bits. The AC code "0" ends a block.
    bits = "10" + "1111111" + "0" + "00" * (blocks - 1)
    bits += "1" * (-len(bits) % 8)
    segments = (
        (0xDB, b"\x00" + b"\x08" * 64),
        (0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"),
        (0xC4, b"\x00" + bytes([1, 1] + [0] * 14) + b"\x00\x07"),
        (0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\x00"),
        (0xDA, b"\x01\x01\x00\x00\x3f\x00"),
    )
    head = b"".join(struct.pack(">BBH", 0xFF, kind, len(d) + 2) + d for kind, d in segments)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big")
    return b"\xff\xd8" + head + scan + b"\xff\xd9"


def _blank_png(width: int, height: int) -> bytes:
    """Return a valid, all-white PNG, because callers decode their pictures."""
    rows = (b"\0" + b"\xff" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
