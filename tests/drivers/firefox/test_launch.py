"""The preparation of a Firefox profile: settings, no locks, no containers of an earlier run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from roost.drivers.firefox.launch import CONTAINERS_A_RUN, FirefoxOptions
from roost.drivers.firefox.preferences import preferences, user_js


def containers(profile: Path) -> dict[str, object]:
    found = json.loads((profile / "containers.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_a_start_removes_containers_and_never_reuses_numbers(tmp_path: Path) -> None:
    FirefoxOptions().prepare(tmp_path)
    first = containers(tmp_path)
    assert first["identities"] == []
    FirefoxOptions().prepare(tmp_path)
    last = containers(tmp_path)["lastUserContextId"]
    assert last == int(str(first["lastUserContextId"])) + CONTAINERS_A_RUN


@pytest.mark.parametrize("left", ["", "{", "[]", '{"lastUserContextId": null}'])
def test_firefox_starts_although_its_list_of_containers_is_broken(
    tmp_path: Path, left: str
) -> None:
    (tmp_path / "containers.json").write_text(left, encoding="utf-8")
    FirefoxOptions().prepare(tmp_path)
    assert containers(tmp_path)["identities"] == []


def test_what_dead_containers_stored_is_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = tmp_path / "storage" / "default" / "https+++a.test"
    gone = tmp_path / "storage" / "default" / "https+++a.test^userContextId=7"
    for folder in (kept, gone):
        folder.mkdir(parents=True)
    with closing(sqlite3.connect(tmp_path / "cookies.sqlite")) as cookies:
        cookies.execute("CREATE TABLE moz_cookies (name TEXT, originAttributes TEXT)")
        rows = [("shared", ""), ("jar", "^userContextId=7"), ("both", "^a=b&userContextId=8")]
        cookies.executemany("INSERT INTO moz_cookies VALUES (?, ?)", rows)
        cookies.commit()
    FirefoxOptions().prepare(tmp_path)
    assert kept.exists()
    assert not gone.exists()
    with closing(sqlite3.connect(tmp_path / "cookies.sqlite")) as cookies:
        assert cookies.execute("SELECT name FROM moz_cookies").fetchall() == [("shared",)]


def test_a_cookie_store_that_cannot_be_read_is_left_to_firefox(tmp_path: Path) -> None:
    (tmp_path / "cookies.sqlite").write_bytes(b"no database at all, though it is long enough")
    FirefoxOptions().prepare(tmp_path)
    assert (tmp_path / "cookies.sqlite").exists()


def test_the_lock_of_a_killed_firefox_is_removed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("127.0.1.1:+4242")
    FirefoxOptions().prepare(tmp_path)
    assert not (tmp_path / "lock").is_symlink()


def test_the_command_line(tmp_path: Path) -> None:
    program = tmp_path / "firefox-nightly"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    options = FirefoxOptions(path=str(program), args=("--more",))
    command = options.command(tmp_path / "profile")
    assert command[0] == str(program)
    assert "--headless" in command
    assert command[-2:] == ["--more", "about:blank"]
    assert "--headless" not in FirefoxOptions(path=str(program), headless=False).command(tmp_path)


def test_firefox_leaves_dialogs_open_for_callers_to_answer() -> None:
    (session,) = FirefoxOptions(ignore_tls_errors=True).keeper_options()
    asked = json.loads(session.removeprefix("--session="))
    assert asked["unhandledPromptBehavior"] == {"default": "ignore"}
    assert asked["acceptInsecureCerts"] is True


def test_all_traffic_goes_through_the_proxy() -> None:
    chosen = preferences(headless=True, proxy="http://proxy.test:3128")
    assert chosen["network.proxy.http"] == chosen["network.proxy.ssl"] == "proxy.test"
    assert chosen["network.proxy.ssl_port"] == 3128
    assert chosen["network.proxy.no_proxies_on"] == ""
    socks = preferences(headless=False, proxy="socks5://127.0.0.1:1080")
    assert (socks["network.proxy.socks"], socks["network.proxy.socks_port"]) == ("127.0.0.1", 1080)
    assert "network.proxy.type" not in preferences(headless=True, proxy=None)


def test_permission_prompts_appear_only_in_a_headed_browser() -> None:
    assert preferences(headless=True, proxy=None)["permissions.default.geo"] == 2
    assert "permissions.default.geo" not in preferences(headless=False, proxy=None)


def test_preferences_are_written_as_firefox_reads_them() -> None:
    written = user_js({"a.b": True, "c": 'a "quote"', "d": 4})
    assert written.splitlines() == [
        'user_pref("a.b", true);', 'user_pref("c", "a \\"quote\\"");', 'user_pref("d", 4);',
    ]  # fmt: skip
