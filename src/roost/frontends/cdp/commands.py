"""Check each command of a client by the table (``methods.py``) and carry it out.

A method that is neither passed on unchanged nor refused has a handler here. The handler takes the
browser that the client sees, the call, and the protocol session the call was sent in. A ``Refusal``
or ``RoostError`` that a handler raises becomes the call's answer. Refusals use Chromium's wording,
so that a client cannot tell another session's target from one that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from roost.errors import BadRequest, RoostError
from roost.frontends.cdp import clipboard, messages
from roost.frontends.cdp.messages import (
    BAD_PARAMS,
    FAILED,
    NO_METHOD,
    NO_SESSION,
    Call,
    CloseTab,
    Effect,
    HangUp,
    InvalidMessage,
    Json,
    MakeContext,
    OpenTab,
    Refusal,
    RemoveContext,
    Send,
    UseClipboard,
    WriteFrame,
)
from roost.frontends.cdp.methods import LARGEST, Way, rule_for
from roost.frontends.cdp.targets import (
    BLANK,
    Attachment,
    AutoAttach,
    DelayedAnswer,
    Filter,
    Kind,
    ProtocolSession,
)
from roost.frontends.cdp.visible_browser import VisibleBrowser

Handler = Callable[[VisibleBrowser, Call, ProtocolSession], list[Effect]]
DOES: dict[str, Handler] = {}
IN_TABS = frozenset(
    {
        "Target.setAutoAttach",
        "Target.detachFromTarget",
        "Target.getTargetInfo",
        "Runtime.runIfWaitingForDebugger",
    }
)
"""The only methods that a client may call on the tab target around a page."""


LOOPBACK_TOO = "<-loopback>"
"""Entry of a bypass list: use the proxy for addresses of this machine, too, as Roost always does.
Playwright adds it by itself."""
OF_THE_PAGES_JAR = {
    "Storage.getCookies": "Network.getAllCookies",
    "Storage.setCookies": "Network.setCookies",
    "Storage.clearCookies": "Network.clearBrowserCookies",
}
"""Chromium applies ``Storage.*`` sent in a page to the browser's own jar, whatever the page's jar
is. The ``Network.*`` methods have the same parameters and results, and apply to the page's jar."""
TAKES_CONTEXT = frozenset(
    {
        *OF_THE_PAGES_JAR,
        "Browser.grantPermissions",
        "Browser.setPermission",
        "Browser.resetPermissions",
        "Browser.cancelDownload",
        "Browser.setDownloadBehavior",
    }
)


def said(browser: VisibleBrowser, text: str | bytes) -> list[Effect]:
    """Handle one message of the client. Even a message that cannot be read gets an answer."""
    try:
        call = messages.read(text)
    except InvalidMessage as invalid:
        return [WriteFrame(messages.refused_invalid(invalid))]
    try:
        return _handled(browser, call)
    except Refusal as refusal:
        return [WriteFrame(messages.refused(call, refusal))]
    except RoostError as error:
        return [WriteFrame(messages.refused(call, Refusal.of(error)))]


def _handled(browser: VisibleBrowser, call: Call) -> list[Effect]:
    link = browser.targets.links.get(call.session)
    if link is None:
        raise Refusal(NO_SESSION, "Session with given id not found.")
    call.check_depth()
    rule = rule_for(call.method, in_page=link.is_page, shared=_is_shared(browser, call, link))
    if rule is None or (link.kind is Kind.TAB and call.method not in IN_TABS):
        raise Refusal(NO_METHOD, f"'{call.method[:100]}' wasn't found")
    if rule.way is Way.REFUSED:
        raise Refusal(FAILED, f"{call.method} is not available through Roost: {rule.why}.")
    if browser.is_paused:
        raise Refusal(FAILED, "PAUSED: A person has taken over this session.")
    if rule.way is Way.PASSED:
        return [Send(call, call.method, call.params, call.session)]
    return DOES[call.method](browser, call, link)


