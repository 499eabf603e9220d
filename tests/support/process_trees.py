"""Process trees written as indented text, for tests of rules about ancestors of processes."""

from __future__ import annotations

from roost.broker.doors.identity import client_of
from roost.local.lineage import Relative
from roost.local.processes import Process


class Tree:
    """A process tree from text with one process per line.

    A line is ``PROGRAM[!FOLDER][:NAME] [@NAME] [~GROUP] [$VARIABLE]``. A child is indented deeper
    than its parent. The first process has the pid 1. ``!`` gives the folder that the program runs
    from, ``~`` its control group, ``$`` a variable it was started with. Tests ask for processes by
    name, or by ``@name``.
    """

    def __init__(self, text: str) -> None:
        self._above: dict[str, tuple[Relative, ...]] = {}
        self._known: dict[str, Relative] = {}
        line: list[tuple[int, Relative]] = []
        for pid, written in enumerate(filter(str.strip, text.splitlines()), 1):
            depth = len(written) - len(written.lstrip())
            words, _, variable = written.strip().partition("$")
            words, _, group = words.partition("~")
            words, _, mark = words.strip().partition("@")
            program, name = words.strip(), ""
            if program != "tmux: server":
                program, _, name = program.partition(":")
            program, _, folder = program.partition("!")
            line = [(deep, one) for deep, one in line if deep < depth]
            names = frozenset({program, program.split()[0].rstrip(":")})
            relative = Relative(
                Process(pid, str(pid), program),
                names,
                frozenset({folder}),
                group.strip(),
                frozenset(filter(None, {variable})),
            )
            for known in filter(None, (name, mark and f"@{mark}")):
                self._known[known] = relative
                self._above[known] = tuple(one for _, one in reversed(line))
            line.append((depth, relative))

    def __getitem__(self, name: str) -> Relative:
        return self._known[name]

    def above(self, name: str) -> tuple[Relative, ...]:
        return self._above[name]

    def client(self, name: str) -> Process | None:
        found = client_of(self._above[name])
        return None if found is None else found.process
