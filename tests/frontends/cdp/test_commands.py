"""Commands of a client (roost.frontends.cdp.commands, .methods) concern its own session only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.frontends.cdp.commands import DOES, said
from roost.frontends.cdp.messages import MAX_DEPTH, CloseTab, HangUp, MakeContext, Send
from roost.frontends.cdp.methods import BROWSER, PAGE, PAGE_DOMAINS, Way, rule_for
from tests.frontends.cdp.cdp_stage import MINE, OTHERS, Stage


def on_page(context: str | None = MINE) -> tuple[Stage, str]:
    """Return a stage with the session's tab T-1 and another session's T-other, and the protocol
    session of T-1."""
    stage = Stage(context)
    stage.attach_all()
    stage.tab("T-1")
    stage.page("T-other", OTHERS)
    return stage, stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]


NO_TARGET = {"code": -32602, "message": "No target with given id found"}
FOREIGN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("Target.attachToTarget", {"targetId": "T-other", "flatten": True}, NO_TARGET),
    ("Target.getTargetInfo", {"targetId": "T-other"}, NO_TARGET),
    ("Target.closeTarget", {"targetId": "T-other"}, NO_TARGET),
    ("Target.activateTarget", {"targetId": "T-other"}, NO_TARGET),
    (
        "Target.detachFromTarget",
        {"sessionId": "THEIRS"},
        {"code": -32602, "message": "No session with given id"},
    ),
    (
        "Browser.getWindowForTarget",
        {"targetId": "T-other"},
        {"code": -32000, "message": "No target with given id"},
    ),
    (
        "Browser.setWindowBounds",
        {"windowId": 7, "bounds": {"width": 1}},
        {"code": -32000, "message": "Browser window not found"},
    ),
    (
        "Target.createTarget",
        {"url": "about:blank", "browserContextId": OTHERS},
        {"code": -32000, "message": f"Failed to find browser context with id {OTHERS}"},
    ),
    (
        "Target.disposeBrowserContext",
        {"browserContextId": OTHERS},
        {"code": -32000, "message": f"Failed to find context with id {OTHERS}"},
    ),
    *(
        (
            method,
            {"browserContextId": OTHERS, "behavior": "deny"},
            {"code": -32602, "message": f"Failed to find browser context for id {OTHERS}"},
        )
        for method in (
            "Storage.getCookies",
            "Storage.setCookies",
            "Storage.clearCookies",
            "Browser.setDownloadBehavior",
            "Browser.grantPermissions",
            "Browser.setPermission",
            "Browser.resetPermissions",
            "Browser.cancelDownload",
        )  # fmt: skip
    ),
]


@pytest.mark.parametrize(("method", "params", "expected"), FOREIGN, ids=lambda v: str(v)[:40])
@pytest.mark.parametrize("where", ["browser", "page"])
def test_another_sessions_target_gets_the_same_answer_as_a_missing_one(
    method: str, params: dict[str, Any], expected: dict[str, Any], where: str
) -> None:
    if where == "page" and method.startswith("Storage."):  # where these know no contexts
        wrong = "browserContextId is only allowed for Browser target"
        expected = {"code": -32602, "message": wrong}
    stage, session = on_page()
    sent = len(stage.sent)
    error = stage.error(method, params, session if where == "page" else "")
    assert error == expected
    assert stage.sent[sent:] == []
    assert stage.asked == []


@pytest.mark.parametrize("method", [m for m, rule in BROWSER.items() if rule.way is Way.REFUSED])
def test_commands_for_the_whole_browser_are_refused_and_not_sent(method: str) -> None:
    stage, session = on_page()
    sent = len(stage.sent)
    assert method in stage.error(method)["message"]
    if method.partition(".")[0] not in PAGE_DOMAINS:
        assert method in stage.error(method, session=session)["message"]
    assert stage.sent[sent:] == []


@pytest.mark.parametrize(
    "method", ["Nonsense.doIt", "Browser.newThing", "Target.newThing", "", "Page", "x" * 5000]
)
def test_a_method_that_is_not_in_the_table_does_not_exist(method: str) -> None:
    stage, session = on_page()
    sent = len(stage.sent)
    for where in ("", session):
        error = stage.error(method, session=where)
        assert error == {"code": -32601, "message": f"'{method[:100]}' wasn't found"}
    assert stage.sent[sent:] == []


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 310, 5000, 20_000])
def test_a_command_nested_too_deep_is_refused_under_its_id_and_never_sent(levels: int) -> None:
    """Chromium would never answer the command, so it would count as pending forever."""
    stage = Stage()
    sent = len(stage.sent)
    for opening, closing in (("[", "]"), ('{"x":', "}")):
        nested = opening * (levels - 2) + "[]" + closing * (levels - 2)
        text = f'{{"id":7,"method":"Browser.getVersion","params":{{"x":{nested}}}}}'
        stage.do(said(stage.visible, text))
        answer = stage.said.pop()
        assert answer["id"] == 7
        assert f"nested more than {MAX_DEPTH} levels" in json.dumps(answer["error"])
    assert stage.sent[sent:] == []


def test_a_command_nested_as_deep_as_it_may_be_is_passed_and_a_deeper_one_refused() -> None:
    stage, session = on_page()
    value: list[Any] = []
    for _ in range(MAX_DEPTH - 2):
        value = [value]
    assert stage.client("Runtime.evaluate", {"x": value}, session) is None
    assert stage.sent[-1].params == {"x": value}
    assert stage.error("Runtime.evaluate", {"x": [value]}, session)["code"] == -32602


def test_every_rule_that_is_not_plain_has_its_function_and_every_function_its_rule() -> None:
    rules = {**BROWSER, **PAGE}
    acted = {
        m for t in (BROWSER, PAGE) for m, r in t.items() if r.way not in (Way.PASSED, Way.REFUSED)
    }
    assert acted - DOES.keys() == set()
    assert DOES.keys() - acted == set()
    assert all(rule.why for rule in rules.values())


@pytest.mark.parametrize("method", ["Storage.getCookies", "Browser.resetPermissions"])
def test_without_a_context_the_sessions_own_is_meant(method: str) -> None:
    stage = Stage()
    stage.client(method)
    assert stage.sent[-1].params == {"browserContextId": MINE}


@pytest.mark.parametrize(
    "method",
    [
        "Storage.getCookies", "Storage.clearCookies", "Browser.grantPermissions",
    ],
)  # fmt: skip
def test_in_the_shared_jar_commands_on_the_jar_are_refused(method: str) -> None:
    stage, session = on_page(context=None)
    sent = len(stage.sent)
    assert "shared" in stage.error(method)["message"]
    pages = ("Network.getAllCookies", "Network.clearBrowserCookies", "ServiceWorker.enable",
             "Storage.clearDataForOrigin")  # fmt: skip
    for in_page in pages:
        assert "shared" in stage.error(in_page, session=session)["message"]
    assert stage.sent[sent:] == []


@pytest.mark.parametrize(
    ("method", "meant"),
    [
        ("Storage.getCookies", "Network.getAllCookies"),
        ("Storage.setCookies", "Network.setCookies"),
        ("Storage.clearCookies", "Network.clearBrowserCookies"),
    ],
)
def test_cookie_commands_in_a_page_use_the_pages_jar(method: str, meant: str) -> None:
    stage, session = on_page()
    stage.client(method, {"cookies": []}, session)
    assert (stage.sent[-1].method, stage.sent[-1].session) == (meant, session)


@pytest.mark.parametrize("context", ["CONTEXT-new", OTHERS, "x"])
@pytest.mark.parametrize(
    "method", ["Network.getAllCookies", "ServiceWorker.enable", "Storage.clearDataForOrigin"]
)
def test_naming_a_context_gives_no_rights_in_a_page_of_the_shared_jar(
    method: str, context: str
) -> None:
    """Chromium ignores the context in these commands."""
    stage, session = on_page(context=None)
    stage.visible.targets.made.add("CONTEXT-new")
    sent = len(stage.sent)
    assert "shared" in stage.error(method, {"browserContextId": context}, session)["message"]
    assert stage.sent[sent:] == []


def test_a_page_in_a_clients_own_context_is_unrestricted_beside_the_shared_jar() -> None:
    stage = Stage(context=None)
    stage.visible.targets.made.add("CONTEXT-new")
    stage.tab("T-mine", context="CONTEXT-new")
    attach = {"targetId": "T-mine", "flatten": True}
    session = stage.result("Target.attachToTarget", attach)["sessionId"]
    stage.client("Storage.getCookies", session=session)
    assert stage.sent[-1].method == "Network.getAllCookies"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "javascript:1"])
@pytest.mark.parametrize("method", ["Page.navigate", "Network.loadNetworkResource"])
def test_pages_may_open_only_addresses_that_the_session_may_open(method: str, url: str) -> None:
    stage, session = on_page()
    assert stage.error(method, {"url": url}, session)["message"].startswith("URL_BLOCKED")
    assert stage.error("Target.createTarget", {"url": url})["message"].startswith("URL_BLOCKED")
    assert stage.client(method, {"url": "https://site.test/"}, session) is None
    assert stage.sent[-1].params == {"url": "https://site.test/"}


def test_text_that_is_not_an_address_is_refused_in_chromiums_words() -> None:
    stage, session = on_page()
    refused = stage.error("Page.navigate", {"url": "asdfasdf"}, session)
    assert refused == {"code": -32000, "message": "Cannot navigate to invalid URL"}


def test_uploads_and_downloads_use_only_the_sessions_folders() -> None:
    stage, session = on_page()
    upload = {"files": ["/mine/a", "/etc/passwd"], "objectId": "o"}
    assert stage.error("DOM.setFileInputFiles", upload, session)["message"].startswith(
        "BAD_REQUEST"
    )
    stage.client("DOM.setFileInputFiles", {"files": ["/mine/a"], "objectId": "o"}, session)
    assert stage.sent[-1].params == {"files": ["/mine/a"], "objectId": "o"}
    for behavior in ("allow", "allowAndName"):
        away = {"behavior": behavior, "downloadPath": "/home/me"}
        assert "outside" in stage.error("Browser.setDownloadBehavior", away)["message"]
        here = {"behavior": behavior, "downloadPath": "/mine"}
        stage.client("Browser.setDownloadBehavior", here)
        assert stage.sent[-1].params == {**here, "browserContextId": MINE}
        nowhere = stage.error("Browser.setDownloadBehavior", {"behavior": behavior})
        assert nowhere["code"] == -32602
    assert stage.result("Browser.setDownloadBehavior", {"behavior": "default"}) == {}


def test_no_file_is_dropped_into_a_page_not_even_one_the_session_may_read() -> None:
    stage, session = on_page()
    for files in (["/etc/passwd"], ["/mine/a"], "/etc/passwd", {"0": "/etc/passwd"}):
        drop = {"type": "drop", "x": 1, "y": 1, "data": {"items": [], "files": files}}
        assert stage.error("Input.dispatchDragEvent", drop, session)["code"] == -32000
    for data in ({"items": [{"mimeType": "text/plain", "data": "x"}], "files": []}, None, 5):
        drop = {"type": "drop", "x": 1, "y": 1, "data": data}
        stage.client("Input.dispatchDragEvent", drop, session)
        assert stage.sent[-1].params == drop, "what is no drag, Chromium says"


def test_numbers_outside_chromiums_range_are_refused_and_others_passed() -> None:
    stage, session = on_page()
    quota = "Storage.overrideQuotaForOrigin"
    for wrong in (-1, 2**60, 1e300, "5", None, [1]):
        given = {"origin": "http://x.test", "quotaSize": wrong}
        assert stage.error(quota, given, session)["code"] == -32602
    for right in ({"origin": "http://x.test"}, {"origin": "http://x.test", "quotaSize": 5}):
        stage.client(quota, right, session)
        assert stage.sent[-1].params == right


def test_closing_the_browser_ends_the_clients_view_alone() -> None:
    stage, session = on_page()
    for where in ("", session):
        sent = len(stage.sent)
        assert stage.result("Browser.close", session=where) == {}
        assert stage.others[-1:] == [HangUp()]
        assert stage.sent[sent:] == []


def test_tabs_are_opened_and_closed_by_the_broker() -> None:
    stage, session = on_page()
    for where in ("", session):
        stage.client("Target.closeTarget", {"targetId": "T-1"}, where)
        order = stage.asked[-1]
        assert isinstance(order, CloseTab)
        assert order.target == "T-1"
        stage.do(stage.visible.done(order.call))
        assert stage.said[-1]["result"] == {"success": True}
    assert stage.sent == []


def test_the_broker_decides_about_a_clients_proxy() -> None:
    stage = Stage()
    stage.client("Target.createBrowserContext", {"proxyServer": "evil:1"})
    order = stage.asked[-1]
    assert isinstance(order, MakeContext)
    assert order.proxy == "evil:1"


def test_a_list_of_addresses_without_the_proxy_is_refused_and_not_dropped() -> None:
    stage = Stage()
    for bypass in ("*.example.com", "<-loopback>;internal.test", "<local>"):
        given = {"proxyServer": "mine:1", "proxyBypassList": bypass}
        stage.client("Target.createBrowserContext", given)
        assert "proxyBypassList is not supported" in stage.said[-1]["error"]["message"]
    assert stage.asked == []
    stage.client(
        "Target.createBrowserContext", {"proxyServer": "mine:1", "proxyBypassList": "<-loopback>"}
    )
    assert isinstance(stage.asked[-1], MakeContext), "what Playwright adds by itself"


def test_no_tab_takes_the_focus() -> None:
    stage, session = on_page()
    assert stage.result("Page.bringToFront", session=session) == {}
    assert stage.result("Target.activateTarget", {"targetId": "T-1"}) == {}
    assert stage.sent == []


def test_a_client_may_change_only_windows_that_it_has_looked_up() -> None:
    stage, session = on_page()
    bounds = {"windowId": 7, "bounds": {"width": 500}}
    assert stage.error("Browser.setWindowBounds", bounds, session)["code"] == -32000
    stage.client("Browser.getWindowForTarget", session=session)
    stage.answer(stage.sent[-1], {"windowId": 7, "bounds": {}})
    assert stage.client("Browser.setWindowBounds", bounds, session) is None
    assert stage.sent[-1] == Send(stage.sent[-1].key, "Browser.setWindowBounds", bounds, session)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Target.attachToTarget", {"targetId": 5, "flatten": True}),
        ("Target.attachToTarget", {"flatten": True}),
        ("Target.attachToTarget", {"targetId": "T-1"}),
        ("Target.setAutoAttach", {"autoAttach": True}),
        ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False}),
        ("Target.setAutoAttach", {"autoAttach": 1, "waitForDebuggerOnStart": 0, "flatten": True}),
        ("Target.setDiscoverTargets", {"discover": "yes"}),
        ("Target.setDiscoverTargets", {"discover": True, "filter": {"type": "page"}}),
        ("Target.setDiscoverTargets", {"discover": True, "filter": [7]}),
        ("Target.createTarget", {}),
        ("Target.createTarget", {"url": "about:blank", "browserContextId": {}}),
        ("Target.detachFromTarget", {"targetId": "T-1"}),
        ("Target.detachFromTarget", {"sessionId": ""}),
        ("Target.getTargetInfo", {"targetId": []}),
        ("Storage.getCookies", {"browserContextId": 5}),
        ("Browser.getWindowBounds", {}),
    ],
)
def test_wrong_parameters_are_refused_without_asking_the_browser(
    method: str, params: dict[str, Any]
) -> None:
    stage, _ = on_page()
    sent = len(stage.sent)
    assert stage.error(method, params)["code"] in (-32602, -32000)
    assert stage.sent[sent:] == []


def test_commands_that_concern_one_page_are_passed() -> None:
    for method in ("Runtime.evaluate", "Fetch.failRequest", "Network.enable", "Page.printToPDF"):
        rule = rule_for(method, in_page=True, shared=False)
        assert rule is not None
        assert rule.way is Way.PASSED
    assert rule_for("Runtime.evaluate", in_page=False, shared=False) is None
    assert rule_for("Schema.getDomains", in_page=True, shared=False) is not None


def test_a_clients_own_context_is_unrestricted_beside_the_shared_jar() -> None:
    stage = Stage(context=None)
    stage.visible.targets.made.add("CONTEXT-new")
    own = {"browserContextId": "CONTEXT-new"}
    stage.client("Storage.getCookies", own)
    assert stage.sent[-1].params == own
    where = {"behavior": "allow", "downloadPath": "/mine"}
    assert stage.result("Browser.setDownloadBehavior", where) == {}, "the shared jar's stay put"
    assert stage.sent[-1].method == "Storage.getCookies"
