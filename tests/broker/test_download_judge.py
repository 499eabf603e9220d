"""A page's downloads meet the session's policy (``roost.broker.download_judge``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roost.api import operations as ops
from roost.broker.browser.downloads import DownloadState
from roost.daemon.wiring import FAKE
from roost.drivers.events import DownloadBegan, DownloadEnded
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import until

ASK = '[[rule]]\nverdict = "ask"\noperations = ["download"]\n'


def downloaded(house: FakeHouse, tab: str, file: Path, name: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("data", encoding="utf-8")
    handle = house.handle(tab)
    url = "https://site.test/f"
    began = DownloadBegan(handle=handle, download=name, url=url, name="f.txt")
    ended = DownloadEnded(handle=handle, download=name, path=str(file))
    house.broker.heard(FAKE, began)
    house.broker.heard(FAKE, ended)


async def test_a_download_that_must_be_asked_for_is_removed_and_the_person_is_asked(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy=ASK))
        tab = (await agent.api.call(ops.Navigate(url="https://site.test/"))).tab
        session = house.state.agents[agent.agent].own_session
        downloaded(house, tab, tmp_path / "files" / "x", "d1")
        (refused,) = house.broker.downloads.of(session)
        assert refused.state is DownloadState.REFUSED
        assert not (tmp_path / "files" / "x").exists()
        await until(lambda: session in house.state.questions)


async def test_a_limit_of_downloads_counts_those_that_were_kept(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy="[limits]\ndownloads = 1"))
        tab = (await agent.api.call(ops.Navigate(url="https://site.test/"))).tab
        session = house.state.agents[agent.agent].own_session
        for number in range(2):
            downloaded(house, tab, tmp_path / "files" / f"x{number}", f"d{number}")
        states = [one.state for one in house.broker.downloads.of(session)]
        assert states == [DownloadState.DONE, DownloadState.REFUSED]


async def test_a_download_that_is_refused_is_cancelled_where_the_browser_can(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy="[limits]\ndownloads = 1"))
        tab = (await agent.api.call(ops.Navigate(url="https://site.test/"))).tab
        session = house.state.agents[agent.agent].own_session
        cancelled: list[str] = []
        for name in ("first", "second"):
            house.broker.heard(
                FAKE,
                DownloadBegan(
                    handle=house.handle(tab),
                    download=name,
                    url="https://site.test/f",
                    name="f.txt",
                    cancel=lambda name=name: cancelled.append(name),  # type: ignore[misc]
                ),
            )
        assert cancelled == ["second"]
        ended = DownloadEnded(handle=house.handle(tab), download="second", path=None)
        house.broker.heard(FAKE, ended)
        states = [one.state for one in house.broker.downloads.of(session)]
        assert states == [DownloadState.RUNNING, DownloadState.REFUSED]


async def test_the_name_of_a_file_has_no_secret(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.broker.redactor.register("mail", "c4nary-value")
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url="https://site.test/"))).tab
        session = house.state.agents[agent.agent].own_session
        file = tmp_path / "files" / session / "downloads" / "d1"
        file.parent.mkdir(parents=True)
        file.write_text("data", encoding="utf-8")
        handle, name = house.handle(tab), "c4nary-value.txt"
        began = DownloadBegan(handle=handle, download="d1", url="https://site.test/", name=name)
        house.broker.heard(FAKE, began)
        house.broker.heard(FAKE, DownloadEnded(handle=handle, download="d1", path=str(file)))
        (download,) = house.broker.downloads.of(session)
        assert download.path is not None
        assert download.path.name == "[secret mail].txt"
