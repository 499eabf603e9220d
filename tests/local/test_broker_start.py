from __future__ import annotations

import errno
import json
import os
import signal
import site
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roost import errors
from roost.local import broker_start
from roost.local.broker_start import clean_environment, connect, ensure_broker, running_broker
from roost.local.endpoint import Endpoint, read_endpoint, write_endpoint
from roost.local.home import Home, socket_path, user_folder
from roost.local.lock import Lock
from roost.local.processes import Process, ancestors, end_tree, identify, is_alive

SOURCE = Path(broker_start.__file__).parents[2]
STAND_IN = [sys.executable, "-P", str(Path(__file__).with_name("stand_in_daemon.py"))]
SECONDS = 30.0


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    yield home
    endpoint = read_endpoint(home)
    if endpoint:
        end_tree(endpoint.process, grace_seconds=0)
    socket_path(home).unlink(missing_ok=True)


def start(home: Home, *options: str, timeout_seconds: float = SECONDS) -> Endpoint:
    return ensure_broker(home, options=options, timeout_seconds=timeout_seconds, command=STAND_IN)


def starts(home: Home) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home.path / "starts").read_text().splitlines()]


def test_a_broker_is_started_if_none_runs_and_found_otherwise(home: Home) -> None:
    assert running_broker(home) is None

    endpoint = start(home)

    assert is_alive(endpoint.process)
    assert running_broker(home) == endpoint
    assert start(home, "ignored") == endpoint
    assert [found["pid"] for found in starts(home)] == [endpoint.process.pid]
    with connect(home) as sock:
        assert sock.gettimeout() is None


def test_the_broker_is_detached_and_inherits_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "/tmp/evil.py")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.chdir(tmp_path)
    with open(tmp_path / "open", "w") as open_file:
        os.set_inheritable(open_file.fileno(), True)
        endpoint = start(home, "serve", "--pool", "3")

    (found,) = starts(home)
    assert identify(os.getpid()) not in ancestors(endpoint.process.pid)
    assert found["session"] != os.getsid(0)
    assert found["options"] == ["serve", "--pool", "3"]
    assert found["cwd"] == "/"
    assert found["umask"] == 0o077
    assert found["environment"]["ROOST_HOME"] == str(home.path)
    assert found["environment"]["DISPLAY"] == ":7"
    assert not {"AWS_SECRET_ACCESS_KEY", "PYTHONSTARTUP"} & found["environment"].keys()
    # stdin, stdout, stderr, the pipe, the listening socket, and the folder being listed
    assert len(found["descriptors"]) == 6


def test_the_brokers_output_is_readable_by_this_user_only(home: Home) -> None:
    start(home)

    assert home.log.read_text() == "serving\n"
    assert stat.S_IMODE(home.log.stat().st_mode) == 0o600


STARTER = """
import sys
from pathlib import Path
home, source, *command = sys.argv[1:]
sys.path.insert(0, source)
from roost.local.home import Home
from roost.local.broker_start import ensure_broker
print("at the door", flush=True)
sys.stdin.readline()
print(ensure_broker(Home(Path(home)), command=command).process.pid, flush=True)
"""


def starter(home: Home) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", STARTER, str(home.path), str(SOURCE), *STAND_IN],
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_twelve_starters_at_once_start_one_broker(home: Home) -> None:
    starters = [starter(home) for _ in range(12)]
    for process in starters:
        assert process.stdout is not None
        assert process.stdout.readline() == "at the door\n"

    for process in starters:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=SECONDS)[0] for process in starters]

    (found,) = starts(home)
    assert answers == [f"{found['pid']}\n"] * 12
    assert [process.returncode for process in starters] == [0] * 12


def test_a_broker_starts_with_an_empty_environment(home: Home) -> None:
    answer, _ = starter(home).communicate("go\n", timeout=SECONDS)

    (found,) = starts(home)
    assert answer.split()[-1] == str(found["pid"])
    assert found["environment"]["PATH"]
    assert found["environment"]["HOME"] == str(user_folder())


def test_files_of_a_killed_broker_do_not_prevent_a_start(home: Home) -> None:
    first = start(home)
    os.kill(first.process.pid, signal.SIGKILL)
    assert end_tree(first.process, grace_seconds=SECONDS)
    assert first.socket.exists()
    assert read_endpoint(home) == first
    assert home.start_lock.exists()

    assert running_broker(home) is None
    second = start(home)

    assert second.process != first.process
    assert running_broker(home) == second


