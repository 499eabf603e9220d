"""Run ``roost doctor`` from another process of Roost and return its findings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = 20.0


def findings(home: Path) -> list[dict[str, Any]]:
    """Return doctor's findings for that ROOST_HOME, each with ``name``, ``verdict``, ``detail`` and
    perhaps ``fix``.

    This takes about a second, so call it in a thread. Raises ``OSError``, ``ValueError`` or
    ``subprocess.TimeoutExpired`` if doctor itself fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "roost", "doctor", "--json"],
        env={**os.environ, "ROOST_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,  # doctor exits with 1 if it finds something broken
    )
    checks: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    return checks
