"""What a person may set about Firefox, its command line, and its profile made ready for a start."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from roost.drivers.firefox.preferences import preferences, user_js
from roost.local.browsers import find_browser

CONTAINERS_VERSION = 5
"""Of ``containers.json``: newer Firefoxes lift it to theirs."""
FIRST_CONTAINER = 1000
CONTAINERS_A_RUN = 10_000
"""More than one run of a browser ever makes. Firefox saves the list late, so a killed one may have
used ids that its file does not know."""
_CONTAINER = "userContextId="


@dataclass(frozen=True, slots=True, kw_only=True)
class FirefoxOptions:
    """Its parts fit ``drivers.keeping.Launch``."""

    path: str | None = None
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)
    proxy: str | None = None
    ignore_tls_errors: bool = False
    args: tuple[str, ...] = ()

    def keeper_options(self) -> tuple[str, ...]:
        session = {
            # Without this every dialog is dismissed before anybody has seen it.
            "unhandledPromptBehavior": {"default": "ignore"},
            "acceptInsecureCerts": self.ignore_tls_errors,
        }
        return (f"--session={json.dumps(session)}",)

    def prepare(self, profile: Path) -> None:
        chosen = preferences(headless=self.headless, proxy=self.proxy)
        (profile / "user.js").write_text(user_js(chosen), encoding="utf-8")
        unlock(profile)
        empty_containers(profile)

    def command(self, profile: Path) -> list[str]:
        # Port 0: Firefox takes a free one, on loopback. Its keeper takes the only session at once.
        command = [find_browser("firefox", self.path), "--profile", str(profile)]
        command += ["--no-remote", "--remote-debugging-port=0"]
        if self.headless:
            command.append("--headless")
        return [*command, *self.args, "about:blank"]


def unlock(profile: Path) -> None:
    """A Firefox that was killed leaves its lock; our keeper's record says that none is running."""
    for name in ("lock", ".parentlock", "WebDriverBiDiServer.json"):
        (profile / name).unlink(missing_ok=True)


def empty_containers(profile: Path) -> None:
    """Begin without user contexts. Those of a killed Firefox would come back, nameless; and a new
    one must never get the number, and with it the cookies, of an old one. So the list is emptied,
    the count goes on, and what the old ones left is removed."""
    listed = profile / "containers.json"
    last = FIRST_CONTAINER
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        last = int(json.loads(listed.read_bytes())["lastUserContextId"])
    fields = {
        "version": CONTAINERS_VERSION,
        "lastUserContextId": last + CONTAINERS_A_RUN,
        "identities": [],
    }
    listed.write_text(json.dumps(fields), encoding="utf-8")
    for folder in profile.glob(f"storage/*/*{_CONTAINER}*"):
        shutil.rmtree(folder, ignore_errors=True)
    _forget_cookies(profile / "cookies.sqlite")


def _forget_cookies(store: Path) -> None:
    if not store.exists():
        return
    # A store that cannot be read is Firefox's to repair; the numbers alone keep jars apart.
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(store)) as cookies:
        cookies.execute(
            "DELETE FROM moz_cookies WHERE originAttributes LIKE ?", (f"%{_CONTAINER}%",)
        )
        cookies.commit()