def test_two_homes_are_two_brokers(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    try:
        assert start(home).socket != start(other).socket
        assert len(starts(home)) == len(starts(other)) == 1
    finally:
        endpoint = read_endpoint(other)
        assert endpoint is not None
        end_tree(endpoint.process, grace_seconds=0)
        endpoint.socket.unlink()


def test_an_error_the_broker_reports_is_raised_as_its_own_class(home: Home) -> None:
    with pytest.raises(errors.BadRequest) as caught:
        start(home, "refuses")

    assert caught.value.message == "No such browser: lynx."
    assert caught.value.details == {"field": "browser"}


def test_the_error_contains_the_last_output_of_a_broker_that_died(home: Home) -> None:
    home.create()
    home.log.write_text("words of an earlier broker\n")

    with pytest.raises(errors.Internal) as caught:
        start(home, "dies")
    assert "ImportError: there is no such thing" in caught.value.message
    assert str(home.log) in caught.value.hint


@pytest.mark.parametrize(
    "behaviour", ["says nonsense", "says half", "says too much", "does not listen"]
)
def test_a_start_that_leaves_no_running_broker_is_an_error(home: Home, behaviour: str) -> None:
    home.create()
    home.log.write_text("words of an earlier broker\n")

    with pytest.raises(errors.Internal) as caught:
        start(home, behaviour)
    assert "earlier" not in caught.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "timeout_seconds", "expected"),
    [
        ("says nothing", 1.0, errors.Timeout),
        ("stays a child", 1.0, errors.Timeout),
        ("says too much", SECONDS, errors.Internal),
    ],
)
def test_a_broker_that_does_not_get_ready_is_ended(
    home: Home, behaviour: str, timeout_seconds: float, expected: type[errors.RoostError]
) -> None:
    home.create()
    os.mkfifo(home.path / "life")
    life = os.open(home.path / "life", os.O_RDONLY | os.O_NONBLOCK)

    with open(life, "rb", buffering=0) as line:
        with pytest.raises(expected) as caught:
            start(home, behaviour, timeout_seconds=timeout_seconds)
        os.set_blocking(life, True)
        assert line.read(1) == b""  # nobody holds the other end
    assert str(home.log) in caught.value.hint


def test_a_command_that_cannot_be_run_is_an_error(home: Home) -> None:
    with pytest.raises(errors.Internal):
        ensure_broker(home, command=["/no/such/python"])


def test_a_starter_that_went_away_does_not_stop_the_broker() -> None:
    listening, ready = os.pipe()
    os.close(listening)

    broker_start.report(ready)

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(ready)


def test_failed_starts_leak_no_descriptor(home: Home) -> None:
    home.create()
    before = os.listdir("/dev/fd")
    for command in (["/no/such/python"], ["/bin/false"]):
        with pytest.raises(errors.Internal):
            ensure_broker(home, command=command)

    assert os.listdir("/dev/fd") == before


def test_the_default_command_is_the_daemon_of_this_interpreter() -> None:
    assert broker_start.broker_command() == [sys.executable, "-P", "-m", "roost.daemon"]


def test_the_daemons_environment_is_the_same_for_every_caller(home: Home) -> None:
    given = {
        "PATH": "/opt/bin",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "WAYLAND_DISPLAY": "wayland-0",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "HOME": "/somewhere/else",
        "TMPDIR": "/somewhere/else",
        "ROOST_HOME": "/somewhere/else",
        "PYTHONPATH": "/somewhere/else",
        "PYTHONHOME": "/somewhere/else",
        "LD_PRELOAD": "/somewhere/else.so",
    }

    assert clean_environment(home, given) == {
        "PATH": "/opt/bin",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "WAYLAND_DISPLAY": "wayland-0",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "HOME": str(user_folder()),
        "ROOST_HOME": str(home.path),
        "PYTHONPATH": str(SOURCE),
    }


def test_an_installed_package_is_not_put_on_the_path_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(SOURCE)])

    assert "PYTHONPATH" not in clean_environment(home, {})


