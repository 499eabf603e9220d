"""THE table of the protocol methods that a client may call, and what becomes of each.

``docs/reference/cdp.md`` is generated from it. A method that is in no list for the place where it
was called does not exist. Most methods called in a page concern that page alone. So for pages the
table names the exceptions, and the domains of which all other methods are passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """How Roost handles a method."""

    PASSED = "passed"
    CONFINED = "confined"
    """Pass the call on after binding it to the session, or let the broker do the work its own
    way."""
    ANSWERED = "answered"
    """Answer from what this client may see, without asking the browser."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Rule:
    way: Way
    why: str
    shared: Way | None = None
    """How to handle the method where the session uses the browser's own jar with others."""


def _passed(why: str = "") -> Rule:
    return Rule(Way.PASSED, why)


def _confined(why: str, *, shared: Way | None = None) -> Rule:
    return Rule(Way.CONFINED, why, shared)


def _answered(why: str) -> Rule:
    return Rule(Way.ANSWERED, why)


def _refused(why: str) -> Rule:
    return Rule(Way.REFUSED, why)


_OTHERS = "it concerns the whole browser"
_JAR = "to the session's jar, or one this client made"
_GRANTS = f"{_JAR}; not the permission to read the clipboard"
_SHARED = "this session's jar is shared with others"
_OWN_TARGET = "to targets of the session"
_PASSWORDS = "Roost asks the client for passwords itself, because the browser does not ask"
_BOUNDED = "to numbers that do not end the whole browser"

BROWSER: dict[str, Rule] = {
    "Browser.getVersion": _passed("says what browser this is"),
    "Browser.close": _answered("the client's connection ends; browser and session stay"),
    "Browser.crash": _refused(_OTHERS),
    "Browser.crashGpuProcess": _refused(_OTHERS),
    "Browser.getBrowserCommandLine": _refused("it names this machine's paths"),
    "Browser.getHistogram": _refused(_OTHERS),
    "Browser.getHistograms": _refused(_OTHERS),
    "Browser.executeBrowserCommand": _refused(_OTHERS),
    "Browser.setDockTile": _refused(_OTHERS),
    "Browser.getWindowForTarget": _confined(_OWN_TARGET),
    "Browser.getWindowBounds": _confined("to windows of the session's tabs"),
    "Browser.setWindowBounds": _confined("to windows of the session's tabs", shared=Way.REFUSED),
    "Browser.setDownloadBehavior": _confined(
        f"{_JAR}; into the session's folders or a new temporary one", shared=Way.ANSWERED
    ),
    "Browser.cancelDownload": _confined(_JAR, shared=Way.REFUSED),
    "Browser.grantPermissions": _confined(_GRANTS, shared=Way.REFUSED),
    "Browser.setPermission": _confined(_GRANTS, shared=Way.REFUSED),
    "Browser.resetPermissions": _confined(_JAR, shared=Way.REFUSED),
    "Target.activateTarget": _answered("done as told, but no tab takes the focus"),
    "Target.attachToTarget": _confined(f"{_OWN_TARGET}; flat sessions only"),
    "Target.attachToBrowserTarget": _confined("this table also judges what the client sends there"),
    "Target.autoAttachRelated": _refused("targets are handed out by setAutoAttach"),
    "Target.closeTarget": _confined(f"{_OWN_TARGET}, by way of the broker"),
    "Target.createBrowserContext": _confined(
        "a real one, inside the session's domain lists; it goes with the connection. A"
        " `proxyBypassList` is refused"
    ),
    "Target.createTarget": _confined(
        "a tab of the session: pool and address rules hold, in the background"
    ),
    "Target.detachFromTarget": _confined("from what this client attached to"),
    "Target.disposeBrowserContext": _confined("of those this client made"),
    "Target.exposeDevToolsProtocol": _refused("a page must not speak for its agent"),
    "Target.getBrowserContexts": _answered("those this client made"),
    "Target.getTargetInfo": _answered("of the session's targets"),
    "Target.getTargets": _answered("the session's targets"),
    "Target.sendMessageToTarget": _refused("flat sessions only"),
    "Target.setAutoAttach": _answered("the session's tabs and workers, waiting if asked to"),
    "Target.setDiscoverTargets": _answered("the session's targets"),
    "Target.setRemoteLocations": _refused(_OTHERS),
    "Target.openDevTools": _refused(_OTHERS),
    "Target.getDevToolsTarget": _refused(_OTHERS),
    "Storage.getCookies": _confined(_JAR, shared=Way.REFUSED),
    "Storage.setCookies": _confined(_JAR, shared=Way.REFUSED),
    "Storage.clearCookies": _confined(_JAR, shared=Way.REFUSED),
    "Schema.getDomains": _passed("names of domains"),
    "Runtime.runIfWaitingForDebugger": _answered("the browser itself never waits"),
    "Security.setIgnoreCertificateErrors": _refused(
        "it concerns the whole browser; say it in a page, or start Roost with --ignore-tls-errors"
    ),
    "SystemInfo.getInfo": _refused(_OTHERS),
    "SystemInfo.getFeatureState": _refused(_OTHERS),
    "SystemInfo.getProcessInfo": _refused(_OTHERS),
    "Tracing.start": _refused("a trace shows other sessions' pages"),
    "Tracing.end": _refused("a trace shows other sessions' pages"),
    "Tracing.getCategories": _refused("a trace shows other sessions' pages"),
    "Tracing.recordClockSyncMarker": _refused("a trace shows other sessions' pages"),
    "Tracing.requestMemoryDump": _refused("a trace shows other sessions' pages"),
    "Fetch.enable": _refused("say it in a page: here it would stop everybody's requests"),
    "IO.read": _refused("there is nothing to read but traces"),
    "IO.close": _refused("there is nothing to read but traces"),
    "Tethering.bind": _refused("it opens ports on this machine"),
    "Tethering.unbind": _refused("it opens ports on this machine"),
    "Extensions.loadUnpacked": _refused("an extension sees everybody's pages"),
    "Extensions.getExtensions": _refused("an extension sees everybody's pages"),
    "Extensions.uninstall": _refused("an extension sees everybody's pages"),
    "Memory.simulatePressureNotification": _refused(_OTHERS),
    "Memory.setPressureNotificationsSuppressed": _refused(_OTHERS),
}
"""Methods called on the browser, and ``Browser.*`` and ``Target.*`` wherever they are called."""

