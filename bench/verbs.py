"""Measure page verbs of the command line as an agent runs them, in a browser that already runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.report import Row, median_of

ROUNDS = 25
ROOST = (sys.executable, "-P", "-m", "roost")
SCRIPT = Path(sys.executable).parent / "roost"


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        Path(folder).chmod(0o700)
        settings = {"browser": "chromium", "headless": "true"}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        (Path(folder) / "config.toml").write_text(text.replace('"true"', "true"))
        environ = {"ROOST_HOME": folder, "PATH": os.environ["PATH"], "ROOST_SESSION": "bench"}
        try:
            _took([*ROOST, "open", "about:blank"], environ)
            bare = median_of(ROUNDS, lambda: _took([sys.executable, "-c", "pass"], environ))
            verb = median_of(ROUNDS, lambda: _took([str(SCRIPT), "snapshot"], environ))
            acts = median_of(ROUNDS, lambda: _took([str(SCRIPT), "press", "Shift"], environ))
            status = median_of(7, lambda: _took([str(SCRIPT), "--operator", "status"], environ))
            doctor = median_of(7, lambda: _took([str(SCRIPT), "--operator", "doctor"], environ))
            memory = _memory([str(SCRIPT), "snapshot"], environ)
        finally:
            _took([*ROOST, "--operator", "stop"], environ)
    return [
        Row("verb: p50 of a bare interpreter", bare, "ms", note="python -c pass"),
        Row("verb: p50 of roost snapshot", verb, "ms", limit=3 * bare, note="warm"),
        Row(
            "verb: p50 of roost press Shift", acts, "ms", note="warm, waits until the page settled"
        ),
        Row("verb: memory of roost snapshot", memory, "MiB", limit=20, note="largest resident set"),
        Row("command: p50 of roost status", status, "ms", limit=150),
        Row("command: p50 of roost doctor", doctor, "ms", limit=150),
    ]


def _took(command: Sequence[str], environ: dict[str, str]) -> float:
    begun = time.perf_counter()
    done = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True)
    took = (time.perf_counter() - begun) * 1000
    assert done.returncode == 0, done
    return took


def _memory(command: Sequence[str], environ: dict[str, str]) -> float:
    """Return the largest resident set of the command, in MiB.

    A small process starts the command: before it executes, a child counts its parent's memory.
    """
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    small = [sys.executable, "-S", "-c", code, *command]
    said = subprocess.run(small, env=environ, capture_output=True, text=True, check=True).stdout
    return int(said) * (1 if sys.platform == "darwin" else 1024) / (1 << 20)
