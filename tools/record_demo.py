"""Record ``roost demo`` as the moving picture of the README.

The demo runs in a terminal, with a browser. The operator takes pictures of the agents' pages
meanwhile. Pauses of the demo are shortened, and nothing else is changed. Needs two packages that
Roost does not need: ``pip install pyte pillow``.

    python tools/record_demo.py docs/images/demo.webp
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import glob
import io
import os
import pty
import struct
import sys
import tempfile
import termios
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyte
from PIL import Image, ImageDraw, ImageFont

from roost.api import operations as ops
from roost.api.views import SessionView
from roost.client.client import Client
from roost.demo.stage import moment
from roost.errors import RoostError
from roost.frontends.cli.demo import operator
from roost.local.home import Home

COLUMNS, ROWS = 96, 27
FRAME_SECONDS = 0.25
PAUSE_MS = 1000
"""The longest time that a frame stays, the last one excepted."""
LAST_MS = 4000
BYTES_MAX = 1_500_000
SHOTS = 2
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf"
SIZE, LINE = 15, 18
MARGIN, THUMB = 16, (208, 117)
BACKGROUND, FOREGROUND, DIM = "#16181d", "#e6e6e6", "#8b8f98"
COLORS = {
    "black": "#16181d", "red": "#ff6b6b", "green": "#5fd787", "brown": "#f5c542",
    "blue": "#5ea1ff", "magenta": "#c792ea", "cyan": "#4dd0e1", "white": FOREGROUND,
    "brightmagenta": "#ff8ac9", "brightblack": DIM, "orange": "#ff9f43", "yellow": "#f5c542",
    "pink": "#ff8ac9", "purple": "#c792ea", "grey": DIM,
}  # fmt: skip
"""The terminal's colours, and those of the sessions."""


@dataclass
class Shot:
    """An agent's page: its session's name and colour, its address, and the picture.

    times: pictures taken at this address. The first one may show a page that is still empty.
    """

    name: str
    color: str
    address: str
    picture: Image.Image
    times: int = 1


@dataclass
class Frame:
    """One picture of the recording: the terminal's text, and the pages at that time."""

    seconds: float
    cells: list[list[tuple[str, str, bool]]]
    shots: dict[str, Shot] = field(default_factory=dict)


def main() -> int:
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        frames, code = asyncio.run(_record(Path(folder)))
    if code:
        print(f"The demo failed with code {code}.", file=sys.stderr)  # noqa: T201
        return 1
    _save(frames, target)
    size = target.stat().st_size
    print(f"{target}: {len(frames)} frames, {size / 1000:.0f} kB")  # noqa: T201
    return 0 if size <= BYTES_MAX else 1


# --- recording -----------------------------------------------------------------------------------


async def _record(folder: Path) -> tuple[list[Frame], int]:
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {**os.environ, "TERM": "xterm-256color", "TMPDIR": str(folder), "PATH": path}
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "roost", "demo"),
        stdin=follower, stdout=follower, stderr=follower, env=environ,
    )  # fmt: skip
    os.close(follower)
    loop = asyncio.get_running_loop()
    loop.add_reader(leader, lambda: _feed(stream, leader))
    shots: dict[str, Shot] = {}
    photographer = loop.create_task(_photograph(folder, shots), name="photographer")
    frames: list[Frame] = []
    begun = loop.time()
    while demo.returncode is None:
        await moment(FRAME_SECONDS)
        cells = _cells(screen)
        if not frames or frames[-1].cells != cells:
            frames.append(Frame(loop.time() - begun, cells, dict(shots)))
    photographer.cancel()
    with suppress(asyncio.CancelledError):
        await photographer
    loop.remove_reader(leader)
    os.close(leader)
    return frames, demo.returncode


def _feed(stream: Any, leader: int) -> None:
    with suppress(OSError):  # the demo has ended
        stream.feed(os.read(leader, 65536))


