"""The settings of a Firefox, its command line, and the preparation of its profile."""

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
"""The format version of ``containers.json``. Newer versions of Firefox migrate the file."""
FIRST_CONTAINER = 1000
CONTAINERS_A_RUN = 10_000
"""More containers than one run of Firefox ever makes. Firefox saves the list late, so a killed
Firefox may have used ids that the file does not list."""
_CONTAINER = "userContextId="


@dataclass(frozen=True, slots=True, kw_only=True)
class FirefoxOptions:
    """The settings of a Firefox. Implements ``drivers.keeper_process.Launch``."""

    path: str | None = None
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)
    proxy: str | None = None
    ignore_tls_errors: bool = False
    args: tuple[str, ...] = ()

    def keeper_options(self) -> tuple[str, ...]:
        session = {
            # Without this, Firefox dismisses every dialog at once.
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
        # Port 0: Firefox picks a free port on loopback. The keeper takes the only session at once.
        command = [find_browser("firefox", self.path), "--profile", str(profile)]
        command += ["--no-remote", "--remote-debugging-port=0"]
        if self.headless:
            command.append("--headless")
        return [*command, *self.args, "about:blank"]


def unlock(profile: Path) -> None:
    """Remove the lock that a killed Firefox left. The keeper's record says that none runs."""
    for name in ("lock", ".parentlock", "WebDriverBiDiServer.json"):
        (profile / name).unlink(missing_ok=True)


def empty_containers(profile: Path) -> None:
    """Remove all user contexts from the profile before a start.

    A killed Firefox would restore its user contexts, without a name. A new user context must never
    get the number of an old one, because it would get the old cookies as well. So empty the list,
    continue the numbering, and delete the old storage and cookies.
    """
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
    # Firefox repairs a store that cannot be read. The new numbers alone keep jars separate.
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(store)) as cookies:
        cookies.execute(
            "DELETE FROM moz_cookies WHERE originAttributes LIKE ?", (f"%{_CONTAINER}%",)
        )
        cookies.commit()
