"""What the faults of a burst excuse, as far as agents must know it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.fault_plan import Burst, Kind, Outcome
from tests.soak.home_processes import Part


@dataclass(slots=True)
class Situation:
    """What the faults of the last burst excuse. Shared by all agents."""

    record: Path
    """Where the keeper says which process its browser is."""
    began: float = 0.0
    """When the burst began."""
    renderer_kills: int = 0
    stopped: Counter[int] = field(default_factory=Counter)
    """Seconds for which shims were stopped, by pid."""
    has_no_room: bool = False
    """The burst took the disk's room away, or will."""
    loses_loads: bool = False
    """The burst killed the service that loads pages, or will."""
    unreliable: dict[bytes, float] = field(default_factory=dict)
    """Browsers that lost a service, and when the burst began that killed the service. Chromium
    keeps the contents of a jar in a service. Roost notices the loss at its next look at the jar and
    puts its copy back, over what was written since."""

    def begin(self, now: float, burst: Burst) -> None:
        kinds = {fault.kind for fault in burst.faults}
        self.began, self.renderer_kills = now, 0
        self.has_no_room = bool(kinds & {Kind.DISK_FULL, Kind.NO_APPENDS})
        parts = {fault.part for fault in burst.faults if fault.kind is Kind.KILL}
        self.loses_loads = Part.NETWORK in parts
        if parts & {Part.NETWORK, Part.STORAGE}:
            self.unreliable.setdefault(self.browser(), now)
        self.stopped.clear()

    def end(self, outcome: Outcome) -> None:
        self.renderer_kills = outcome.kills(Part.RENDERER)
        if outcome.kills(Part.NETWORK, Part.STORAGE):  # a browser that was started meanwhile
            self.unreliable.setdefault(self.browser(), self.began)

    def browser(self) -> bytes:
        """The identity of the current browser process, for comparison only."""
        try:
            return self.record.read_bytes()
        except OSError:
            return b""
