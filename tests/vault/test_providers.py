"""Programs that hold secrets: they may hang, ask, fail or flood, and the error says which."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from roost.errors import BadRequest
from roost.local.processes import identify, is_alive, wait_until_gone
from roost.vault import providers, secret_service
from roost.vault.providers import ProviderFailed, check_source, fetch
from tests.vault.keyring import fake_keyring


def _program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_each_provider_is_asked_in_its_own_words(programs: Path) -> None:
    _program(programs, "op", '[ "$*" = "read --no-newline op://v/i/f" ] && printf one')
    _program(programs, "bw", '[ "$*" = "get password mail --nointeraction" ] && echo two')
    _program(programs, "pass", '[ "$*" = "show web/mail" ] && printf "three\\nuser: ada\\n"')
    assert fetch("op:op://v/i/f") == "one"
    assert fetch("bw:mail") == "two"
    assert fetch("pass:web/mail") == "three"
    assert fetch("command:printf '%s' 'fo ur'") == "fo ur"


def test_the_keyring_is_asked_by_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_keyring(tmp_path / "bus") as keyring:
        monkeypatch.setattr(secret_service, "bus_path", lambda: tmp_path / "bus")
        keyring.items["/item"] = ({"service": "mail", "user": "ada"}, b"five55")
        assert fetch("keyring:service=mail,user=ada") == "five55"
        with pytest.raises(ProviderFailed, match="no such item"):
            fetch("keyring:service=other")
        keyring.is_locked = True
        with pytest.raises(ProviderFailed, match="locked"):
            fetch("keyring:service=mail")


def test_a_provider_that_hangs_is_ended_with_all_that_it_started(programs: Path) -> None:
    _program(programs, "op", f"sleep 600 & echo $! > {programs}/pid; wait")
    with pytest.raises(ProviderFailed, match="PIN"):
        fetch("op:x", timeout=1.0)
    child = identify(int((programs / "pid").read_text()))
    assert child is None or wait_until_gone(child, 10)
    assert child is None or not is_alive(child)


def test_a_provider_that_asks_for_a_pin_gets_no_terminal_and_no_input(programs: Path) -> None:
    _program(programs, "bw", "read pin < /dev/tty 2>/dev/null || read pin || exit 7")
    with pytest.raises(ProviderFailed, match="code 7"):
        fetch("bw:x")


def test_ten_megabytes_are_refused(programs: Path) -> None:
    flood = f"command:{sys.executable} -c \"print('c4nary' * 2_000_000)\""
    with pytest.raises(ProviderFailed, match="more than 16 KiB") as failure:
        fetch(flood)
    assert "c4nary" not in str(failure.value) + failure.value.said


def test_an_error_does_not_repeat_the_providers_output(programs: Path) -> None:
    _program(programs, "op", "echo c4nary; echo 'not signed in' >&2; exit 1")
    with pytest.raises(ProviderFailed) as failure:
        fetch("op:x")
    assert failure.value.why == "op ended with code 1"
    assert failure.value.said == "not signed in"


@pytest.mark.parametrize(
    ("command", "why"),
    [("command:/no/such/program", "cannot be run"), ("command:true", "printed nothing"),
     ("command:printf '\\377'", "not text")],
)  # fmt: skip
def test_failures_of_a_provider_are_named(command: str, why: str) -> None:
    with pytest.raises(ProviderFailed, match=why):
        fetch(command)


@pytest.mark.parametrize("source", ["", "x", "op:", "lastpass:x", "keyring:x", "command:'"])
def test_a_source_that_names_no_provider_is_refused(source: str) -> None:
    with pytest.raises(BadRequest):
        check_source(source)


def test_errors_of_a_talkative_provider_are_cut(programs: Path) -> None:
    _program(programs, "op", "head -c 200000 /dev/zero | tr '\\0' x >&2; exit 1")
    with pytest.raises(ProviderFailed) as failure:
        fetch("op:x")
    assert len(failure.value.said) <= 300
    assert providers.SAID_BYTES < 200_000
