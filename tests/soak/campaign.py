"""The campaign: agents work, faults come in bursts, and after each burst everything is compared.

A violation is something that no documented rule allows. After a violation the campaign continues
with what it found as the new truth, so that one cause is reported once.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException

from roost import ops
from roost.api.views import StatusView
from roost.client.client import Client
from roost.errors import RoostError
from roost.local.home import Home, socket_path
from roost.wire.hello import ClientKind, Hello
from tests.soak.campaign_report import Report, Violation
from tests.soak.chromium_pages import DOOR, pages_of
from tests.soak.fault_plan import Burst, Fault, Injector, Kind, Outcome, pause
from tests.soak.home_processes import Part, processes_of, send
from tests.soak.shim_agent import ShimAgent
from tests.soak.situation import Situation
from tests.soak.witness_site import WitnessSite

POOL = 60
"""More tabs than all agents open, so that nobody is ever refused."""
RECOVERY_SECONDS = 120.0
AGREE_SECONDS = 60.0
"""How long status, browser, site and model may take to agree once every agent has recovered."""
GRACE_SECONDS = 30.0
"""How long a broker that was started again waits for an agent to come back."""
END_SECONDS = 60.0
LOOK_AGAIN_SECONDS = 0.25
ROLL_SECONDS = 5.0
WORK_CALLS = 6
WORK_SECONDS = 20.0
SAME_COMPLAINTS = 3
"""One agent complains this often about one kind of thing in one burst."""
LOG_LINES = 15
LOG_BYTES = 5 << 20


@dataclass(slots=True)
class Dead:
    """A killed agent, of which nothing may remain."""

    agent: ShimAgent
    due: float


class Campaign:
    """One home, one browser, some agents. ``folder`` has the home and, afterwards, the report."""

    def __init__(self, folder: Path, browser: str, seed: int, site: WitnessSite) -> None:
        self.home = Home(folder / "home")
        self.report = Report(folder / "campaign.txt")
        self._browser = browser
        self._seed = seed
        self._site = site
        self._work = folder / "work"
        self._work.mkdir()
        self._agents: list[ShimAgent] = []
        self._dead: list[Dead] = []
        self._marks = 0
        self._known: set[str] = set()
        self._temporary: set[Path] = set()
        self._burst = 0
        self._complaints: Counter[tuple[int, str, ShimAgent | None]] = Counter()
        self._situation = Situation(self.home.path / "keepers" / f"{browser}.json")
        self._injector = Injector(self.home, self.home.path / "ballast", self._situation.stopped)
        self.home.create()
        lines = [f'browser = "{browser}"', "headless = true", f"pool = {POOL}", "keep_seconds = 60"]
        if browser == "chromium":
            lines.append(f'browser_arg = ["{DOOR}"]')
        self.home.config.write_text("\n".join(lines), encoding="utf-8")

    @asynccontextmanager
    async def agents(self, count: int) -> AsyncIterator[None]:
        """Start the agents, and end everything of the campaign at the end."""
        try:
            await self._start(count)
            await self._recover()
            await self._check("before the first burst", AGREE_SECONDS)
            yield
        finally:
            for agent in [*self._agents, *(dead.agent for dead in self._dead)]:
                await agent.end()
            for found in processes_of(self.home):
                send(found.process, signal.SIGKILL)

    # --- one burst ----------------------------------------------------------------------------

    async def play(self, burst: Burst) -> None:
        """Play the burst. Then replace a Chromium that lost a service, because it is unreliable."""
        await self._play(burst)
        if self._situation.browser() in self._situation.unreliable:
            renewal = Fault(Kind.KILL, Part.BROWSER, 0.0)
            await self._play(Burst(burst.number, (renewal,)))

    async def _play(self, burst: Burst) -> None:
        """Let the agents work, inject the faults, wait for the recovery, compare everything."""
        self._burst = burst.number
        loop = asyncio.get_running_loop()
        await self._let_work()
        self._note_temporary_folders()
        self._situation.begin(loop.time(), burst)
        for agent in self._agents:
            agent.is_troubled, agent.crashed = True, False
        outcome = await self._injector.inject(burst)
        self._situation.end(outcome)
        for fault, _ in outcome.done:
            if fault.kind is Kind.KILL:
                self.report.kills[str(fault.part)] += 1
        self.report.note(f"burst {burst.number}: {outcome}")
        await self._bury(outcome)
        await self._recover()
        if outcome.kills(Part.BROKER):
            self._begin_grace_anew()
        self.report.recoveries.append(loop.time() - outcome.ended)
        self._blame_crashes(outcome)
        await self._check(f"after {outcome}", AGREE_SECONDS)
        took = loop.time() - outcome.ended
        recovered = self.report.recoveries[-1]
        self.report.note(f"  recovered after {recovered:.1f} s, compared after {took:.1f} s")

    async def _let_work(self) -> None:
        before = {agent: agent.calls for agent in self._agents}
        for agent in self._agents:
            agent.raise_if_broken()
            agent.may_work.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(WORK_SECONDS):
                while any(agent.calls < before[agent] + WORK_CALLS for agent in self._agents):
                    await pause(LOOK_AGAIN_SECONDS)

    async def _bury(self, outcome: Outcome) -> None:
        """Replace agents whose shims were killed."""
        now = asyncio.get_running_loop().time()
        killed = {process.pid for fault, process in outcome.done if fault.kind is Kind.KILL}
        async with asyncio.timeout(END_SECONDS):
            while any(agent.pid in killed and agent.is_alive for agent in self._agents):
                await pause(LOOK_AGAIN_SECONDS)
        gone = [agent for agent in self._agents if not agent.is_alive]
        for agent in gone:
            self.report.count(agent)
            self._dead.append(Dead(agent, now))
        self._agents = [agent for agent in self._agents if agent.is_alive]
        await self._start(len(gone))

    async def _start(self, count: int) -> None:
        fresh = []
        for _ in range(count):
            self._marks += 1
            fresh.append(
                ShimAgent(
                    self._marks, self._seed, self.home, self._work, self._site,
                    self._situation, self._complain,
                )
            )  # fmt: skip
        self._agents += fresh
        await asyncio.gather(*(agent.start() for agent in fresh))

    async def _recover(self) -> None:
        deadline = asyncio.get_running_loop().time() + RECOVERY_SECONDS
        for agent in self._agents:
            agent.may_work.clear()
        await asyncio.gather(*(agent.recover(deadline) for agent in self._agents))

    def _begin_grace_anew(self) -> None:
        """Give every absent agent the whole grace again, as a restarted broker does."""
        due = asyncio.get_running_loop().time() + GRACE_SECONDS
        for dead in self._dead:
            dead.due = max(dead.due, due)

    def _blame_crashes(self, outcome: Outcome) -> None:
        crashed = [agent.mark for agent in self._agents if agent.crashed]
        if len(crashed) > outcome.kills(Part.RENDERER):
            killed = outcome.kills(Part.RENDERER)
            self._complain(None, f"CRASHED: tabs of {crashed} after {killed} killed renderers")

    # --- comparing ----------------------------------------------------------------------------

    async def _check(self, when: str, seconds: float) -> None:
        """Compare until nothing differs, or time is up."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        next_roll = loop.time()
        while True:
            # Not at the very end: documents need a moment to answer.
            if next_roll <= loop.time() < deadline - ROLL_SECONDS / 2:
                self._site.call_the_roll()
                next_roll += ROLL_SECONDS
            wrong = [one for one in await self._differences() if one not in self._known]
            if not wrong or loop.time() > deadline:
                break
            await pause(LOOK_AGAIN_SECONDS)
        self._known.update(wrong)
        for one in wrong:
            self._complain(None, f"{one} ({when})")
        while self._site.foreign:
            self._complain(None, f"FOREIGN COOKIE: {self._site.foreign.pop()}")

    async def _differences(self) -> list[str]:
        try:
            status = await self._status()
        except RoostError as error:
            return [f"NO STATUS: {error}"]
        wrong = self._in_status(status) + self._at_site() + self._of_the_dead(status)
        wrong += self._in_files(status) + self._in_processes()
        if self._browser == "chromium":
            try:
                wrong += await self._in_chromium(status)
            except (OSError, ValueError, WebSocketException) as error:
                wrong.append(f"BROWSER AWAY: its own list of pages cannot be had: {error}")
        return wrong

    async def _status(self) -> StatusView:
        said = Hello(token="", kind=ClientKind.CLI, operator=True)
        client = Client(self.home, said, start=True)
        async with client:
            return await client.call(ops.Status())

    def _in_status(self, status: StatusView) -> list[str]:
        wrong = []
        sessions = {session.id: session for session in status.sessions}
        for agent in self._recovered():
            rows = [row for row in status.agents if row.pid == agent.pid]
            if len(rows) != 1 or not rows[0].connected:
                wrong.append(f"AGENT NOT THERE ONCE: {agent} is {rows} in status")
                continue
            if agent.session not in (None, rows[0].session):
                wrong.append(f"SESSION LOST: {agent} is now in {rows[0].session}")
            agent.session = rows[0].session
            row = sessions.get(agent.session)
            listed = {tab.tab: tab.url for tab in row.tabs} if row else {}
            known = {tab.id: tab.address for tab in agent.model.tabs.values()}
            if listed != known:
                wrong.append(f"STATUS DIFFERS: {agent} has {listed}, the model {known}")
        known_ones = {agent.session for agent in self._everybody()}
        pids = {agent.pid for agent in self._everybody()}
        known_ones |= {row.session for row in status.agents if row.pid in pids}
        wrong += [f"SESSION OF NOBODY: {one}" for one in sessions.keys() - known_ones]
        counted = sum(len(session.tabs) for session in status.sessions)
        pool = sum(browser.tabs for browser in status.browsers)
        if pool != counted:
            nobodys = self._tabs_of_nobody()
            wrong.append(f"POOL DIFFERS: {pool} in the pool, {counted} in sessions; {nobodys}")
        return wrong

    def _tabs_of_nobody(self) -> list[str]:
        """Return the journal's rows of tabs that belong to no session."""
        with closing(sqlite3.connect(self.home.journal)) as journal:
            rows = journal.execute("SELECT row FROM rows WHERE kind = 'tab'").fetchall()
        return [row.decode() for (row,) in rows if json.loads(row)["session"] is None]

    def _at_site(self) -> list[str]:
        """Check that each tab of each agent is one open document, and that there are no others."""
        open_ones = Counter(document.path for document in self._site.documents())
        wrong = []
        for agent in self._recovered():
            here = Counter({path: n for path, n in open_ones.items() if _mark(path) == agent.mark})
            known = Counter(
                urlsplit(tab.address).path for tab in agent.model.tabs.values() if tab.address
            )
            if here != known:
                wrong.append(f"DOCUMENTS DIFFER: {agent} has {dict(here)} open, not {dict(known)}")
        marks = {agent.mark for agent in self._everybody()}
        wrong += [f"DOCUMENT OF NOBODY: {path}" for path in open_ones if _mark(path) not in marks]
        return wrong

    def _of_the_dead(self, status: StatusView) -> list[str]:
        """Return what remains of killed agents whose time is up. Drop agents of which nothing
        remains."""
        now, wrong = asyncio.get_running_loop().time(), []
        for dead in list(self._dead):
            agent = dead.agent
            left = [row.session for row in status.agents if row.pid == agent.pid]
            left += [row.id for row in status.sessions if row.id == agent.session]
            left += [one.path for one in self._site.documents() if one.mark == agent.mark]
            if not left:
                self._dead.remove(dead)
            elif now > dead.due + AGREE_SECONDS:
                wrong.append(f"THE DEAD STAY: {agent} was killed and has {left}")
        return wrong

    def _in_files(self, status: StatusView) -> list[str]:
        folders = {folder.name for folder in self.home.files.glob("*")}
        sessions = {session.id for session in status.sessions}
        return [f"FILES STAY: files/{name}" for name in folders - sessions]

    def _in_processes(self) -> list[str]:
        """Check that there is one browser, and one keeper that holds it."""
        parts = Counter(found.part for found in processes_of(self.home))
        return [
            f"PROCESSES STAY: {parts[part]} of {part}"
            for part in (Part.BROKER, Part.KEEPER, Part.BROWSER)
            if parts[part] > 1
        ]

    async def _in_chromium(self, status: StatusView) -> list[str]:
        """Check that the browser's own list of pages has exactly the tabs of status, and that each
        session has its own context."""
        found = await pages_of(self._profile)
        tabs = [(tab.url, session.id) for session in status.sessions for tab in session.tabs]
        listed, there = Counter(url for url, _ in tabs), Counter(page.url for page in found.pages)
        wrong = [f"PAGE OF NOBODY: {page}" for page in found.pages if page.url not in listed]
        wrong += [
            f"PAGES DIFFER: {there[url]} at {url}, {count} in status"
            for url, count in listed.items()
            if there[url] != count
        ]
        owners: dict[str, set[str]] = {}
        for page in found.pages:
            if listed[page.url] == 1:
                owners.setdefault(page.context, set()).add(dict(tabs)[page.url])
        wrong += [f"SHARED CONTEXT: {who}" for who in owners.values() if len(who) > 1]
        jars, sessions = len(found.contexts), len(status.sessions)
        return wrong + ([f"JARS STAY: {jars} contexts, {sessions} sessions"] * (jars > sessions))

    async def outlive_the_dead(self) -> None:
        """Wait until nothing remains of killed agents. What remains too long is reported later."""
        loop = asyncio.get_running_loop()
        while self._dead and loop.time() < max(dead.due for dead in self._dead) + AGREE_SECONDS:
            await self._differences()
            await pause(LOOK_AGAIN_SECONDS)

    # --- the end ------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Let all agents leave, stop the broker, and check that nothing remains."""
        self._burst += 1
        loop = asyncio.get_running_loop()
        await self.outlive_the_dead()
        await self._check("at the end, with every agent still there", AGREE_SECONDS)
        for agent in self._agents:
            self.report.count(agent)
        leaving, self._agents = self._agents, []
        await asyncio.gather(*(agent.leave() for agent in leaving))
        await self._check("after every agent has left", AGREE_SECONDS)
        self._note_temporary_folders()
        said = Hello(token="", kind=ClientKind.CLI, operator=True)
        async with Client(self.home, said, start=True) as operator:
            await operator.call(ops.BrokerStop())
        deadline = loop.time() + END_SECONDS
        while (left := self._leftovers()) and loop.time() < deadline:
            await pause(LOOK_AGAIN_SECONDS)
        for one in left:
            self._complain(None, f"LEFT: {one}")

    async def abandon(self) -> None:
        """Kill an agent, the broker and the keeper at once. The browser must end by itself."""
        self._burst += 1
        await self._start(1)
        for found in processes_of(self.home):
            if found.part in (Part.SHIM, Part.BROKER, Part.KEEPER):
                send(found.process, signal.SIGKILL)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + END_SECONDS
        while (left := processes_of(self.home)) and loop.time() < deadline:
            await pause(LOOK_AGAIN_SECONDS)
        for found in left:
            self._complain(None, f"ORPHAN: {found.part} {found.process} {found.command[:6]}")

    def _leftovers(self) -> list[str]:
        left = [f"process {found.process} {found.command[:6]}" for found in processes_of(self.home)]
        folders = (self.home.path / "keepers", self.home.files)
        files = [self.home.endpoint, socket_path(self.home)]
        files += [one for folder in folders if folder.exists() for one in folder.iterdir()]
        files += self._temporary
        files += [one for one in self.home.path.iterdir() if one.name.startswith(".")]
        left += [str(file) for file in files if os.path.lexists(file)]
        if not left:
            with closing(sqlite3.connect(self.home.journal)) as journal:
                left += [
                    f"journal row {row}"
                    for row in journal.execute("SELECT kind, key FROM rows WHERE kind != 'counter'")
                ]
                left += [f"keepsake {row}" for row in journal.execute("SELECT key FROM keepsakes")]
        logs = sum(one.stat().st_size for one in self.home.path.glob("broker.log*"))
        return left + ([f"{logs >> 20} MiB of broker.log"] if logs > LOG_BYTES else [])

    def _note_temporary_folders(self) -> None:
        """Record the folder that Chromium makes in /tmp. A link in its profile names it."""
        with suppress(OSError):
            self._temporary.add((self._profile / "SingletonSocket").readlink().parent)

    # --- what is wrong ------------------------------------------------------------------------

    @property
    def _profile(self) -> Path:
        return self.home.path / "browsers" / self._browser / "profile"

    def _recovered(self) -> list[ShimAgent]:
        """Return the agents that recovered. The others have already been reported."""
        return [agent for agent in self._agents if not agent.is_troubled]

    def _everybody(self) -> list[ShimAgent]:
        return [*self._agents, *(dead.agent for dead in self._dead)]

    def _complain(self, agent: ShimAgent | None, what: str) -> None:
        about = [] if agent is None else [str(agent), *agent.history]
        about += ["broker.log:", *_tail(self.home.log), "audit.jsonl:", *_tail(self.home.audit)]
        kind = (self._burst, what.split(":")[0], agent)
        self._complaints[kind] += 1
        if agent is not None and self._complaints[kind] > SAME_COMPLAINTS:
            return
        what = " ".join(what.split())
        violation = Violation(self._burst, what, "\n".join(f"    {line}" for line in about))
        self.report.violations.append(violation)
        self.report.note(f"VIOLATION in {violation}")


def _mark(path: str) -> str:
    return path.split("/")[1]


def _tail(path: Path) -> Iterable[str]:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
    return []
