from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.broker.browser.downloads import FOLDER, Download, Downloads, DownloadState, safe_name
from roost.drivers.events import (
    DownloadBegan,
    DownloadEnded,
)
from roost.testing.waits import answer_of, started
from roost.vocabulary import SessionId, TabHandle, TabId

SESSION, TAB = SessionId("s1"), TabId("t1")
PAGE = TabHandle("page")


def begin(downloads: Downloads, name: str = "a.txt", number: str = "d1") -> Download:
    event = DownloadBegan(handle=PAGE, download=number, url="http://x/", name=name)
    return downloads.began(event, SESSION, frozenset({TAB}))


def end(downloads: Downloads, path: Path | None, number: str = "d1") -> object:
    given = None if path is None else str(path)
    return downloads.ended(DownloadEnded(handle=PAGE, download=number, path=given))


def landed(folder: Path, number: str = "d1", data: bytes = b"data") -> Path:
    """Write a file as the browser saves it."""
    path = folder / "s1" / FOLDER / number
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_complete_download_is_saved_under_its_name(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    download = begin(downloads)
    raw = landed(tmp_path)
    assert downloads.files(SESSION) == []
    end(downloads, raw)
    assert download.path == tmp_path / "s1" / FOLDER / "a.txt"
    assert download.state is DownloadState.DONE
    assert not raw.exists()
    assert downloads.files(SESSION) == [download.path]


def test_names_that_are_taken_are_numbered(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    for number in ("d1", "d2", "d3"):
        begin(downloads, number=number)
        end(downloads, landed(tmp_path, number, number.encode()), number)
    names = [download.path.name for download in downloads.of(SESSION) if download.path]
    assert names == ["a.txt", "a (1).txt", "a (2).txt"]
    assert (tmp_path / "s1" / FOLDER / "a.txt").read_bytes() == b"d1", "nothing was overwritten"


def test_a_download_that_fails_or_cannot_be_kept_is_reported_as_failed(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    failed = begin(downloads, number="d1")
    end(downloads, None, "d1")
    lost = begin(downloads, number="d2")
    end(downloads, tmp_path / "nowhere", "d2")
    assert failed.state is lost.state is DownloadState.FAILED
    assert end(downloads, None, "unknown") is None


def test_each_download_is_reported_once_to_its_own_tab(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    download = begin(downloads)
    assert downloads.unreported(SESSION, TAB) == [download]
    assert downloads.unreported(SESSION, TabId("t2")) == []
    assert downloads.unreported(SessionId("s2"), TAB) == []
    download.told = True
    assert downloads.unreported(SESSION, TAB) == []


async def test_waiters_are_woken_when_a_download_begins_and_ends(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    waiting = await started(downloads.changed())
    begin(downloads)
    await answer_of(waiting)
    waiting = await started(downloads.changed())
    end(downloads, None)
    await answer_of(waiting)


def test_the_downloads_of_an_ended_session_are_removed(tmp_path: Path) -> None:
    downloads = Downloads(tmp_path)
    begin(downloads)
    downloads.forget(SESSION)
    assert downloads.of(SESSION) == []
    assert end(downloads, None) is None


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("report.csv", "report.csv"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("C:\\Windows\\x.exe", "C__Windows_x.exe"),
        (".bashrc", "bashrc"),
        ("...", "download"),
        ("", "download"),
        ("a\0b\nc", "a_b_c"),
        ("exe.\u202etxt", "exe._txt"),
        ("  spaced .txt ", "spaced .txt"),
    ],
)
def test_suggested_file_names_become_plain_names(wish: str, name: str) -> None:
    assert safe_name(wish) == name


@given(st.text())
def test_no_suggested_file_name_leads_out_of_the_folder(wish: str) -> None:
    name = safe_name(wish)
    assert name
    assert "/" not in name
    assert "\0" not in name
    assert name not in (".", "..")
    assert not name.startswith(".")
    assert len(name.encode()) <= 200
