"""Folders of TypeScript sources with their build tools installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_INSTALL = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline")


def with_node_tools(folder: Path) -> Path:
    """Install the folder's build tools if they are missing, and return it. Skip the test if this
    machine has no Node or cannot install them."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no Node on this machine")
    if not (folder / "node_modules" / "esbuild").exists():
        installed = subprocess.run([npm, *_INSTALL], cwd=folder, capture_output=True, timeout=50)
        if installed.returncode != 0:
            pytest.skip("the build tools cannot be installed here")
    return folder
