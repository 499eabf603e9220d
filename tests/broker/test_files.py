from __future__ import annotations

from pathlib import Path

import pytest

from roost.broker.files import Folders
from roost.errors import BadRequest


class Places:
    """A ROOST_HOME with a session's folder, and an agent's working directory."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.own = self.home / "files" / "s1"
        self.work = root / "work"
        for folder in (self.own, self.home / "files" / "s2", self.work):
            folder.mkdir(parents=True)
        self.folders = Folders(self.home, self.own, [str(self.work)])

    def file(self, path: Path) -> Path:
        path.write_text("content", encoding="utf-8")
        return path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_names_are_relative_to_the_working_directory(places: Places) -> None:
    path = places.file(places.work / "a.txt")
    assert places.folders.to_read("a.txt", "paths") == path
    assert places.folders.to_read(str(path), "paths") == path
    assert places.folders.to_read("./x/../a.txt", "paths") == path


def test_the_sessions_own_folder_is_open_though_it_is_inside_the_home(places: Places) -> None:
    path = places.file(places.own / "got.bin")
    assert places.folders.to_read(str(path), "paths") == path
    assert places.folders.to_write(None, "t1.pdf", "filename") == places.own / "t1.pdf"


def test_everything_else_is_refused_with_the_fields_name(places: Places, tmp_path: Path) -> None:
    outside = places.file(tmp_path / "outside.txt")
    secret = places.file(places.home / "token")
    foreign = places.file(places.home / "files" / "s2" / "theirs.txt")
    (places.work / "link.txt").symlink_to(outside)
    (places.work / "linked").symlink_to(tmp_path)
    (places.work / "loop").symlink_to(places.work / "loop")
    (places.work / "folder").mkdir()
    for name in (
        str(outside), "../outside.txt", str(secret), str(foreign), "link.txt",
        "linked/outside.txt", "missing.txt", "folder", "", ".", "loop", "a\0b", "x" * 5000,
        "/dev/null", "/proc/self/environ",
    ):  # fmt: skip
        with pytest.raises(BadRequest) as refused:
            places.folders.to_read(name, "paths")
        assert refused.value.details["field"] == "paths", name


def test_nothing_is_written_elsewhere_either(places: Places, tmp_path: Path) -> None:
    (places.work / "linked").symlink_to(tmp_path)
    for name in ("../out.jpg", "/etc/out.jpg", "linked/out.jpg", str(places.home / "token")):
        with pytest.raises(BadRequest):
            places.folders.to_write(name, "", "filename")
    made = places.folders.to_write("deep/er/shot.jpg", "", "filename")
    assert made == places.work / "deep" / "er" / "shot.jpg"
    assert made.parent.is_dir()


def test_what_the_file_system_refuses_is_told_with_the_fields_name(places: Places) -> None:
    """Met by schemathesis: a file name of 1000 characters was a failure of ours."""
    (places.work / "folder").mkdir()
    places.file(places.work / "file")
    for name in ("x" * 1000, "folder", "file/below.jpg"):
        with pytest.raises(BadRequest) as refused:
            places.folders.write(b"data", name, "", "filename")
        assert refused.value.details["field"] == "filename", name
    written = places.folders.write(b"data", "deep/shot.jpg", "", "filename")
    assert written.read_bytes() == b"data"


def test_a_working_directory_that_holds_the_home_does_not_open_it(places: Places) -> None:
    folders = Folders(places.home, places.own, [str(places.home.parent)])
    secret = places.file(places.home / "token")
    with pytest.raises(BadRequest):
        folders.to_read(str(secret), "paths")


def test_an_agent_without_a_folder_has_its_sessions(places: Places) -> None:
    folders = Folders(places.home, places.own, [])
    path = places.file(places.own / "a.txt")
    assert folders.to_read("a.txt", "paths") == path
