from __future__ import annotations

import stat
from pathlib import Path

import pytest

from roost.broker.browser.person_files import FILE_BYTES, PersonFiles
from roost.errors import BadRequest, TooLarge
from roost.testing.waits import error_of
from roost.vocabulary import SessionId, TabId

SESSION, TAB = SessionId("s1"), TabId("t1")


@pytest.fixture
def files(tmp_path: Path) -> PersonFiles:
    return PersonFiles(tmp_path / "person-files")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("cv.pdf", "cv.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\cv.pdf", "cv.pdf"),
        ("a\0b", "ab"),
        ("", "file"),
        ("x/", "file"),
    ],
)
def test_a_name_never_leads_out_of_the_folder(files: PersonFiles, said: str, kept: str) -> None:
    path = files.place(SESSION, TAB, said, 1).path
    assert path.name == kept
    assert path.parent.parent.name == SESSION


def test_names_that_mean_a_folder_and_huge_files_are_refused(files: PersonFiles) -> None:
    for name in (".", ".."):
        with pytest.raises(BadRequest):
            files.place(SESSION, TAB, name, 1)
    with pytest.raises(TooLarge):
        files.place(SESSION, TAB, "x", FILE_BYTES + 1)
    assert len(files.place(SESSION, TAB, "ö" * 500, 1).path.name.encode()) <= 200


async def test_bytes_are_added_up_to_what_was_announced(files: PersonFiles) -> None:
    file = files.place(SESSION, TAB, "x", 4)
    await files.write(file, b"ab")
    await error_of(BadRequest, files.write(file, b"cde"))
    await files.write(file, b"cd")
    assert file.path.read_bytes() == b"abcd"
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


async def test_files_go_with_their_session(files: PersonFiles) -> None:
    mine, other = files.place(SESSION, TAB, "x", 1), files.place(SessionId("s2"), TAB, "x", 1)
    for file in (mine, other):
        await files.write(file, b"1")
    files.forget(SESSION)
    assert not mine.path.exists()
    assert other.path.exists()
    files.forget_others({SESSION})
    assert not other.path.exists()
