"""Find the browsers of this machine, and how its package manager installs one.

Roost downloads no browser itself. It uses the system's packages, or tells the person what to type.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from roost.errors import BrowserLost, Unsupported
from roost.local.home import user_folder

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

# manager: (command to run first, install command, package of each browser)
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
    # Only for Ubuntu, whose own packages merely install these snaps (``_is_ubuntu``).
    "snap": ((), ("snap", "install"), {"chromium": "chromium", "firefox": "firefox"}),
}
_SNAPS: Final = "/snap/bin/"


def find_browser(
    kind: str,
    path: str | None = None,
    *,
    search_path: str | None = None,
    places: Iterable[str] | None = None,
) -> str:
    """Return the program of that browser.

    kind: ``chromium`` or ``firefox``.
    path: program that the person chose; None: search.
    search_path, places: replace ``PATH`` and ``PLACES``.

    Raises ``BrowserLost``, whose hint says how to get a browser.
    """
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


def check_reach(program: str, folder: Path, home: Path | None = None) -> None:
    """Raise ``Unsupported`` if that browser cannot use that folder.

    A snap cannot see hidden folders in a person's home, and fails without saying so.
    """
    if not _is_snap(program):
        return
    user = user_folder() if home is None else home
    if folder.is_relative_to(user) and folder.relative_to(user).parts[0].startswith("."):
        raise Unsupported(
            f"{program} is a snap, and snaps cannot use hidden folders such as {folder}.",
            hint="Set ROOST_HOME to a folder that is not hidden, such as ~/roost; or give a "
            "browser that is not a snap with --browser-path.",
        )


def _is_snap(program: str) -> bool:
    """Return whether the program is a snap, or Ubuntu's script that starts one."""
    if program.startswith(_SNAPS) or os.path.realpath(program).endswith("/bin/snap"):
        return True
    try:
        with open(program, "rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return start.startswith(b"#!") and _SNAPS.encode() in start


def _is_ubuntu() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] == "ubuntu"
    except (OSError, KeyError):
        return False


@dataclass(frozen=True, slots=True)
class Installation:
    """The commands that install a browser on this machine, in order."""

    manager: str
    commands: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return " && ".join(" ".join(command) for command in self.commands)


def installation(
    kind: str,
    *,
    is_root: bool | None = None,
    which: Callable[[str], str | None] = shutil.which,
    is_ubuntu: bool | None = None,
) -> Installation:
    """Return how this machine's package manager installs that browser.

    Raises ``Unsupported`` if there is no known package manager.
    """
    by_hand = f"Install {KNOWN[kind]} by hand, or give one with --browser-path."
    managers = list(_MANAGERS)
    if _is_ubuntu() if is_ubuntu is None else is_ubuntu:
        managers = ["snap"]
        if which("snap") is None:
            raise Unsupported("Ubuntu has browsers as snaps only, and no snap here.", hint=by_hand)
    manager = next((name for name in managers if which(name)), None)
    if manager is None:
        raise Unsupported(
            f"No package manager we know ({', '.join(managers)}) is here.", hint=by_hand
        )
    update, install, packages = _MANAGERS[manager]
    root = os.getuid() == 0 if is_root is None else is_root
    # Homebrew refuses to run as root; the others need root.
    sudo = () if root or manager == "brew" else ("sudo",)
    commands = [(*sudo, *update)] if update else []
    return Installation(manager, (*commands, (*sudo, *install, packages[kind])))
