"""The demo's steps, and what each proves.

The demo is the operator of a Roost of its own, and the client of each agent's MCP server. It checks
every claim against what the broker really answered. However the demo ends, it leaves no process, no
socket and no folder behind.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from rich.console import Console

from roost.api import operations as ops
from roost.api.views import StatusView
from roost.client.client import Client
from roost.demo.cast import Player
from roost.demo.site import Site
from roost.demo.stage import Stage, moment
from roost.errors import BrowserLost, RoostError, Timeout
from roost.local.broker_start import ensure_broker
from roost.local.endpoint import Endpoint
from roost.local.home import Home
from roost.local.processes import Process, end_tree, identify, wait_until_gone
from roost.vocabulary import GRACE_SECONDS

POOL = 8
DRAW_SECONDS = 0.1
WORK_SECONDS = 0.1
STOP_SECONDS = 10.0
STORY_SECONDS = 55.0
Operator = Callable[[Home], AbstractAsyncContextManager[Client]]


def tell(browser: str, *, operator: Operator, console: Console, colors: Mapping[str, str]) -> bool:
    """Run the demo. Returns whether every proof held.

    browser: name of the browser to use.
    operator: connects to the broker of a home as its operator.
    console: where the demo is shown.
    colors: terminal style for each colour of a session.
    """
    try:
        return asyncio.run(_tell(browser, operator, console, colors))
    except ExceptionGroup as several:
        raise _first(several) from several
    except asyncio.CancelledError:  # the demo was told to stop; everything is cleaned up by now
        return False


def _first(group: ExceptionGroup[Exception]) -> Exception:
    """Return the first error of tasks that ran at the same time."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first


