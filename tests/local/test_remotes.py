"""The port of a Firefox's remote agent (roost.local.remotes): as its command line and profile
say, if the kernel confirms that this process listens there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from roost.local.remotes import has_remote, remote_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who listens")
LISTEN = """
import socket, sys
address, count = sys.argv[1], int(sys.argv[2])
open_ones = [socket.create_server((address, 0)) for _ in range(count)]
print(*(one.getsockname()[1] for one in open_ones), flush=True)
sys.stdin.read()
"""


@contextmanager
def process(*options: str, address: str = "127.0.0.1", listens: int = 1) -> Iterator[list[int]]:
    """Start a process with those options that listens. Return its pid, then its ports."""
    command = [sys.executable, "-c", LISTEN, address, str(listens), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        yield [child.pid, *map(int, child.stdout.readline().split())]
        child.communicate(timeout=20)


def said(profile: Path, port: int) -> str:
    named = {"ws_host": "127.0.0.1", "ws_port": port}
    (profile / "WebDriverBiDiServer.json").write_text(json.dumps(named))
    return f"--profile={profile}"


def test_a_firefox_without_the_option_has_no_remote_port() -> None:
    with process("--new-window", "remote-debugging-port") as (pid, _):
        assert not has_remote(pid)
        assert remote_port(pid) is None


@pytest.mark.parametrize("option", ["--remote-debugging-port=0", "-remote-debugging-port"])
def test_the_port_that_firefox_chose_is_in_its_profile(tmp_path: Path, option: str) -> None:
    zero = [] if "=" in option else ["0"]
    with process(option, *zero, "--profile", str(tmp_path), listens=3) as (pid, _, port, _):
        assert has_remote(pid)
        assert remote_port(pid) is None, "there are three, and nothing says which"
        said(tmp_path, port)
        assert remote_port(pid) == port


def test_without_a_profile_on_the_command_line_the_only_listening_port_is_taken() -> None:
    with process("--remote-debugging-port=0") as (pid, port):
        assert remote_port(pid) == port


def test_a_port_that_another_process_listens_on_is_not_believed(tmp_path: Path) -> None:
    """Firefox no longer listens there or never did, and the other process may be anything."""
    with (
        process() as (_, foreign),
        process("--remote-debugging-port=0", said(tmp_path, foreign)) as (
            pid,
            own,
        ),
    ):
        assert own != foreign
        assert remote_port(pid) is None
    with process() as (_, foreign):
        profile = said(tmp_path, foreign)
        with process("--remote-debugging-port=0", profile) as (pid, own):
            assert own != foreign
            assert remote_port(pid) is None
    with process() as (_, foreign), process(f"--remote-debugging-port={foreign}") as (pid, _):
        assert remote_port(pid) is None


def test_a_port_that_other_machines_can_reach_is_not_taken() -> None:
    with process("--remote-debugging-port=0", address="0.0.0.0") as (pid, _):
        assert remote_port(pid) is None


def test_without_a_port_number_the_default_port_is_taken_and_a_dead_process_has_none() -> None:
    with process("--remote-debugging-port", "--headless") as (pid, port):
        assert remote_port(pid) == (port if port == 9222 else None)
    assert not has_remote(pid)
    assert remote_port(pid) is None
