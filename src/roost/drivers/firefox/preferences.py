"""How Firefox is set up for work: the profile's ``user.js``.

Firefox itself sets most of what automation needs once its remote agent runs
(``remote/shared/RecommendedPreferences.sys.mjs``); here is what must hold before, and what is ours.
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
    # Else a script or a click that is under way when its page goes is run again in the next page.
    "remote.retry-on-abort": False,
    # Tabs in the background are tabs at work here: timers and frames as in the foreground. Else
    # every frame that a page asks for comes at half the rate of the one before.
    "layout.testing.top-level-always-active": True,
    "dom.min_background_timeout_value": 4,
    "dom.min_background_timeout_value_without_budget_throttling": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    "dom.timeout.throttling_delay": -1,
    "dom.timeout.background_throttling_max_budget": -1,
    # Scrolling in frames would take as long as those do.
    "general.smoothScroll": False,
    # Every arrival is a new document: a page that was left must not go on in a cache.
    "browser.sessionhistory.max_total_viewers": 0,
    # What a page opens is a tab in its own window, and does not come to the front.
    "browser.link.open_newwindow": 3,
    "browser.link.open_newwindow.restriction": 0,
    "browser.tabs.loadDivertedInBackground": True,
    # Text that is put into a field all at once is a person's work, too, though no key was pressed.
    "dom.require_user_interaction_for_beforeunload": False,
    # A page may change its address 199 times in 10 s. Automation turns Firefox's own limit of 200
    # off, and one page could then keep the browser busy for everybody. Firefox does not write down
    # a preference that has its usual value, so the value is another.
    "dom.navigation.navigationRateLimit.count": 199,
    # Whether a popup may open, the pool decides; whether a page hangs, the caller's deadline.
    "dom.disable_open_during_load": False,
    "dom.ipc.reportProcessHangs": False,
    # No way around a jar's proxy: not to this machine's own servers, and not by WebRTC.
    "network.proxy.allow_hijacking_localhost": True,
    "media.peerconnection.ice.proxy_only_if_behind_proxy": True,
    "media.peerconnection.ice.default_address_only": True,
    "browser.download.alwaysOpenPanel": False,
    "browser.download.start_downloads_in_tmp_dir": False,
}
_WITHOUT_A_PERSON: Mapping[str, Preference] = {
    # Nobody is there to look at an icon, to pull at a scrollbar or to answer a question. 2: no.
    "browser.chrome.site_icons": False,
    "ui.useOverlayScrollbars": 1,
    "widget.gtk.overlay-scrollbars.enabled": True,
    "permissions.default.camera": 2,
    "permissions.default.desktop-notification": 2,
    "permissions.default.geo": 2,
    "permissions.default.microphone": 2,
    "media.volume_scale": "0.0",
}


def preferences(*, headless: bool, proxy: str | None) -> dict[str, Preference]:
    """All of them, by name."""
    return {
        **_STARTING,
        **_NOTHING_OF_ITS_OWN_ON_THE_NETWORK,
        **_OURS,
        **(_WITHOUT_A_PERSON if headless else {}),
        **({} if proxy is None else _through(proxy)),
    }


def user_js(chosen: Mapping[str, Preference]) -> str:
    """As Firefox reads them at its start."""
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
