"""A client that attacks another session learns nothing and affects nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from roost.frontends.cdp.messages import MAX_DEPTH
from tests.e2e.cdp.raw_client import RawClient
from tests.support.house import House
from tests.support.local_web import Web

SECRET = "the-victims-secret-mark"


@dataclass(slots=True)
class Case:
    """A victim that works, and an adversary in another session."""

    victim: RawClient
    adversary: RawClient
    target: str
    session: str
    context: str
    url: str

    def victims_words(self) -> set[str]:
        return {SECRET, self.target, self.session, self.context}


@pytest.fixture(scope="module")
def case(house: House, web: Web) -> Iterator[Case]:
    page = f"<h1>{SECRET}</h1><script>document.cookie = 'v={SECRET}'</script>"
    url = house.cdp_url("victim")
    with RawClient(url) as victim, RawClient(house.cdp_url("adversary")) as adversary:
        victim.result("Target.setDiscoverTargets", {"discover": True})
        victim.attach_all()
        target, session = victim.page(web.page(page, title=SECRET))
        victim.result("Runtime.enable", session=session)
        info = victim.result("Target.getTargetInfo", {"targetId": target})["targetInfo"]
        adversary.attach_all()
        adversary.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
        yield Case(victim, adversary, target, session, info["browserContextId"], url)
        assert_unharmed(victim, session)


def assert_unharmed(victim: RawClient, session: str) -> None:
    assert victim.run("document.querySelector('h1').textContent", session) == SECRET


ABSENT = "F" * 32
TARGETS = ["Target.attachToTarget", "Target.getTargetInfo", "Target.closeTarget",
           "Target.activateTarget", "Browser.getWindowForTarget"]  # fmt: skip
CONTEXTS = ["Storage.getCookies", "Storage.setCookies", "Storage.clearCookies",
            "Target.createTarget", "Target.disposeBrowserContext", "Browser.grantPermissions",
            "Browser.resetPermissions", "Browser.setDownloadBehavior",
            "Browser.cancelDownload"]  # fmt: skip
SESSIONS = ["Runtime.evaluate", "Page.navigate", "Page.captureScreenshot", "Network.getAllCookies",
            "Target.createTarget", "Target.getTargets", "Browser.close", "Storage.getCookies",
            "Page.close", "Fetch.enable", "Target.setAutoAttach", "Nonsense.x"]  # fmt: skip
MORE: dict[str, Any] = {
    "flatten": True, "cookies": [], "url": "about:blank", "permissions": ["geolocation"],
    "behavior": "deny", "guid": "x", "expression": "1",
}  # fmt: skip


def alike(case: Case, method: str, params: dict[str, Any], named: str, foreign: str) -> None:
    """Check that the answers about a foreign and a missing thing are the same, byte for byte."""
    answers = [
        json.dumps(case.adversary.ask(method, {**params, named: one})["error"]).replace(one, "X")
        for one in (foreign, ABSENT)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", TARGETS)
def test_foreign_targets_do_not_exist(case: Case, method: str) -> None:
    alike(case, method, {"flatten": True}, "targetId", case.target)


@pytest.mark.parametrize("method", CONTEXTS)
def test_foreign_contexts_do_not_exist(case: Case, method: str) -> None:
    alike(case, method, MORE, "browserContextId", case.context)


@pytest.mark.parametrize("method", SESSIONS)
def test_foreign_sessions_do_not_exist(case: Case, method: str) -> None:
    answers = [case.adversary.ask(method, MORE, session) for session in (case.session, ABSENT)]
    assert answers[0]["error"] == answers[1]["error"]
    assert answers[0]["error"]["code"] == -32001


@pytest.mark.parametrize("method", [*TARGETS, *CONTEXTS[3:]])
def test_foreign_targets_are_not_reached_through_ones_own_page(case: Case, method: str) -> None:
    _, own = case.adversary.page()
    named = "targetId" if method in TARGETS else "browserContextId"
    foreign = case.target if method in TARGETS else case.context
    answers = [
        json.dumps(case.adversary.ask(method, {**MORE, named: one}, own)["error"]).replace(one, "X")
        for one in (foreign, ABSENT)
    ]
    assert answers[0] == answers[1]


def test_foreign_targets_are_not_reached_through_a_browser_session(case: Case) -> None:
    root = case.adversary.result("Target.attachToBrowserTarget")["sessionId"]
    found = case.adversary.result("Target.getTargets", {"filter": [{}]}, root)
    assert case.target not in json.dumps(found)
    answer = case.adversary.ask(
        "Target.attachToTarget", {"targetId": case.target, "flatten": True}, root
    )
    assert answer["error"]["code"] == -32602


def test_detaching_a_foreign_session_is_detaching_nothing(case: Case) -> None:
    alike(case, "Target.detachFromTarget", {}, "sessionId", case.session)
    assert_unharmed(case.victim, case.session)


@pytest.mark.parametrize(
    "method",
    ["Tracing.start", "Target.exposeDevToolsProtocol", "SystemInfo.getProcessInfo",
     "Browser.crash", "Browser.getBrowserCommandLine", "Fetch.enable", "Tethering.bind",
     "Extensions.loadUnpacked", "Target.sendMessageToTarget", "Memory.simulatePressureNotification",
     "Network.enable", "Runtime.evaluate", "Page.enable", "Log.enable", "Cast.enable"],
)  # fmt: skip
def test_commands_for_the_whole_browser_are_refused(case: Case, method: str) -> None:
    answer = case.adversary.ask(method, {"targetId": case.target, "categories": "*"})
    assert "error" in answer


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "chrome://version", "chrome-untrusted://x", "view-source:http://x.test",
     "javascript:alert(1)", "da\nta:text/html,x", "devtools://devtools/x", " FILE:///etc/passwd",
     "fi\nle:///etc/passwd", "about:version", "filesystem:http://x.test/y"],
)  # fmt: skip
def test_addresses_of_local_files_and_browser_pages_are_refused(case: Case, url: str) -> None:
    _, own = case.adversary.page()
    for answer in (
        case.adversary.ask("Page.navigate", {"url": url}, own),
        case.adversary.ask("Target.createTarget", {"url": url}),
        case.adversary.ask(
            "Network.loadNetworkResource",
            {"url": url, "options": {"disableCache": True, "includeCredentials": True}},
            own,
        ),
    ):
        assert answer["error"]["message"].startswith("URL_BLOCKED"), answer


def test_a_page_cannot_be_made_to_open_refused_addresses(case: Case) -> None:
    _, own = case.adversary.page()
    script = "location.href = 'file:///etc/passwd'; window.open('chrome://version'); 1"
    case.adversary.ask("Runtime.evaluate", {"expression": script, "userGesture": True}, own)
    where = {"expression": "location.href", "returnByValue": True}
    found = case.adversary.result("Runtime.evaluate", where, own)["result"]["value"]
    assert found == "about:blank"
    urls = [info["url"] for info in case.adversary.result("Target.getTargets")["targetInfos"]]
    assert not any(url.startswith(("file:", "chrome:")) for url in urls)


def test_chromium_answers_a_command_as_deep_as_roost_passes_it_on(case: Case) -> None:
    """Chromium never answers a command that is nested too deep for it."""
    _, session = case.adversary.page()
    value: list[Any] = []
    for _ in range(MAX_DEPTH - 4):  # the parameters, the list of arguments and the argument
        value = [value]
    run = {
        "functionDeclaration": "(value) => value.length",
        "executionContextId": _main_context(case.adversary, session),
        "returnByValue": True,
    }
    passed = case.adversary.result(
        "Runtime.callFunctionOn", {**run, "arguments": [{"value": value}]}, session
    )
    assert passed["result"]["value"] == 1
    deeper = {**run, "arguments": [{"value": [value]}]}
    assert "error" in case.adversary.ask("Runtime.callFunctionOn", deeper, session)


def _main_context(client: RawClient, session: str) -> int:
    client.result("Runtime.enable", session=session)
    created = client.events("Runtime.executionContextCreated")
    return int(created[-1]["context"]["id"])


def test_files_of_the_machine_are_not_uploaded(case: Case) -> None:
    _, own = case.adversary.page()
    make = {"expression": "const i = document.createElement('input'); i.type = 'file'; i"}
    field = case.adversary.result("Runtime.evaluate", make, own)["result"]["objectId"]
    answer = case.adversary.ask(
        "DOM.setFileInputFiles", {"files": ["/etc/passwd"], "objectId": field}, own
    )
    assert answer["error"]["message"].startswith("BAD_REQUEST")
    for folder in ("/etc", "/root", "/"):
        answer = case.adversary.ask(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder}
        )
        assert answer["error"]["message"].startswith("BAD_REQUEST")


def test_files_of_the_machine_are_not_dropped_into_a_page_or_opened_by_that(case: Case) -> None:
    """Chromium gives a page whatever file a drag names; where the page takes none, it opens it."""
    _, own = case.adversary.page()
    data = {"items": [], "files": ["/etc/passwd"], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        drag = {"type": kind, "x": 9, "y": 9, "data": data}
        answer = case.adversary.ask("Input.dispatchDragEvent", drag, own)
        assert "not dropped" in answer["error"]["message"]
    without = {"type": "dragEnter", "x": 9, "y": 9, "data": {**data, "files": []}}
    assert case.adversary.result("Input.dispatchDragEvent", without, own) == {}


def test_a_page_cannot_change_the_screens_of_the_whole_browser(case: Case) -> None:
    _, own = case.adversary.page()
    before = case.victim.result("Emulation.getScreenInfos", session=case.session)["screenInfos"]
    rectangle = {"left": 800, "top": 0, "width": 640, "height": 480}
    first = {"screenId": before[0]["id"]}
    for method, params in {
        "Emulation.addScreen": rectangle,
        "Emulation.updateScreen": first | rectangle,
        "Emulation.removeScreen": first,
        "Emulation.setPrimaryScreen": first,
    }.items():
        assert "whole browser" in case.adversary.ask(method, params, own)["error"]["message"]
    after = case.victim.result("Emulation.getScreenInfos", session=case.session)["screenInfos"]
    assert after == before


def test_a_client_sees_only_its_sessions_cookies(case: Case) -> None:
    _, own = case.adversary.page()
    case.adversary.result("Network.enable", session=own)
    for found in (
        case.adversary.result("Storage.getCookies"),
        case.adversary.result("Network.getAllCookies", session=own),
        case.adversary.result("Storage.getCookies", session=own),
        case.adversary.result("Network.getCookies", {"urls": [case.url]}, own),
    ):
        assert SECRET not in json.dumps(found)
    case.adversary.result("Storage.clearCookies")
    case.adversary.result("Network.clearBrowserCookies", session=own)
    assert SECRET in json.dumps(case.victim.result("Storage.getCookies"))


def test_no_client_reads_or_clears_the_browsers_default_jar(
    house: House, case: Case, web: Web
) -> None:
    """To Chromium, ``Storage.getCookies`` said in any page means that jar: the person's logins."""
    page = web.page("theirs")
    keep = f"document.cookie = 'v={SECRET}; max-age=600'"
    _, own = case.adversary.page(web.page("mine"))
    with RawClient(house.cdp_url("in-the-shared-jar", jar="shared")) as shared:
        _, there = shared.page(page)
        shared.run(keep, there)
        assert SECRET not in json.dumps(case.adversary.result("Storage.getCookies", session=own))
        case.adversary.result("Storage.clearCookies", session=own)
        mine = [{"name": "v", "value": "overwritten", "url": page}]
        case.adversary.result("Storage.setCookies", {"cookies": mine}, own)
        cookies = case.adversary.result("Storage.getCookies", session=own)["cookies"]
        assert [one["value"] for one in cookies] == ["overwritten"]
        for context in ({}, {"browserContextId": case.context}, {"browserContextId": ABSENT}):
            for method in ("Storage.getCookies", "Network.getAllCookies", "ServiceWorker.enable"):
                assert "shared" in shared.ask(method, context, there)["error"]["message"]
        assert SECRET in shared.run("document.cookie", there)


