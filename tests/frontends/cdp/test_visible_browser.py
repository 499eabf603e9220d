"""The browser that one client sees (roost.frontends.cdp.visible_browser, .targets)."""

from __future__ import annotations

import json

import pytest

from roost.frontends.cdp import commands
from roost.frontends.cdp.messages import GoTo, OpenTab, Send
from roost.frontends.cdp.targets import Filter, tab_of
from tests.frontends.cdp.cdp_stage import MINE, OTHERS, ROOT, Stage, targets_in


def test_a_client_sees_the_sessions_tabs_and_no_others() -> None:
    stage = Stage()
    stage.tab("T-mine")
    stage.page("T-other", OTHERS)
    stage.page("T-same-jar")  # in the jar, but not (yet) the session's by the broker's word
    stage.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
    stage.attach_all()

    found = stage.result("Target.getTargets")["targetInfos"]
    assert [info["targetId"] for info in found] == ["T-mine"]
    assert targets_in(stage.said) == {"T-mine", MINE}


def test_a_tab_is_shown_once_browser_and_broker_have_both_reported_it() -> None:
    for browser_first in (True, False):
        stage = Stage()
        stage.attach_all()
        stage.result("Target.setDiscoverTargets", {"discover": True})
        if browser_first:
            stage.page("T-1")
            assert stage.events("Target.attachedToTarget") == []
            stage.came("T-1")
        else:
            stage.came("T-1")
            assert stage.events("Target.attachedToTarget") == []
            stage.page("T-1")
        methods = [one["method"] for one in stage.said if "method" in one]
        assert methods == ["Target.targetCreated", "Target.attachedToTarget"]


def test_the_clients_own_session_is_the_browser_itself_to_it() -> None:
    stage = Stage()
    assert stage.client("Browser.getVersion") is None
    stage.answer(stage.sent[-1], {"product": "Chrome/1"})
    assert stage.said[-1] == {"id": 1, "result": {"product": "Chrome/1"}}


def test_answers_carry_the_clients_id_and_are_otherwise_untouched() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    stage.client("Runtime.evaluate", {"expression": "1"}, session)
    send = stage.sent[-1]
    assert (send.method, send.session) == ("Runtime.evaluate", session)
    frame = b'{"id":4711,"result":{"x":"\\ud83d , \\"id\\":4711"},"sessionId":"%s"}'
    told = stage.visible.answered(send.key, frame % session.encode())
    assert told[0].frame == frame.replace(b"4711", b"2", 1) % session.encode()  # type: ignore[union-attr]


def test_a_new_tab_waits_until_the_client_lets_it_run() -> None:
    stage = Stage()
    assert not stage.tab("T-before"), "nobody asked for it to wait"
    stage.attach_all()
    assert stage.tab("T-new")
    attached = {e["params"]["targetInfo"]["targetId"]: e["params"] for e in
                stage.events("Target.attachedToTarget")}  # fmt: skip
    assert attached["T-before"]["waitingForDebugger"] is False
    assert attached["T-new"]["waitingForDebugger"] is True
    assert stage.released == []
    stage.client("Runtime.runIfWaitingForDebugger", session=attached["T-new"]["sessionId"])
    assert stage.released == ["T-new"]


@pytest.mark.parametrize("how", ["detach", "stop", "gone"])
def test_a_client_that_detaches_or_stops_auto_attaching_holds_no_tab(how: str) -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-new")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    if how == "detach":
        stage.result("Target.detachFromTarget", {"sessionId": session})
    elif how == "stop":
        off = {"autoAttach": False, "waitForDebuggerOnStart": False, "flatten": True}
        stage.result("Target.setAutoAttach", off)
    else:
        detached = {"sessionId": session, "targetId": "T-new"}
        stage.browser("Target.detachedFromTarget", detached)
    assert stage.released == ["T-new"]


def test_all_tabs_are_attached_before_set_auto_attach_is_answered() -> None:
    stage = Stage()
    stage.tab("T-1")
    stage.tab("T-2")
    stage.attach_all()
    kinds = [one.get("method", "answer") for one in stage.said]
    assert kinds == ["Target.attachedToTarget"] * 2 + ["answer"]


