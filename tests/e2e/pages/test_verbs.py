"""Page verbs of the command line on real pages."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.house import ROOST, House
from tests.support.local_web import Web
from tests.support.real_processes import PROCESS_SECONDS

PAGE = """<h1>Shop</h1><input id=name aria-label=Name><input id=ok type=checkbox aria-label=Agree>
<button onclick="document.title = 'Bought'; this.textContent = 'Thanks'">Buy</button>
<script>window.hits = 0; setInterval(() => hits++, 50)</script>"""


class Shell:
    """Runs verbs in a named session, as a service of the person's does."""

    def __init__(self, house: House, session: str) -> None:
        self._house = house
        self._session = session

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._house.command("-s", self._session, *words, operator=False)

    def says(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def shell(house: House, web: Web) -> Shell:
    made = Shell(house, "verbs")
    made.says("open", web.page(PAGE))
    return made


def test_a_page_is_opened_read_and_acted_on(shell: Shell) -> None:
    snapshot = shell.says("snapshot", "--raw")
    (button,) = [line for line in snapshot.splitlines() if "Buy" in line]
    ref = button.partition("ref=")[2].partition("]")[0]
    assert "Thanks" in shell.says("click", ref), "the answer has the diff"
    assert shell.says("eval", "() => document.title", "--raw") == "Bought\n"
    shell.says("fill", "#name", "Ada")
    shell.says("type", " Lovelace")
    shell.says("check", "#ok")
    values = shell.says("eval", "() => [document.all.name.value, document.all.ok.checked]", "--raw")
    assert json.loads(values) == ["Ada Lovelace", True]
    assert "Shop" in shell.says("read", "--raw")
    assert "ref=" in shell.says("find", "Thanks")


def test_a_picture_goes_to_a_file_whose_path_is_printed(shell: Shell, house: House) -> None:
    path = Path(shell.says("screenshot", "--raw").strip())
    assert path.read_bytes()[:2] == b"\xff\xd8"
    assert path.is_relative_to(house.home.files)
    assert str(house.home.files) in shell.says("screenshot", "--type", "png", "--annotate")


def test_a_target_that_does_not_resolve_says_what_is_there(shell: Shell) -> None:
    done = shell.run("click", "text=Bay", "--timeout", "1")
    assert (done.returncode, done.stdout) == (1, "")
    problem, hint, _, begin, page_said, end = done.stderr.splitlines()
    assert problem.startswith("NOT_FOUND: ")
    assert "`roost snapshot`" in hint
    assert begin.startswith("<page-content untrusted id=")
    assert 'button "Buy"' in page_said
    assert end.startswith("</page-content id=")
    ref = page_said.partition(":")[0]
    assert "Thanks" in shell.says("click", ref), "the ref that the error names works"


def test_a_verb_without_a_page_says_how_to_open_one(house: House) -> None:
    done = Shell(house, "empty").run("snapshot")
    assert "TAB_GONE" in done.stderr
    assert "`roost open URL`" in done.stderr


def test_a_tab_is_found_by_its_label(shell: Shell, web: Web) -> None:
    shell.says("tab", "new", web.page("<h1>Second</h1>"), "--label", "docs")
    shell.says("tab", "new", web.page("<h1>Third</h1>"))
    assert "Second" in shell.says("snapshot", "--tab", "docs")
    assert "(docs)" in shell.says("tab", "list")
    shell.says("tab", "select", "docs")
    assert "Second" in shell.says("snapshot")
    again = shell.run("tab", "new", "--label", "docs")
    assert "has the label docs already" in again.stderr
    shell.says("tab", "close", "docs")
    assert "TAB_GONE" in shell.run("snapshot", "--tab", "docs").stderr


def test_ctrl_c_cancels_the_operation_in_the_browser(shell: Shell, house: House, web: Web) -> None:
    """The next call on the tab need not wait for the function that the first one waits for."""
    process = subprocess.Popen(
        [*ROOST, "-s", "verbs", "eval", "() => { window.began = 1; return new Promise(() => 0) }"],
        env=house.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    shell.says("tab", "list")
    seen = Shell(house, "watcher")
    seen.says("open", web.page("x"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PROCESS_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert shell.says("eval", "() => 1 + 1", "--raw") == "2\n"
