"""Any sequence of opening, disposing, cloning and killing leaves no jar behind."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roost.api import operations as ops
from roost.api.door import Admission
from roost.drivers.base import SHARED_JAR, Cookie, JarContents, OriginStorage
from roost.drivers.fake import FakeBrowser
from roost.errors import RoostError, Unauthorized
from roost.profiles.store import Profile, ProfileStore
from roost.testing.house import FakeHouse, fake_house
from roost.testing.sealer import sealer_of
from roost.testing.waits import turn, until
from roost.vocabulary import LEASE_SECONDS, JarPolicy
from roost.wire.hello import ClientKind

AGENTS, SESSIONS = 3, 3
EXAMPLES = 200
URL = "https://site.test/"
CONTENTS = JarContents(
    (Cookie(name="login", value="1", domain="site.test"),),
    (OriginStorage("https://site.test", (("k", "v"),)),),
)
who, which = st.sampled_from([0, 0, 0, *range(AGENTS)]), st.integers(0, SESSIONS - 1)
STEPS = st.one_of(
    st.tuples(st.just("open"), who, which, st.booleans(), st.booleans()),
    st.tuples(st.just("open_tab"), who, which),
    st.tuples(st.just("dispose"), who, which),
    st.tuples(st.just("hold"), st.sampled_from(["may_make", "may_fill", "may_open", "may_start"])),
    st.tuples(st.just("let_go")),
    st.tuples(st.just("wait_a_moment")),
    st.tuples(st.just("leave"), who),
    st.tuples(st.just("kill_agent"), who),
    st.tuples(st.just("hand_out_tokens")),
    st.tuples(st.just("kill_browser")),
    st.tuples(st.just("kill_broker")),
)


class Story:
    """A sequence of houses in one folder with one browser, until no agent is left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._browser = FakeBrowser()
        self._calls: list[asyncio.Task[Any]] = []
        self._agents: list[Admission] = []
        self._tokens: set[str] = set()
        self._stack = AsyncExitStack()
        self.house: FakeHouse

    async def begin(self) -> None:
        ProfileStore(self._folder / "profiles", sealer_of(self._folder)).put(
            Profile(name="work", source="by hand", imported_at=0.0, contents=CONTENTS),
            for_any_agent=True,
        )
        await self._come_in()
        for session in range(SESSIONS):  # most stories are about clones that somebody wants
            await self.open(0, session, True, False)
        await self.wait_a_moment()

    async def _come_in(self) -> None:
        self._stack = AsyncExitStack()
        house = fake_house(self._folder, browser=self._browser)
        self.house = await self._stack.enter_async_context(house)
        self._agents = [self._somebody() for _ in range(AGENTS)]

    def _somebody(self) -> Admission:
        return self.house.admit(replace(self.house.hello(), name="tester"))

    def _call(self, agent: int, operation: Any) -> None:
        call = asyncio.get_running_loop().create_task(self._agents[agent].api.call(operation))
        self._calls.append(call)

    async def open(self, agent: int, session: int, cloned: bool, with_page: bool) -> None:
        jar, profile = (JarPolicy.CLONE, "work") if cloned else (None, None)
        url = URL if with_page else None
        self._call(agent, ops.SessionOpen(session=f"n{session}", jar=jar, profile=profile, url=url))

    async def open_tab(self, agent: int, session: int) -> None:
        self._call(agent, ops.Tabs(action="new", session=f"n{session}", url=URL))

    async def dispose(self, agent: int, session: int) -> None:
        self._call(agent, ops.SessionDispose(session=f"n{session}"))

    async def hold(self, what: str) -> None:
        getattr(self.house.driver, what).clear()

    async def let_go(self) -> None:
        driver = self.house.driver
        for held in (driver.may_make, driver.may_fill, driver.may_open, driver.may_start):
            held.set()

    async def wait_a_moment(self) -> None:
        for _ in range(20):
            await turn()

    async def leave(self, agent: int) -> None:
        self.house.door.leave(self._agents[agent], goodbye=True)
        self._agents[agent] = self._somebody()

    async def kill_agent(self, agent: int) -> None:
        """Cut the agent's connection; it does not come back."""
        self.house.door.leave(self._agents[agent], goodbye=False)
        self._agents[agent] = self._somebody()

    async def hand_out_tokens(self) -> None:
        operator = self.house.admit(self.house.hello(ClientKind.CLI)).api
        for session in (await operator.call(ops.SessionList())).sessions:
            token = (await operator.call(ops.SessionToken(session=session.id))).token
            self._tokens.add(token)
            self.house.door.visit(token)

    async def kill_browser(self) -> None:
        self.house.driver.kill()

    async def kill_broker(self) -> None:
        """Kill the broker now: its last actions are neither recorded nor sent to the browser."""
        self.house.broker._journal.close()
        self.house.driver.browser = FakeBrowser()
        self._browser.report = None
        await self._stack.aclose()
        await asyncio.gather(*self._calls, return_exceptions=True)
        self._calls = []
        await self._come_in()

    async def answered(self) -> None:
        answers = await asyncio.gather(*self._calls, return_exceptions=True)
        self._calls = []
        for answer in answers:
            is_known = isinstance(answer, RoostError | asyncio.CancelledError)
            assert is_known or not isinstance(answer, BaseException), answer

    async def end(self) -> None:
        """Disconnect all agents, and dispose all sessions as the person."""
        await self.let_go()
        async with asyncio.timeout(10):
            await self.answered()
        house = self.house
        for agent in self._agents:
            house.door.leave(agent, goodbye=True)
        house.clock.advance(LEASE_SECONDS)  # more than the grace of a lost connection
        await until(lambda: not house.state.agents)
        operator = house.admit(house.hello(ClientKind.CLI))
        for session in (await operator.api.call(ops.SessionList())).sessions:
            await operator.api.call(ops.SessionDispose(session=session.id))
        await operator.api.call(ops.BrowserStart())
        await until(lambda: not house.state.jars and not house.state.tabs)
        await until(lambda: list(self._browser.jars) == [SHARED_JAR] and not self._browser.pages)
        assert not self._browser.storage.keys() - {SHARED_JAR}
        assert house.state.clones == 0
        assert house.broker._journal.jar_backups() == []
        files = house.broker.files
        assert not files.is_dir() or list(files.iterdir()) == []
        assert not house.state.sessions
        for token in self._tokens:
            with pytest.raises(Unauthorized):
                house.door.visit(token)
        await self._stack.aclose()


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=14))
def test_no_sequence_of_jar_operations_leaves_a_jar_or_backup_over(
    steps: list[tuple[Any, ...]],
) -> None:
    async def told() -> None:
        with tempfile.TemporaryDirectory(prefix="roost-test-") as folder:
            story = Story(Path(folder))
            await story.begin()
            for name, *arguments in steps:
                await getattr(story, name)(*arguments)
                await turn()
            await story.end()

    asyncio.run(told())
