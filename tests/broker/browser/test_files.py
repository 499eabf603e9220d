from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from roost.broker.browser.files import Folders, working_folder
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


def test_the_sessions_own_folder_may_be_used_although_it_is_in_roost_home(places: Places) -> None:
    path = places.file(places.own / "got.bin")
    assert places.folders.to_read(str(path), "paths") == path
    assert places.folders.write(b"1", None, "t1.pdf", "filename") == places.own / "t1.pdf"
    assert places.folders.to_read(None, "filename", "t1.pdf").read_bytes() == b"1"
    places.folders.write(b"2", None, "t1.pdf", "filename")
    assert (places.own / "t1.pdf").read_bytes() == b"2", "Roost replaces what it named itself"


def test_every_other_path_is_refused_with_the_fields_name(places: Places, tmp_path: Path) -> None:
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


def test_writing_to_any_other_folder_is_refused(places: Places, tmp_path: Path) -> None:
    (places.work / "linked").symlink_to(tmp_path)
    for name in ("../out.jpg", "/etc/out.jpg", "linked/out.jpg", str(places.home / "token")):
        with pytest.raises(BadRequest):
            places.folders.to_write(name, "filename")
        with pytest.raises(BadRequest):
            places.folders.write(b"data", name, "", "filename", overwrite=True)
    made = places.folders.to_write("deep/er/shot.jpg", "filename")
    assert made == places.work / "deep" / "er" / "shot.jpg"
    assert made.parent.is_dir()


def test_an_error_of_the_file_system_names_the_field(places: Places) -> None:
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


def test_a_full_disk_is_reported_with_a_hint(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fstat", full)
    with pytest.raises(BadRequest) as refused:
        places.folders.write(b"data", "shot.jpg", "", "filename")
    monkeypatch.undo()
    assert "No space left on device" in refused.value.message
    assert "Free space" in refused.value.hint


def test_an_existing_file_is_overwritten_only_when_asked(places: Places) -> None:
    file = places.file(places.work / "report.pdf")
    with pytest.raises(BadRequest) as refused:
        places.folders.write(b"new", "report.pdf", "", "filename")
    assert "overwrite: true" in refused.value.hint
    assert file.read_text() == "content"
    places.folders.write(b"new", "report.pdf", "", "filename", overwrite=True)
    assert file.read_bytes() == b"new"


def test_a_secret_that_replaces_a_file_is_readable_by_its_owner_only(places: Places) -> None:
    file = places.file(places.work / "state.json")
    file.chmod(0o644)
    places.folders.write(b"{}", "state.json", "", "filename", overwrite=True, secret=True)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"{}", 0o600)


def test_a_symbolic_link_that_appears_after_the_check_is_not_followed(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path was judged while it was a plain name; then somebody put a link there."""
    victim = places.file(tmp_path / "victim.txt")
    for name, link, target in (
        ("late.txt", places.work / "late.txt", victim),
        ("late/victim.txt", places.work / "late", tmp_path),
    ):

        def placed(
            name: str, field: str, link: Path = link, target: Path = target
        ) -> tuple[Path, Path]:
            link.symlink_to(target)
            return places.work, places.work / name

        with monkeypatch.context() as patch:
            patch.setattr(places.folders, "_placed", placed)
            with pytest.raises(BadRequest):
                places.folders.write(b"overwritten", name, "", "filename", overwrite=True)
        assert victim.read_text() == "content", name


def test_a_named_pipe_in_the_folder_does_not_block(places: Places) -> None:
    os.mkfifo(places.work / "pipe")
    with pytest.raises(BadRequest):
        places.folders.write(b"data", "pipe", "", "filename", overwrite=True)
    reader = os.open(places.work / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(BadRequest):
            places.folders.write(b"data", "pipe", "", "filename", overwrite=True)
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", [".env", ".git/config", "sub/.ssh/id", "linked/id", ".hidden/x"])
def test_hidden_files_are_left_out_of_reading_and_writing(places: Places, name: str) -> None:
    (places.work / "linked").symlink_to(places.work / ".keys")
    path = places.work / name
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    places.file(path)
    with pytest.raises(BadRequest, match="hidden"):
        places.folders.to_read(name, "paths")
    with pytest.raises(BadRequest, match="hidden"):
        places.folders.write(b"data", name, "", "filename", overwrite=True)
    given = Folders(places.home, places.own, [str(places.work), str(path.parent)])
    if not path.name.startswith("."):
        assert given.to_read(name, "paths") == path.resolve(), "given with --files"


def test_a_project_inside_a_hidden_folder_can_be_used(places: Places, tmp_path: Path) -> None:
    project = tmp_path / ".worktrees" / "one"
    project.mkdir(parents=True)
    file = places.file(project / "a.txt")
    assert Folders(places.home, places.own, [str(project)]).to_read("a.txt", "paths") == file


def test_a_working_folder_that_cannot_be_a_project_gives_no_rights(tmp_path: Path) -> None:
    me = tmp_path / "home" / "me"
    roost = tmp_path / "var" / "roost"
    project = me / "project"
    for folder in (project, roost, me / ".ssh"):
        folder.mkdir(parents=True)
    (me / "root").symlink_to("/")
    (me / "back").symlink_to(me)
    refused = [
        *("/", "/tmp", "/etc", "/usr", "/usr/local/bin", "/Applications", "/Applications/X.app"),
        *map(str, (me, me.parent, tmp_path, tmp_path / "var", roost, me / ".ssh")),
        *map(str, (me / "root", me / "back", project / "..")),
    ]
    for one in refused:
        assert working_folder(one, me, roost) is None, one
    assert working_folder(None, me, roost) is None
    for place in (project, me / "project" / "deep", tmp_path / "elsewhere"):
        assert working_folder(str(place), me, roost) == str(place)