def test_asking_twice_attaches_once() -> None:
    stage = Stage()
    stage.tab("T-1")
    stage.attach_all()
    stage.attach_all()
    assert len(stage.events("Target.attachedToTarget")) == 1


def test_a_tab_the_client_opens_is_attached_before_the_answer() -> None:
    stage = Stage()
    stage.attach_all()
    assert stage.client("Target.createTarget", {"url": "about:blank"}) is None
    order = stage.asked[0]
    assert isinstance(order, OpenTab)
    assert order.context is None
    stage.tab("T-1")
    stage.do(stage.visible.done(order.call, "T-1"))
    assert stage.said[-1] == {"id": 2, "result": {"targetId": "T-1"}}
    assert stage.said[-2]["method"] == "Target.attachedToTarget"


def test_a_tab_opened_with_an_address_goes_there_once_it_may_run() -> None:
    stage = Stage()
    stage.attach_all()
    stage.client("Target.createTarget", {"url": "https://site.test/"})
    stage.tab("T-1")
    stage.do(stage.visible.done(stage.asked[0].call, "T-1"))
    assert stage.others == []
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    stage.client("Runtime.runIfWaitingForDebugger", session=session)
    assert stage.others == [GoTo("T-1", "https://site.test/")]


def test_a_closed_tab_ends_its_sessions_and_all_below_them() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    worker = {"targetId": "T-w", "type": "worker", "title": "", "url": "", "attached": True}
    below = {"sessionId": "W", "targetInfo": worker, "waitingForDebugger": True}
    stage.browser("Target.attachedToTarget", below, session)
    stage.client("Runtime.enable", session="W")
    assert stage.sent[-1].session == "W"

    stage.went("T-1")
    assert stage.events("Target.detachedFromTarget")[-1]["params"]["sessionId"] == session
    for dead in (session, "W"):
        assert stage.error("Runtime.enable", session=dead)["code"] == -32001
    before = len(stage.said)
    stage.browser("Page.loadEventFired", {}, session)
    stage.browser("Runtime.consoleAPICalled", {}, "W")
    assert stage.said[before:] == [], "late words of a tab that went are heard by nobody"


def test_a_tab_that_moves_to_another_session_is_detached_at_once() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    stage.went("T-1")
    assert Send(None, "Target.detachFromTarget", {"sessionId": session}, "") in stage.sent
    assert stage.error("Target.attachToTarget", {"targetId": "T-1", "flatten": True}) == {
        "code": -32602,
        "message": "No target with given id found",
    }


def test_popups_of_other_sessions_are_detached() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    other = stage.page("T-other", OTHERS)
    before = len(stage.said)
    for above in (session, ROOT):
        params = {"sessionId": "X", "targetInfo": other, "waitingForDebugger": True}
        stage.browser("Target.attachedToTarget", params, above)
        assert stage.sent[-1].method == "Target.detachFromTarget"
        assert stage.sent[-1].params == {"sessionId": "X"}
    assert stage.said[before:] == []
    assert stage.error("Page.enable", session="X")["code"] == -32001


def test_an_opener_in_another_session_is_not_shown() -> None:
    stage = Stage()
    stage.tab("T-1", openerId="T-other", openerFrameId="T-other")
    stage.tab("T-2", openerId="T-1")
    infos = {info["targetId"]: info for info in stage.result("Target.getTargets")["targetInfos"]}
    assert "openerId" not in infos["T-1"]
    assert "openerFrameId" not in infos["T-1"]
    assert infos["T-2"]["openerId"] == "T-1"


def test_workers_belong_to_the_session_of_their_jar() -> None:
    stage = Stage()
    stage.page("T-sw", type="service_worker")
    stage.page("T-sw-other", OTHERS, type="service_worker")
    stage.page("T-ui", type="browser_ui")
    stage.attach_all()
    attached = stage.events("Target.attachedToTarget")
    assert [one["params"]["targetInfo"]["targetId"] for one in attached] == ["T-sw"]


def test_in_the_shared_jar_only_tabs_are_the_sessions() -> None:
    stage = Stage(context=None)
    stage.tab("T-1", context="")
    stage.page("T-sw", "", type="service_worker")
    found = stage.result("Target.getTargets")["targetInfos"]
    assert [info["targetId"] for info in found] == ["T-1"]


