"""Measure page verbs as an agent runs them, in a browser that already runs, beside other command
lines for agents."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.peers import PEERS, fetch
from bench.report import Row, median_of
from roost.local.browsers import find_browser

ROUNDS = 25
COMMANDS = (
    "", "status", "doctor", "log", "session list", "profile list", "secret list", "policy show",
    "install --help",
)  # fmt: skip
"""Commands for people. The first is `roost` alone."""
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
            commands = {words: _command(words, environ) for words in COMMANDS}
            memory = _memory([str(SCRIPT), "snapshot"], environ)
        finally:
            _took([*ROOST, "--operator", "stop"], environ)
    peers = _peers()
    playwright = peers.get("playwright-cli")
    return [
        Row("verb: p50 of a bare interpreter", bare, "ms", note="python -c pass"),
        Row("verb: p50 of roost snapshot", verb, "ms", limit=3 * bare, note="warm"),
        Row(
            "verb: p50 of roost press Shift", acts, "ms", note="warm, waits until the page settled"
        ),
        *(
            [Row("verb: roost snapshot beside playwright-cli's", verb / playwright, "×", limit=0.5)]
            if playwright is not None
            else []
        ),
        *(
            Row(f"verb: p50 of {name} snapshot", took, "ms", note=f"{name} {_release(name)}, warm")
            for name, took in peers.items()
        ),
        Row("verb: memory of roost snapshot", memory, "MiB", limit=20, note="largest resident set"),
        *(
            Row(f"command: p50 of {f'roost {words}'.strip()}", took, "ms", limit=150)
            for words, took in commands.items()
        ),
    ]


def _command(words: str, environ: dict[str, str]) -> float:
    """Return how long a command for people takes, from a person's own prompt to the next."""
    return median_of(7, lambda: _took([str(SCRIPT), "--operator", *words.split()], environ))


COMMAND_LINES = {"playwright-cli": "@playwright/cli", "agent-browser": "agent-browser"}
"""Other command lines for agents, each with its package."""
PEER_ROUNDS = 7


def _peers() -> dict[str, float]:
    """Return how long a warm snapshot of an empty page takes with each peer. None without npm."""
    found: dict[str, float] = {}
    if shutil.which("npm") is None:
        return found
    fetch()
    for name in COMMAND_LINES:
        program = PEERS / ".bin" / name
        with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
            chromium = find_browser("chromium")
            root = {"AGENT_BROWSER_ARGS": "--no-sandbox"} if os.getuid() == 0 else {}
            launch = {"executablePath": chromium, "headless": True, "chromiumSandbox": not root}
            config = Path(folder) / "config.json"
            config.write_text(
                json.dumps({"browser": {"browserName": "chromium", "launchOptions": launch}})
            )
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "AGENT_BROWSER_EXECUTABLE_PATH": chromium,
            }
            flags = [f"--config={config}"] if name == "playwright-cli" else []
            _took([str(program), "open", "about:blank", *flags], environ | root, folder)
            try:
                look = [str(program), "snapshot"]
                found[name] = median_of(
                    PEER_ROUNDS,
                    lambda: _took(look, environ | root, folder),  # noqa: B023
                )
            finally:
                _took([str(program), "close"], environ | root, folder)
    return found


def _release(name: str) -> str:
    about = PEERS / COMMAND_LINES[name] / "package.json"
    return str(json.loads(about.read_text(encoding="utf-8"))["version"])


def _took(command: Sequence[str], environ: dict[str, str], folder: str | None = None) -> float:
    begun = time.perf_counter()
    done = subprocess.run(
        command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
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
