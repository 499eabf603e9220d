"""Trusted input through a Firefox's remote agent goes only to the tab that shows the beacon
(roost.drivers.extension.firefox.remote)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from roost.drivers.base import Input, KeyDown, KeyUp
from roost.drivers.connection import Json
from roost.drivers.extension.firefox import remote as remote_module
from roost.drivers.extension.firefox.remote import FirefoxRemote
from roost.errors import Interrupted, RoostError, TabGone
from roost.vocabulary import TabHandle

TAB = TabHandle("run.3")
KEYS: list[Input] = [KeyDown("x"), KeyUp("x")]
FRAME = "77"


class Firefox:
    """Host, extension and remote agent. ``shows``: the beacon that each tab shows."""

    def __init__(self) -> None:
        self.refuses: str | None = None
        self.shows: dict[str, str] = {"ours": "m1", "persons": ""}
        self.parent: str | None = "ours"
        self.instead: dict[str, Callable[[], None]] = {}
        """What happens instead of an answer."""
        self.performed: list[str] = []
        self.asked: list[tuple[str, Any]] = []
        self.shown: list[str] = []
        self.opened = 0
        self.trusted: list[bool] = []
        self.remote = FirefoxRemote(self._ask, self._say, self.trusted.append)

    async def give(self, beacon: str) -> bool:
        found = await self.remote.find(TAB, beacon, self._show(beacon))
        if found is not None:
            await found.send(KEYS)
        return found is not None

    async def _show(self, beacon: str) -> None:
        self.shown.append(beacon)

    async def _ask(self, tab: TabHandle, method: str, params: Json) -> Json:
        assert tab == TAB
        self.asked.append((method, params["isWanted"]))
        return {"frame": int(FRAME)} if params["isWanted"] else {}

    def _say(self, word: str, what: Any) -> None:
        assert word == "remote"
        asyncio.get_running_loop().call_soon(self._hear, what)

    def _hear(self, what: Any) -> None:
        if what == "open":
            self.opened += 1
            self.remote.heard({"refused": self.refuses} if self.refuses else {"opened": True})
        elif what["method"] in self.instead:
            self.instead[what["method"]]()
        else:
            result = self._result(what["method"], what["params"])
            answer: Json = {"type": "success", "result": result}
            if result is None:
                answer = {"type": "error", "error": "no such frame", "message": ""}
            self.remote.heard({"id": what["id"], **answer})

    def _tree(self, root: str, depth: int) -> Json | None:
        if root == FRAME:
            assert depth == 0, "of nothing else"
            parent = {"context": FRAME, "parent": self.parent}
            return None if self.parent == "unknown" else {"contexts": [parent]}
        assert root in (self.parent, *self.performed), "no other tab is asked for"
        return {"contexts": [{"context": root, "children": []}]} if root in self.shows else None

    def _result(self, method: str, params: Json) -> Json | None:
        match method:
            case "browsingContext.getTree":
                return self._tree(params["root"], params["maxDepth"])
            case "input.performActions":
                self.performed.append(params["context"])
                return {}
        context = params["target"]["context"]
        if context not in self.shows:
            return None
        given = params["arguments"][0]["value"]
        text = "1" if given == f"--roost-{self.shows[context]}" else ""
        if not given.startswith("--roost-"):
            text = "nothing"  # has the focus
        return {"type": "success", "result": {"type": "string", "value": text}}


async def test_input_goes_to_the_tab_that_holds_our_frame_and_shows_our_beacon() -> None:
    firefox = Firefox()
    assert await firefox.remote.is_ours()
    assert await firefox.give("m1")
    assert firefox.performed == ["ours"]
    assert firefox.trusted == [True]
    assert firefox.asked == [("Page.frameOfOurs", True), ("Page.frameOfOurs", False)]
    firefox.shows["ours"] = "m2"
    assert await firefox.give("m2")
    assert len(firefox.asked) == 2, "a tab that shows the beacon needs no second frame"
    assert firefox.opened == 1


@pytest.mark.parametrize("parent", ["persons", "gone", "unknown", None])
async def test_a_tab_that_does_not_show_the_beacon_gets_no_input(parent: str | None) -> None:
    firefox = Firefox()
    firefox.parent = parent
    assert await firefox.remote.is_ours()
    assert not await firefox.give("m1")
    assert firefox.performed == []
    assert firefox.asked[-1] == ("Page.frameOfOurs", False), "the frame is gone again"


async def test_a_known_tab_without_the_beacon_is_searched_again() -> None:
    firefox = Firefox()
    assert await firefox.remote.is_ours()
    assert await firefox.give("m1")
    firefox.shows = {"ours": "", "other": "m2"}
    firefox.parent = "other"
    assert await firefox.give("m2")
    assert firefox.performed == ["ours", "other"]


async def test_a_refused_session_is_asked_for_again_only_after_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    firefox = Firefox()
    firefox.refuses = "Maximum number of active sessions"
    assert not await firefox.remote.is_ours()
    assert not await firefox.remote.is_ours()
    assert firefox.opened == 1
    assert "stays synthetic: Maximum number" in caplog.text
    firefox.refuses = None
    monkeypatch.setattr(firefox.remote, "_not_before", 0.0)
    assert await firefox.remote.is_ours()
    assert firefox.trusted == [True]


async def test_a_host_that_does_not_answer_counts_as_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote_module, "OPEN_SECONDS", 0.01)
    remote = FirefoxRemote(Firefox()._ask, lambda word, what: None, lambda is_trusted: None)
    assert not await remote.is_ours()


@pytest.mark.parametrize(
    ("ends", "error"),
    [
        (lambda remote: remote.left(TAB, TabGone("The tab was closed.")), TabGone),
        (lambda remote: remote.heard({"closed": True}), Interrupted),
    ],
    ids=["tab", "session"],
)
async def test_pending_input_fails_when_the_session_or_the_tab_ends(
    ends: Callable[[FirefoxRemote], None], error: type[RoostError]
) -> None:
    firefox = Firefox()
    assert await firefox.remote.is_ours()
    firefox.instead = {"input.performActions": lambda: ends(firefox.remote)}
    with pytest.raises(error):
        await firefox.give("m1")
    assert firefox.trusted == ([True, False] if error is Interrupted else [True])


async def test_a_session_that_ends_before_any_input_counts_as_tab_not_found() -> None:
    firefox = Firefox()
    assert await firefox.remote.is_ours()
    firefox.instead = {"script.callFunction": lambda: firefox.remote.heard({"closed": True})}
    assert not await firefox.give("m1")
    assert firefox.trusted == [True, False]