def test_a_page_without_a_token_learns_nothing_from_the_cdp_endpoint(house: House) -> None:
    """The browser's process is this user's, like every client's."""
    http = house.status().broker.http
    with RawClient(house.cdp_url()) as client:
        _, own = client.page()
        for path in ("json/version", "json/list", "json"):
            url = f"{http}/{path}"
            refused = client.ask("Page.navigate", {"url": url}, own)
            assert "URL_BLOCKED" in refused["error"]["message"]
            client.run(f"location.href = '{url}'; 0", own)
            text = ""
            while "{" not in text:
                there = f"location.href == '{url}' ? document.documentElement.innerText : ''"
                text = client.run(there, own)
            assert json.loads(text)["code"] == "UNAUTHORIZED"


def test_closing_the_browser_closes_only_the_connection(house: House, case: Case) -> None:
    with RawClient(house.cdp_url("closer")) as client:
        assert client.result("Browser.close") == {}
        with pytest.raises(ConnectionClosed):
            client.next()
    assert_unharmed(case.victim, case.session)


def test_clients_may_choose_any_command_ids(case: Case) -> None:
    for number in (7, 7, 2**31 - 1, -5, 0):
        message = {"id": number, "method": "Browser.getVersion"}
        case.adversary.socket.send(json.dumps(message))
    got = [case.adversary.answer(number)["id"] for number in (7, 7, 2**31 - 1, -5, 0)]
    assert got == [7, 7, 2**31 - 1, -5, 0]


