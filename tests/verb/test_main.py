"""The real process of a verb, on the fake driver."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.verb.main import INTERRUPTED
from roost.verb.start import LINGER
from tests.support.house import ROOST, House, house_of
from tests.support.real_processes import PROCESS_SECONDS as SECONDS

pytestmark = pytest.mark.slow
WAITS = ("call", "session_list", '{"waitSeconds": 50}')
"""A call of the person that waits while a session is paused."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_of("fake", folder=tmp_path_factory.mktemp("home")) as made:
        yield made


def said(house: House, *words: str) -> subprocess.CompletedProcess[str]:
    return house.command("-s", "ci", *words, operator=False)


def test_the_first_verb_starts_the_broker_and_says_so(tmp_path: Path) -> None:
    assert LINGER == ("--linger",)
    with house_of("fake", folder=tmp_path) as quiet:
        done = said(quiet, "open", "site.test")
        assert (done.returncode, done.stderr) == (0, "Starting Roost …\n")
        assert "site.test" in done.stdout


def test_an_answer_is_the_text_of_mcp_with_marks(house: House) -> None:
    done = said(house, "open", "site.test")
    assert done.returncode == 0
    assert "<page-content untrusted id=" in done.stdout
    assert "- Page URL: https://site.test" in done.stdout


def test_json_and_raw_are_bare(house: House) -> None:
    said(house, "open", "site.test")
    tabs = json.loads(said(house, "tab", "list", "--json").stdout)
    assert tabs["tabs"][0]["url"].startswith("https://site.test")
    opened = said(house, "tab", "new", "--raw").stdout
    assert opened.startswith("t")
    assert said(house, "--raw", "session", "id").stdout == "ci\n"


def test_an_answer_may_go_to_a_file(house: House, tmp_path: Path) -> None:
    said(house, "open", "site.test")
    done = said(house, "tab", "list", "-o", str(tmp_path / "tabs.txt"))
    assert f"Written to {tmp_path}/tabs.txt" in done.stdout
    assert "site.test" in (tmp_path / "tabs.txt").read_text()
    failed = said(house, "tab", "list", "-o", str(tmp_path / "no" / "tabs.txt"))
    assert (failed.returncode, "cannot be written" in failed.stderr) == (1, True)


def test_an_error_has_its_hint_in_verbs(house: House) -> None:
    done = house.command("-s", "empty", "snapshot", operator=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("TAB_GONE: ")
    assert "`roost open URL`" in done.stderr or "`roost tab new`" in done.stderr
    wrong = json.loads(said(house, "tab", "select", "t99", "--json").stdout)
    assert wrong["code"] == "TAB_GONE"


def test_a_wrong_argument_names_the_help(house: House) -> None:
    done = said(house, "resize", "wide", "tall")
    assert done.returncode == 1
    assert "width" in done.stderr
    assert "See `roost help resize`." in done.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [(["clik", "e1"], "click"), (["stauts"], "status"), (["click", "e1", "--buton"], "--button")],
)
def test_a_misspelt_word_names_the_nearest(words: list[str], near: str, house: House) -> None:
    done = house.command(*words, operator=False)
    assert done.returncode == 2
    assert f"Did you mean {near}?" in done.stderr
    as_json = json.loads(house.command(*words, "--json", operator=False).stdout)
    assert as_json["code"] == "BAD_REQUEST"


def test_help_needs_no_broker(tmp_path: Path) -> None:
    with house_of("fake", folder=tmp_path) as quiet:
        for words in (["help", "click"], ["click", "--help"], ["-h"], ["completion", "bash"]):
            done = quiet.command(*words, operator=False)
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout
        assert not (tmp_path / "endpoint.json").exists()


def test_a_reader_that_closes_the_pipe_ends_the_verb_quietly(house: House) -> None:
    said(house, "open", "site.test")
    command = f"{' '.join(ROOST)} -s ci tab list | true"
    done = subprocess.run(
        ["sh", "-c", command],
        env=house.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_ctrl_c_ends_a_verb_that_waits(house: House) -> None:
    said(house, "open", "site.test")
    house.says("session", "pause", "ci")
    process = subprocess.Popen(
        [*ROOST, "--operator", *WAITS],
        env=house.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + SECONDS  # noqa: TID251
    # A socket that this process has as well was inherited: the verb has not connected yet.
    while not _sockets(process.pid) - _sockets(os.getpid()):
        assert time.monotonic() < deadline  # noqa: TID251
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    house.says("session", "resume", "ci")
    assert (process.returncode, out, err) == (INTERRUPTED, "", "")


def _sockets(pid: int) -> set[str]:
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            continue
    return {name for name in found if name.startswith("socket:[")}


def test_a_broker_that_went_away_is_reported(house: House, tmp_path: Path) -> None:
    with house_of("fake", folder=tmp_path) as other:
        said(other, "open", "site.test")
        other.says("session", "pause", "ci")
        process = subprocess.Popen(
            [*ROOST, "--operator", *WAITS],
            env=other.environment(),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not _sockets(process.pid) - _sockets(os.getpid()):
            assert process.poll() is None
        # The broker has the call once it answers another one that came later.
        other.says("session", "list")
        os.kill(other.endpoint.process.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "INTERRUPTED" in err
