"""The flags of ``roost mcp`` and what the environment adds to them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from roost.local.project_file import Project
from roost.shim.broker_connection import NAME_CHARS, agent_name
from roost.shim.main import hello_from, main, parser
from roost.vocabulary import CONVERSATION_VARIABLES, JarPolicy
from roost.wire.hello import ClientKind, Hello, parse_hello


def said(*flags: str, **environ: str) -> Hello:
    hello = hello_from(parser(environ).parse_args(flags), environ)
    wire = {**hello.to_wire(), "token": "x"}
    assert parse_hello(wire).to_wire() == wire
    return hello


def test_without_flags_the_agent_gets_a_session_of_its_own() -> None:
    hello = said()

    assert hello.kind is ClientKind.MCP
    assert hello.session is None
    assert not hello.resumable
    assert hello.cwd == os.getcwd()


def test_every_flag_reaches_the_broker(tmp_path: Path) -> None:
    hello = said(
        "--session=shop", "--name=Planner", "--browser=firefox", "--jar=clone", "--profile=work",
        "--allow=example.org, example.com", "--deny=ads.test", f"--files={tmp_path}",
        "--files=relative", "--names=firefox", "--tools=core,browser_reload",
    )  # fmt: skip

    assert hello.session == "shop"
    assert hello.name == "Planner"
    assert hello.browser == "firefox"
    assert hello.jar is JarPolicy.CLONE
    assert hello.profile == "work"
    assert hello.allow == ("example.org", "example.com")
    assert hello.deny == ("ads.test",)
    assert hello.files == (str(tmp_path), os.path.abspath("relative"))
    assert hello.names == "firefox"
    assert hello.tools == ("core", "browser_reload")


def test_auto_means_whatever_the_broker_has() -> None:
    assert said("--browser=auto").browser is None


@pytest.mark.parametrize("variable", CONVERSATION_VARIABLES)
def test_a_conversation_of_the_client_is_resumable(variable: str) -> None:
    hello = said(**{variable: "0b7c-11"})

    assert hello.session == "0b7c-11"
    assert hello.resumable


def test_a_session_by_flag_beats_one_by_environment_and_that_the_clients_own() -> None:
    environ = {"ROOST_SESSION": "mine", "CLAUDE_SESSION_ID": "theirs"}

    assert said("--session=flag", **environ).session == "flag"
    assert said(**environ).session == "mine"
    assert not said(**environ).resumable


@pytest.mark.parametrize("odd", ["", " ", "../x", "a" * 65])
def test_an_environment_id_that_is_no_valid_session_id_is_ignored(odd: str) -> None:
    assert said(CLAUDE_SESSION_ID=odd).session is None


def test_a_wrong_session_name_on_the_command_line_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        said(ROOST_SESSION="../x")

    assert ended.value.code == 2
    assert "session id" in capsys.readouterr().err
    assert said(ROOST_SESSION="").session is None


@pytest.mark.parametrize("flags", [["--session=../x"], ["--jar=mine"], ["--nonsense"], ["x"]])
def test_wrong_flags_print_the_usage(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser({}).parse_args(flags)

    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("client", "folder", "name"),
    [
        ("claude-code", "/home/me/shop", "claude-code · shop"),
        (None, "/home/me/shop", "shop"),
        ("codex", None, "codex"),
        (None, "/", "mcp"),
        ("a\nb\x1b", None, "a b"),
        ("x" * 500, "/y", "x" * NAME_CHARS),
    ],
)
def test_people_see_the_client_and_where_it_works(
    client: str | None, folder: str | None, name: str
) -> None:
    assert agent_name(client, folder) == name


def with_project(*flags: str, **chosen: Any) -> Hello:
    return hello_from(parser({}).parse_args(flags), {}, Project(**chosen))


def test_a_project_chooses_browser_jar_sites_and_tools() -> None:
    said = with_project(
        browser="firefox", jar=JarPolicy.FRESH, allow=("a",), deny=("b",), tools=("all",)
    )
    assert (said.browser, said.jar, said.allow) == ("firefox", "fresh", ("a",))
    assert (said.deny, said.tools) == (("b",), ("all",))


def test_flags_take_precedence_over_the_project_and_lists_to_deny_are_joined() -> None:
    flags = ("--browser", "auto", "--allow", "c", "--deny", "d", "--tools", "core")
    chosen = {"browser": "firefox", "allow": ("a",), "deny": ("b",), "tools": ("all",)}
    said = with_project(*flags, **chosen)
    assert (said.browser, said.tools) == (None, ("core",))
    assert said.allow == ("c",), "a repository cannot widen the person's list"
    assert said.deny == ("d", "b")
    cloned = with_project("--jar", "clone", "--profile", "work", jar=JarPolicy.FRESH)
    assert (cloned.jar, cloned.profile) == ("clone", "work")


def test_a_wrong_project_file_stops_the_server_and_names_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ignored file could be one that forbids something."""
    (tmp_path / ".roost.toml").write_text('\nprofile = "work"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main([]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{tmp_path}/.roost.toml, line 2: profile: there is no such setting" in said.err
