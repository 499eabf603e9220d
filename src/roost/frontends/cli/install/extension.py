"""Install the browser extension: a copy in ROOST_HOME for the person to load, and the native host.

A manifest tells the browser where the native host is. The host's launcher sets ROOST_HOME itself,
because the browser's environment may lack it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files as files_of
from pathlib import Path
from typing import Any, Final

from roost.errors import Internal
from roost.frontends.cli.install.entry import environment, interpreter
from roost.local.home import Home

HOST: Final = "roost.host"
CHROMIUM_ID: Final = "haalkpjnglffigeoggliapifjgnlllhd"
"""Chromium derives it from the ``key`` in the manifest, so it is the same on every machine."""
FIREFOX_ID: Final = "roost@browser-broker.example"
KINDS: Final = ("chromium", "firefox")
_NOT_SHIPPED: Final = ("manifest.*.json", "package.json", "tests", "node_modules")

_LINUX: Final = {
    "chromium": (
        ("Chromium", "chromium"),
        ("Chrome", "google-chrome"),
        ("Chrome Beta", "google-chrome-beta"),
        ("Chrome Dev", "google-chrome-unstable"),
        ("Brave", "BraveSoftware/Brave-Browser"),
        ("Edge", "microsoft-edge"),
        ("Vivaldi", "vivaldi"),
    ),
    "firefox": (("Firefox", ".mozilla"),),
}
_MACOS: Final = {
    "chromium": (
        ("Chromium", "Chromium"),
        ("Chrome", "Google/Chrome"),
        ("Chrome Beta", "Google/Chrome Beta"),
        ("Brave", "BraveSoftware/Brave-Browser"),
        ("Edge", "Microsoft Edge"),
        ("Vivaldi", "Vivaldi"),
    ),
    "firefox": (("Firefox", "Mozilla"),),
}


@dataclass(frozen=True, slots=True)
class Place:
    """The folder where one browser looks for native hosts."""

    browser: str
    folder: Path
    is_there: bool
    """True if that browser has been used here."""

    @property
    def manifest(self) -> Path:
        return self.folder / f"{HOST}.json"


def places(kind: str, platform: str = sys.platform) -> list[Place]:
    """Return the places of all known browsers of that kind."""
    user = Path(os.path.expanduser("~"))
    if platform == "darwin":
        base, table, name = user / "Library/Application Support", _MACOS, "NativeMessagingHosts"
    elif kind == "firefox":
        base, table, name = user, _LINUX, "native-messaging-hosts"
    else:
        config = os.environ.get("XDG_CONFIG_HOME") or user / ".config"
        base, table, name = Path(config), _LINUX, "NativeMessagingHosts"
    return [
        Place(title, base / folder / name, (base / folder).is_dir())
        for title, folder in table[kind]
    ]


def folder(home: Home, kind: str) -> Path:
    """Return the folder of the copy that the person loads."""
    return home.extension(kind)


def launcher(home: Home) -> Path:
    return home.path / "extension" / "roost-host"


def launcher_text(home: Home) -> str:
    """Return a script that starts the native host of this Roost with this ROOST_HOME.

    ``-P``: browsers start it in any folder, where a file must not take the place of a module.
    """
    said = [f"{name}={shlex.quote(value)}" for name, value in environment(home).items()]
    command = shlex.join([*interpreter(), "-P", "-m", "roost.host"])
    return f"#!/bin/sh\n# Written by `roost install extension`.\n{' '.join(said)} exec {command}\n"


def manifest(home: Home, kind: str) -> dict[str, Any]:
    """Return the manifest with which a browser starts the host, for our extension only."""
    who = (
        {"allowed_origins": [f"chrome-extension://{CHROMIUM_ID}/"]}
        if kind == "chromium"
        else {"allowed_extensions": [FIREFOX_ID]}
    )
    return {
        "name": HOST,
        "description": "Roost: many agents, one browser",
        "path": str(launcher(home)),
        "type": "stdio",
        **who,
    }


def install(home: Home, kind: str, where: list[Path]) -> list[Path]:
    """Copy the extension, and write the launcher and the manifests. Return the manifests' paths."""
    home.create()
    copy = folder(home, kind)
    copy.parent.mkdir(mode=0o700, exist_ok=True)
    unpack(kind, copy)
    path = launcher(home)
    path.write_text(launcher_text(home), encoding="utf-8")
    path.chmod(0o700)
    text = json.dumps(manifest(home, kind), indent=2) + "\n"
    for one in where:
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text(text, encoding="utf-8")
    return where


def remove(home: Home, kind: str) -> list[Path]:
    """Remove the copy and our manifests. Return the removed manifests' paths.

    The launcher stays while another kind of browser needs it. Manifests of another ROOST_HOME stay.
    """
    shutil.rmtree(folder(home, kind), ignore_errors=True)
    if not any(folder(home, other).exists() for other in KINDS):
        launcher(home).unlink(missing_ok=True)
    ours = [place.manifest for place in places(kind) if is_ours(home, place.manifest)]
    for one in ours:
        one.unlink()
    return ours


def is_ours(home: Home, path: Path) -> bool:
    """Return whether the manifest at that path names this Roost's launcher."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("path") == str(launcher(home))


def is_current(home: Home, kind: str) -> bool:
    """Return whether the copy equals the extension that this Roost ships."""
    copy = folder(home, kind)
    try:
        return all((copy / name).read_bytes() == data for name, data in files(kind))
    except OSError:
        return False


def unpack(kind: str, target: Path) -> None:
    """Replace ``target`` by the extension as that kind of browser loads it."""
    fresh = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    shutil.copytree(source(), fresh, ignore=shutil.ignore_patterns(*_NOT_SHIPPED))
    shutil.copy(source() / f"manifest.{kind}.json", fresh / "manifest.json")
    for name, data in _shared(kind):
        (fresh / name).parent.mkdir(exist_ok=True)
        (fresh / name).write_bytes(data)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def files(kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield the extension's files by name, as an archive for the stores holds them."""
    yield "manifest.json", (source() / f"manifest.{kind}.json").read_bytes()
    ignored = shutil.ignore_patterns(*_NOT_SHIPPED)
    for where, folders, names in os.walk(source()):
        left_out = ignored(where, [*folders, *names])
        folders[:] = sorted(set(folders) - left_out)
        for name in sorted(set(names) - left_out):
            path = Path(where, name)
            yield path.relative_to(source()).as_posix(), path.read_bytes()
    yield from _shared(kind)


def _shared(kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield the page script that all drivers use, for Firefox only.

    In Firefox only scripts of the extension itself can run in pages, so it needs a copy.
    """
    if kind == "firefox":
        yield "page/bundle.js", (files_of("roost.page") / "bundle.js").read_bytes()


def source() -> Path:
    """Return the shipped extension's folder: in the package, or beside the source tree."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[3] / "extension", here.parents[5] / "extension"):
        if (candidate / "manifest.chromium.json").is_file():
            return candidate
    raise Internal("The extension's files are not there.", hint="Install Roost anew.")