def test_contexts_that_a_client_makes_are_visible_to_it_alone() -> None:
    stage = Stage()
    stage.client("Target.createBrowserContext", {"disposeOnDetach": True})
    stage.do(stage.visible.done(stage.asked[0].call, "CONTEXT-new"))
    assert stage.said[-1]["result"] == {"browserContextId": "CONTEXT-new"}
    assert stage.result("Target.getBrowserContexts") == {"browserContextIds": ["CONTEXT-new"]}
    stage.client("Storage.getCookies", {"browserContextId": "CONTEXT-new"})
    assert stage.sent[-1].params == {"browserContextId": "CONTEXT-new"}
    stage.client("Target.disposeBrowserContext", {"browserContextId": "CONTEXT-new"})
    stage.do(stage.visible.done(stage.asked[1].call))
    assert "Failed to find" in str(
        stage.error("Storage.getCookies", {"browserContextId": "CONTEXT-new"})
    )


def test_further_browser_level_sessions_are_held_to_the_same_rules() -> None:
    stage = Stage()
    stage.tab("T-1")
    stage.page("T-other", OTHERS)
    stage.client("Target.attachToBrowserTarget")
    browser = {"targetId": "B", "type": "browser", "title": "", "url": "", "attached": True}
    attached = {"sessionId": "ROOT2", "targetInfo": browser, "waitingForDebugger": False}
    stage.browser("Target.attachedToTarget", attached)
    stage.answer(stage.sent[-1], {"sessionId": "ROOT2"})
    found = stage.result("Target.getTargets", session="ROOT2")["targetInfos"]
    assert [info["targetId"] for info in found] == ["T-1"]
    params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
    stage.result("Target.setAutoAttach", params, "ROOT2")
    [event] = [one for one in stage.events("Target.attachedToTarget") if "sessionId" in one]
    assert event["sessionId"] == "ROOT2"
    assert "not available" in stage.error("Tracing.start", session="ROOT2")["message"]
    for session in (ROOT, "ROOT2"):
        stage.browser("Browser.downloadWillBegin", {"frameId": "T-mine", "guid": "g"}, session)
        stage.browser("Browser.downloadProgress", {"guid": "g", "state": "completed"}, session)
    told = stage.events("Browser.downloadProgress")
    assert [one.get("sessionId") for one in told] == [None, "ROOT2"]
    assert stage.tab("T-2")
    two = stage.events("Target.attachedToTarget")[-1]["params"]["sessionId"]
    stage.client("Runtime.runIfWaitingForDebugger", session=two)
    assert stage.released == ["T-2"]


def test_puppeteer_finds_a_tab_around_every_page() -> None:
    stage = Stage()
    stage.tab("T-1")
    everything = {"discover": True, "filter": [{}]}
    stage.result("Target.setDiscoverTargets", everything)
    created = [e["params"]["targetInfo"] for e in stage.events("Target.targetCreated")]
    assert {info["type"] for info in created} == {"browser", "tab", "page"}
    stage.attach_all(filter=[{"type": "page", "exclude": True}, {}])
    [event] = stage.events("Target.attachedToTarget")
    tab = event["params"]
    assert tab["targetInfo"]["targetId"] == tab_of("T-1")
    params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{}]}
    stage.result("Target.setAutoAttach", params, tab["sessionId"])
    page = stage.events("Target.attachedToTarget")[-1]
    assert page["sessionId"] == tab["sessionId"]
    assert page["params"]["targetInfo"]["targetId"] == "T-1"
    assert stage.error("Page.enable", session=tab["sessionId"])["code"] == -32601
    stage.went("T-1")
    gone = [one["params"]["targetId"] for one in stage.events("Target.targetDestroyed")]
    assert gone == ["T-1", tab_of("T-1")]
    assert stage.visible.targets.links.keys() == {""}


