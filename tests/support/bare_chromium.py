"""A Chromium with Roost's flags on a port instead of a pipe, for comparison with Roost."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roost.drivers.chromium.launch import ChromiumOptions, command_line
from roost.local.processes import end_tree, identify


@contextmanager
def bare_chromium(folder: Path) -> Iterator[str]:
    command = command_line(ChromiumOptions(), folder / "profile", is_root=os.getuid() == 0)
    command[command.index("--remote-debugging-pipe")] = "--remote-debugging-port=0"
    started = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    process = identify(started.pid)
    assert process is not None
    assert started.stderr is not None
    try:
        for line in started.stderr:
            if line.startswith("DevTools listening on ws://"):
                yield "http://" + line.split("ws://")[1].split("/")[0]
                break
    finally:
        end_tree(process, grace_seconds=0)
        started.stderr.close()
        started.wait()
