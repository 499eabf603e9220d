"""Judge each command of a client by the table (``methods.py``) and carry it out.

A method that is neither passed on unchanged nor refused has a handler here. The handler takes the
view, the call, and the protocol session the call was sent in. A ``Refusal`` or ``RoostError`` that
a handler raises becomes the call's answer. Refusals use Chromium's wording, so that a client cannot
tell another session's target from one that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable

from roost.errors import RoostError
from roost.frontends.cdp import messages
from roost.frontends.cdp.messages import (
    BAD_PARAMS,
    FAILED,
    NO_METHOD,
    NO_SESSION,
    Call,
    CloseTab,
    Effect,
    HangUp,
    Json,
    MakeContext,
    OpenTab,
    Refusal,
    RemoveContext,
    Send,
    Unread,
    WriteFrame,
)
from roost.frontends.cdp.methods import LARGEST, Way, rule_for
from roost.frontends.cdp.targets import (
    Attachment,
    AutoAttach,
    Filter,
    Kind,
    ProtocolSession,
    Waiting,
)
from roost.frontends.cdp.view import View

Handler = Callable[[View, Call, ProtocolSession], list[Effect]]
BLANK = "about:blank"
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


def said(view: View, text: str | bytes) -> list[Effect]:
    """Handle one message of the client. Even a message that cannot be read gets an answer."""
    try:
        call = messages.read(text)
    except Unread as unread:
        return [WriteFrame(messages.refused_unread(unread))]
    try:
        return _judged(view, call)
    except Refusal as refusal:
        return [WriteFrame(messages.refused(call, refusal))]
    except RoostError as error:
        return [WriteFrame(messages.refused(call, Refusal.of(error)))]


def _judged(view: View, call: Call) -> list[Effect]:
    link = view.targets.links.get(call.session)
    if link is None:
        raise Refusal(NO_SESSION, "Session with given id not found.")
    call.check_depth()
    rule = rule_for(call.method, in_page=link.is_page, shared=_is_shared(view, call, link))
    if rule is None or (link.kind is Kind.TAB and call.method not in IN_TABS):
        raise Refusal(NO_METHOD, f"'{call.method[:100]}' wasn't found")
    if rule.way is Way.REFUSED:
        raise Refusal(FAILED, f"{call.method} is not available through Roost: {rule.why}.")
    if view.is_paused:
        raise Refusal(FAILED, "PAUSED: A person has taken over this session.")
    if rule.way is Way.PASSED:
        return [Send(call, call.method, call.params, call.session)]
    return DOES[call.method](view, call, link)


def _is_shared(view: View, call: Call, link: ProtocolSession) -> bool:
    """Return whether the call concerns the browser's own jar, which other sessions also use.

    A context that the client made is its own even when the session's jar is shared. The
    ``browserContextId`` of a call counts only for methods in which Chromium reads it.
    """
    if view.targets.context is not None:
        return False
    context = call.text("browserContextId") if call.method in TAKES_CONTEXT else None
    if context is None and link.is_page:
        context = view.targets.context_of(link)
    return context not in view.targets.made


def _does(*methods: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        DOES.update(dict.fromkeys(methods, handler))
        return handler

    return register


# --- targets -------------------------------------------------------------------------------------


@_does("Target.setAutoAttach")
def _set_auto_attach(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    for name in ("autoAttach", "waitForDebuggerOnStart"):
        if not isinstance(call.params.get(name), bool):
            raise Refusal(BAD_PARAMS, "Invalid parameters", f"{name}: bool value expected")
    waits, is_on = call.params["waitForDebuggerOnStart"], call.params["autoAttach"]
    wanted = AutoAttach(waits, Filter.read(call.params.get("filter")))
    if is_on and call.params.get("flatten") is not True:
        raise Refusal(FAILED, "Only flat sessions are to be had through Roost: say flatten: true.")
    waiting = Waiting(set(), messages.result(call, {}))
    effects: list[Effect] = []
    if link.kind is Kind.TAB:
        link.auto_attach = wanted if is_on else None
        info = view.targets.page_in(link.target)
        has = any(below.is_page for below in view.targets.below(link.session))
        if is_on and info is not None and not has and wanted.filter.lets("page"):
            attachment = Attachment(info["targetId"], link.session, link.root, wanted.waits)
            waiting.attachments.add(attachment)
            effects.append(view.attach(attachment))
        return effects + view.wait_for(waiting)
    link.auto_attach = wanted if is_on else None
    if not is_on or not wanted.waits:
        effects += view.stopped_waiting(link.session)
    for info in view.targets.visible():
        effects += view.auto_attached(link, info, waiting)
    return effects + view.wait_for(waiting)


@_does("Target.setDiscoverTargets")
def _set_discover_targets(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    if not isinstance(call.params.get("discover"), bool):
        raise Refusal(BAD_PARAMS, "Invalid parameters", "discover: bool value expected")
    root = view.targets.links[link.root]
    was_on = root.discovers is not None
    root.discovers = Filter.read(call.params.get("filter")) if call.params["discover"] else None
    effects: list[Effect] = []
    if not was_on:
        if root.discovers is not None:
            effects += view.discovered(root, view.targets.browser)
        for info in view.targets.visible():
            effects += view.discovered(root, info)
    return [*effects, _answer(call)]


@_does("Target.getTargets")
def _get_targets(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    wanted = Filter.read(call.params.get("filter"))
    infos = [info for info in view.targets.all() if wanted.lets(info["type"])]
    return [_answer(call, {"targetInfos": infos})]


@_does("Target.getTargetInfo")
def _get_target_info(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    target = call.text("targetId")
    if target is None and link.kind is Kind.BROWSER:
        return [_answer(call, {"targetInfo": view.targets.browser})]
    if target is None and link.is_page:
        return [Send(call, call.method, {}, call.session)]
    return [_answer(call, {"targetInfo": _own_target(view, target or link.target)})]


@_does("Target.attachToTarget")
def _attach_to_target(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    info = _own_target(view, _needed(call, "targetId"))
    if call.params.get("flatten") is not True:
        raise Refusal(FAILED, "Only flat sessions are to be had through Roost: say flatten: true.")
    if info is view.targets.browser:
        return _attach_to_browser(view, call, link)
    if info["type"] == "tab":
        page = view.targets.page_in(info["targetId"])
        assert page is not None
        session, effects = view.attach_tab(link.root, page)
        return [*effects, _answer(call, {"sessionId": session})]
    return [view.attach(Attachment(info["targetId"], link.root, link.root, call=call))]


@_does("Target.attachToBrowserTarget")
def _attach_to_browser(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [Send(call, "Target.attachToBrowserTarget", {}, link.root)]


@_does("Target.detachFromTarget")
def _detach_from_target(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    session = call.text("sessionId")
    if session is None:
        raise Refusal(BAD_PARAMS, "No session for given target id")
    below = view.targets.links.get(session)
    if below is None or not session:
        raise Refusal(BAD_PARAMS, "No session with given id")
    if below.kind is Kind.TAB:
        pages = [one for one in view.targets.below(session) if one.is_page]
        ends: list[Effect] = [
            Send(None, call.method, {"sessionId": one.session}, one.real_above) for one in pages
        ]
        return [*view.forget(below), *ends, _answer(call)]
    # The browser answers in the protocol session through which it was attached, but the client
    # expects the answer in its own. So answer the client from here.
    ends = [Send(None, call.method, {"sessionId": session}, below.real_above)]
    return [*view.forget(below), *ends, _answer(call)]


@_does("Target.activateTarget")
def _activate_target(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    _own_target(view, _needed(call, "targetId"))
    return [_answer(call)]


@_does("Target.createTarget")
def _create_target(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    url = _needed(call, "url") or BLANK
    if url != BLANK:
        view.judge.checked_url(url)
    context = call.text("browserContextId")
    if context not in (None, view.targets.context, *view.targets.made):
        raise Refusal(FAILED, f"Failed to find browser context with id {context}")
    return [OpenTab(call, context)]


@_does("Target.closeTarget")
def _close_target(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    info = _own_target(view, _needed(call, "targetId"))
    if info is view.targets.browser:
        return [_answer(call, {"success": False})]
    if info["type"] == "tab":
        info = view.targets.page_in(info["targetId"]) or info
    if info["type"] != "page":
        return [Send(call, call.method, {"targetId": info["targetId"]}, link.root)]
    return [CloseTab(call, info["targetId"])]


# --- contexts ------------------------------------------------------------------------------------


@_does("Target.createBrowserContext")
def _create_context(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [MakeContext(call, call.text("proxyServer"))]


@_does("Target.disposeBrowserContext")
def _dispose_context(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    context = _needed(call, "browserContextId")
    if context not in view.targets.made:
        raise Refusal(FAILED, f"Failed to find context with id {context}")
    view.targets.made.discard(context)
    return [RemoveContext(call, context)]


@_does("Target.getBrowserContexts")
def _get_contexts(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call, {"browserContextIds": sorted(view.targets.made)})]


@_does(*OF_THE_PAGES_JAR)
def _cookies(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    if not link.is_page:
        return _in_context(view, call, link)
    if "browserContextId" in call.params:
        raise Refusal(BAD_PARAMS, "browserContextId is only allowed for Browser target")
    return [Send(call, OF_THE_PAGES_JAR[call.method], call.params, call.session)]


@_does(
    "Browser.grantPermissions",
    "Browser.setPermission",
    "Browser.resetPermissions",
    "Browser.cancelDownload",
)
def _in_context(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [Send(call, call.method, _bound(view, call), link.root)]


@_does("Browser.setDownloadBehavior")
def _set_download_behavior(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    if view.targets.context is None and "browserContextId" not in call.params:
        return [_answer(call)]  # downloads of the shared jar stay in Roost's own folder
    params = _bound(view, call)
    if call.params.get("behavior") in ("allow", "allowAndName"):
        params["downloadPath"] = view.judge.checked_folder(_needed(call, "downloadPath"))
    elif call.params.get("behavior") == "default":
        return [_answer(call)]  # keep the behaviour the session had before this client connected
    return [Send(call, call.method, params, link.root)]


def _bound(view: View, call: Call) -> Json:
    """Bind the parameters to the session's jar, or to a context that the client made."""
    context = call.text("browserContextId") or view.targets.context
    if context is None or context not in (view.targets.context, *view.targets.made):
        raise Refusal(BAD_PARAMS, f"Failed to find browser context for id {context}")
    return {**call.params, "browserContextId": context}


