"""Measure the memory of a process tree."""

from __future__ import annotations

from pathlib import Path


def tree_bytes(pid: int) -> int:
    """Return the proportional set size of the whole process tree, in bytes."""
    total = 0
    for one in [pid, *_below(pid)]:
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += next(int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:")
    return total * 1024


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children = (task / "children").read_text(encoding="ascii").split()
        for child in map(int, children):
            found += [child, *_below(child)]
    return found