def _is_shared(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> bool:
    """Return whether the call concerns the browser's own jar, which other sessions also use.

    A context that the client made is its own even when the session's jar is shared. The
    ``browserContextId`` of a call counts only for methods in which Chromium reads it.
    """
    if browser.targets.context is not None:
        return False
    context = call.text("browserContextId") if call.method in TAKES_CONTEXT else None
    if context is None and link.is_page:
        context = browser.targets.context_of(link)
    return context not in browser.targets.made


def _does(*methods: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        DOES.update(dict.fromkeys(methods, handler))
        return handler

    return register


# --- targets -------------------------------------------------------------------------------------


@_does("Target.setAutoAttach")
def _set_auto_attach(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    for name in ("autoAttach", "waitForDebuggerOnStart"):
        if not isinstance(call.params.get(name), bool):
            raise Refusal(BAD_PARAMS, "Invalid parameters", f"{name}: bool value expected")
    waits, is_on = call.params["waitForDebuggerOnStart"], call.params["autoAttach"]
    wanted = AutoAttach(waits, Filter.read(call.params.get("filter")))
    if is_on and call.params.get("flatten") is not True:
        raise Refusal(FAILED, "Only flat sessions are to be had through Roost: say flatten: true.")
    waiting = DelayedAnswer(set(), messages.result(call, {}))
    effects: list[Effect] = []
    if link.kind is Kind.TAB:
        link.auto_attach = wanted if is_on else None
        info = browser.targets.page_in(link.target)
        has = any(below.is_page for below in browser.targets.below(link.session))
        if is_on and info is not None and not has and wanted.filter.lets("page"):
            attachment = Attachment(info["targetId"], link.session, link.root, wanted.waits)
            waiting.attachments.add(attachment)
            effects.append(browser.attach(attachment))
        return effects + browser.wait_for(waiting)
    link.auto_attach = wanted if is_on else None
    if not is_on or not wanted.waits:
        effects += browser.stopped_waiting(link.session)
    for info in browser.targets.visible():
        effects += browser.auto_attached(link, info, waiting)
    return effects + browser.wait_for(waiting)


@_does("Target.setDiscoverTargets")
def _set_discover_targets(
    browser: VisibleBrowser, call: Call, link: ProtocolSession
) -> list[Effect]:
    if not isinstance(call.params.get("discover"), bool):
        raise Refusal(BAD_PARAMS, "Invalid parameters", "discover: bool value expected")
    root = browser.targets.links[link.root]
    was_on = root.discovers is not None
    root.discovers = Filter.read(call.params.get("filter")) if call.params["discover"] else None
    effects: list[Effect] = []
    if not was_on:
        if root.discovers is not None:
            effects += browser.discovered(root, browser.targets.browser)
        for info in browser.targets.visible():
            effects += browser.discovered(root, info)
    return [*effects, _answer(call)]


@_does("Target.getTargets")
def _get_targets(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    wanted = Filter.read(call.params.get("filter"))
    infos = [info for info in browser.targets.all() if wanted.lets(info["type"])]
    return [_answer(call, {"targetInfos": infos})]


@_does("Target.getTargetInfo")
def _get_target_info(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    target = call.text("targetId")
    if target is None and link.kind is Kind.BROWSER:
        return [_answer(call, {"targetInfo": browser.targets.browser})]
    if target is None and link.is_page:
        return [Send(call, call.method, {}, call.session)]
    return [_answer(call, {"targetInfo": _own_target(browser, target or link.target)})]


@_does("Target.attachToTarget")
def _attach_to_target(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    info = _own_target(browser, _needed(call, "targetId"))
    if call.params.get("flatten") is not True:
        raise Refusal(FAILED, "Only flat sessions are to be had through Roost: say flatten: true.")
    if info is browser.targets.browser:
        return _attach_to_browser(browser, call, link)
    if info["type"] == "tab":
        page = browser.targets.page_in(info["targetId"])
        assert page is not None
        session, effects = browser.attach_tab(link.root, page)
        return [*effects, _answer(call, {"sessionId": session})]
    return [browser.attach(Attachment(info["targetId"], link.root, link.root, call=call))]


@_does("Target.attachToBrowserTarget")
def _attach_to_browser(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    return [Send(call, "Target.attachToBrowserTarget", {}, link.root)]


@_does("Target.detachFromTarget")
def _detach_from_target(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    session = call.text("sessionId")
    if session is None:
        raise Refusal(BAD_PARAMS, "No session for given target id")
    below = browser.targets.links.get(session)
    if below is None or not session:
        raise Refusal(BAD_PARAMS, "No session with given id")
    if below.kind is Kind.TAB:
        pages = [one for one in browser.targets.below(session) if one.is_page]
        ends: list[Effect] = [
            Send(None, call.method, {"sessionId": one.session}, one.real_above) for one in pages
        ]
        return [*browser.forget(below), *ends, _answer(call)]
    # The browser answers in the protocol session through which it was attached, but the client
    # expects the answer in its own. So answer the client from here.
    ends = [Send(None, call.method, {"sessionId": session}, below.real_above)]
    return [*browser.forget(below), *ends, _answer(call)]


@_does("Target.activateTarget")
def _activate_target(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    _own_target(browser, _needed(call, "targetId"))
    return [_answer(call)]


@_does("Target.createTarget")
def _create_target(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    url = _needed(call, "url") or BLANK
    if url != BLANK:
        browser.checks.checked_url(url)
    context = call.text("browserContextId")
    if context not in (None, browser.targets.context, *browser.targets.made):
        raise Refusal(FAILED, f"Failed to find browser context with id {context}")
    return [OpenTab(call, context)]


@_does("Target.closeTarget")
def _close_target(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    info = _own_target(browser, _needed(call, "targetId"))
    if info is browser.targets.browser:
        return [_answer(call, {"success": False})]
    if info["type"] == "tab":
        info = browser.targets.page_in(info["targetId"]) or info
    if info["type"] != "page":
        return [Send(call, call.method, {"targetId": info["targetId"]}, link.root)]
    return [CloseTab(call, info["targetId"])]


# --- contexts ------------------------------------------------------------------------------------


@_does("Target.createBrowserContext")
def _create_context(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    bypass = {one.strip() for one in re.split("[,;]", call.text("proxyBypassList") or "")}
    if bypass - {"", LOOPBACK_TOO}:
        # Without the list, the proxy would get requests that the client wants to keep from it.
        raise Refusal(
            FAILED, "proxyBypassList is not supported here: use the proxy for all addresses"
        )
    return [MakeContext(call, call.text("proxyServer"))]


@_does("Target.disposeBrowserContext")
def _dispose_context(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    context = _needed(call, "browserContextId")
    if context not in browser.targets.made:
        raise Refusal(FAILED, f"Failed to find context with id {context}")
    browser.targets.made.discard(context)
    return [RemoveContext(call, context)]


@_does("Target.getBrowserContexts")
def _get_contexts(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call, {"browserContextIds": sorted(browser.targets.made)})]


@_does(*OF_THE_PAGES_JAR)
def _cookies(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    if not link.is_page:
        return _in_context(browser, call, link)
    if "browserContextId" in call.params:
        raise Refusal(BAD_PARAMS, "browserContextId is only allowed for Browser target")
    return [Send(call, OF_THE_PAGES_JAR[call.method], call.params, call.session)]


@_does(
    "Browser.grantPermissions",
    "Browser.setPermission",
    "Browser.resetPermissions",
    "Browser.cancelDownload",
)
def _in_context(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    clipboard.check_grant(call.params)
    return [Send(call, call.method, _bound(browser, call), link.root)]


@_does("Browser.setDownloadBehavior")
def _set_download_behavior(
    browser: VisibleBrowser, call: Call, link: ProtocolSession
) -> list[Effect]:
    if browser.targets.context is None and "browserContextId" not in call.params:
        return [_answer(call)]  # downloads of the shared jar stay in Roost's own folder
    params = _bound(browser, call)
    if call.params.get("behavior") in ("allow", "allowAndName"):
        params["downloadPath"] = browser.checks.checked_folder(_needed(call, "downloadPath"))
    elif call.params.get("behavior") == "default":
        return [_answer(call)]  # keep the behaviour the session had before this client connected
    return [Send(call, call.method, params, link.root)]


def _bound(browser: VisibleBrowser, call: Call) -> Json:
    """Bind the parameters to the session's jar, or to a context that the client made."""
    context = call.text("browserContextId") or browser.targets.context
    if context is None or context not in (browser.targets.context, *browser.targets.made):
        raise Refusal(BAD_PARAMS, f"Failed to find browser context for id {context}")
    return {**call.params, "browserContextId": context}


# --- the browser itself --------------------------------------------------------------------------


@_does("Browser.close")
def _close(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call), HangUp()]


@_does("Browser.getWindowForTarget")
def _get_window(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    target = call.text("targetId")
    if target is None and link.is_page:
        return [Send(call, call.method, {}, call.session)]
    if browser.targets.get(target or "") is None:
        raise Refusal(FAILED, "No target with given id")
    return [Send(call, call.method, {"targetId": target}, call.session)]


@_does("Browser.getWindowBounds", "Browser.setWindowBounds")
def _window_bounds(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    if call.params.get("windowId") not in browser.windows:
        raise Refusal(FAILED, "Browser window not found")
    return [Send(call, call.method, call.params, call.session)]


# --- in pages ------------------------------------------------------------------------------------


@_does("Runtime.runIfWaitingForDebugger")
def _run(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    if not link.is_page:
        return [_answer(call)]
    if browser.is_held(link.target):
        # Do not pass it to the browser: there the first client to resume the page resumes it for
        # all.
        return [_answer(call), *browser.resumed(link)]
    return [Send(call, call.method, {}, call.session)]


@_does("Fetch.enable", "Fetch.disable")
def _intercept(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    if call.method == "Fetch.enable":
        browser.authentication.enabled(call.session, call.params)
    else:
        browser.authentication.forget(call.session)
    return [Send(call, call.method, call.params, call.session)]


@_does("Fetch.continueRequest")
def _continue_request(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    context = browser.targets.context_of(link)
    params = browser.authentication.continued(call.session, context, call.params)
    return [Send(call, call.method, params, call.session)]


@_does("Fetch.continueWithAuth")
def _continue_with_auth(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    effects = browser.authentication.answered(call, browser.targets.context_of(link))
    return [Send(call, call.method, call.params, call.session)] if effects is None else effects


@_does("Page.bringToFront")
def _bring_to_front(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call)]


@_does("Page.navigate", "Network.loadNetworkResource")
def _navigate(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    try:
        browser.checks.checked_url(_needed(call, "url"))
    except BadRequest:  # no address at all, which clients know by Chromium's words
        raise Refusal(FAILED, "Cannot navigate to invalid URL") from None
    return [Send(call, call.method, call.params, call.session)]


@_does("DOM.setFileInputFiles")
def _set_files(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    files = call.params.get("files")
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
        raise Refusal(BAD_PARAMS, "Invalid parameters", "files: array of strings expected")
    checked = [browser.checks.checked_upload(path) for path in files]
    return [Send(call, call.method, {**call.params, "files": checked}, call.session)]


@_does("Input.dispatchKeyEvent")
def _key(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    use, tab = clipboard.use_of(call.params), browser.targets.tab_behind(call.session)
    if use is None or tab is None:
        return [Send(call, call.method, call.params, call.session)]
    return [UseClipboard(call, tab, use)]


@_does("Input.dispatchDragEvent")
def _drag(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    """Refuse files in drags, even files that the session may read.

    Chromium opens a dropped file as a page if no page handles the drop, and that page could show
    other files.
    """
    data = call.params.get("data")
    if isinstance(data, dict) and data.get("files"):
        raise Refusal(
            FAILED, "Files are not dropped through Roost: give them with DOM.setFileInputFiles."
        )
    return [Send(call, call.method, call.params, call.session)]


@_does(*LARGEST)
def _bounded(browser: VisibleBrowser, call: Call, link: ProtocolSession) -> list[Effect]:
    for name, largest in LARGEST[call.method].items():
        value = call.params.get(name, 0)
        if not isinstance(value, int | float) or not 0 <= value <= largest:
            wanted = f"{name}: number from 0 to {largest} expected"
            raise Refusal(BAD_PARAMS, "Invalid parameters", wanted)
    return [Send(call, call.method, call.params, call.session)]


def _own_target(browser: VisibleBrowser, target: str) -> Json:
    found = browser.targets.get(target)
    if found is None:
        found = next((info for info in browser.targets.all() if info["targetId"] == target), None)
    if found is not None:
        return found
    raise Refusal(BAD_PARAMS, "No target with given id found")


def _needed(call: Call, name: str) -> str:
    value = call.text(name)
    if value is None:
        raise Refusal(BAD_PARAMS, "Invalid parameters", f"{name}: string value expected")
    return value


def _answer(call: Call, value: Json | None = None) -> WriteFrame:
    return WriteFrame(messages.result(call, value or {}))
