"""An action in a tab: which commands Firefox gets, in which order (roost.drivers.firefox.tab)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.drivers.base import (
    NO_BUNDLE,
    Input,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
)
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.contexts import Contexts
from roost.drivers.firefox.tab import BidiTab
from roost.errors import TabCrashed
from roost.testing.waits import answer_of, started, turn
from tests.drivers.scripted_link import Heard, ScriptedLink

CLICK: list[Input] = [MouseMove(1, 2), MouseDown(), MouseUp()]
SETTLED = {"changed": False, "hasActivation": True}


class Firefox(ScriptedLink):
    """A browser with one tab."""

    def __init__(self) -> None:
        super().__init__()
        heard = Heard()
        bidi = BidiConnection(self, heard.word, heard.end, lambda method, params: None)
        bidi.begin()
        bidi.release()
        about: dict[str, Any] = {
            "context": "tab", "parent": None, "children": [], "url": "about:blank",
            "userContext": "jar", "originalOpener": None,
        }  # fmt: skip
        contexts = Contexts(bidi, NO_BUNDLE, lambda event: None, headless=False)
        contexts.created(about)
        found = contexts.tab_of("tab")
        assert found is not None
        self.tab: BidiTab = found

    @property
    def asked(self) -> list[str]:
        """Return the commands in order; calls of the bundle by their function."""
        return [_name(said) for said in self.sent if isinstance(said, dict)]

    def answers(self, name: str, result: dict[str, Any]) -> None:
        """Answer the last command of that name."""
        said = [one for one in self.sent if isinstance(one, dict) and _name(one) == name][-1]
        if said["method"] == "script.callFunction":
            result = {"type": "success", "result": {"type": "string", "value": json.dumps(result)}}
        self.says(type="success", id=said["id"], result=result)


def _name(command: dict[str, Any]) -> str:
    if command["method"] != "script.callFunction":
        return str(command["method"])
    return str(command["params"]["arguments"][1]["value"])


async def test_the_page_is_asked_before_the_click_is_acknowledged() -> None:
    firefox = Firefox()
    acting = await started(firefox.tab.act(CLICK, None, {}))
    assert firefox.asked == ["settled", "input.performActions"]
    firefox.answers("settled", SETTLED)
    await turn()
    assert not acting.done(), "nothing is over before the input is"
    firefox.answers("input.performActions", {})
    assert await answer_of(acting) == SETTLED
    assert len(firefox.asked) == 2, "and nothing more was asked"


async def test_a_page_that_did_not_get_the_click_is_told_that_the_input_is_over() -> None:
    firefox = Firefox()
    acting = await started(firefox.tab.act(CLICK, None, {}))
    firefox.answers("input.performActions", {})
    await turn()
    assert firefox.asked[2:] == ["delivered"]
    firefox.answers("delivered", {})
    firefox.answers("settled", SETTLED)
    assert await answer_of(acting) == SETTLED


@pytest.mark.parametrize("inputs", [[KeyDown("a"), KeyUp("a")], []])
async def test_the_page_is_asked_last_whether_it_has_settled(inputs: list[Input]) -> None:
    firefox = Firefox()
    acting = await started(firefox.tab.act(inputs, None, {}))
    if inputs:
        assert firefox.asked == ["input.performActions"]
        firefox.answers("input.performActions", {})
        await turn()
    assert firefox.asked[-1] == "settled"
    firefox.answers("settled", SETTLED)
    assert await answer_of(acting) == SETTLED


async def test_new_tabs_are_awaited_if_the_page_may_have_opened_one() -> None:
    firefox = Firefox()
    acting = await started(firefox.tab.act(CLICK, None, {}))
    firefox.answers("settled", {"changed": False, "hasActivation": False})
    firefox.answers("input.performActions", {})
    await turn()
    await turn()
    assert firefox.asked[-1] == "browsingContext.getTree"
    firefox.answers("browsingContext.getTree", {"contexts": []})
    await answer_of(acting)


async def test_a_script_refused_on_firefoxs_own_crash_page_tells_of_the_crash() -> None:
    """Firefox refuses the script before it reports that the page's process died."""
    firefox = Firefox()
    firefox.tab.heard("browsingContext.navigationStarted", _navigation("http://x/"))
    firefox.tab.heard("browsingContext.navigationCommitted", _navigation("http://x/"))
    for number, call in enumerate(
        (
            firefox.tab.scripts.evaluate("() => 1", None, None),
            firefox.tab.scripts.call_bundle(None, "snapshot", {}),
        ),
        2,
    ):
        asked = await started(call)
        refused = firefox.sent[-1]
        assert isinstance(refused, dict)
        why = "script.evaluate and script.callFunction are not supported for parent process"
        firefox.says(type="error", id=refused["id"], error="unsupported operation", message=why)
        await turn()
        assert not asked.done()
        crash = _navigation("about:tabcrashed", number)
        firefox.tab.heard("browsingContext.navigationCommitted", crash)
        with pytest.raises(TabCrashed):
            await answer_of(asked)
        firefox.tab.crashed = False


async def test_a_crash_page_that_comes_late_does_not_end_the_next_navigation() -> None:
    """Firefox commits a blank page and then its crash page, both for the page that crashed."""
    firefox = Firefox()
    firefox.tab.heard("browsingContext.navigationStarted", _navigation("http://x/"))
    firefox.tab.heard("browsingContext.navigationCommitted", _navigation("http://x/"))
    firefox.tab.heard("browsingContext.navigationCommitted", _navigation("about:blank"))
    assert firefox.tab.crashed
    navigating = await started(firefox.tab.navigate("http://y/"))
    late = _navigation("about:tabcrashed?e=tabcrashed&u=http%3A//x/")
    firefox.tab.heard("browsingContext.navigationCommitted", late)
    firefox.tab.heard("browsingContext.navigationFailed", _navigation("http://x/"))
    firefox.tab.heard("browsingContext.navigationStarted", _navigation("http://y/", 2))
    firefox.answers("browsingContext.navigate", {"navigation": "2"})
    await turn()
    assert not navigating.done()
    assert not firefox.tab.crashed
    firefox.tab.heard("browsingContext.navigationCommitted", _navigation("about:blank", 2))
    assert firefox.tab.crashed, "the next crash is one of its own"
    with pytest.raises(TabCrashed):
        await answer_of(navigating)


def _navigation(url: str, number: int = 1) -> dict[str, Any]:
    return {"context": "tab", "navigation": str(number), "url": url, "timestamp": 0}
