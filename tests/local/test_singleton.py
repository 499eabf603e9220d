"""The folder of Chromium's singleton socket is removed only if the profile names it and Chromium
made it (roost.local.singleton)."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.local.singleton import remove_socket_folder, socket_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "org.chromium.Chromium.x"
    made.mkdir()
    (made / "SingletonSocket").touch()
    (made / "SingletonCookie").symlink_to("123")
    return made


def test_the_profile_names_the_folder(tmp_path: Path, folder: Path) -> None:
    assert socket_folder(tmp_path) is None
    (tmp_path / "SingletonSocket").symlink_to(folder / "SingletonSocket")

    assert socket_folder(tmp_path) == folder


@pytest.mark.parametrize("target", ["SingletonSocket", "../x/SingletonSocket", "/tmp/other"])
def test_a_link_to_something_else_names_no_folder(tmp_path: Path, target: str) -> None:
    (tmp_path / "SingletonSocket").symlink_to(target)

    assert socket_folder(tmp_path) is None


def test_chromiums_files_can_be_removed_twice(folder: Path) -> None:
    remove_socket_folder(folder)
    remove_socket_folder(folder)

    assert not folder.exists()


def test_a_folder_that_holds_anything_else_stays(folder: Path) -> None:
    (folder / "mine").touch()
    remove_socket_folder(folder)

    assert (folder / "mine").exists()


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    remove_socket_folder(tmp_path / "link")

    assert (folder / "SingletonSocket").exists()
