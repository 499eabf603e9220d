"""Find the broker, or start it: exactly once, however many processes ask at the same time.

Both sides of the start are here. The starter (`ensure_broker`) runs the daemon with a pipe. The
daemon first calls `detach`, and calls `report` when it listens or when it cannot start.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from roost.errors import BadRequest, Internal, Interrupted, RoostError, Timeout
from roost.local.deadline import Deadline
from roost.local.endpoint import Endpoint, read_endpoint
from roost.local.home import Home, user_folder
from roost.local.lock import Lock
from roost.vocabulary import MIB

START_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 5.0
STARTS: Final = 3
"""A broker that is killed while it starts is started this often before the caller gets an error."""
RETRY_SECONDS: Final = (0.1, 1.0)
"""Pauses between the three tries to connect."""

_PROBE_SECONDS: Final = 1.0
LOG_BYTES: Final = 10 * MIB
"""A larger log is renamed to ``….1``, and a new one begins."""
_REPORT_BYTES: Final = 64 * 1024
_LOG_LINE_CHARS: Final = 300
_KEPT: Final = frozenset(
    {
        "PATH",
        "LANG",
        # Needed to show a window. A Wayland display is named relative to the runtime folder.
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
    }
)
"""Variables that processes we start inherit from the caller's environment."""
_PATH_IF_NONE: Final = "/usr/local/bin:/usr/bin:/bin"


def running_broker(home: Home) -> Endpoint | None:
    """Return the endpoint of the broker that serves ``home``, or None if no broker answers."""
    endpoint = read_endpoint(home)
    if endpoint is None:
        return None
    try:
        _dial(endpoint.socket, _PROBE_SECONDS).close()
    except Timeout:
        return endpoint  # the broker is alive but has more callers than it can accept now
    except OSError:
        return None
    return endpoint


def ensure_broker(
    home: Home,
    *,
    options: Sequence[str] = (),
    timeout_seconds: float = START_SECONDS,
    command: Sequence[str] | None = None,
) -> Endpoint:
    """Return the endpoint of the one broker of ``home``, started if none answers.

    options: arguments for a broker started here; ignored if one runs already.
    timeout_seconds: time limit for the start.
    command: how to run the daemon (None: ``broker_command()``).

    Files that a dead broker left behind do not matter. If the new broker cannot start, its own
    error is raised. A broker that is killed while it starts is started again, ``STARTS`` times in
    all.
    """
    endpoint = running_broker(home)
    if endpoint:
        return endpoint
    deadline = Deadline(timeout_seconds)
    try:
        home.create()
        return _start(home, options, command or broker_command(), deadline)
    except OSError as problem:
        # On a full disk, for example, neither the lock nor the log can be made.
        raise cannot_start(home, problem) from None


def _start(
    home: Home, options: Sequence[str], command: Sequence[str], deadline: Deadline
) -> Endpoint:
    lock = Lock(home.start_lock)
    while not lock.try_acquire():
        # The lock's holder may be slow or stopped, or may wait for a daemon that is no longer
        # needed.
        endpoint = running_broker(home)
        if endpoint:
            return endpoint
        if deadline.has_passed():
            raise Timeout(
                f"Another process has held {home.start_lock} all the time, and no broker has come.",
                hint=f"See who it is: fuser -v {home.start_lock}",
            )
        deadline.pause()
    try:
        for start in range(1, STARTS + 1):
            # The previous holder of the lock has most likely started the broker.
            endpoint = running_broker(home)
            if endpoint:
                return endpoint
            seconds = deadline.remaining()
            try:
                start_detached(home, command, options, log=home.log, timeout_seconds=seconds)
            except Interrupted:
                if start == STARTS or deadline.has_passed():
                    raise Interrupted(
                        "The broker was killed each time it started.", hint="Try again."
                    ) from None
                continue
            endpoint = running_broker(home)
            if endpoint:
                return endpoint
            raise Internal(
                "The broker said it was ready, but does not answer.", hint=_see(home.log)
            )
        raise AssertionError("every start ends in one of these ways")
    finally:
        lock.release()


