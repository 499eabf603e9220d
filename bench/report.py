"""Rows of results, the table that shows them, and the files that keep them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    ``limit``: the value that Roost promises to keep; None if the row is only there for comparison.
    ``at_least``: the limit is a minimum.
    ``ratio``: how much of the limit is used; the limit is kept up to 1.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        if self.limit is None:
            return None
        if self.at_least:
            return self.limit / self.value if self.value else float("inf")
        return self.value / self.limit

    @property
    def is_kept(self) -> bool:
        return self.ratio is None or self.ratio <= 1


def median_of(rounds: int, measure: Callable[[], float]) -> float:
    """Return the median of that many rounds, after one warm-up round."""
    measure()
    return statistics.median(measure() for _ in range(rounds))


def machine() -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def show(rows: Sequence[Row]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    about = machine()
    console.print(", ".join(f"{name} {value}" for name, value in about.items()))
    table = Table(box=None, pad_edge=False)
    for name in ("what", "measured", "limit", "of limit", "", "note"):
        table.add_column(name, justify="right" if name in ("measured", "limit") else "left")
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)


def keep(rows: Sequence[Row]) -> Path:
    """Write the results to a new file beside earlier ones, and return its path."""
    RESULTS.mkdir(exist_ok=True)
    about = machine()
    path = RESULTS / f"{str(about['at']).replace(':', '-')}.json"
    found = [{**asdict(row), "ratio": row.ratio, "kept": row.is_kept} for row in rows]
    path.write_text(json.dumps({"machine": about, "rows": found}, indent=1), encoding="utf-8")
    return path


def _cells(row: Row) -> tuple[str, ...]:
    measured = f"{_number(row.value)} {row.unit}"
    if row.limit is None or row.ratio is None:
        return row.name, measured, "", "", "", row.note
    limit = f"{'≥' if row.at_least else '≤'} {_number(row.limit)} {row.unit}"
    verdict = "[green]kept[/]" if row.is_kept else "[bold red]MISSED[/]"
    return row.name, measured, limit, f"{row.ratio:.2f}", verdict, row.note


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()