@pytest.mark.parametrize(
    "frame",
    ["", "nonsense", "[]", "{}", '{"id":1}', '{"id":"1","method":"a"}', "\x00", "{" * 10_000,
     b"\xff\xfe\x00", b'{"id":1,"method":5}', '{"id":1,"method":"A.b","sessionId":{}}',
     '{"id":1,"method":"Browser.getVersion","extra":1}'],
)  # fmt: skip
def test_malformed_commands_are_answered_and_not_passed_on(
    house: House, case: Case, frame: Any
) -> None:
    with RawClient(house.cdp_url("nonsense")) as client:
        client.socket.send(frame)
        assert "error" in client.next()
        assert client.result("Browser.getVersion")["product"]


@pytest.mark.parametrize("number", [-1, -(2**31), 10**300, None, "1"])
def test_numbers_at_which_chromium_would_end_itself_do_not_reach_it(
    case: Case, number: Any
) -> None:
    _, own = case.adversary.page()
    compose = {"text": "ab", "selectionStart": 0, "selectionEnd": 1}
    for method, params in (
        ("Input.imeSetComposition", {**compose, "replacementStart": 0, "replacementEnd": number}),
        ("Input.imeSetComposition", {**compose, "replacementStart": number, "replacementEnd": 1}),
        ("Storage.overrideQuotaForOrigin", {"origin": "http://x.test", "quotaSize": number}),
    ):
        assert case.adversary.ask(method, params, own)["error"]["code"] == -32602
    assert_unharmed(case.victim, case.session)


