"""DevTools clients written by others. ``make test`` installs them from npm
(``tools/prepare_tests.py``); if that fails, their tests are skipped."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

MODULES = Path(sys.prefix) / "node-clients" / "node_modules"
PUPPETEER = MODULES / "puppeteer-core" / "lib" / "esm" / "puppeteer" / "puppeteer-core.js"
PLAYWRIGHT_MCP = MODULES / "@playwright" / "mcp" / "cli.js"
DEVTOOLS_MCP = MODULES / "chrome-devtools-mcp" / "build" / "src" / "bin" / "chrome-devtools-mcp.js"
_FETCHED = MODULES / ".bin" / "node"
NODE = str(_FETCHED) if _FETCHED.exists() else "node"
"""The one that was fetched with them: a system's may be too old (Debian 12 has Node 18)."""

needs_node_clients = pytest.mark.skipif(
    shutil.which(NODE) is None or not (PUPPETEER.exists() and DEVTOOLS_MCP.exists()),
    reason="no Node clients here: tools/prepare_tests.py",
)
