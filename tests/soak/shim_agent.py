"""One agent: a shim, the agent's work, and a model of what Roost told it."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roost.local.home import Home
from roost.vocabulary import CALL_SECONDS
from tests.soak.agent_model import BLANK, AgentModel, Register, Seen, TabModel
from tests.soak.fault_plan import pause
from tests.soak.mcp_shim import McpShim, Reply, ShimDied
from tests.soak.situation import Situation
from tests.soak.witness_site import COOKIES, ENTRIES, MARK, WitnessSite

LATE_SECONDS = 5.0
"""An answer may come this much later than the call's deadline."""
BUSY_SECONDS = 5.0
"""What a machine with other things to do may add to that."""
GIVE_UP_SECONDS = 120.0
"""After this long a call counts as never answered."""
LEAVE_SECONDS = 30.0
BETWEEN_TRIES_SECONDS = 0.2
LAG_SECONDS = 3.0
"""Browsers tell the other processes of an origin about a stored value a moment later."""
TABS_MAX = 3
HISTORY = 12
SAID_CHARS = 120
UNCERTAIN = frozenset({"INTERRUPTED", "BROWSER_LOST", "TIMEOUT", "TAB_CRASHED"})
"""Documented answers to a call that a fault has hit: nobody knows whether it was done."""
LOOK = """() => ({
  href: location.href,
  serial: typeof serial === "undefined" ? null : serial,
  note: document.querySelector("#note") && document.querySelector("#note").value,
  cookie: location.protocol === "http:" ? document.cookie : "",
  storage: location.protocol === "http:" ? { ...localStorage } : {},
})"""


