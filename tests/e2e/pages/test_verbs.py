"""Page verbs of the command line on real pages."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support.house import ROOST, House
from tests.support.local_web import Answer, Request, Web
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


@pytest.mark.parametrize("forever", ["await new Promise(() => 0)", "for (;;);"])
def test_ctrl_c_cancels_the_function_in_the_browser(
    forever: str, shell: Shell, house: House, web: Web, browser_kind: str
) -> None:
    """The signal comes when the function runs in the page: the function itself has said so."""
    if (browser_kind, forever) == ("firefox", "for (;;);"):
        pytest.skip("WebDriver BiDi has no command that ends a script")
    began = threading.Event()

    def respond(_: Request) -> Answer:
        began.set()
        return Answer(b"")

    address = web.serve(respond)
    ask = f"const asked = new XMLHttpRequest(); asked.open('GET', '{address}', false); asked.send()"
    process = interruptible(house, "eval", f"async () => {{ {ask}; {forever} }}")
    assert began.wait(PROCESS_SECONDS)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PROCESS_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert shell.says("eval", "() => 1 + 1", "--raw") == "2\n", "the page's thread is free"
    after = "() => new Promise(done => setInterval(() => hits > window.seen && done('on'), 20))"
    shell.says("eval", "() => { window.seen = hits }")
    assert shell.says("eval", after, "--raw") == "on\n", "the page's own scripts go on"


def test_ctrl_c_stops_a_navigation_in_the_browser(shell: Shell, house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PROCESS_SECONDS)
        process = interruptible(house, "goto", f"http://127.0.0.1:{server.getsockname()[1]}/")
        request = b""
        while not request:  # a browser may open connections that it does not use
            connection = server.accept()[0]
            connection.settimeout(PROCESS_SECONDS)
            request = connection.recv(1 << 16)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PROCESS_SECONDS)
        assert (process.returncode, out, err) == (130, b"", b"")
        with connection:
            assert connection.recv(1) == b"", "the browser has closed the connection"
    assert "Shop" in shell.says("snapshot"), "the tab stays where it was"


def interruptible(house: House, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*ROOST, "-s", "verbs", *words],
        env=house.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