def test_a_user_without_a_folder_gets_no_home_variable(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> Path:
        raise errors.BadRequest("not in the password database")

    monkeypatch.setattr(broker_start, "user_folder", nobody)

    assert "HOME" not in clean_environment(home, {})


class Listener:
    """A broker's socket that a test opens and closes itself."""

    def __init__(self, home: Home) -> None:
        home.create()
        self.path = socket_path(home)
        self.endpoint = Endpoint(self.path, Process(os.getpid(), "now"), "0.0.test", 1)
        self._home = home
        self._socket = socket.socket(socket.AF_UNIX)

    def open(self, backlog: int = 5) -> None:
        self._socket.bind(str(self.path))
        self._socket.listen(backlog)
        write_endpoint(self._home, self.endpoint)

    def close(self) -> None:
        """Close the socket as a killed broker does: the file stays."""
        self._socket.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    listener = Listener(Home(tmp_path / "home"))
    yield listener
    listener.close()
    listener.path.unlink(missing_ok=True)


@pytest.fixture
def waits() -> list[float]:
    return []


def test_a_missing_socket_is_tried_three_times(listener: Listener, waits: list[float]) -> None:
    with pytest.raises(errors.Timeout) as caught:
        connect(listener.endpoint, wait=waits.append)

    assert waits == [0.1, 1.0]
    assert "roost up" in caught.value.hint


def test_a_refusing_socket_is_tried_three_times(listener: Listener, waits: list[float]) -> None:
    listener.open()
    listener.close()

    with pytest.raises(errors.Timeout):
        connect(listener.endpoint, wait=waits.append)
    assert waits == [0.1, 1.0]


def test_a_broker_that_comes_back_between_two_tries_is_found(
    tmp_path: Path, listener: Listener, waits: list[float]
) -> None:
    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            listener.open()

    connect(Home(tmp_path / "home"), wait=wait).close()

    assert waits == [0.1, 1.0]


def test_any_other_failure_is_not_tried_again(waits: list[float]) -> None:
    endpoint = Endpoint(Path("/" + "x" * 200), Process(1, ""), "", 1)

    with pytest.raises(OSError, match="too long"):
        connect(endpoint, wait=waits.append)
    assert waits == []


def test_no_try_starts_after_the_deadline(listener: Listener, waits: list[float]) -> None:
    with pytest.raises(errors.Timeout):
        connect(listener.endpoint, timeout_seconds=0, wait=waits.append)
    assert waits == []


def test_connecting_to_a_broker_that_does_not_answer_times_out(listener: Listener) -> None:
    with pytest.raises(errors.Timeout):
        connect(listener.endpoint, timeout_seconds=0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse instead of waiting")
def test_a_broker_with_a_full_backlog_is_busy_and_not_gone(
    tmp_path: Path, listener: Listener, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_start, "_PROBE_SECONDS", 0.01)
    listener.open(backlog=0)
    with connect(listener.endpoint):
        with pytest.raises(errors.Timeout):
            connect(listener.endpoint, timeout_seconds=0.05, wait=waits.append)

        assert waits == []
        assert running_broker(Home(tmp_path / "home")) == listener.endpoint


def test_a_starter_that_waited_uses_the_broker_that_another_started(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    other = Lock(home.start_lock)
    assert other.try_acquire()

    def the_other_succeeds(*_: object) -> None:
        listener.open()
        other.release()

    monkeypatch.setattr("roost.local.deadline.select.select", the_other_succeeds)

    assert ensure_broker(home, command=["/bin/false"]) == listener.endpoint


def test_importing_local_and_wire_is_cheap() -> None:
    """Every agent has a shim, which pays for these imports."""
    modules = "home endpoint deadline lock processes broker_start".split()
    imports = [f"import roost.local.{name}" for name in modules]
    imports += [f"import roost.wire.{name}" for name in ("framing", "correlator", "hello")]
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n" + "\n".join(imports)

    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code + "\nprint(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
        timeout=SECONDS,
    ).stdout.split()

    heavy = {"asyncio", "threading", "subprocess", "hashlib", "logging", "ssl", "tempfile"}
    assert not heavy & set(loaded)


@pytest.mark.parametrize(("kills", "comes"), [(1, True), (broker_start.STARTS, False)])
def test_a_broker_that_is_killed_while_it_starts_is_started_again(
    home: Home, kills: int, comes: bool
) -> None:
    home.create()
    (home.path / "kills").write_text("x" * kills)
    if comes:
        assert is_alive(start(home, "is killed").process)
    else:
        with pytest.raises(errors.Interrupted):
            start(home, "is killed")
    assert (home.path / "kills").read_text() == ""


def test_a_waiting_starter_uses_a_broker_that_appears_meanwhile(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other starter still waits, because its own daemon came too late or hangs."""
    home = Home(tmp_path / "home")
    with Lock(home.start_lock):
        monkeypatch.setattr("roost.local.deadline.select.select", lambda *_: listener.open())
        assert ensure_broker(home, command=["/bin/false"]) == listener.endpoint


def test_a_home_that_cannot_be_written_is_named_with_the_reason(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.create()
    monkeypatch.setattr(broker_start, "open_log", no_space)
    with pytest.raises(errors.Internal) as caught:
        start(home)
    assert "No space left on device" in caught.value.message
    assert "Free space" in caught.value.hint


def no_space(_: Path) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_log_that_has_grown_large_is_put_aside(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_start, "LOG_BYTES", 10)
    home.create()
    home.log.write_text("words of an earlier broker\n")
    start(home)
    assert home.log.read_text() == "serving\n"
    assert (home.path / "broker.log.1").read_text() == "words of an earlier broker\n"