def cannot_start(home: Home, problem: OSError) -> Internal:
    """Build the error for a broker that cannot start, with the system's reason and a hint."""
    hint = f"Check the folder {home.path}."
    if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        hint = f"Free space on the disk that holds {home.path}, then try again."
    elif problem.errno in (errno.EMFILE, errno.ENFILE):
        hint = "Close files or programs: the system has no file descriptors left."
    where = f" ({problem.filename})" if problem.filename else ""
    return Internal(f"The broker cannot start: {problem.strerror or problem}{where}.", hint=hint)


def broker_command() -> list[str]:
    """Return the command that runs the daemon. ``-P`` prevents imports from the current folder."""
    return [sys.executable, "-P", "-m", "roost.daemon"]


def clean_environment(home: Home, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for processes we start.

    It does not depend on who the first caller is.
    """
    kept = {
        name: value for name, value in environ.items() if name in _KEPT or name.startswith("LC_")
    }
    kept.setdefault("PATH", _PATH_IF_NONE)
    kept["ROOST_HOME"] = str(home.path)
    with suppress(BadRequest):  # no entry in the password database
        kept["HOME"] = str(user_folder())
    source = _source_folder()
    if source:
        kept["PYTHONPATH"] = source
    return kept


def detach() -> None:
    """Continue in a child process whose parent has ended. The daemon calls this first of all.

    A client that ends an agent also ends all processes below the agent, and the broker must not be
    among them. Its session and process group stay the ones it was started in. No thread may run
    yet.
    """
    if os.fork():
        os._exit(0)


def report(ready_fd: int, error: RoostError | None = None) -> None:
    """Tell the starter, on the descriptor it passed, that the daemon is ready or why not.

    After an error, the starter ends what is left of the daemon.
    """
    said = "ready" if error is None else json.dumps(error.to_wire(), default=str)
    with suppress(OSError):  # the daemon goes on if its starter has ended
        os.write(ready_fd, said.encode() + b"\n")
    os.close(ready_fd)


def _wait(seconds: float) -> None:
    select.select([], [], [], seconds)


def connect(
    where: Endpoint | Home,
    *,
    timeout_seconds: float = CONNECT_SECONDS,
    wait: Callable[[float], object] = _wait,
) -> socket.socket:
    """Return a blocking socket to the broker, before any hello.

    Tries three times if the socket is missing, refuses or resets. Given a ``Home``, reads the
    endpoint before each try, because a restarted broker may listen elsewhere. Raises ``Timeout``.
    """
    deadline = Deadline(timeout_seconds)
    for pause in (0.0, *RETRY_SECONDS):
        if pause:
            if deadline.has_passed():
                break
            wait(min(pause, deadline.remaining()))
        endpoint = read_endpoint(where) if isinstance(where, Home) else where
        if endpoint:
            with suppress(FileNotFoundError, ConnectionRefusedError, ConnectionResetError):
                return _dial(endpoint.socket, deadline.remaining())
    raise Timeout("No broker answers.", hint="Start it with `roost up`.")


def _dial(path: Path, timeout_seconds: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # With settimeout(), a full backlog would fail at once with EAGAIN instead of waiting.
        _set_send_timeout(sock, max(timeout_seconds, 0.001))
        sock.connect(str(path))
        _set_send_timeout(sock, 0)
    except BlockingIOError:
        sock.close()
        raise Timeout(
            f"The broker did not take the connection within {timeout_seconds:.1f} s.",
            hint="It is overloaded; try again.",
        ) from None
    except BaseException:
        sock.close()
        raise
    return sock


def _set_send_timeout(sock: socket.socket, seconds: float) -> None:
    whole = int(seconds)
    timeval = struct.pack("@ll", whole, int((seconds - whole) * 1_000_000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)


def start_detached(
    home: Home,
    command: Sequence[str],
    options: Sequence[str],
    *,
    log: Path,
    timeout_seconds: float,
) -> None:
    """Run a daemon and wait for its report. Returns if the daemon is ready, else raises its error.

    The command gets ``--ready-fd`` and must call ``detach`` and ``report``. Its output is appended
    to ``log``. Raises ``OSError`` if it cannot be run.
    """
    import subprocess

    deadline = Deadline(timeout_seconds)
    with open(open_log(log), "ab") as output:
        log_size = output.tell()
        listening, ready = os.pipe()
        with open(listening, "rb", buffering=0) as reports:
            try:
                launcher = subprocess.Popen(
                    [*command, "--ready-fd", str(ready), *options],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd="/",
                    env=clean_environment(home),
                    umask=0o077,
                    start_new_session=True,
                    pass_fds=(ready,),
                )
            finally:
                os.close(ready)
            try:
                said = _read_report(reports.fileno(), deadline)
                if said == b"ready\n":
                    # The launcher ends as soon as the daemon detaches.
                    launcher.wait(deadline.remaining())
                    return
                failure = _failure(said, log, log_size)
                if not said and _was_killed(launcher.wait(deadline.remaining())):
                    failure = Interrupted("It was killed while it started.", hint="Try again.")
            except (TimeoutError, subprocess.TimeoutExpired):
                failure = Timeout("It was not ready in time.", hint=_see(log))
            # The launcher is not reaped yet, so its group number still belongs to the daemon.
            with suppress(OSError):
                os.killpg(launcher.pid, signal.SIGKILL)
            launcher.wait()
            raise failure


def _was_killed(launcher_status: int) -> bool:
    """Return whether a daemon that ended without a report was killed.

    A launcher that fails before it detaches has a status above zero. A daemon that fails later
    reports why.
    """
    return launcher_status <= 0


def open_log(log: Path) -> int:
    """Open the log for appending and return its descriptor. A large log is renamed first."""
    with suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            os.replace(log, log.with_name(f"{log.name}.1"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(log, flags, 0o600)


def _read_report(fd: int, deadline: Deadline) -> bytes:
    """Read one line, or what there is of it when the last holder of the pipe ends."""
    said = b""
    poll = select.poll()  # select() fails in a program that has more than 1024 files open
    poll.register(fd, select.POLLIN)
    while not said.endswith(b"\n") and len(said) < _REPORT_BYTES:
        if not poll.poll(deadline.remaining() * 1000):
            raise TimeoutError
        chunk = os.read(fd, _REPORT_BYTES)
        if not chunk:
            break
        said += chunk
    return said


def _failure(said: bytes, log: Path, log_size: int) -> RoostError:
    with suppress(ValueError):
        wire = json.loads(said)
        if isinstance(wire, dict):
            return RoostError.from_wire(wire)
    last = _last_log_line(log, log_size)
    return Internal(f"It ended before it was ready{': ' + last if last else '.'}", hint=_see(log))


def _last_log_line(log: Path, since: int) -> str:
    """Return the daemon's last line in the log, most often an exception without its traceback."""
    with open(log, "rb") as said:
        end = said.seek(0, os.SEEK_END)
        said.seek(max(since, end - _REPORT_BYTES))
        lines = said.read().decode("utf-8", "replace").split("\n")
    return next((line[:_LOG_LINE_CHARS] for line in reversed(lines) if line.strip()), "")


def _see(log: Path) -> str:
    return f"See the end of {log}, or run `roost doctor`."


def _source_folder() -> str | None:
    """Return the folder this package is imported from, or None if every interpreter finds it."""
    import site

    folder = Path(__file__).resolve().parents[2]
    installed = [*site.getsitepackages(), site.getusersitepackages()]
    if folder in [Path(entry).resolve() for entry in installed]:
        return None  # first on the path, that folder would hide modules of the standard library
    return str(folder)