PAGE: dict[str, Rule] = {
    "Target.setAutoAttach": _passed("what is attached belongs to this page"),
    "Target.getTargetInfo": _answered("of the page, and of the session's targets"),
    "Runtime.runIfWaitingForDebugger": _confined("the tab runs when all who wait have said so"),
    "Fetch.enable": _confined(_PASSWORDS),
    "Fetch.disable": _confined(_PASSWORDS),
    "Fetch.continueRequest": _confined(_PASSWORDS),
    "Fetch.continueWithAuth": _confined(_PASSWORDS),
    "Page.navigate": _confined("to addresses the session may open"),
    "Page.bringToFront": _answered("done as told, but no tab takes the focus"),
    "Page.setDownloadBehavior": _refused("use Browser.setDownloadBehavior"),
    "Network.loadNetworkResource": _confined("to addresses the session may open"),
    "Network.setCookieControls": _refused(_OTHERS),
    "Network.getAllCookies": Rule(Way.PASSED, "the page's jar", Way.REFUSED),
    "Network.clearBrowserCookies": Rule(Way.PASSED, "the page's jar", Way.REFUSED),
    "Network.clearBrowserCache": Rule(Way.PASSED, "the page's jar", Way.REFUSED),
    "Storage.getCookies": _confined("to the page's jar", shared=Way.REFUSED),
    "Storage.setCookies": _confined("to the page's jar", shared=Way.REFUSED),
    "Storage.clearCookies": _confined("to the page's jar", shared=Way.REFUSED),
    "DOM.setFileInputFiles": _confined("to files the session may read"),
    "Input.dispatchKeyEvent": _confined("copy, cut and paste use the session's own clipboard"),
    "Input.dispatchDragEvent": _confined("to what pages have themselves: no files of this machine"),
    "Input.imeSetComposition": _confined(_BOUNDED),
    "Storage.overrideQuotaForOrigin": _confined(_BOUNDED, shared=Way.REFUSED),
    "Emulation.addScreen": _refused(_OTHERS),
    "Emulation.updateScreen": _refused(_OTHERS),
    "Emulation.removeScreen": _refused(_OTHERS),
    "Emulation.setPrimaryScreen": _refused(_OTHERS),
    "Memory.simulatePressureNotification": _refused(_OTHERS),
    "Memory.setPressureNotificationsSuppressed": _refused(_OTHERS),
    "Memory.getBrowserSamplingProfile": _refused(_OTHERS),
    "Memory.startSampling": _refused(_OTHERS),
    "Memory.stopSampling": _refused(_OTHERS),
}
"""Exceptions among the methods called in a page, a frame or a worker."""

LARGEST: dict[str, dict[str, int]] = {
    "Input.imeSetComposition": {"replacementStart": 2**31 - 1, "replacementEnd": 2**31 - 1},
    "Storage.overrideQuotaForOrigin": {"quotaSize": 2**53},
}
"""Largest value of each parameter; the smallest is zero. Chromium 156 crashes, with everybody's
pages, at values outside these."""

PAGE_DOMAINS = frozenset(
    {
        "Accessibility", "Animation", "Audits", "Autofill", "CSS", "CacheStorage", "Console",
        "DOM", "DOMDebugger", "DOMSnapshot", "DOMStorage", "Debugger", "DeviceOrientation",
        "Emulation", "EventBreakpoints", "FedCm", "Fetch", "FileSystem", "HeapProfiler", "IO",
        "IndexedDB", "Input", "Inspector", "LayerTree", "Log", "Media", "Memory", "Network",
        "Overlay", "Page", "Performance", "PerformanceTimeline", "Preload", "Profiler",
        "Runtime", "Schema", "Security", "ServiceWorker", "Storage", "WebAudio", "WebAuthn",
    }
)  # fmt: skip
"""Domains whose methods are passed on when they are called in a page, but for the exceptions."""

NOT_IN_SHARED = frozenset({"ServiceWorker", "Storage", "BackgroundService"})
"""Domains refused where the jar is shared: their methods read or wipe other sessions' data."""

BROWSER_EVENTS = (b"Browser.downloadWillBegin", b"Browser.downloadProgress")
"""Events of the browser itself that reach a client. Roost writes the ``Target.*`` events itself."""


def rule_for(method: str, *, in_page: bool, shared: bool) -> Rule | None:
    """Return how to handle the method there, or None if no such method exists there.

    ``in_page``: the method is called in a page, frame or worker, and not on the browser.
    ``shared``: the call concerns the browser's own jar.
    """
    domain, _, name = method.partition(".")
    rule = BROWSER.get(method)
    if in_page and method in PAGE:
        rule = PAGE[method]
    elif in_page and domain in PAGE_DOMAINS and name:
        rule = _refused(_SHARED) if shared and domain in NOT_IN_SHARED else _passed()
    elif in_page and domain not in ("Browser", "Target") and rule is not None:
        rule = rule if rule.way is Way.REFUSED else None  # the method exists, but not in pages
    if rule is not None and shared and rule.shared is not None:
        return Rule(rule.shared, _SHARED)
    return rule
