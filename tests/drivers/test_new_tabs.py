"""New tabs: those of our own commands are told apart from popups and the person's tabs."""

from __future__ import annotations

import asyncio
from typing import Any

from roost.drivers.connection import Json, Pending, ProtocolError
from roost.drivers.new_tabs import NewTabs
from roost.errors import JarUnavailable, TabGone
from roost.testing.waits import answer_of, error_of, started, turn


class Scene:
    def __init__(self) -> None:
        self.came: list[Json] = []
        self.closed: list[str] = []
        self.tabs = NewTabs("id", self.came.append, self.closed.append)

    async def make(self) -> tuple[Pending, asyncio.Task[Json]]:
        """Send a command that creates a tab, and begin to wait for its reply."""
        reply: Pending = asyncio.get_running_loop().create_future()
        return reply, await started(self.tabs.created(reply))


def event(name: str) -> dict[str, Any]:
    return {"tab": name}


async def test_a_tab_is_ours_if_the_reply_names_it_and_the_others_are_reported_then() -> None:
    scene = Scene()
    reply, making = await scene.make()
    assert scene.tabs.may_be_ours("a", event("a"))
    assert scene.tabs.may_be_ours("b", event("b"))
    assert scene.came == []
    reply.set_result({"id": "b"})

    assert await answer_of(making) == event("b")
    assert scene.came == [event("a")]
    assert not scene.tabs.may_be_ours("c", event("c")), "no command is pending"


async def test_nothing_is_reported_while_another_command_is_pending() -> None:
    scene = Scene()
    first, making = await scene.make()
    second, other = await scene.make()
    for name in ("a", "b", "c"):
        scene.tabs.may_be_ours(name, event(name))
    first.set_result({"id": "a"})
    await answer_of(making)
    assert scene.came == []
    second.set_result({"id": "c"})

    assert await answer_of(other) == event("c")
    assert scene.came == [event("b")]


async def test_the_tab_of_a_cancelled_call_is_closed_as_soon_as_it_exists() -> None:
    scene = Scene()
    reply, making = await scene.make()
    making.cancel()
    await turn()
    scene.tabs.may_be_ours("a", event("a"))
    reply.set_result({"id": "a"})
    await turn()

    assert scene.closed == ["a"]
    assert scene.came == []


async def test_the_tab_of_an_earlier_brokers_command_is_closed() -> None:
    scene = Scene()
    reply: Pending = asyncio.get_running_loop().create_future()
    scene.tabs.close_when_created(reply)
    scene.tabs.may_be_ours("a", event("a"))
    reply.set_result({"id": "a"})
    await turn()

    assert scene.closed == ["a"]


async def test_a_refused_command_is_an_unavailable_jar_and_others_are_reported() -> None:
    scene = Scene()
    reply, making = await scene.make()
    scene.tabs.may_be_ours("a", event("a"))
    reply.set_exception(ProtocolError("no such context"))

    await error_of(JarUnavailable, making)
    assert scene.came == [event("a")]


async def test_a_tab_that_closed_before_the_reply_is_gone() -> None:
    scene = Scene()
    reply, making = await scene.make()
    scene.tabs.may_be_ours("a", event("a"))
    scene.tabs.gone("a")
    reply.set_result({"id": "a"})

    await error_of(TabGone, making)


async def test_nothing_of_a_browser_that_ended_is_reported() -> None:
    scene = Scene()
    reply, making = await scene.make()
    scene.tabs.may_be_ours("a", event("a"))
    scene.tabs.clear()
    reply.set_exception(TabGone("The browser ended."))

    await error_of(TabGone, making)
    assert scene.came == []
