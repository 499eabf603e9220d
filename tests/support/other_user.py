"""Another user of the machine, for tests of who is let in.

A test that runs as root can start a process and have it become ``nobody``.
"""

from __future__ import annotations

import os
import sys

import pytest

NOBODY = 65534
AS_NOBODY = f"""
import encodings.idna, os, socket, sys  # nobody may not read the interpreter's own files
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
"""
"""The start of a Python program. The code after it runs as another user."""
needs_another_user = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root can become another user"
)
