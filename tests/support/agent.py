"""An agent of a real Roost, as page tests use one: short verbs over the client library."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from roost import ops
from roost.api import page_views as views
from roost.api.operations import Answers
from roost.api.views import PageView, TabsView, View
from roost.client.client import Client
from roost.errors import BrowserLost, Internal, RoostError, Timeout
from tests.support.local_web import Web

if TYPE_CHECKING:
    from tests.support.house import House

R = TypeVar("R", bound=View)
E = TypeVar("E", bound=RoostError)
WAIT_SECONDS = 30.0
"""No wait in these tests is longer; nothing waits this long in a run that passes."""
TRUSTED = """
<script>
  window.log = [];
  const note = (event) => window.log.push([event.type, event.isTrusted]);
  for (const kind of ["click", "dblclick", "contextmenu", "mousedown", "mouseup", "keydown",
                      "input", "change", "mouseover", "wheel", "dragstart", "drop"])
    addEventListener(kind, note, true);
</script>
"""
"""Put at the start of a page, it logs every event and whether it was trusted."""


class Agent:
    """An agent with a session of its own. Every verb goes through ``call``."""

    def __init__(self, client: Client, web: Web, house: House) -> None:
        self.client = client
        self.web = web
        self.house = house
        self.patience = WAIT_SECONDS

    @property
    def session(self) -> str:
        assert self.client.session is not None
        return self.client.session

    @property
    def files(self) -> Path:
        """The session's own folder."""
        return self.house.home.files / self.session

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        async with asyncio.timeout(self.patience if timeout is None else timeout + 5):
            try:
                return await self.client.call(operation, timeout=timeout or self.patience - 3)
            except Internal as error:
                raise AssertionError(self.house.log[-3000:]) from error

    async def go(self, url: str, **more: Any) -> PageView:
        return await self.call(ops.Navigate(url=url, **more))

    async def show(self, body: str, **more: Any) -> PageView:
        """A new document with that body."""
        return await self.go(self.web.page(body, **more))

    async def open(self, url: str) -> str:
        """Another tab; its id."""
        tabs = await self.call(ops.Tabs(action="new", url=url))
        assert tabs.opened is not None
        return tabs.opened

    async def take_over(self) -> None:
        """The session's first tab, if there is one; others are closed."""
        tabs = [row.tab for row in (await self.tabs()).tabs]
        for tab in tabs[1:]:
            await self.call(ops.Close(tab=tab))
        for tab in tabs[:1]:
            await self.call(ops.Tabs(action="select", tab=tab))

    async def tabs(self) -> TabsView:
        return await self.call(ops.Tabs(action="list"))

    async def run(self, function: str, **more: Any) -> Any:
        return (await self.call(ops.Evaluate(function=function, **more))).value

    async def snapshot(self, **more: Any) -> str:
        return (await self.call(ops.Snapshot(**more))).snapshot

    async def wait_until_restored(self, text: str, tab: str | None = None) -> None:
        """Until the page with that text is there again, in a browser that was just killed."""
        snapshot = ""
        while text not in snapshot:
            with suppress(BrowserLost):
                snapshot = await self.snapshot(tab=tab)

    async def click(self, target: str, **more: Any) -> views.ActionView:
        return await self.call(ops.Click(target=target, **more))

    async def type(self, target: str, text: str, **more: Any) -> views.ActionView:
        return await self.call(ops.Type(target=target, text=text, **more))

    async def fill(self, target: str, value: Any) -> views.ActionView:
        return await self.call(ops.FillForm(fields=[ops.FormField(target=target, value=value)]))

    async def press(self, key: str, **more: Any) -> views.ActionView:
        return await self.call(ops.PressKey(key=key, **more))

    async def answer(self, accept: bool, text: str | None = None, **more: Any) -> views.ActionView:
        return await self.call(ops.HandleDialog(accept=accept, prompt_text=text, **more))

    async def wait(self, **condition: Any) -> views.WaitView:
        return await self.call(ops.WaitFor(**condition))

    async def log(self) -> list[Any]:
        """What the page put into ``window.log``."""
        found = await self.run("() => window.log")
        assert isinstance(found, list)
        return found


async def refused(kind: type[E], call: Any) -> E:
    """The error the call is answered with, which must be of exactly that class."""
    try:
        answer = await call
    except RoostError as error:
        if type(error) is not kind:
            raise AssertionError(f"expected {kind.code}, got {error.to_wire()}") from error
        return error
    raise AssertionError(f"expected {kind.code}, was answered {answer!r}")


PATIENCE = (1.0, 4.0, 20.0)


async def refused_soon(kind: type[E], agent: Agent, asked: Answers[R]) -> E:
    """The same for an operation that waits for an element before it is refused.

    The first try has one second, because the wait takes most of it. A busy machine gets more.
    """
    for seconds in PATIENCE[:-1]:
        try:
            return await refused(kind, agent.call(asked, timeout=seconds))
        except AssertionError as wrong:
            if not isinstance(wrong.__cause__, Timeout):
                raise
    return await refused(kind, agent.call(asked, timeout=PATIENCE[-1]))