@pytest.mark.parametrize(
    "method",
    ["Fetch.continueRequest", "Fetch.fulfillRequest", "Fetch.failRequest", "DOM.setFileInputFiles",
     "Runtime.runIfWaitingForDebugger", "Target.attachToTarget", "Target.detachFromTarget"],
)  # fmt: skip
@pytest.mark.parametrize("wrong", [{}, {"requestId": {}}, {"requestId": [[]], "files": {}}])
def test_malformed_commands_that_the_keeper_reads_do_no_harm(
    case: Case, method: str, wrong: dict[str, Any]
) -> None:
    """The keeper reads some commands that pass through it: it holds everybody's browser."""
    _, own = case.adversary.page()
    case.adversary.ask(method, wrong, own)
    assert_unharmed(case.victim, case.session)


def test_a_nul_does_not_split_a_frame(case: Case) -> None:
    _, own = case.adversary.page()
    text = 'a\x00{"id":1,"method":"Browser.close"}\x00b'
    call = {
        "functionDeclaration": "function (x) { return x.length }",
        "arguments": [{"value": text}],
        "returnByValue": True,
    }
    this = case.adversary.result("Runtime.evaluate", {"expression": "globalThis"}, own)["result"]
    call["objectId"] = this["objectId"]
    found = case.adversary.result("Runtime.callFunctionOn", call, own)
    assert found["result"]["value"] == len(text)


def test_a_frame_of_a_hundred_megabytes_ends_its_own_connection(house: House, case: Case) -> None:
    with RawClient(house.cdp_url("large")) as client:
        with suppress(ConnectionClosed):
            client.socket.send('{"id":1,"method":"Browser.getVersion","x":"' + "x" * 10**8)
        with pytest.raises(ConnectionClosed):
            client.next()
    assert_unharmed(case.victim, case.session)


def test_nothing_of_the_victim_was_sent_to_the_adversary_in_all_these_tests(case: Case) -> None:
    """Runs last: what the adversary was ever told, in all the tests above."""
    heard = [
        text
        for text in case.adversary.heard
        # Chromium repeats an unknown context's id; what the adversary itself wrote is no leak.
        if "Failed to find" not in text
    ]
    everything = "\n".join(heard)
    leaked = {word for word in case.victims_words() if word in everything}
    assert leaked == set()
