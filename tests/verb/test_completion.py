"""Completion in real shells: a person types the beginning of a word and presses Tab."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from roost.local.deadline import Deadline
from roost.verb.arguments import UsedWronglyError
from roost.verb.completion import SCRIPTS, script

pytestmark = pytest.mark.slow
SECONDS = 30.0
STARTS = {
    "bash": ('PS1="READY>"; eval "$(roost completion bash)"', ("bash", "--noprofile", "-i")),
    "zsh": (
        'PS1="READY>"; autoload -Uz compinit; compinit -u -D; eval "$(roost completion zsh)"',
        ("zsh", "-i"),
    ),
    # The other way that the manual names: a file in fpath, which zsh loads at the first Tab.
    "zsh fpath": (
        'PS1="READY>"; fpath=($HOME/functions $fpath); autoload -Uz compinit; compinit -u -D',
        ("zsh", "-i"),
    ),
}


class Terminal:
    """An interactive shell with a terminal of its own."""

    def __init__(self, shell: str, home: Path) -> None:
        setting, command = STARTS[shell]
        (home / "functions").mkdir()
        (home / "functions/_roost").write_text(script(["zsh"]))
        for name in (".bashrc", ".zshrc"):
            (home / name).write_text(f"{setting}\n")
        (home / "picture.jpg").touch()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environ = {"HOME": str(home), "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8"}
        self._controller, tty = pty.openpty()
        self._process = subprocess.Popen(
            command,
            cwd=home,
            env=environ,
            stdin=tty,
            stdout=tty,
            stderr=tty,
            start_new_session=True,
        )
        os.close(tty)

    def types(self, keys: str, until: str) -> None:
        """Send keys, and wait until the terminal shows the text."""
        os.write(self._controller, keys.encode())
        self.shows(until)

    def shows(self, text: str) -> None:
        deadline, seen = Deadline(SECONDS), ""
        while text not in seen:
            left = deadline.remaining()
            assert select.select([self._controller], [], [], left)[0], (text, seen)
            seen += os.read(self._controller, 4096).decode(errors="replace")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._controller)


@contextmanager
def terminal(shell: str, home: Path) -> Iterator[Terminal]:
    made = Terminal(shell, home)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("shell", STARTS)
def test_tab_completes_verbs_flags_choices_and_files(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell.split()[0]) is None:
        pytest.skip(f"no {shell} here: tools/prepare_tests.py")
    with terminal(shell, tmp_path) as person:
        person.shows("READY>")
        person.types("roost triplec\t", "roost tripleclick")
        person.types("\x15", "")
        person.types("roost click --butt\t", "roost click --button")
        person.types("\x15", "")
        person.types("roost scroll do\t", "roost scroll down")
        person.types("\x15", "")
        person.types("roost session disp\t", "roost session dispose")
        person.types("\x15", "")
        person.types("roost upload pict\t", "roost upload picture.jpg")


def test_fish_completes_verbs_flags_choices_and_files(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("no fish here: tools/prepare_tests.py")
    folder = tmp_path / ".config/fish/completions"
    folder.mkdir(parents=True)
    (folder / "roost.fish").write_text(script(["fish"]))
    (tmp_path / "picture.jpg").touch()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    lines = ("triplec", "click --butt", "scroll do", "tab ", "upload pict")
    done = subprocess.run(
        ["fish", "-c", "; ".join(f"complete -C 'roost {line}'" for line in lines)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": path, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    tabs = ["close", "list", "new", "select"]
    assert found == ["tripleclick", "--button", "down", *tabs, "picture.jpg"], done.stderr


def test_another_shell_is_refused_with_the_shells_that_are_known() -> None:
    with pytest.raises(UsedWronglyError, match="bash, zsh or fish"):
        script(["tcsh"])
    assert set(SCRIPTS) == {"bash", "zsh", "fish"}
