"""``roost`` without a verb tells a newcomer what to do next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roost.__main__ import unsupported
from roost.errors import BrowserLost
from roost.frontends.cli.install import invocation
from roost.frontends.cli.main import run
from roost.local import browsers
from tests.support.house import house_of


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOST_HOME", str(tmp_path / "roost"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(browsers, "find_browser", lambda kind: f"/usr/bin/{kind}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> str:
    assert run([]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) <= 10
    return out


def test_without_a_browser_the_next_step_is_to_install_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(kind: str) -> str:
        raise BrowserLost(kind)

    monkeypatch.setattr(browsers, "find_browser", missing)
    said = told(capsys)
    assert "browser  none found" in said
    assert "browser install  # install a browser" in said


def test_without_a_client_the_next_step_is_to_install_into_one(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (person / ".cursor").mkdir()
    said = told(capsys)
    assert "chromium (/usr/bin/chromium), firefox (/usr/bin/firefox)" in said
    assert "agents   none has Roost" in said
    assert "broker   not running" in said
    assert " install  # put Roost into your coding agents" in said
    assert run(["install", "cursor"]) == 0
    capsys.readouterr()
    said = told(capsys)
    assert "agents   Roost is in Cursor" in said
    assert " demo  # " in said


def test_the_project_file_that_counts_here_is_named(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (person / ".roost.toml").touch()
    assert f"project  {person}/.roost.toml counts" in told(capsys)


@pytest.mark.slow
def test_a_running_broker_is_shown_in_one_line(tmp_path: Path) -> None:
    with house_of(folder=tmp_path / "home") as made:
        made.says("up", "--browser", "fake")
        said = made.says("--operator")
    (line,) = [line for line in said.splitlines() if line.startswith("  broker")]
    assert "running (pid " in line
    assert "0 sessions, 0 tabs" in line


def test_a_roost_that_is_not_on_the_path_is_named_by_its_path(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = person / "env/bin/roost"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    assert invocation.own_spelling() == "env/bin/roost"
    monkeypatch.chdir("/")
    assert invocation.own_spelling() == str(program)
    (person / "bin").mkdir()
    (person / "bin/roost").symlink_to(program)
    assert invocation.own_spelling() == "roost"
    assert invocation.way_onto_path() is None


def test_a_roost_that_uvx_runs_is_named_by_uvxs_own_line(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["/opt/uvx", "--from", "roost==0.2.0", "python"]
    monkeypatch.setattr(invocation, "interpreter", lambda: line)
    assert invocation.own_spelling() == "uvx --from roost==0.2.0 roost"


def test_a_source_tree_is_put_onto_the_path_by_what_is_here(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Path(__file__).parents[3]
    monkeypatch.chdir(tree)
    assert invocation.way_onto_path() is None
    for name, line in (("pipx", "pipx install ."), ("uv", "uv tool install .")):
        (person / "bin").mkdir(exist_ok=True)
        (person / "bin" / name).touch(mode=0o755)
        assert invocation.way_onto_path() == line


@pytest.mark.parametrize(
    ("platform", "python", "said"),
    [
        ("linux", (3, 14), None),
        ("darwin", (3, 11), None),
        ("win32", (3, 13), "This release has no version for win32"),
        ("linux", (3, 10), "needs Python 3.11 or newer, and this is 3.10"),
    ],
)
def test_an_unsupported_platform_or_python_is_told_in_one_line(
    platform: str, python: tuple[int, int], said: str | None
) -> None:
    line = unsupported(platform, python)
    if said is None:
        assert line is None
    else:
        assert line is not None
        assert said in line
        assert "\n" not in line