# --- the browser itself --------------------------------------------------------------------------


@_does("Browser.close")
def _close(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call), HangUp()]


@_does("Browser.getWindowForTarget")
def _get_window(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    target = call.text("targetId")
    if target is None and link.is_page:
        return [Send(call, call.method, {}, call.session)]
    if view.targets.get(target or "") is None:
        raise Refusal(FAILED, "No target with given id")
    return [Send(call, call.method, {"targetId": target}, call.session)]


@_does("Browser.getWindowBounds", "Browser.setWindowBounds")
def _window_bounds(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    if call.params.get("windowId") not in view.windows:
        raise Refusal(FAILED, "Browser window not found")
    return [Send(call, call.method, call.params, call.session)]


# --- in pages ------------------------------------------------------------------------------------


@_does("Runtime.runIfWaitingForDebugger")
def _run(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    if not link.is_page:
        return [_answer(call)]
    if view.is_held(link.target):
        # Do not pass it to the browser: there the first client to resume the page resumes it for
        # all.
        return [_answer(call), *view.resumed(link)]
    return [Send(call, call.method, {}, call.session)]


@_does("Page.bringToFront")
def _bring_to_front(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    return [_answer(call)]


@_does("Page.navigate", "Network.loadNetworkResource")
def _navigate(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    view.judge.checked_url(_needed(call, "url"))
    return [Send(call, call.method, call.params, call.session)]


@_does("DOM.setFileInputFiles")
def _set_files(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    files = call.params.get("files")
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
        raise Refusal(BAD_PARAMS, "Invalid parameters", "files: array of strings expected")
    checked = [view.judge.checked_upload(path) for path in files]
    return [Send(call, call.method, {**call.params, "files": checked}, call.session)]


@_does("Input.dispatchDragEvent")
def _drag(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
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
def _bounded(view: View, call: Call, link: ProtocolSession) -> list[Effect]:
    for name, largest in LARGEST[call.method].items():
        value = call.params.get(name, 0)
        if not isinstance(value, int | float) or not 0 <= value <= largest:
            wanted = f"{name}: number from 0 to {largest} expected"
            raise Refusal(BAD_PARAMS, "Invalid parameters", wanted)
    return [Send(call, call.method, call.params, call.session)]


def _own_target(view: View, target: str) -> Json:
    found = view.targets.get(target)
    if found is None:
        found = next((info for info in view.targets.all() if info["targetId"] == target), None)
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
