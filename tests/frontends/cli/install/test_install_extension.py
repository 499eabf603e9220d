"""``roost install extension`` as a person runs it, in a HOME of the test's own."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from roost.frontends.cli.install import extension
from roost.frontends.cli.install.extension import places
from roost.frontends.cli.install.extension_command import LOAD
from roost.frontends.cli.main import run
from roost.host.native import native_message
from roost.local.home import Home
from roost.wire.framing import NativeSplitter, encode


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a home folder of the test, so that no real browser is changed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOST_HOME", str(tmp_path / "a roost"))
    for name in ("XDG_CONFIG_HOME", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(kind: str, *flags: str) -> None:
    assert run(["install", "extension", "--browser", kind, *flags]) == 0


@pytest.mark.parametrize("kind", extension.KINDS)
def test_each_browser_that_is_used_here_finds_the_host(kind: str, person: Path) -> None:
    used = places(kind)[-1]
    used.folder.parent.mkdir(parents=True)
    install(kind)

    written = [one for one in places(kind) if one.manifest.exists()]
    assert [one.browser for one in written] == [used.browser]
    manifest = json.loads(used.manifest.read_bytes())
    assert manifest["name"] == extension.HOST == "roost.host"
    assert manifest["path"] == str(person / "a roost/extension/roost-host")
    pinned = {
        "chromium": ("allowed_origins", [f"chrome-extension://{extension.CHROMIUM_ID}/"]),
        "firefox": ("allowed_extensions", [extension.FIREFOX_ID]),
    }[kind]
    assert manifest[pinned[0]] == pinned[1]


def test_without_a_used_browser_every_known_place_gets_the_manifest() -> None:
    install("chromium")

    assert all(one.manifest.exists() for one in places("chromium"))
    assert not any(one.manifest.exists() for one in places("firefox"))


def test_the_launcher_starts_the_host_with_an_empty_environment(person: Path) -> None:
    install("chromium")
    launcher = extension.launcher(Home.find())
    assert stat.S_IMODE(launcher.stat().st_mode) == 0o700
    hello = {"method": "Roost.hello", "params": {"kind": "chromium", "product": "C/1"}}
    with subprocess.Popen(
        [str(launcher), "chrome-extension://who/"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={},
        cwd="/",
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.write(native_message(encode(hello)))
        host.stdin.flush()
        (frame,) = NativeSplitter(1000).feed(os.read(host.stdout.fileno(), 1000))
        assert json.loads(frame) == {"method": "Roost.link", "params": {"state": "away"}}
        host.stdin.close()
        assert host.wait(10) == 0
    assert (person / "a roost/hosts").is_dir()


@pytest.mark.parametrize("kind", extension.KINDS)
def test_the_folder_that_the_person_loads_is_complete(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install(kind)
    folder = extension.folder(Home.find(), kind)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["name"] == "Roost"
    assert (folder / "background.js").is_file()
    assert not list(folder.rglob("*test*"))
    said = capsys.readouterr().out
    assert str(folder) in said
    assert LOAD[kind][0] in said


def test_installing_again_replaces_and_removing_leaves_nothing(person: Path) -> None:
    for _ in range(2):
        install("chromium")
    stale = extension.folder(Home.find(), "chromium") / "stale.js"
    stale.touch()
    install("chromium")
    assert not stale.exists()
    install("chromium", "--remove")
    left = [path for path in person.rglob("*") if path.is_file()]
    assert left == []


def test_removing_leaves_another_roosts_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    install("firefox")
    monkeypatch.setenv("ROOST_HOME", os.environ["ROOST_HOME"] + "2")
    install("firefox", "--remove")

    assert places("firefox")[0].manifest.exists()


def test_printing_writes_nothing(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("chromium", "--print")
    said = capsys.readouterr().out

    assert extension.CHROMIUM_ID in said
    assert sys.executable in said
    assert not (person / "a roost").exists()
    assert not (person / ".config").exists()


@pytest.mark.parametrize(
    ("kind", "browser", "folder"),
    [
        ("chromium", "Chrome", "Google/Chrome/NativeMessagingHosts"),
        ("chromium", "Edge", "Microsoft Edge/NativeMessagingHosts"),
        ("firefox", "Firefox", "Mozilla/NativeMessagingHosts"),
    ],
)
def test_a_mac_has_its_own_places(person: Path, kind: str, browser: str, folder: str) -> None:
    found = {one.browser: one.folder for one in places(kind, "darwin")}

    assert found[browser] == person / "Library/Application Support" / folder


def test_doctor_says_what_is_wrong_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    def found() -> dict[str, str | None]:
        run(["doctor", "--json"])
        checks = json.loads(capsys.readouterr().out)["checks"]
        rows = [one for one in checks if one["name"] == "extension"]
        return rows[0] if rows else {}

    assert found() == {}
    install("chromium")
    capsys.readouterr()
    assert found()["verdict"] == "warning"  # no browser runs that has it
    home = Home.find()
    (extension.folder(home, "chromium") / "link.js").write_text("old")
    assert "another version" in str(found()["detail"])
    extension.launcher(home).write_text("#!/bin/sh\nexec /usr/bin/python2 -m roost.host\n")
    assert "another Python" in str(found()["detail"])
    extension.launcher(home).unlink()
    broken = found()
    assert (broken["verdict"], broken["fix"]) == (
        "failed",
        "roost install extension --browser chromium",
    )
