"""Asking the system for Chromium's password: the question, and the error if it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.profiles.keyring import Keyring

CHROME = Path("/home/me/.config/google-chrome/Default/Cookies")


def _program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def test_linux_asks_secret_tool_for_that_browsers_password(programs: Path) -> None:
    _program(programs, "secret-tool", 'test "$3" = chrome && echo "word of $*"')

    assert Keyring(CHROME, "linux").passwords() == ["word of lookup application chrome"]


def test_a_mac_asks_its_keychain(programs: Path) -> None:
    _program(programs, "security", 'echo "$4 $6"')

    assert Keyring(CHROME, "darwin").passwords() == ["Chrome Chrome Safe Storage"]


def test_a_copied_profile_may_belong_to_any_browser(programs: Path) -> None:
    _program(programs, "secret-tool", 'echo "$3"')

    words = Keyring(Path("/tmp/copy/Cookies"), "linux").passwords()
    assert words == ["chrome", "chromium", "brave", "edge"]


def test_a_missing_key_is_reported_with_its_reason(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(programs, "secret-tool", "exit 1")
    keyring = Keyring(CHROME, "linux")
    assert keyring.passwords() == []
    assert "secret-tool knows no key" in keyring.problem

    monkeypatch.setenv("PATH", str(programs / "empty"))
    assert keyring.passwords() == []
    assert keyring.problem == "secret-tool (package libsecret-tools) is not installed"
