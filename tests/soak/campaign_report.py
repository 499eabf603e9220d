"""The report of a campaign: what it did, and the violations it found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.shim_agent import ShimAgent


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that no rule allows. ``about``: facts for finding the cause."""

    burst: int
    what: str
    about: str

    def __str__(self) -> str:
        return f"burst {self.burst}: {self.what}\n{self.about}"


@dataclass(slots=True)
class Report:
    """What the campaign did and found. ``path``: where it is written while the campaign runs."""

    path: Path
    violations: list[Violation] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    recoveries: list[float] = field(default_factory=list)
    calls: int = 0
    slowest: float = 0.0

    def count(self, agent: ShimAgent) -> None:
        """Add the calls of an agent that has ended."""
        self.calls += agent.calls
        self.slowest = max(self.slowest, agent.slowest)

    def note(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def digest(self) -> str:
        """Return how often each kind of violation occurred, and in which bursts."""
        kinds: dict[str, list[int]] = {}
        for violation in self.violations:
            kinds.setdefault(violation.what.split(":")[0], []).append(violation.burst)
        return "\n".join(
            f"{kind}: {len(where)} in bursts {sorted(set(where))}" for kind, where in kinds.items()
        )

    def summary(self) -> str:
        times = sorted(self.recoveries) or [0.0]
        return (
            f"{self.kills.total()} kills ({dict(self.kills)}), {len(self.recoveries)} bursts, "
            f"{self.calls} calls, the slowest {self.slowest:.1f} s; all agents back after "
            f"{times[len(times) // 2]:.1f} s (median), {times[-1]:.1f} s (longest); "
            f"{len(self.violations)} violations"
        )