def _cells(screen: Any) -> list[list[tuple[str, str, bool]]]:
    rows = []
    for line in range(ROWS):
        row = []
        for column in range(COLUMNS):
            char = screen.buffer[line][column]
            row.append((char.data, char.fg, bool(char.bold)))
        rows.append(row)
    return rows


async def _photograph(folder: Path, shots: dict[str, Shot]) -> None:
    """Keep a picture of each session's current page, as the operator sees it."""
    pattern = str(folder / "roost-demo-*/home/endpoint.json")
    while not (found := glob.glob(pattern)):
        await moment(0.05)
    with suppress(RoostError):  # the demo stops its broker at the end
        async with operator(Home(Path(found[0]).parent)) as client:
            while True:
                view = await client.call(ops.Status())
                names = {session.id for session in view.sessions}
                for gone in set(shots) - names:
                    del shots[gone]
                for session in view.sessions:
                    await _photograph_one(client, session, shots)
                await moment(FRAME_SECONDS)


async def _photograph_one(client: Client, session: SessionView, shots: dict[str, Shot]) -> None:
    tab = next((tab for tab in session.tabs if tab.current), None)
    if tab is None or not tab.url.startswith("http"):
        return
    shot = shots.get(session.id)
    times = 1 + (shot.times if shot is not None and shot.address == tab.url else 0)
    if times > SHOTS:
        return
    with suppress(RoostError):
        order = ops.TakeScreenshot(session=session.id, tab=tab.tab, type="png", scale=0.5)
        taken = await client.call(order)
        if taken.data is not None:
            picture = Image.open(io.BytesIO(base64.b64decode(taken.data))).convert("RGB")
            small = picture.resize(THUMB, Image.Resampling.LANCZOS)
            name = session.name or session.id
            shots[session.id] = Shot(name, session.color, tab.url, small, times)


# --- drawing -------------------------------------------------------------------------------------


def _save(frames: list[Frame], target: Path) -> None:
    drawn = [_drawn(frame) for frame in frames]
    ends = [frame.seconds for frame in frames[1:]]
    starts = [frame.seconds for frame in frames[:-1]]
    times = [min(PAUSE_MS, round((b - a) * 1000)) for a, b in zip(starts, ends, strict=True)]
    target.parent.mkdir(parents=True, exist_ok=True)
    drawn[0].save(
        target, save_all=True, append_images=drawn[1:], duration=[*times, LAST_MS], loop=0,
        lossless=True, quality=100, method=6, minimize_size=True,
    )  # fmt: skip


def _drawn(frame: Frame) -> Image.Image:
    regular, bold = (ImageFont.truetype(FONT.format(kind), SIZE) for kind in ("", "-Bold"))
    width = round(regular.getlength("x"))
    size = (2 * MARGIN + COLUMNS * width, 3 * MARGIN + ROWS * LINE + THUMB[1] + LINE)
    picture = Image.new("RGB", size, BACKGROUND)
    pen = ImageDraw.Draw(picture)
    for line, row in enumerate(frame.cells):
        for column, (text, color, is_bold) in enumerate(row):
            if text.strip():
                place = (MARGIN + column * width, MARGIN + line * LINE)
                pen.text(place, text, _color(color), font=bold if is_bold else regular)
    top = 2 * MARGIN + ROWS * LINE
    step = THUMB[0] + MARGIN // 2
    for number, shot in enumerate(list(frame.shots.values())[:4]):
        left = MARGIN + number * step
        color = COLORS[shot.color]
        pen.rectangle((left - 3, top - 3, left + THUMB[0] + 2, top + THUMB[1] + 2), fill=color)
        picture.paste(shot.picture, (left, top))
        pen.text((left, top + THUMB[1] + 5), f"● {shot.name}", color, font=regular)
    return picture


def _color(name: str) -> str:
    if name == "default":
        return FOREGROUND
    return COLORS.get(name, f"#{name}" if len(name) == 6 else FOREGROUND)


if __name__ == "__main__":
    sys.exit(main())
