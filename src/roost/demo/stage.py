"""Show the demo: as a live table on a terminal, as plain lines anywhere else."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from roost.api.views import SessionView, StatusView
from roost.demo.cast import Player

LINES = 9
BEAT_SECONDS = 0.35
"""Time that a step stays on a terminal, so that a person can read it. The broker needs none."""


class Stage:
    """Shows lines, proofs and figures. ``draw`` shows which agent has which tabs now."""

    def __init__(self, console: Console, colors: Mapping[str, str]) -> None:
        self._console = console
        self._colors = colors
        self._lines: deque[Text] = deque(maxlen=LINES)
        self._live: Live | None = None
        self._began = asyncio.get_running_loop().time()
        if console.is_terminal:
            self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Stage:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None  # later lines are printed below the table

    @property
    def is_live(self) -> bool:
        return self._live is not None

    def seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._began

    def say(self, who: str, what: str) -> None:
        self._line(f"{who:<9}", what)

    def prove(self, claim: str, *, held: bool) -> None:
        mark = Text("  ✓ proof   " if held else "  ✗ FAILED  ", "green" if held else "bold red")
        self._line(mark, claim)

    def _line(self, head: str | Text, what: str) -> None:
        line = Text.assemble((f"{self.seconds():5.1f} s  ", "dim"), head, " ", what)
        line.no_wrap, line.overflow = self.is_live, "ellipsis"
        self._lines.append(line)
        if self._live is None:
            self._console.print(line)

    async def beat(self) -> None:
        """Pause so that a person can see the step. Do nothing where no terminal shows it."""
        if self._live is not None:
            await moment(BEAT_SECONDS)

    def draw(self, cast: Sequence[Player], status: StatusView) -> None:
        if self._live is not None:
            parts: list[RenderableType] = [
                _cast_table(cast, status, self._colors),
                Text(),
                _pool(status),
                Text(),
            ]
            self._live.update(Group(*parts, *self._lines), refresh=True)

    def figures(self, figures: Mapping[str, object]) -> None:
        table = Table(title="Figures", title_justify="left", box=None, pad_edge=False)
        table.add_column(style="dim")
        table.add_column(justify="right")
        for name, value in figures.items():
            table.add_row(name, _cell(value))
        self._console.print()
        self._console.print(table)

    def last_word(self, text: str, style: str) -> None:
        self._console.print()
        self._console.print(Text(text, style))


async def moment(seconds: float) -> None:
    """Let that much time pass."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().create_future()


def _cast_table(cast: Sequence[Player], status: StatusView, colors: Mapping[str, str]) -> Table:
    sessions = {session.id: session for session in status.sessions}
    table = Table(title="Roost: many agents, one browser", title_justify="left", expand=True)
    table.add_column("agent", no_wrap=True, width=9)
    table.add_column("pid", no_wrap=True, width=8)
    table.add_column("tabs", no_wrap=True, width=24)
    table.add_column("doing", no_wrap=True, overflow="ellipsis", ratio=1)
    for player in cast:
        session = sessions.get(player.session)
        style = colors[session.color] if session else "dim"
        table.add_row(
            _cell(f"● {player.name}"[:9], style),
            _cell(player.process.pid, "" if player.is_alive else "strike dim"),
            _cell(_tabs(session), style),
            _cell(_doing(player, session)),
        )
    return table


def _cell(value: object, style: str = "") -> Text:
    """Return text for a table that is never read as markup."""
    return Text(str(value), style=style)


def _tabs(session: SessionView | None) -> str:
    return "–" if session is None else " ".join(tab.tab for tab in session.tabs) or "none yet"


def _doing(player: Player, session: SessionView | None) -> str:
    if player.is_alive:
        return player.doing
    if session is not None:
        return f"{player.doing}; its tabs wait out the grace"
    return f"{player.doing}; nothing is left of it"


def _pool(status: StatusView) -> Text:
    line = Text("pool ")
    for browser in status.browsers:
        kept = len(status.reservations)
        free = max(0, browser.capacity - browser.tabs - kept)
        line.append("█" * browser.tabs, "cyan")
        line.append("▒" * kept, "yellow")
        line.append("░" * free, "dim")
        line.append(f" {browser.tabs}/{browser.capacity} tabs, {kept} reserved")
    return line.append(f", {len(status.requests)} waiting")
