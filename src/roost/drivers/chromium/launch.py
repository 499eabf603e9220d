"""Find a Chromium, compose its command line, and prepare its profile."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from roost.local.browsers import find_browser
from roost.local.singleton import remove_socket_folder, socket_folder

_FLAGS = (
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    # The browser makes no network requests of its own.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--disable-quic",
    # A crash report holds memory of pages, so neither a report nor its process is made.
    "--disable-breakpad",
    "--disable-crash-reporter",
    # Agents work in background tabs, so these must not be throttled.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # The pool limits popups, and the caller's deadline limits a page that hangs.
    "--disable-popup-blocking",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    # Do not open the person's keyring.
    "--password-store=basic",
    "--use-mock-keychain",
    # The tools that pages offer to agents. Only Roost's own world calls them.
    "--enable-features=WebMCP",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,"
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,PaintHolding,GlobalMediaControls,"
    "DestroyProfileOnBrowserClose,IsolateSandboxedIframes,"
    # With these features, a page's protocol session moves to the next document of the same site as
    # soon as the server responds. If the old page's thread is busy, that document is not committed,
    # and the session can neither end the old script, nor close its dialog, nor navigate.
    "RenderDocument,BackForwardCache,"
    # Each jar has a window, which would use 20 MiB for suggestions below its address bar.
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # WebRTC would send UDP to any address and bypass a session's domain lists. Chromium has no
    # setting per jar, so this affects all sessions. The spelling depends on the version.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChromiumOptions:
    """The settings of a Chromium. Implements ``drivers.keeper_process.Launch``."""

    path: str | None = None
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)
    proxy: str | None = None
    ignore_tls_errors: bool = False
    args: tuple[str, ...] = ()

    def keeper_options(self) -> tuple[str, ...]:
        return ()

    def prepare(self, profile: Path) -> None:
        """Remove the lock that a killed Chromium left. The keeper's record says that none runs."""
        if (folder := socket_folder(profile)) is not None:
            remove_socket_folder(folder)
        for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
            (profile / name).unlink(missing_ok=True)
        _ask_nobody_for_passwords(profile / "Local State")

    def command(self, profile: Path) -> list[str]:
        return command_line(self, profile, is_root=os.getuid() == 0)


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if this machine can show a window."""
    if sys.platform == "darwin":
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def command_line(options: ChromiumOptions, profile: Path, *, is_root: bool) -> list[str]:
    """Return the whole command line. The keeper adds only the pipe."""
    width, height = options.viewport
    command = [find_browser("chromium", options.path), f"--user-data-dir={profile}", *_FLAGS]
    command.append(f"--window-size={width},{height}")
    if options.headless:
        command += ["--headless=new", "--hide-scrollbars", "--mute-audio"]
        # All sessions share one selection, which a click with the middle button would paste.
        command.append(
            "--blink-settings=middleClickPasteAllowed=false,selectionClipboardBufferAvailable=false"
        )
    if is_root:
        # Chromium refuses to run its sandbox as root. For other users the sandbox stays on.
        command.append("--no-sandbox")
    if options.proxy is not None:
        command += [f"--proxy-server={options.proxy}", "--proxy-bypass-list=<-loopback>"]
    if options.ignore_tls_errors:
        command.append("--ignore-certificate-errors")
    return [*command, *options.args]


def _ask_nobody_for_passwords(state: Path) -> None:
    """Turn off Chromium's password window (see ``passwords.py``). No command-line switch can."""
    try:
        known = json.loads(state.read_bytes())
    except (OSError, ValueError):
        known = {}  # missing or damaged: Chromium would write a new file as well
    state.write_text(json.dumps({**known, "auth": {"schemes": ""}}), encoding="utf-8")
