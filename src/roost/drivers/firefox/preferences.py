"""The preferences of Firefox, written to the profile's ``user.js``.

Firefox sets most preferences for automation when its remote agent starts
(``remote/shared/RecommendedPreferences.sys.mjs``). This module has those that must hold earlier,
and those that Roost needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

Preference = bool | int | str

_STARTING: Mapping[str, Preference] = {
    "browser.startup.page": 0,
    "browser.startup.homepage": "about:blank",
    "browser.startup.homepage_override.mstone": "ignore",
    "startup.homepage_welcome_url": "",
    "browser.aboutwelcome.enabled": False,
    "trailhead.firstrun.didSeeAboutWelcome": True,
    "browser.shell.checkDefaultBrowser": False,
    "browser.sessionstore.resume_from_crash": False,
    "toolkit.startup.max_resumed_crashes": -1,
    "browser.newtabpage.enabled": False,
    "browser.newtab.preload": False,
    "browser.tabs.warnOnClose": False,
    "browser.warnOnQuit": False,
    "signon.rememberSignons": False,
}
_NOTHING_OF_ITS_OWN_ON_THE_NETWORK: Mapping[str, Preference] = {
    "app.normandy.enabled": False,
    "app.shield.optoutstudies.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.region.update.enabled": False,
    "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.search.update": False,
    "browser.tabs.crashReporting.sendReport": False,
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.prefetch-next": False,
    "network.trr.mode": 5,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "toolkit.telemetry.server": "",
}
_OURS: Mapping[str, Preference] = {
    # Otherwise Firefox repeats a script or click in the next page if its page is left meanwhile.
    "remote.retry-on-abort": False,
    # Agents work in background tabs, so timers and frames run as in the foreground. Otherwise
    # Firefox halves the rate with every animation frame that a background page requests.
    "layout.testing.top-level-always-active": True,
    "dom.min_background_timeout_value": 4,
    "dom.min_background_timeout_value_without_budget_throttling": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    "dom.timeout.throttling_delay": -1,
    "dom.timeout.background_throttling_max_budget": -1,
    # The tools that pages offer to agents (WebMCP). Only Roost's own sandbox asks for them.
    "dom.modelcontext.enabled": True,
    "dom.modelcontext.testing.enabled": True,
    # Smooth scrolling would take many animation frames.
    "general.smoothScroll": False,
    # Turn off the back/forward cache: every navigation must create a new document.
    "browser.sessionhistory.max_total_viewers": 0,
    # Open popups as background tabs in the window of their opener.
    "browser.link.open_newwindow": 3,
    "browser.link.open_newwindow.restriction": 0,
    "browser.tabs.loadDivertedInBackground": True,
    # Inserted text presses no key, so Firefox would not count it as user interaction, and
    # ``beforeunload`` would not protect it.
    "dom.require_user_interaction_for_beforeunload": False,
    # A page may change its address 199 times in 10 s. Automation turns off Firefox's own limit of
    # 200, and one page could then keep the whole browser busy. Firefox does not store a preference
    # that equals its default, so the value must not be 200.
    "dom.navigation.navigationRateLimit.count": 199,
    # The pool limits popups, and the caller's deadline limits a page that hangs.
    "dom.disable_open_during_load": False,
    "dom.ipc.reportProcessHangs": False,
    # Nothing may bypass a jar's proxy: neither requests to this machine nor WebRTC.
    "network.proxy.allow_hijacking_localhost": True,
    "media.peerconnection.ice.proxy_only_if_behind_proxy": True,
    "media.peerconnection.ice.default_address_only": True,
    "browser.download.alwaysOpenPanel": False,
    "browser.download.start_downloads_in_tmp_dir": False,
}
_WITHOUT_A_PERSON: Mapping[str, Preference] = {
    # Nobody sees icons, uses scrollbars or answers permission questions. 2 means "deny".
    "browser.chrome.site_icons": False,
    "ui.useOverlayScrollbars": 1,
    "widget.gtk.overlay-scrollbars.enabled": True,
    "permissions.default.camera": 2,
    "permissions.default.desktop-notification": 2,
    "permissions.default.geo": 2,
    "permissions.default.microphone": 2,
    "media.volume_scale": "0.0",
    # All sessions share one selection, which a click with the middle button would paste.
    "middlemouse.paste": False,
    "clipboard.autocopy": False,
}


def preferences(*, headless: bool, proxy: str | None) -> dict[str, Preference]:
    """Return all preferences by name."""
    return {
        **_STARTING,
        **_NOTHING_OF_ITS_OWN_ON_THE_NETWORK,
        **_OURS,
        **(_WITHOUT_A_PERSON if headless else {}),
        **({} if proxy is None else _through(proxy)),
    }


def user_js(chosen: Mapping[str, Preference]) -> str:
    """Return the text of a ``user.js`` file with these preferences."""
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(to)});\n" for name, to in chosen.items()]
    return "".join(lines)


def _through(proxy: str) -> dict[str, Preference]:
    address = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
    host, port = address.hostname or "", address.port or 80
    chosen: dict[str, Preference] = {"network.proxy.type": 1, "network.proxy.no_proxies_on": ""}
    kinds = ("socks",) if address.scheme.startswith("socks") else ("http", "ssl")
    for kind in kinds:
        chosen |= {f"network.proxy.{kind}": host, f"network.proxy.{kind}_port": port}
    if kinds == ("socks",):
        chosen["network.proxy.socks_remote_dns"] = True
    return chosen
