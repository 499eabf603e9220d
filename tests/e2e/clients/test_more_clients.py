"""GitHub Copilot CLI and Cline read the entry that ``roost install`` writes.

Each is the real program from npm. Together they are 600 MB, so only ``make soak`` installs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("@github/copilot@1.0.102", "cline@3.0.65")
SECONDS = 600.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(SECONDS + 60),
    pytest.mark.skipif(not os.environ.get("ROOST_SOAK"), reason="`make soak` installs packages"),
]


def test_copilot_and_cline_list_the_server(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is missing")
    options = ["--silent", "--no-audit", "--no-fund", "--prefix", str(tmp_path)]
    subprocess.run([npm, "install", *options, *PACKAGES], check=True, timeout=SECONDS)
    node = Path(sys.prefix) / "node-clients/node_modules/node/bin"  # both need a new Node
    environ = {
        "HOME": str(tmp_path / "home"),
        "ROOST_HOME": str(tmp_path / "roost"),
        "PATH": f"{tmp_path}/node_modules/.bin:{node}:{os.environ['PATH']}",
        "TERM": "xterm-256color",
    }
    (tmp_path / "home").mkdir()

    def said(*command: str) -> str:
        done = subprocess.run(
            command, env=environ, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    for word in ("copilot", "cline"):
        assert "roost is in" in said(sys.executable, "-P", "-m", "roost", "install", word)
    about = said("copilot", "mcp", "get", "roost")
    assert f"Command: {sys.executable} -P -m roost mcp" in about
    assert "Status: Enabled" in about
    # Cline lists its servers only in a terminal.
    assert "roost [stdio]" in said("script", "-qec", "cline config mcp", "/dev/null")
