"""Find a Chromium, compose its command line, and start it under a keeper."""

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
    # Nothing of its own on the network.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--disable-quic",
    # Tabs in the background are tabs at work here.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # Whether a popup may open, the pool decides; whether a page hangs, the caller's deadline.
    "--disable-popup-blocking",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    # The person's keyring is not ours to open.
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,"
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,PaintHolding,GlobalMediaControls,"
    "DestroyProfileOnBrowserClose,IsolateSandboxedIframes,"
    # With these, a page's protocol session goes over to the next document of the same site as soon
    # as the server has answered. While the page's thread is busy, that document is not shown, and
    # the session can neither end the script there, nor close its dialog, nor go elsewhere.
    "RenderDocument,BackForwardCache,"
    # Every jar has a window: each would hold 20 MiB for suggestions below its address bar.
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # WebRTC would talk UDP to any address, past a session's domain lists. Chromium has no setting
    # per jar, so this holds for sessions without lists, too. Versions differ in the spelling.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChromiumOptions:
    """What a person may set about the browser."""

    path: str | None = None
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)
    proxy: str | None = None
    ignore_tls_errors: bool = False
    args: tuple[str, ...] = ()

    def keeper_options(self) -> tuple[str, ...]:
        return ()

    def prepare(self, profile: Path) -> None:
        """A Chromium that was killed leaves its lock; our keeper's record says none is running."""
        if (folder := socket_folder(profile)) is not None:
            remove_socket_folder(folder)
        for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
            (profile / name).unlink(missing_ok=True)
        _ask_nobody_for_passwords(profile / "Local State")

    def command(self, profile: Path) -> list[str]:
        return command_line(self, profile, is_root=os.getuid() == 0)


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a window could be shown."""
    if sys.platform == "darwin":
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def command_line(options: ChromiumOptions, profile: Path, *, is_root: bool) -> list[str]:
    """The whole command; the keeper adds only the pipe."""
    width, height = options.viewport
    command = [find_browser("chromium", options.path), f"--user-data-dir={profile}", *_FLAGS]
    command.append(f"--window-size={width},{height}")
    if options.headless:
        command += ["--headless=new", "--hide-scrollbars", "--mute-audio"]
    if is_root:
        # Chromium refuses to run its sandbox as root; for anybody else it stays on.
        command.append("--no-sandbox")
    if options.proxy is not None:
        command += [f"--proxy-server={options.proxy}", "--proxy-bypass-list=<-loopback>"]
    if options.ignore_tls_errors:
        command.append("--ignore-certificate-errors")
    return [*command, *options.args]


def _ask_nobody_for_passwords(state: Path) -> None:
    """A page that wants one is shown as it is: see ``passwords.py``. There is no switch for it."""
    try:
        known = json.loads(state.read_bytes())
    except (OSError, ValueError):
        known = {}  # none yet, or damaged: Chromium would begin anew, too
    state.write_text(json.dumps({**known, "auth": {"schemes": ""}}), encoding="utf-8")
