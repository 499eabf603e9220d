"""``.roost.toml``: where it is found, what it may choose, and what it says when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.errors import BadRequest
from roost.local.project_file import BYTES_MAX, PROJECT_SETTINGS, Project, read_project
from roost.local.project_place import find_project
from roost.local.settings import SETTINGS
from roost.vocabulary import JarPolicy


def written(folder: Path, text: str) -> Path:
    path = folder / ".roost.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_file_up_to_the_top_of_the_repository_counts(tmp_path: Path) -> None:
    deep = tmp_path / "repository/a/b"
    deep.mkdir(parents=True)
    outside = written(tmp_path, "")
    assert find_project(str(deep)) == outside
    (tmp_path / "repository/.git").mkdir()
    assert find_project(str(deep)) is None, "the search ends at the top of the repository"
    top = written(tmp_path / "repository", "")
    assert find_project(str(deep)) == top
    near = written(deep, "")
    assert find_project(str(deep)) == near


def test_a_file_of_another_user_does_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    (tmp_path / ".git").touch()
    assert find_project(str(tmp_path), user=os.getuid()) == path
    if os.getuid() == 0:  # the administrator's files count for everybody
        os.chown(path, 4321, -1)
    assert find_project(str(tmp_path), user=os.getuid() + 1) is None


def test_every_key_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'browser = "firefox"\njar = "fresh"\nallow = ["a.example", "loopback"]\n'
        'deny = ["b.example"]\ntools = ["all"]\n',
    )
    assert read_project(path) == Project(
        path=path,
        browser="firefox",
        jar=JarPolicy.FRESH,
        allow=("a.example", "loopback"),
        deny=("b.example",),
        tools=("all",),
    )


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('browser = "mine"\n', 1, "browser: expected auto, chromium or firefox"),
        ('\n\nbrowser = "fake"\n', 3, "browser: expected"),
        ('jar = "clone"\n', 1, "jar: expected fresh"),
        ('jar = "shared"\n', 1, "jar: expected fresh"),
        ('# x\nprofile = "work"\n', 2, "profile: there is no such setting"),
        ('files = ["/etc"]\n', 1, "files: there is no such setting"),
        ('deny = []\nbrowser_path = "/tmp/evil"\n', 2, "browser_path: only you can set this"),
        ('"browser_arg" = ["--no-sandbox"]\n', 1, "browser_arg: only you"),
        ("ignore_tls_errors = true\n", 1, "ignore_tls_errors: only you"),
        ('[proxy]\nurl = "x"\n', 1, "proxy: only you"),
        ('reads = "shared"\n', 1, "reads: only you"),
        ('deny = ["a", 7]\n', 1, "deny: expected a list of texts"),
        ('allow = "a.example"\n', 1, "allow: expected a list of texts"),
        ("a = 1\n b = = 2\n", 2, "not TOML"),
        ("tools = [", 1, "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    text: str, line: int, what: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadRequest) as refusal:
        read_project(path)
    assert str(refusal.value).startswith(f"BAD_REQUEST: {path}, line {line}: {what}")
    assert "browser, jar, allow, deny, tools" in refusal.value.hint


def test_a_file_that_is_not_text_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ".roost.toml"
    path.write_bytes(b"#\n\xff\n")
    with pytest.raises(BadRequest, match="line 2: not UTF-8"):
        read_project(path)
    path.write_bytes(b"#" * (BYTES_MAX + 1))
    with pytest.raises(BadRequest, match="larger than 64 KiB"):
        read_project(path)


def test_a_project_chooses_nothing_that_names_a_program_a_profile_or_the_broker() -> None:
    assert set(PROJECT_SETTINGS) & set(SETTINGS) == {"browser", "policy"}
    assert not {"profile", "files", "session", "name"} & set(PROJECT_SETTINGS)
