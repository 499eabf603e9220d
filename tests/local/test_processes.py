from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from roost.local import processes
from roost.local.deadline import Deadline
from roost.local.processes import (
    Peer,
    Process,
    ancestors,
    end_tree,
    identify,
    is_alive,
    peer_of,
    wait_until_gone,
)

SECONDS = 20.0
NO_SUCH_PID = 2**30

Python = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def python() -> Iterator[Python]:
    """Run a script that prints one line when it is ready. End what is left of it."""
    with ExitStack() as started:

        def run(script: str, *, new_session: bool = False) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [sys.executable, "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=new_session,
            )
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield run


def said(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def identified(pid: int) -> Process:
    process = identify(pid)
    assert process is not None
    return process


WAIT = "print('up', flush=True); import sys; sys.stdin.read()"


def test_a_process_is_the_same_whenever_it_is_asked_for() -> None:
    me = identified(os.getpid())

    assert me.pid == os.getpid()
    assert identify(os.getpid()) == me
    assert is_alive(me)


@pytest.mark.parametrize("pid", [0, -1, NO_SUCH_PID])
def test_an_absent_pid_identifies_no_process(pid: int) -> None:
    assert identify(pid) is None
    assert ancestors(pid) == []


def test_the_next_owner_of_a_pid_is_another_process() -> None:
    assert not is_alive(Process(os.getpid(), "another time"))


@pytest.mark.skipif(sys.platform != "linux", reason="threads of a zombie are seen in /proc")
def test_a_process_lives_until_the_last_of_its_threads_has_ended(python: Python) -> None:
    process = python(
        "import ctypes, threading\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "print('set up', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    stat = Path(f"/proc/{process.pid}/stat")
    deadline = Deadline(SECONDS)
    while ") Z " not in stat.read_text(encoding="ascii"):
        assert not deadline.has_passed()
    assert identify(process.pid) is not None
    process.kill()
    process.wait(SECONDS)
    assert identify(process.pid) is None


def test_a_zombie_is_dead(python: Python) -> None:
    child = python("pass")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and not reaped

    assert identify(child.pid) is None


@pytest.mark.skipif(sys.platform != "linux", reason="names itself through /proc")
@pytest.mark.parametrize("name", [") Z 1 (x", "a b c", "((()))", ") ) )"])
def test_a_program_may_have_any_name(python: Python, name: str) -> None:
    child = python(f"open('/proc/self/comm', 'w').write({name!r}); {WAIT}")
    assert said(child) == b"up"

    assert ancestors(child.pid)[0] == identify(os.getpid())
    assert is_alive(identified(child.pid))


def test_ancestors_are_listed_nearest_first(python: Python) -> None:
    child = python(
        "import subprocess, sys\n"
        f"inner = subprocess.Popen([sys.executable, '-c', {WAIT!r}], stdout=subprocess.PIPE)\n"
        "inner.stdout.readline(); print(inner.pid, flush=True); sys.stdin.read()"
    )

    found = ancestors(int(said(child)))

    assert found[:2] == [identify(child.pid), identify(os.getpid())]
    assert ancestors(os.getpid()) == found[2:]


class FakeTable:
    def __init__(self, *rows: processes._Row) -> None:
        self._rows = {row.process.pid: row for row in rows}

    def row(self, pid: int) -> processes._Row | None:
        return self._rows.get(pid)

    def rows(self) -> Iterator[processes._Row]:
        return iter(self._rows.values())

    def look_up(self) -> Callable[[int], processes._Row | None]:
        return self._rows.get


def row(pid: int, parent: int, born: int) -> processes._Row:
    return processes._Row(Process(pid, str(born)), parent, pid, born)


def test_a_parent_younger_than_its_child_is_not_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_table", FakeTable(row(3, 2, 30), row(2, 1, 40), row(1, 0, 1)))

    assert ancestors(3) == []


def test_a_process_table_with_a_cycle_ends_the_list_of_ancestors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "_table", FakeTable(row(2, 3, 5), row(3, 2, 5)))

    assert len(ancestors(2)) == 64


def test_the_kernel_says_who_is_at_the_other_end(tmp_path: Path, python: Python) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        server.settimeout(SECONDS)
        child = python(
            "import socket, sys\n"
            "sock = socket.socket(socket.AF_UNIX)\n"
            f"sock.connect({str(tmp_path / 's')!r}); sys.stdin.read()"
        )
        accepted, _ = server.accept()
        with accepted:
            assert peer_of(accepted) == Peer(uid=os.getuid(), pid=child.pid)


class MacSocket:
    """Answers as macOS does; see sys/ucred.h and sys/un.h."""

    def __init__(self, version: int = 0) -> None:
        self._xucred = struct.pack("=IIhH16I", version, 501, 1, 0, 20, *[0] * 15)

    def getsockopt(self, level: int, optname: int, buflen: int, /) -> bytes:
        assert level == 0
        answer = {1: self._xucred, 2: struct.pack("=i", 4242)}[optname]
        assert buflen == len(answer)
        return answer


def test_the_peer_is_read_as_macos_reports_it() -> None:
    assert len(MacSocket()._xucred) == 76
    assert processes._mac_peer(MacSocket()) == Peer(uid=501, pid=4242)


def test_credentials_of_an_unknown_shape_are_not_guessed_at() -> None:
    with pytest.raises(OSError, match="xucred"):
        processes._mac_peer(MacSocket(version=1))


PS = """\
    1     0     1 Ss   ??       Sat Nov 14 08:00:00 2026 launchd
  801     1   801 S+   ttys001  Sun Nov 15 21:11:09 2026 Google Chrome He
  802   801   801 Z+   ttys001  Sun Nov 15 21:11:10 2026 (sh)
"""


def test_the_output_of_ps_is_parsed() -> None:
    init, shell = processes._parse_ps(PS)

    assert (init.process.pid, init.parent, init.group) == (1, 0, 1)
    assert (shell.process.pid, shell.parent, shell.group) == (801, 1, 801)
    assert (init.process.program, shell.process.program) == ("launchd", "Google Chrome He")
    assert (init.has_terminal, shell.has_terminal) == (False, True)
    assert shell.process.started == str(shell.born)
    assert shell.born - init.born == 37 * 3600 + 11 * 60 + 9


@pytest.mark.skipif(shutil.which("ps", path="/bin:/usr/bin") is None, reason="there is no ps")
def test_the_output_of_the_real_ps_is_parsed() -> None:
    table = processes._Ps()

    mine = table.row(os.getpid())

    assert mine is not None
    assert (mine.parent, mine.group) == (os.getppid(), os.getpgrp())
    assert os.getpid() in [row.process.pid for row in table.rows()]
    assert table.look_up()(os.getpid()) == mine
    assert table.row(NO_SUCH_PID) is None
    assert table.row(0) is None


@pytest.fixture(params=["pidfd", "no pidfd"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the kernel's process descriptors, or do without them, as on other systems."""
    if request.param == "no pidfd":
        monkeypatch.setattr(processes, "open_pidfd", lambda pid: None)


@pytest.mark.usefixtures("either_way")
def test_the_end_of_a_process_can_be_waited_for(python: Python) -> None:
    child = python(WAIT)
    process = identified(child.pid)
    assert not wait_until_gone(process, 0.05)

    assert child.stdin is not None
    child.stdin.close()

    assert wait_until_gone(process, SECONDS)
    assert wait_until_gone(Process(NO_SUCH_PID, ""), SECONDS)


# Each process of the tree holds the same pipe; it ends when the last of them has.
TREE = """
import os, signal, sys
def forked():
    if os.fork():
        return False
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return True
if forked():                        # a child that does not want to go
    os.setsid()                     # and has left the group
    forked()                        # with a child of its own
elif forked():
    os.fork() and os._exit(0)       # an orphan in the group: nobody's descendant
os.write(1, b"x")
signal.pause()
"""


def read_until_all_ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    assert process.stdout.read() == b""


def read_members(process: subprocess.Popen[bytes], count: int) -> None:
    assert process.stdout is not None
    assert process.stdout.read(count) == b"x" * count


@pytest.mark.usefixtures("either_way")
def test_a_tree_is_ended_with_its_group_and_those_who_left_it(python: Python) -> None:
    leader = python(TREE, new_session=True)
    read_members(leader, 4)

    assert end_tree(identified(leader.pid), grace_seconds=0.1)

    read_until_all_ended(leader)
    assert leader.wait(SECONDS) == -signal.SIGTERM


def test_a_process_is_asked_before_it_is_killed(python: Python) -> None:
    child = python(
        "import signal\n"
        "def bow(*_): print('goodbye', flush=True); raise SystemExit(0)\n"
        "signal.signal(signal.SIGTERM, bow); print('up', flush=True); signal.pause()"
    )
    assert said(child) == b"up"

    assert end_tree(identified(child.pid), grace_seconds=SECONDS)

    assert said(child) == b"goodbye"
    assert child.wait(SECONDS) == 0


def test_processes_forked_while_the_tree_ends_are_also_ended(python: Python) -> None:
    leader = python(
        "import os, signal\n"
        "def fork(*_):\n"
        "    if os.fork(): os._exit(0)\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, fork)\n"
        "if not os.fork():\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"  # keeps the group alive meanwhile
        "    os.write(1, b'x'); signal.pause()\n"
        "os.write(1, b'x')\n"
        "while True: signal.pause()",
        new_session=True,
    )
    read_members(leader, 2)

    assert end_tree(identified(leader.pid), grace_seconds=0.2)

    read_until_all_ended(leader)


@pytest.mark.usefixtures("either_way")
def test_the_next_owner_of_a_pid_is_left_alone(python: Python) -> None:
    child = python(WAIT, new_session=True)
    assert said(child) == b"up"

    assert end_tree(Process(child.pid, "another time"), grace_seconds=0)
    processes._signal(Process(child.pid, "another time"), signal.SIGKILL)

    child.communicate(timeout=SECONDS)
    assert child.returncode == 0  # it ended because we let it, not by a signal


def test_ending_a_tree_does_not_end_the_caller(python: Python) -> None:
    child = python(
        "import os\n"
        "from roost.local.processes import end_tree, identify\n"
        "end_tree(identify(os.getpid()), 0); print('still here', flush=True)"
    )

    assert said(child) == b"still here"
    assert child.wait(SECONDS) == 0


def test_a_process_outside_the_group_and_the_tree_is_left_alone(python: Python) -> None:
    bystander, child = python(WAIT), python(WAIT)  # same group as ours, which child does not lead
    assert said(bystander) == said(child) == b"up"

    assert end_tree(identified(child.pid), grace_seconds=SECONDS)

    bystander.communicate(timeout=SECONDS)
    assert bystander.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ps looks")
def test_a_process_that_cannot_be_looked_at_is_not_taken_for_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    me = identify(os.getpid())
    assert me is not None

    def no_descriptors(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("builtins.open", no_descriptors)
    assert is_alive(me)
    assert identify(os.getpid()) is None