async def _tell(
    browser: str, operator: Operator, console: Console, colors: Mapping[str, str]
) -> bool:
    folder = Path(tempfile.mkdtemp(prefix="roost-demo-"))
    home = Home(folder / "home")
    endpoint: Endpoint | None = None
    story: Story | None = None
    task = asyncio.current_task()
    assert task is not None
    # A closed terminal or a ``kill`` must clean up too; Ctrl-C already cancels this task.
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        options = [f"--browser={browser}", f"--pool={POOL}", "--linger"]
        endpoint = await asyncio.to_thread(ensure_broker, home, options=options)
        async with operator(home) as client:
            with Site() as site, Stage(console, colors) as stage:
                story = Story(home, client, stage, site)
                async with asyncio.timeout(STORY_SECONDS):
                    await story.run()
        left = await asyncio.to_thread(_left_behind, endpoint, home, story)
        story.prove(f"Nothing is left behind: {left or 'no process, no socket'}", held=not left)
        _conclude(story, stage, len(left))
        return all(story.proofs)
    except TimeoutError:
        raise Timeout("The demo did not end in time.", hint="Is the machine very busy?") from None
    finally:
        if story is not None:
            await asyncio.gather(*(player.remove() for player in story.cast))
        if endpoint is not None:
            end_tree(endpoint.process, STOP_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _left_behind(endpoint: Endpoint, home: Home, story: Story) -> list[str]:
    """List what should be gone by now and is not."""
    left = [f"agent {player.name}" for player in story.cast if player.process.returncode is None]
    for process in (endpoint.process, *story.browsers):
        if not wait_until_gone(process, STOP_SECONDS):
            left.append(f"process {process.pid}")
    return left + [str(path) for path in (endpoint.socket, home.endpoint) if path.exists()]


def _conclude(story: Story, stage: Stage, left: int) -> None:
    stage.figures(
        {
            "agents": len(story.cast),
            "operations": sum(player.asked for player in story.cast),
            "tabs opened": story.tabs_opened,
            "most tabs at once": f"{story.most_tabs} of {POOL}",
            "intrusions refused": f"{story.refused} of {story.tried}",
            "leftovers": left,
            "seconds": f"{stage.seconds():.1f}",
        }
    )
    held, claims = sum(story.proofs), len(story.proofs)
    stage.last_word(
        f"{held} of {claims} proofs held.", "bold green" if held == claims else "bold red"
    )


class Story:
    """The acts in order, and the count of proofs."""

    def __init__(self, home: Home, operator: Client, stage: Stage, site: Site) -> None:
        self._home = home
        self._site = site
        self._operator = operator
        self._stage = stage
        self.cast: list[Player] = []
        self.proofs: list[bool] = []
        self.tabs_opened = 0
        self.most_tabs = 0
        self.browsers: set[Process] = set()
        self.tried = 0
        self.refused = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            drawing = group.create_task(self._keep_drawing(), name="draw")
            scout, tester, writer = await self._arrive("scout", "tester", "writer")
            await self._fill_the_pool(scout, tester, writer)
            (guest,) = await self._arrive("guest")
            await self._share(scout, tester, guest)
            await self._try_to_intrude(tester, writer)
            await self._hand_over(writer)
            await self._crash(tester, waiting=guest, others=[scout, writer])
            await self._leave([scout, writer, guest])
            drawing.cancel()

    def prove(self, claim: str, *, held: bool) -> None:
        self.proofs.append(held)
        self._stage.prove(claim, held=held)

    # --- the acts -------------------------------------------------------------------------------

    async def _arrive(self, *names: str) -> list[Player]:
        log = self._home.path / "demo.log"
        arriving = [Player.enter(name, self._home, log) for name in names]
        players = await asyncio.gather(*arriving)
        self.cast += players
        status = await self._status()
        colors = {session.id: session.color for session in status.sessions}
        homes = {agent.pid: agent for agent in status.agents}
        for player in players:
            known = homes[player.process.pid]
            player.agent, player.session = known.id, known.session
            color = colors[player.session]
            what = f"arrives: pid {player.process.pid}, session {player.session}, {color}"
            self._stage.say(player.name, what)
        await self._stage.beat()
        return list(players)

    async def _fill_the_pool(self, scout: Player, tester: Player, writer: Player) -> None:
        for player, tabs in ((scout, 5), (tester, 2), (writer, 1)):
            for number in range(1, tabs + 1):
                await self._open(player, f"{player.name}/{number}")
        tabs_held = (await self._status()).browsers[0].tabs
        self.prove(f"The pool is full: {tabs_held} of {POOL} tabs", held=tabs_held == POOL)

    async def _share(self, scout: Player, tester: Player, guest: Player) -> None:
        """Play a refusal, a request, a grant, a reservation and the tab opened with it."""
        code = await self._refusal(guest, "browser_tabs", action="new")
        self.prove("guest has no tab to give up, so it is refused", held=code == "POOL_FULL")
        place = (await guest.ask("tab_space_request")).data
        self._stage.say("guest", f"asks for space, place {place['position']} in the queue")
        told = await scout.ask("browser_tabs", action="list")
        self.prove("scout, who has 5 tabs, is told that somebody waits", held="Note:" in told.text)
        await self._stage.beat()
        granted = (await scout.ask("tab_space_grant")).data
        self._stage.say("scout", f"gives up {granted['closed']}")
        status = (await guest.ask("tab_space_status", waitSeconds=5)).data
        left = status.get("reservationExpiresInMs", 0) // 1000
        self._stage.say("guest", f"has the slot reserved, for {left} s")
        await self._stage.beat()
        code = await self._refusal(tester, "browser_tabs", action="new", evict=False)
        self.prove("tester cannot take the reserved slot", held=code == "POOL_FULL")
        tab = await self._open(guest, "guest/1")
        held = status["youHaveReservation"] and tab is not None
        self.prove(f"guest gets its tab {tab} from the reservation", held=held)

    async def _try_to_intrude(self, intruder: Player, victim: Player) -> None:
        """Try everything that an agent could do with another's ids, which are easy to guess."""
        cookie, shop = "basket=books", self._site.address("shop/")
        await victim.ask("browser_navigate", url=shop)
        await victim.ask("browser_evaluate", function=f'() => document.cookie = "{cookie}"')
        await intruder.ask("browser_navigate", url=shop)
        seen = await intruder.ask("browser_evaluate", function="() => document.cookie")
        seen_nothing = seen.page_said == '""'
        self.prove("In the same shop tester sees none of writer's cookies", held=seen_nothing)
        tabs = await victim.ask("browser_tabs", action="list")
        tab = tabs.roost_said(r"(t\d+) \(current")
        self._stage.say(intruder.name, f"tries to get at writer's tab {tab}")
        attempts: list[tuple[str, str, dict[str, Any]]] = [
            ("TAB_GONE", "browser_navigate", {"tab": tab, "url": "about:blank"}),
            ("TAB_GONE", "browser_evaluate", {"tab": tab, "function": "() => document.cookie"}),
            ("TAB_GONE", "browser_take_screenshot", {"tab": tab}),
            ("TAB_GONE", "browser_tabs", {"action": "select", "tab": tab}),
            ("TAB_GONE", "browser_close", {"tab": tab}),
            ("SESSION_GONE", "browser_snapshot", {"session": victim.session}),
            ("SESSION_GONE", "session_dispose", {"session": victim.session}),
            ("BAD_REQUEST", "broker_stop", {}),  # for the person only, so not a tool
        ]
        for expected, op, args in attempts:
            code = await self._refusal(intruder, op, **args)
            self.tried += 1
            self.refused += code == expected
            self._stage.say(intruder.name, f"{op} → {code or 'let in'}")
            await self._stage.beat()
        all_refused = self.refused == self.tried
        self.prove(f"All {self.tried} intrusions are refused", held=all_refused)
        absent = await self._refusal(intruder, "browser_close", tab="t9999")
        self.prove("A foreign tab answers like one that never was", held=absent == "TAB_GONE")
        own = await victim.ask("browser_evaluate", function="() => document.cookie")
        held = own.page_said == json.dumps(cookie)
        self.prove("writer's page and cookies are as they were", held=held)

    async def _hand_over(self, player: Player) -> None:
        """The person takes a session over and hands it back."""
        await self._operator.call(ops.SessionPause(session=player.session))
        code = await self._refusal(player, "browser_evaluate", function="() => location.href")
        self._stage.say("person", f"takes over writer's session; writer is answered {code}")
        await self._stage.beat()
        await self._operator.call(ops.SessionResume(session=player.session))
        back = await player.ask("browser_evaluate", function="() => location.href")
        there = json.dumps(self._site.address("shop/"))
        held = code == "PAUSED" and back.page_said == there
        self.prove("The person takes a session over and hands it back", held=held)

    async def _crash(self, victim: Player, *, waiting: Player, others: Sequence[Player]) -> None:
        """Kill an agent with kill -9, let the others work on, and check the clean-up."""
        code = await self._refusal(waiting, "browser_tabs", action="new", evict=False)
        await waiting.ask("tab_space_request")
        self._stage.say(waiting.name, f"wants a second tab: {code}, so it queues")
        before = await self._status()
        await victim.die()
        killed_at = self._stage.seconds()
        self._stage.say(victim.name, f"is killed (SIGKILL); it has {GRACE_SECONDS:g} s to return")
        during = await self._until(lambda status: not _is_connected(status, victim))
        self.prove(
            "Until then its tabs are kept: it could come back to them",
            held=_tabs(during, victim) == _tabs(before, victim) != [],
        )
        worked = sum(player.asked for player in others)
        enough = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for player in others:
                group.create_task(self._work(player, enough), name=f"work of {player.name}")
            after = await self._until(lambda status: _tabs(status, victim) is None)
            enough.set()
        worked = sum(player.asked for player in others) - worked
        seconds = self._stage.seconds() - killed_at
        self._stage.say(victim.name, f"is cleaned up after {seconds:.1f} s")
        is_gone = victim.agent not in {agent.id for agent in after.agents}
        self.prove("Its agent, session and tabs are gone", held=is_gone and seconds > 5)
        unhurt = all(_tabs(after, p) == _tabs(before, p) for p in (*others, waiting))
        self.prove(f"The others went on: {worked} operations, no tab lost", held=unhurt)
        status = (await waiting.ask("tab_space_status", waitSeconds=5)).data
        tab = await self._open(waiting, "guest/2")
        self.prove(
            f"The freed slot went to {waiting.name}, who had queued: {tab}",
            held=status["youHaveReservation"] and tab is not None,
        )

    async def _leave(self, players: Sequence[Player]) -> None:
        codes = await asyncio.gather(*(player.leave() for player in players))
        self._stage.say("all", "say goodbye")
        status = await self._until(lambda status: not status.agents)
        left = [status.sessions, status.requests, status.reservations]
        tabs = sum(browser.tabs for browser in status.browsers)
        held = not any(left) and not tabs and not any(codes)
        self.prove("Their sessions, tabs and requests ended with them", held=held)
        await self._stage.beat()
        await self._operator.call(ops.BrokerStop())

    # --- helpers of the acts --------------------------------------------------------------------

    async def _open(self, player: Player, path: str) -> str | None:
        url = self._site.address(path)
        opened = await player.ask("browser_tabs", action="new", url=url, evict=False)
        self.tabs_opened += 1
        tab = opened.roost_said(r"Opened tab (t\d+)")
        pool = opened.roost_said(r"Pool: (\S+)\.")
        self._stage.say(player.name, f"opens {tab} at {path}, pool {pool}")
        await self._status()
        await self._stage.beat()
        return tab

    async def _refusal(self, player: Player, op: str, **args: Any) -> str | None:
        """Return the code of the agent's refusal, or None if the call was allowed."""
        try:
            await player.ask(op, **args)
        except RoostError as error:
            return error.code
        return None

    async def _work(self, player: Player, enough: asyncio.Event) -> None:
        """Repeat a few ordinary calls until ``enough`` is set."""
        steps: list[Callable[[], Awaitable[object]]] = [
            lambda: player.ask("browser_navigate", url=self._site.address(f"{player.name}/work")),
            lambda: player.ask("browser_evaluate", function="() => document.title"),
            lambda: player.ask("browser_take_screenshot", scale=0.1),
            lambda: player.ask("browser_tabs", action="list"),
        ]
        for step in itertools.cycle(steps):
            await step()
            await moment(WORK_SECONDS)
            if enough.is_set():
                return

    async def _status(self) -> StatusView:
        status = await self._operator.call(ops.Status())
        if not status.browsers and self.tabs_opened:
            raise BrowserLost("The demo's browser went away.")
        for browser in status.browsers:
            self.most_tabs = max(self.most_tabs, browser.tabs)
            process = identify(browser.pid) if browser.pid else None
            if process is not None:
                self.browsers.add(process)
        self._stage.draw(self.cast, status)
        return status

    async def _until(self, holds: Callable[[StatusView], bool]) -> StatusView:
        """Return the first status for which ``holds`` is true, within the story's deadline."""
        while not holds(status := await self._status()):
            await moment(DRAW_SECONDS)
        return status

    async def _keep_drawing(self) -> None:
        while self._stage.is_live:
            await self._status()
            await moment(DRAW_SECONDS)


def _tabs(status: StatusView, player: Player) -> list[str] | None:
    for session in status.sessions:
        if session.id == player.session:
            return [tab.tab for tab in session.tabs]
    return None


def _is_connected(status: StatusView, player: Player) -> bool:
    return any(a.id == player.agent and a.connected for a in status.agents)
