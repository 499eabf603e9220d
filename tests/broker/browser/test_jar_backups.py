"""Jars are backed up soon after a change, and not at every call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import TypeAdapter

from roost.api import operations as ops
from roost.api.door import Admission
from roost.broker.browser.jar_backups import AT_MOST_EVERY, JarBackup, JarBackups
from roost.broker.journal import Journal
from roost.broker.tasks import Tasks
from roost.daemon.wiring import FAKE
from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.drivers.fake import FakeDriver
from roost.drivers.stores import Stores
from roost.errors import JarUnavailable
from roost.local.home import Home
from roost.testing.clock import FakeClock
from roost.testing.house import FakeHouse, fake_house
from roost.testing.sealer import sealer_of
from roost.testing.waits import until
from roost.vault.key import HomeKey
from roost.vault.seal import Sealer
from roost.vocabulary import JarId

SOME_JAR = JarId("j1")
SOME_CONTENTS = JarBackup(
    (Cookie(name="sid", value="1", domain="a.test", expires=5e9, same_site="Lax"),),
    (OriginStorage("http://a.test", (("k", "v"),)),),
)


class SlowToRead(FakeDriver):
    """A browser whose jars can still be read after they were removed."""

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


class Moody(FakeDriver):
    """A browser that refuses storage while ``takes_none``, and whose store processes die on
    request."""

    def __init__(self) -> None:
        super().__init__()
        self.takes_none = False
        self.now = Stores(1, 1)
        self.writes = 0

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        self.writes += 1
        return list(storage) if self.takes_none else await super().write_storage(jar, storage)

    async def stores(self) -> Stores:
        return self.now

    def lose_stores(self) -> None:
        self.now = Stores(self.now.cookies + 1, self.now.storage + 1)
        self.browser.storage.clear()
        for jar in self.browser.jars.values():
            jar.clear()


class Reader:
    def __init__(self) -> None:
        self.reads = 0
        self.is_gone = False

    async def __call__(self, jar: JarId) -> JarBackup:
        self.reads += 1
        if self.is_gone:
            raise JarUnavailable("gone")
        return SOME_CONTENTS


async def test_many_changes_within_a_second_are_read_once(tmp_path: Path) -> None:
    journal, clock, tasks, reader = Journal(tmp_path / "j"), FakeClock(), Tasks(), Reader()
    backups = JarBackups(journal, clock, tasks, reader, sealer_of(tmp_path))
    for _ in range(5):
        backups.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: backups.kept(SOME_JAR))

    assert reader.reads == 1
    assert backups.kept(SOME_JAR) == SOME_CONTENTS
    await tasks.aclose()
    journal.close()


async def test_the_previous_backup_stays_if_the_jar_is_gone(tmp_path: Path) -> None:
    journal, clock, tasks, reader = Journal(tmp_path / "j"), FakeClock(), Tasks(), Reader()
    backups = JarBackups(journal, clock, tasks, reader, sealer_of(tmp_path))
    backups.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: backups.kept(SOME_JAR))
    reader.is_gone = True
    backups.may_have_changed(SOME_JAR)
    clock.advance(AT_MOST_EVERY)
    await until(lambda: reader.reads == 2 and not len(tasks))

    assert backups.kept(SOME_JAR) == SOME_CONTENTS
    backups.forget(SOME_JAR)
    assert backups.kept(SOME_JAR) is None
    await tasks.aclose()
    journal.close()


class FullDisk(Journal):
    """A journal that accepts no backup while ``is_full``."""

    is_full = True

    def keep(self, key: str, data: bytes | None) -> bool:
        return not self.is_full and super().keep(key, data)


async def test_a_backup_that_the_disk_did_not_take_is_written_once_there_is_room(
    tmp_path: Path,
) -> None:
    clock, journal = FakeClock(), FullDisk(tmp_path / "j.sqlite")
    backups = JarBackups(journal, clock, Tasks(), Reader(), sealer_of(tmp_path))
    backups.keep(SOME_JAR, SOME_CONTENTS)
    clock.advance(AT_MOST_EVERY)
    assert journal.jar_backup(SOME_JAR) is None
    assert backups.kept(SOME_JAR) == SOME_CONTENTS, "a browser that dies meanwhile needs it"
    journal.is_full = False
    clock.advance(AT_MOST_EVERY)
    assert journal.jar_backup(SOME_JAR) is not None
    journal.close()


async def test_backups_of_removed_jars_are_deleted(tmp_path: Path) -> None:
    journal, tasks = Journal(tmp_path / "j"), Tasks()
    backups = JarBackups(journal, FakeClock(), tasks, Reader(), sealer_of(tmp_path))
    for jar in ("j1", "j2"):
        journal.keep(jar, b"{}")
    backups.forget_others({"j2"})

    assert journal.jar_backups() == ["j2"]
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
        await until(lambda: house.broker.jar_backups.kept(jar))
        driver = next(iter(house.broker.browsers.values())).driver
        assert isinstance(driver, FakeDriver)
        driver.kill()

        reply = await agent.api.call(ops.Evaluate(function="() => document.cookie"))
        stored = await agent.api.call(ops.Evaluate(function="() => Object.entries(localStorage)"))

    assert reply.value == "who=me"
    assert stored.value == [["k", "v"]]


async def test_no_backup_is_written_for_a_session_that_ends_during_the_read(
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

        assert house.broker.jar_backups.kept(jar) is None


URL = "http://a.test/"


def set_item(name: str, value: str) -> ops.Evaluate:
    return ops.Evaluate(function=f'() => localStorage.setItem("{name}", "{value}")')


STORED = ops.Evaluate(function="() => Object.entries(localStorage)")
COOKIES = ops.Evaluate(function="() => document.cookie")


@asynccontextmanager
async def moody_house(folder: Path) -> AsyncIterator[tuple[FakeHouse, Moody, Admission]]:
    """Start a house with an agent whose page has stored something that is backed up."""
    async with fake_house(folder) as house:
        driver = Moody()
        house.broker.browsers[FAKE].driver = driver
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        await agent.api.call(set_item("k", "mine"))
        await agent.api.call(ops.Evaluate(function='() => document.cookie = "who=me"'))
        await looked(house)
        yield house, driver, agent


async def looked(house: FakeHouse) -> JarBackup:
    """Return the backup of the only jar after the next read."""
    (jar,) = house.state.jars
    house.broker.jar_backups.may_have_changed(jar)
    house.clock.advance(AT_MOST_EVERY)
    await until(lambda: not len(house.broker.tasks))
    kept = house.broker.jar_backups.kept(jar)
    assert kept is not None
    return kept


async def test_owed_storage_stays_in_the_backup_whatever_pages_store_meanwhile(
    tmp_path: Path,
) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        driver.takes_none = True
        driver.kill()
        first = await agent.api.call(STORED)
        await agent.api.call(set_item("k", "default"))
        kept = await looked(house)

        assert first.value == []
        assert kept.storage == (OriginStorage("http://a.test", (("k", "mine"),)),)
        assert kept.owed_origins == ("http://a.test",)
        assert "the storage of 1 sites (http://a.test)" in " ".join(first.notes or [])

        driver.takes_none = False
        writes = driver.writes
        await agent.api.call(ops.Navigate(url=URL + "2"))
        assert driver.writes == writes, "a page of that site is open: it would be surprised"
        await agent.api.call(ops.Navigate(url="http://other.test/"))
        await agent.api.call(ops.Navigate(url=URL))
        assert (await agent.api.call(STORED)).value == [["k", "mine"]]
        await agent.api.call(set_item("k", "newer"))
        kept = await looked(house)

    assert kept.owed_origins == ()
    assert OriginStorage("http://a.test", (("k", "newer"),)) in kept.storage


async def test_owed_contents_are_put_back_when_the_browser_starts_again(
    tmp_path: Path,
) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        driver.takes_none = True
        driver.kill()
        await agent.api.call(set_item("k", "default"))
        await looked(house)
        driver.takes_none = False
        driver.kill()

        assert (await agent.api.call(STORED)).value == [["k", "mine"]]
        assert (await looked(house)).owed_origins == ()


async def test_owed_contents_are_put_back_before_the_restored_tab_opens(tmp_path: Path) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        write = driver.write_storage

        async def write_at_the_second_try(
            jar: str, storage: Sequence[OriginStorage]
        ) -> list[OriginStorage]:
            driver.takes_none = not driver.writes
            return await write(jar, storage)

        driver.write_storage = write_at_the_second_try  # type: ignore[method-assign]
        driver.kill()

        assert (await agent.api.call(STORED)).value == [["k", "mine"]]
        assert driver.writes == 2


async def test_the_next_broker_knows_the_owed_contents(tmp_path: Path) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        driver.takes_none = True
        driver.kill()
        await agent.api.call(set_item("k", "default"))
        await looked(house)
        house.broker.browsers[FAKE].jars._owed.clear()  # as a broker that was just started

        assert (await looked(house)).owed_origins == ("http://a.test",)


async def test_loading_storage_replaces_the_owed_contents_of_that_origin(tmp_path: Path) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        driver.takes_none = True
        driver.kill()
        await agent.api.call(STORED)
        driver.takes_none = False
        (jar,) = house.state.jars
        loaded = JarContents((), (OriginStorage("http://a.test", (("k", "loaded"),)),))
        await house.broker.browsers[FAKE].jars.put(jar, loaded)
        kept = await looked(house)

    assert kept.owed_origins == ()
    assert dict(kept.storage[0].items) == {"k": "loaded"}


async def test_contents_lost_with_a_store_process_are_put_back_and_never_backed_up_as_empty(
    tmp_path: Path,
) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        driver.lose_stores()
        assert (await agent.api.call(STORED)).value == []
        kept = await looked(house)
        told = (await agent.api.call(ops.Ping())).notes or []
        stored = (await agent.api.call(STORED)).value
        cookies = (await agent.api.call(COOKIES)).value

    assert (stored, cookies) == ([["k", "mine"]], "who=me")
    assert kept.storage == (OriginStorage("http://a.test", (("k", "mine"),)),)
    assert kept.stores == driver.now
    assert any("Roost put its copy back" in line for line in told)


async def test_contents_that_are_lost_during_the_read_are_not_backed_up(tmp_path: Path) -> None:
    async with moody_house(tmp_path) as (house, driver, agent):
        (jar,) = house.state.jars
        before = house.broker.jar_backups.kept(jar)
        read = driver.read_cookies

        async def read_and_lose(jar: str) -> list[Cookie]:
            driver.lose_stores()
            return await read(jar)

        driver.read_cookies = read_and_lose  # type: ignore[method-assign]
        kept = await looked(house)
        assert before is not None

    assert (kept.cookies, kept.storage) == (before.cookies, before.storage)


async def test_cookies_that_somebody_deleted_stay_deleted(tmp_path: Path) -> None:
    """All of them are gone at once, but the process that held them lives."""
    async with moody_house(tmp_path) as (house, driver, agent):
        for jar in driver.browser.jars.values():
            jar.clear()
        kept = await looked(house)

    assert kept.cookies == ()


def test_a_backup_of_an_earlier_version_can_be_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    backups = JarBackups(journal, FakeClock(), Tasks(), Reader(), sealer_of(tmp_path))
    old = TypeAdapter(JarContents)
    contents = JarContents(SOME_CONTENTS.cookies, SOME_CONTENTS.storage)
    journal.keep(SOME_JAR, old.dump_json(contents))
    assert backups.kept(SOME_JAR) == SOME_CONTENTS

    journal.close()


def _secret(jar: str) -> JarBackup:
    cookie = Cookie(name="sid", value=f"c4nary-{jar}", domain="a.test", same_site="Lax")
    return JarBackup((cookie,))


def test_backups_of_an_earlier_version_are_sealed_and_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    journal = Journal(path)
    plain = TypeAdapter(JarBackup).dump_json(_secret("j1"))
    journal.keep("j1", plain)
    backups = JarBackups(journal, FakeClock(), Tasks(), Reader(), sealer_of(tmp_path))
    assert backups.seal_all() == 1
    assert backups.seal_all() == 0
    assert backups.kept(SOME_JAR) == _secret("j1")
    files = [one.read_bytes() for one in tmp_path.glob("j.sqlite*")]
    assert files
    assert not any(b"c4nary" in data for data in files)
    journal.close()


def test_the_backup_of_one_jar_does_not_open_as_anothers(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.sqlite")
    sealer = sealer_of(tmp_path)
    backups = JarBackups(journal, FakeClock(), Tasks(), Reader(), sealer)
    for jar in ("j1", "j2"):
        backups.keep(JarId(jar), _secret(jar))
    foreign = journal.jar_backup("j2")
    assert foreign is not None
    assert b"c4nary" not in foreign
    journal.keep("j1", foreign)
    next_backups = JarBackups(journal, FakeClock(), Tasks(), Reader(), sealer)
    assert next_backups.kept(JarId("j1")) is None
    assert next_backups.kept(JarId("j2")) == _secret("j2")
    next_backups.keep(JarId("j1"), _secret("j1"))
    assert next_backups.kept(JarId("j1")) == _secret("j1"), "a damaged backup is replaced"
    journal.close()


def test_without_the_key_a_backup_is_not_overwritten_and_comes_back_with_the_key(
    tmp_path: Path,
) -> None:
    journal, clock = Journal(tmp_path / "j.sqlite"), FakeClock()
    JarBackups(journal, clock, Tasks(), Reader(), sealer_of(tmp_path)).keep(SOME_JAR, _secret("j1"))
    stored = journal.jar_backup(SOME_JAR)
    record = tmp_path / "key.json"
    record.rename(tmp_path / "away")
    record.write_text("{}")
    key = HomeKey(Home(tmp_path), keyring=None)
    assert key.load() is None
    backups = JarBackups(journal, clock, Tasks(), Reader(), Sealer(key))
    assert backups.kept(SOME_JAR) is None
    backups.keep(SOME_JAR, JarBackup())
    backups.keep(JarId("j2"), _secret("j2"))
    clock.advance(AT_MOST_EVERY)
    assert journal.jar_backup(SOME_JAR) == stored
    assert journal.jar_backup("j2") is None, "nothing is stored in plain text"
    assert backups.kept(JarId("j2")) == _secret("j2"), "the session goes on"

    (tmp_path / "away").rename(record)
    assert key.load() is not None
    clock.advance(AT_MOST_EVERY)
    assert backups.kept(SOME_JAR) == _secret("j1")
    assert journal.jar_backup("j2") is not None
    backups.close()
    journal.close()
