"""Finding browsers, and the commands that install one, without running any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.errors import BrowserLost, Unsupported
from roost.local.browsers import check_reach, find_browser, installation


def program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("chromium", "chromium"),
        ("chromium", "google-chrome"),
        ("chromium", "microsoft-edge"),
        ("chromium", "brave-browser"),
        ("firefox", "firefox"),
        ("firefox", "firefox-esr"),
        ("firefox", "firefox-developer-edition"),
        ("firefox", "firefox-devedition"),
    ],
)
def test_every_known_browser_is_found_by_name(tmp_path: Path, kind: str, name: str) -> None:
    path = program(tmp_path, name)

    assert find_browser(kind, search_path=str(tmp_path), places=()) == path


def test_the_release_version_of_a_browser_is_preferred(tmp_path: Path) -> None:
    for name in ("firefox-devedition", "firefox-esr", "firefox"):
        path = program(tmp_path, name)
        assert find_browser("firefox", search_path=str(tmp_path), places=()) == path


def test_the_usual_places_are_looked_at_last(tmp_path: Path) -> None:
    unusual = tmp_path / "bin"
    unusual.mkdir()
    place = program(tmp_path, "somewhere")

    assert find_browser("chromium", search_path=str(unusual), places=[place]) == place
    named = program(unusual, "chromium")
    assert find_browser("chromium", search_path=str(unusual), places=[place]) == named


def test_a_given_path_is_the_only_one_that_counts(tmp_path: Path) -> None:
    mine = program(tmp_path, "my-browser")

    assert find_browser("chromium", mine) == mine
    with pytest.raises(BrowserLost):
        find_browser("chromium", os.fspath(tmp_path / "missing"))


def test_where_there_is_none_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(BrowserLost) as lost:
        find_browser("firefox", search_path=str(tmp_path), places=())

    assert "roost browser install firefox" in lost.value.hint


@pytest.mark.parametrize(
    ("manager", "is_root", "command", "firefox"),
    [
        ("apt-get", True, ("apt-get", "install"), "firefox-esr"),
        ("apt-get", False, ("sudo", "apt-get", "install"), "firefox-esr"),
        ("dnf", False, ("sudo", "dnf", "install"), "firefox"),
        ("pacman", True, ("pacman", "-Sy"), "firefox"),
        ("brew", False, ("brew", "install"), "firefox"),
    ],
)
def test_each_package_manager_gets_its_own_command(
    manager: str, is_root: bool, command: tuple[str, ...], firefox: str
) -> None:
    for kind, package in (("chromium", "chromium"), ("firefox", firefox)):
        plan = installation(
            kind,
            is_root=is_root,
            which=lambda name: name if name == manager else None,
            is_ubuntu=False,
        )
        assert plan.manager == manager
        assert plan.commands[-1][: len(command)] == command
        assert plan.commands[-1][-1] == package


def test_apt_looks_for_new_lists_first() -> None:
    plan = installation("firefox", is_root=True, which=lambda name: name, is_ubuntu=False)

    assert plan.commands[0] == ("apt-get", "update", "-qq")
    assert str(plan).endswith("firefox-esr")


def test_without_a_package_manager_the_person_is_told_so() -> None:
    with pytest.raises(Unsupported):
        installation("chromium", is_root=True, which=lambda name: None, is_ubuntu=False)


def test_ubuntus_browsers_are_snaps() -> None:
    plan = installation("firefox", is_root=False, which=lambda name: name, is_ubuntu=True)
    assert plan.commands == (("sudo", "snap", "install", "firefox"),)
    with pytest.raises(Unsupported) as refusal:
        installation("firefox", which=lambda name: None, is_ubuntu=True)
    assert "snap" in refusal.value.message
    assert "--browser-path" in refusal.value.hint


def test_a_snap_is_not_given_a_folder_that_it_cannot_see(tmp_path: Path) -> None:
    shim, own = program(tmp_path, "firefox"), program(tmp_path, "firefox-esr")
    Path(shim).write_text('#!/bin/sh\nexec /snap/bin/firefox "$@"\n')
    hidden = tmp_path / ".local" / "state" / "roost" / "profile"
    for snap in (shim, "/snap/bin/firefox"):
        with pytest.raises(Unsupported) as refusal:
            check_reach(snap, hidden, tmp_path)
        assert "ROOST_HOME" in refusal.value.hint
        check_reach(snap, tmp_path / "roost" / "profile", tmp_path)
        check_reach(snap, Path("/srv/.roost"), tmp_path)
    check_reach(own, hidden, tmp_path)