class ShimAgent:
    """One agent. ``complain``: called with everything that must not happen."""

    def __init__(
        self,
        number: int,
        seed: int,
        home: Home,
        work: Path,
        site: WitnessSite,
        situation: Situation,
        complain: Callable[[ShimAgent, str], None],
    ) -> None:
        self.mark = f"mk{number}z"
        self.model = AgentModel()
        self.session: str | None = None
        self.is_troubled = True
        """A fault has happened and this agent has not recovered yet: errors are excused."""
        self.crashed = False
        """The agent was told that a tab had crashed, since the burst began."""
        self.calls = 0
        self.slowest = 0.0
        self.history: deque[str] = deque(maxlen=HISTORY)
        self.may_work = asyncio.Event()
        self._busy = asyncio.Lock()
        self._dice = random.Random(f"{seed} {number}")
        self._names = 0
        self._home = home
        self._work = work
        self._site = site
        self._situation = situation
        self._browser = b""
        """The browser that the model knows."""
        self._is_recovering = False
        self._complain = complain
        self._shim: McpShim | None = None
        self._working: asyncio.Task[None] | None = None

    def __str__(self) -> str:
        return f"agent {self.mark} (pid {self.pid}, session {self.session})"

    @property
    def pid(self) -> int:
        assert self._shim is not None
        return self._shim.pid

    @property
    def is_alive(self) -> bool:
        return self._shim is not None and self._shim.died is None

    # --- beginning and end --------------------------------------------------------------------

    async def start(self) -> None:
        """Start the shim, open the first tab, and begin to work as soon as that is allowed."""
        self._shim = await McpShim.start(self._home, self._work)
        await self._shim.initialize(self.mark, GIVE_UP_SECONDS)
        await self._until_answered(self._open)
        self._working = asyncio.get_running_loop().create_task(
            self._work_on(), name=f"work {self.mark}"
        )

    async def leave(self) -> None:
        """End as an MCP client does."""
        self.may_work.clear()
        assert self._shim is not None
        async with self._busy:
            if self.is_alive and not await self._shim.leave(LEAVE_SECONDS):
                self._complain(self, f"SHIM STAYS: {LEAVE_SECONDS:.0f} s after its input ended")
        await self.end()

    async def end(self) -> None:
        """End everything of this agent that still runs, whatever state it is in."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})
        if self._shim is not None:
            await self._shim.end()

    def raise_if_broken(self) -> None:
        """Raise an error if the agent stopped without being killed: that is a bug of the
        campaign."""
        if self._working is not None and self._working.done():
            self._working.result()

    # --- after a burst ------------------------------------------------------------------------

    async def recover(self, deadline: float) -> None:
        """Wait until this agent's calls succeed again, then compare everything with the model."""
        with suppress(ShimDied):
            async with self._busy:
                self._is_recovering = True
                try:
                    self.is_troubled = not await self._compare(deadline)
                finally:
                    self._is_recovering = False

    async def _compare(self, deadline: float) -> bool:
        """Compare everything with the model. Return whether every answer came in time."""
        reply = await self._until_answered(self._list, deadline)
        if reply is None:
            return False
        self._blame(self.model.listed(reply.tabs()))
        if not self.model.tabs and await self._until_answered(self._open, deadline) is None:
            return False
        for tab in list(self.model.tabs.values()):
            if await self._until_answered(partial(self._look_again, tab), deadline) is None:
                return False
        # Every document holds a connection to the site, and a browser has six at most.
        for tab in list(self.model.tabs.values())[TABS_MAX:]:
            if await self._until_answered(partial(self._close, tab), deadline) is None:
                return False
        return True

    async def _look_again(self, tab: TabModel) -> Reply:
        """Look at the tab. Navigate a tab that shows no page, and give up a tab that is gone. A
        document whose load was interrupted has an address, but none of the site's scripts."""
        reply = await self._look(tab)
        if reply.code == "TAB_GONE":
            reply = await self._list()
            if reply.is_ok:
                self._blame(self.model.listed(reply.tabs()))
            return reply
        was_cut_short = self._situation.loses_loads and tab.serial is None
        if reply.is_ok and (tab.address is None or tab.address in BLANK or was_cut_short):
            return await self._navigate(tab)
        return reply

    async def _until_answered(
        self, act: Callable[[], Awaitable[Reply]], deadline: float | None = None
    ) -> Reply | None:
        loop = asyncio.get_running_loop()
        limit = loop.time() + GIVE_UP_SECONDS if deadline is None else deadline
        while not (reply := await act()).is_ok:
            if loop.time() > limit:
                self._complain(self, f"NOT RECOVERED: still {reply.code}: {reply.text[:200]}")
                return None
            await pause(BETWEEN_TRIES_SECONDS)
        return reply

    # --- work ---------------------------------------------------------------------------------

    async def _work_on(self) -> None:
        with suppress(ShimDied):
            while True:
                await self.may_work.wait()
                async with self._busy:
                    if self.may_work.is_set():
                        await self._step()

    async def _step(self) -> None:
        tabs = [tab for tab in self.model.tabs.values() if not tab.may_be_closed]
        if not tabs:
            await self._open()
            return
        tab = self._dice.choice(tabs)
        actions: list[Callable[[], Awaitable[Reply]]] = [
            lambda: self._navigate(tab),
            lambda: self._type(tab),
            lambda: self._type(tab),
            lambda: self._set_cookie(tab),
            lambda: self._set_cookie_by_tool(tab),
            lambda: self._store(tab),
            lambda: self._store(tab),
            lambda: self._read(tab),
            lambda: self._look(tab),
            lambda: self._look(tab),
        ]
        if len(tabs) + len(self.model.opening) < TABS_MAX:
            actions.append(self._open)
        if len(tabs) > 1:
            actions.append(lambda: self._close(tab))
        reply = await self._dice.choice(actions)()
        if reply.code in ("TAB_GONE", "SESSION_GONE"):
            listed = await self._list()
            if listed.is_ok:
                self._blame(self.model.listed(listed.tabs()))

    def _name(self) -> str:
        self._names += 1
        return f"{self.mark}-{self._names}"

    def _address(self) -> str:
        return f"{self._site.base}/{self.mark}/{self._name()}"

    async def _list(self) -> Reply:
        return await self._call("browser_tabs", action="list")

    async def _open(self) -> Reply:
        address, browser = self._address(), self._situation.browser()
        self.model.opening.add(address)
        reply = await self._call("browser_tabs", action="new", url=address)
        if not reply.is_ok:
            return reply
        listed = await self._list()
        if listed.is_ok:
            self.model.opening.discard(address)
            here = [tab for tab, at in listed.tabs().items() if at == address]
            if len(here) != 1:
                self._complain(self, f"TAB NOT THERE ONCE: {address} is in {here} of {listed.text}")
            for id_ in here[:1]:
                self.model.tabs[id_] = tab = TabModel(id_, [])
                self._arrived(tab, address, browser)
        return listed

    async def _close(self, tab: TabModel) -> Reply:
        tab.may_be_closed = True
        reply = await self._call("browser_close", tab=tab.id)
        if reply.is_ok or reply.code == "TAB_GONE":
            self.model.tabs.pop(tab.id, None)
        return reply

    async def _navigate(self, tab: TabModel) -> Reply:
        address, browser = self._address(), self._situation.browser()
        tab.is_uncertain(address)
        reply = await self._call("browser_navigate", tab=tab.id, url=address)
        if reply.is_ok:
            self._arrived(tab, address, browser)
        return reply

    def _arrived(self, tab: TabModel, address: str, browser: bytes) -> None:
        """Record that the tab shows that address. ``browser``: the browser when the agent asked. A
        stopped shim delivers the answer late, when another browser may have replaced it."""
        serial = self._site.last_load(urlsplit(address).path)
        tab.is_at(address, serial, "", browser)

    async def _type(self, tab: TabModel) -> Reply:
        if tab.address is None or tab.address in BLANK:
            return await self._look(tab)
        tab.note, note = None, self._name()
        reply = await self._call("browser_type", tab=tab.id, target="#note", text=note)
        if reply.is_ok:
            tab.note = note
        return reply

    async def _set_cookie(self, tab: TabModel) -> Reply:
        name, value = self._dice.choice(COOKIES), self._name()
        script = f"() => {{ document.cookie = '{name}={value}; path=/; max-age=86400' }}"
        self.model.cookies[name].asked(value)
        return self._told(
            self.model.cookies[name],
            value,
            await self._call("browser_evaluate", tab=tab.id, function=script),
        )

    async def _set_cookie_by_tool(self, tab: TabModel) -> Reply:
        name, value = self._dice.choice(COOKIES), self._name()
        self.model.cookies[name].asked(value)
        arguments = {"name": name, "value": value, "domain": self._site.host, "path": "/"}
        return self._told(
            self.model.cookies[name],
            value,
            await self._call("browser_cookies", action="set", tab=tab.id, **arguments),
        )

    async def _store(self, tab: TabModel) -> Reply:
        name, value = self._dice.choice(ENTRIES), self._name()
        script = f"() => localStorage.setItem('{name}', '{value}')"
        self.model.storage[name].asked(value)
        return self._told(
            self.model.storage[name],
            value,
            await self._call("browser_evaluate", tab=tab.id, function=script),
        )

    def _told(self, register: Register, value: str, reply: Reply) -> Reply:
        """Record a confirmed value. In an unreliable browser, the backup that Roost puts back may
        replace it."""
        if reply.is_ok and self._situation.browser() not in self._situation.unreliable:
            register.told(value, asyncio.get_running_loop().time())
        return reply

    async def _read(self, tab: TabModel) -> Reply:
        return await self._call("browser_snapshot", tab=tab.id)

    async def _look(self, tab: TabModel) -> Reply:
        """Read the tab's document, and compare it with the model; reload a crashed tab first.

        Between a fault and the recovery nobody knows what to expect, so nothing is compared.
        """
        reply = await self._call("browser_evaluate", tab=tab.id, function=LOOK)
        if reply.code == "TAB_CRASHED" and (await self._navigate(tab)).is_ok:
            reply = await self._call("browser_evaluate", tab=tab.id, function=LOOK)
        if reply.is_ok and (self._is_recovering or not self.is_troubled):
            return await self._judge(tab, reply)
        return reply

    async def _judge(self, tab: TabModel, reply: Reply) -> Reply:
        situation, loop = self._situation, asyncio.get_running_loop()
        browser = situation.browser()
        is_unreliable = browser in situation.unreliable
        if is_unreliable or browser != self._browser:
            lost = [situation.unreliable.get(one) for one in (browser, self._browser)]
            self.model.contents_rolled_back(min([at for at in lost if at], default=situation.began))
            self._browser = browser
        seen, deadline = Seen.of(reply.value()), loop.time() + LAG_SECONDS
        while not (is_unreliable or self.model.fits(seen)) and loop.time() < deadline:
            await pause(BETWEEN_TRIES_SECONDS)
            reply = await self._call("browser_evaluate", tab=tab.id, function=LOOK)
            if not reply.is_ok or situation.browser() != browser:
                return reply
            seen = Seen.of(reply.value())
        was_killed = tab.browser != browser or situation.renderer_kills > 0
        self._blame(
            self.model.saw(
                tab, seen, loop.time(), was_killed=was_killed, is_unreliable=is_unreliable
            )
        )
        tab.browser = browser
        return reply

    def _blame(self, wrong: list[str]) -> None:
        for one in wrong:
            self._complain(self, one)

    # --- calls --------------------------------------------------------------------------------

    async def _call(self, tool: str, **arguments: Any) -> Reply:
        assert self._shim is not None
        loop = asyncio.get_running_loop()
        was_troubled, began = self.is_troubled, loop.time()
        said = re.sub(r"\s+", " ", f"{tool} {json.dumps(arguments)}")[:SAID_CHARS]
        try:
            reply = await self._shim.call(tool, arguments, GIVE_UP_SECONDS)
        except TimeoutError:
            self._complain(self, f"NEVER ANSWERED: {said} after {GIVE_UP_SECONDS:.0f} s")
            return Reply("TIMEOUT", "never answered")
        took = loop.time() - began
        self.calls += 1
        self.slowest = max(self.slowest, took)
        self.history.append(f"{said} -> {reply.code or 'ok'} in {took:.1f} s: {reply.text[:160]!r}")
        self.crashed = self.crashed or reply.code == "TAB_CRASHED"
        if took > CALL_SECONDS + LATE_SECONDS + BUSY_SECONDS + self._situation.stopped[self.pid]:
            self._complain(self, f"LATE: {said} was answered after {took:.1f} s ({reply.code})")
        if strange := set(MARK.findall(reply.text)) - {self.mark}:
            self._complain(self, f"FOREIGN MARK: {strange} in the answer to {said}: {reply.text}")
        is_excused = reply.code in UNCERTAIN or self._is_excused(reply)
        if not (reply.is_ok or (is_excused and (was_troubled or self.is_troubled))):
            self._complain(self, f"ANSWERED {reply.code}: {said}: {reply.text[:300]}")
        return reply

    def _is_excused(self, reply: Reply) -> bool:
        """Return whether a fault excuses the error. Some errors count only if the message names the
        cause."""
        if reply.code == "INTERNAL" and self._situation.has_no_room:
            return re.search("disk|space", reply.text, re.IGNORECASE) is not None
        return reply.code == "NOT_FOUND" and self._situation.loses_loads and "net::" in reply.text
