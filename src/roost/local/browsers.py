"""Which browsers this machine has, and how its package manager installs one.

Never a download of our own: the system's packages, or the exact words to type.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from roost.errors import BrowserLost, Unsupported

NAMES: Final = {
    "chromium": (
        "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
        "microsoft-edge-stable", "microsoft-edge", "brave-browser", "brave",
    ),
    "firefox": ("firefox", "firefox-esr", "firefox-developer-edition", "firefox-devedition"),
}  # fmt: skip
PLACES: Final = {
    "chromium": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
        "/snap/bin/chromium",
        "/opt/google/chrome/chrome",
        "/opt/microsoft/msedge/msedge",
        "/opt/brave.com/brave/brave",
    ),
    "firefox": (
        "/Applications/Firefox.app/Contents/MacOS/firefox",
        "/Applications/Firefox Developer Edition.app/Contents/MacOS/firefox",
        "/snap/bin/firefox",
        "/opt/firefox/firefox",
        "/usr/lib/firefox-esr/firefox-esr",
    ),
}
KNOWN: Final = {
    "chromium": "Chromium, Chrome, Edge or Brave",
    "firefox": "Firefox (release, ESR or Developer Edition)",
}

# manager: (what to run first, how it installs, package of each browser)
_MANAGERS: Final = {
    "apt-get": (
        ("apt-get", "update", "-qq"),
        ("apt-get", "install", "-y", "-qq", "--no-install-recommends"),
        {"chromium": "chromium", "firefox": "firefox-esr"},
    ),
    "dnf": ((), ("dnf", "install", "-y", "-q"), {"chromium": "chromium", "firefox": "firefox"}),
    "pacman": (
        (),
        ("pacman", "-Sy", "--noconfirm"),
        {"chromium": "chromium", "firefox": "firefox"},
    ),
    "brew": (
        (),
        ("brew", "install", "--cask"),
        {"chromium": "chromium", "firefox": "firefox"},
    ),
}


def find_browser(
    kind: str,
    path: str | None = None,
    *,
    search_path: str | None = None,
    places: Iterable[str] | None = None,
) -> str:
    """The program of that browser; ``BrowserLost`` says how to get one."""
    if path is not None:
        given = shutil.which(path)
        if given is None:
            raise BrowserLost(f"{path} is not a program.", hint="Correct --browser-path.")
        return os.path.abspath(given)
    found = next(filter(None, (shutil.which(n, path=search_path) for n in NAMES[kind])), None)
    if found is None:
        usual = PLACES[kind] if places is None else places
        found = next((place for place in usual if os.access(place, os.X_OK)), None)
    if found is None:
        raise BrowserLost(
            f"There is no {KNOWN[kind]} on this machine.",
            hint=f"Run `roost browser install {kind}`, or give one with --browser-path.",
        )
    return found


@dataclass(frozen=True, slots=True)
class Installation:
    """The commands that install a browser here, in order."""

    manager: str
    commands: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return " && ".join(" ".join(command) for command in self.commands)


def installation(
    kind: str,
    *,
    is_root: bool | None = None,
    which: Callable[[str], str | None] = shutil.which,
) -> Installation:
    """How this machine's package manager installs that browser. ``Unsupported`` where there is
    none we know."""
    manager = next((name for name in _MANAGERS if which(name)), None)
    if manager is None:
        raise Unsupported(
            f"No package manager we know ({', '.join(_MANAGERS)}) is here.",
            hint=f"Install {KNOWN[kind]} by hand, or give one with --browser-path.",
        )
    update, install, packages = _MANAGERS[manager]
    root = os.getuid() == 0 if is_root is None else is_root
    # Homebrew refuses to run as root; the others refuse to run as anybody else.
    sudo = () if root or manager == "brew" else ("sudo",)
    commands = [(*sudo, *update)] if update else []
    return Installation(manager, (*commands, (*sudo, *install, packages[kind])))
