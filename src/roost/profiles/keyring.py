"""Read the passwords that Chromium keeps in the desktop's keyring (Linux) or keychain (macOS).

The system's own programs read them (``secret-tool``, ``security``). They ask the person for
permission if the system requires it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ASK_SECONDS = 60.0
"""Timeout for one password: the person may have to unlock the keyring first."""
BRANDS = {"chrome": "Chrome", "chromium": "Chromium", "brave": "Brave", "edge": "Microsoft Edge"}


class Keyring:
    """The keyring entries of the browser whose cookies are at ``store``.

    After ``passwords``, ``problem`` says why one was not found.
    """

    def __init__(self, store: Path, platform: str = sys.platform) -> None:
        self.problem = "it was not asked for"
        self._platform = platform
        self._brands = _likely_brands(store)

    def passwords(self) -> list[str]:
        """Return all passwords that may be the right one. The caller tries each of them."""
        found = []
        for brand in self._brands:
            word = self._asked(self._question(brand))
            if word:
                found.append(word)
        return found

    def _question(self, brand: str) -> Sequence[str]:
        if self._platform == "darwin":
            name = BRANDS[brand]
            service = f"{name} Safe Storage"
            return ["security", "find-generic-password", "-w", "-a", name, "-s", service]
        return ["secret-tool", "lookup", "application", brand]

    def _asked(self, command: Sequence[str]) -> str | None:
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env=_with_session_bus(),
                timeout=ASK_SECONDS,
                text=True,
            )
        except FileNotFoundError:
            package = " (package libsecret-tools)" if self._platform != "darwin" else ""
            self.problem = f"{command[0]}{package} is not installed"
            return None
        except (OSError, subprocess.TimeoutExpired):
            self.problem = f"{command[0]} gave no answer"
            return None
        word = done.stdout.rstrip("\n")
        if done.returncode or not word:
            self.problem = f"{command[0]} knows no key of this browser, or may not tell it"
            return None
        return word


def _likely_brands(store: Path) -> list[str]:
    """Return the brands that the path names, or all brands for a copy in another folder."""
    path = str(store).lower()
    return [brand for brand in BRANDS if brand in path] or list(BRANDS)


def _with_session_bus() -> dict[str, str]:
    """Return the environment with the address of the desktop's D-Bus. A broker that an agent
    started may lack the variable, but the bus has a fixed path."""
    environ = dict(os.environ)
    bus = f"/run/user/{os.getuid()}/bus"
    if os.path.exists(bus):
        environ.setdefault("DBUS_SESSION_BUS_ADDRESS", f"unix:path={bus}")
    return environ