def test_the_browser_itself_is_a_target_of_the_client() -> None:
    stage = Stage()
    stage.result("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "browser"}]})
    [created] = stage.events("Target.targetCreated")
    browser = created["params"]["targetInfo"]
    assert stage.result("Target.getTargetInfo")["targetInfo"] == browser
    found = stage.result("Target.getTargets", {"filter": [{}]})["targetInfos"]
    assert found == [browser]
    assert stage.result("Target.getTargets")["targetInfos"] == []
    about = {"targetId": browser["targetId"]}
    assert stage.result("Target.closeTarget", about) == {"success": False}
    stage.client("Target.attachToTarget", {**about, "flatten": True})
    assert (stage.sent[-1].method, stage.sent[-1].params) == ("Target.attachToBrowserTarget", {})
    assert stage.sent[-1].session == ""


def test_two_clients_get_different_session_ids_for_one_tab_target() -> None:
    ids = set()
    for nonce in ("a", "b"):
        stage = Stage()
        stage.visible._nonce = nonce
        stage.tab("T-1")
        stage.attach_all(filter=[{"type": "tab"}])
        ids.add(stage.events("Target.attachedToTarget")[0]["params"]["sessionId"])
    assert len(ids) == 2


def test_while_paused_a_client_gets_events_and_its_commands_are_refused() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    stage.do(stage.visible.paused(True))
    assert stage.error("Page.reload", session=session)["message"].startswith("PAUSED")
    stage.browser("Page.loadEventFired", {"timestamp": 1}, session)
    assert stage.said[-1]["method"] == "Page.loadEventFired"
    stage.do(stage.visible.paused(False))
    assert stage.client("Page.reload", session=session) is None


def test_of_the_browsers_own_events_only_downloads_reach_a_client() -> None:
    stage = Stage()
    began = {"frameId": "T-mine", "guid": "g"}
    stage.browser("Browser.downloadWillBegin", began)
    stage.browser("Browser.downloadProgress", {"guid": "g", "state": "inProgress"})
    stage.browser("Browser.downloadProgress", {"guid": "g", "state": "completed"})
    stage.browser("Browser.downloadWillBegin", {"frameId": "T-other", "guid": "h"})
    stage.browser("Browser.downloadProgress", {"guid": "h", "state": "completed"})
    stage.browser("Fetch.requestPaused", {"request": {}})
    stage.browser("Tracing.dataCollected", {"value": []})
    assert [one["params"]["guid"] for one in stage.said] == ["g"] * 3, "and only the session's own"
    assert "sessionId" not in stage.said[0]


@pytest.mark.parametrize(
    ("entries", "lets", "not_"),
    [
        (None, {"page", "service_worker"}, {"tab", "browser"}),
        ([{}], {"page", "tab"}, set()),
        ([], set(), {"page"}),
        ([{"type": "page"}], {"page"}, {"tab"}),
        ([{"type": "page", "exclude": True}, {}], {"tab"}, {"page"}),
    ],
)  # fmt: skip
def test_filters_are_read_as_chromium_reads_them(
    entries: object, lets: set[str], not_: set[str]
) -> None:
    read = Filter.read(entries)
    assert {kind for kind in lets | not_ if read.lets(kind)} == lets


def test_a_target_that_is_gone_before_it_is_attached_blocks_nobody() -> None:
    stage = Stage()
    stage.tab("T-1")
    params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
    message = json.dumps({"id": 1, "method": "Target.setAutoAttach", "params": params})
    effects = commands.said(stage.visible, message)
    [attach] = [one for one in effects if isinstance(one, Send)]
    stage.went("T-1")
    assert stage.said[-1] == {"id": 1, "result": {}}
    stage.answer(attach, error={"code": -32602, "message": "No target with given id found"})
    assert stage.said[-1] == {"id": 1, "result": {}}


def test_frames_below_a_page_can_be_attached_to_while_they_are_there() -> None:
    stage = Stage()
    stage.attach_all()
    stage.tab("T-1")
    session = stage.events("Target.attachedToTarget")[0]["params"]["sessionId"]
    frame = {"targetId": "T-frame", "type": "iframe", "title": "", "url": "", "attached": True}
    attach = {"targetId": "T-frame", "flatten": True}
    assert stage.error("Target.attachToTarget", attach)["code"] == -32602
    below = {"sessionId": "F", "targetInfo": frame, "waitingForDebugger": False}
    stage.browser("Target.attachedToTarget", below, session)
    stage.visible.targets.seen["T-frame"] = frame
    assert stage.result("Target.attachToTarget", attach)["sessionId"]
    stage.went("T-1")
    assert stage.error("Target.attachToTarget", attach)["code"] == -32602
