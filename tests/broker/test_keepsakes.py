"""Cookies are kept for the day a browser dies: soon after a change, not at every call."""

from __future__ import annotations

import asyncio
from pathlib import Path

from roost.api import operations as ops
from roost.broker.journal import Journal
from roost.broker.keepsakes import AT_MOST_EVERY, Keepsakes
from roost.broker.tasks import Tasks
from roost.daemon.wiring import FAKE
from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.drivers.fake import FakeDriver
from roost.errors import JarUnavailable
from roost.testing.clock import FakeClock
from roost.testing.house import fake_house
from roost.testing.waiting import until
from roost.vocabulary import JarId

SOME_JAR = JarId("j1")
SOME_CONTENTS = JarContents(
    (Cookie(name="sid", value="1", domain="a.test", expires=5e9, same_site="Lax"),),
    (OriginStorage("http://a.test", (("k", "v"),)),),
)


class SlowToRead(FakeDriver):
    """Its jars can be read also when they are gone: it had read them before."""

    def __init__(self) -> None:
        super().__init__()
        self.may_read = asyncio.Event()
        self.reads = 0
        self.has_read = False

    async def read_cookies(self, jar: str) -> list[Cookie]:
        self.reads += 1
        await self.may_read.wait()
        asyncio.get_running_loop().call_soon(setattr, self, "has_read", True)
        return list(SOME_CONTENTS.cookies)


class Reader:
    def __init__(self) -> None:
        self.reads = 0
        self.is_gone = False

    async def __call__(self, jar: JarId) -> JarContents:
        self.reads += 1
        if self.is_gone:
            raise JarUnavailable("gone")
        return SOME_CONTENTS


async def test_many_changes_within_a_second_are_read_once(tmp_path: Path) -> None:
    journal, clock, tasks, reader = Journal(tmp_path / "j"), FakeClock(), Tasks(), Reader()
    keepsakes = Keepsakes(journal, clock, tasks, reader)
    for _ in range(5):
        keepsakes.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: keepsakes.kept(SOME_JAR))

    assert reader.reads == 1
    assert keepsakes.kept(SOME_JAR) == SOME_CONTENTS
    await tasks.aclose()
    journal.close()


async def test_what_was_kept_before_counts_when_the_jar_is_gone(tmp_path: Path) -> None:
    journal, clock, tasks, reader = Journal(tmp_path / "j"), FakeClock(), Tasks(), Reader()
    keepsakes = Keepsakes(journal, clock, tasks, reader)
    keepsakes.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: keepsakes.kept(SOME_JAR))
    reader.is_gone = True
    keepsakes.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: reader.reads == 2 and not len(tasks))

    assert keepsakes.kept(SOME_JAR) == SOME_CONTENTS
    keepsakes.forget(SOME_JAR)
    assert keepsakes.kept(SOME_JAR) is None
    await tasks.aclose()
    journal.close()


async def test_what_is_kept_of_jars_that_are_gone_is_forgotten(tmp_path: Path) -> None:
    journal, tasks = Journal(tmp_path / "j"), Tasks()
    keepsakes = Keepsakes(journal, FakeClock(), tasks, Reader())
    for jar in ("j1", "j2"):
        journal.keep(jar, b"{}")
    keepsakes.forget_others({"j2"})

    assert journal.keepsakes() == ["j2"]
    journal.close()


async def test_a_session_has_its_cookies_and_storage_again_after_its_browser_died(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url="http://a.test/"))
        await agent.api.call(ops.Evaluate(function='() => document.cookie = "who=me"'))
        await agent.api.call(ops.Evaluate(function='() => localStorage.setItem("k", "v")'))
        house.clock.advance(AT_MOST_EVERY)
        (jar,) = house.state.jars
        await until(lambda: house.broker.keepsakes.kept(jar))
        driver = next(iter(house.broker.browsers.values())).driver
        assert isinstance(driver, FakeDriver)
        driver.kill()

        reply = await agent.api.call(ops.Evaluate(function="() => document.cookie"))
        stored = await agent.api.call(ops.Evaluate(function="() => Object.entries(localStorage)"))

    assert reply.value == "who=me"
    assert stored.value == [["k", "v"]]


async def test_nothing_is_kept_of_a_session_that_ends_while_its_jar_is_looked_into(
    tmp_path: Path,
) -> None:
    driver = SlowToRead()
    async with fake_house(tmp_path) as house:
        house.broker.browsers[FAKE].driver = driver
        agent = house.admit()
        await agent.api.call(ops.Navigate(url="http://a.test/"))
        house.clock.advance(AT_MOST_EVERY)
        await until(lambda: driver.reads)
        (jar,) = house.state.jars
        await agent.api.call(ops.SessionDispose(session=str(agent.welcome.session)))
        await until(lambda: jar not in house.state.jars)
        driver.may_read.set()
        await until(lambda: driver.has_read)

        assert house.broker.keepsakes.kept(jar) is None
