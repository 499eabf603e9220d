"""Who is at the other end of a TCP connection (roost.local.tcp_peers), by the kernel's word."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from roost.local.processes import Peer
from roost.local.tcp_peers import started_with, tcp_peer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists connections")
CONNECT = """
import socket, sys
one = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""
CONNECT_MAPPED = CONNECT.replace("127.0.0.1", "::ffff:127.0.0.1")


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize("program", [CONNECT, CONNECT_MAPPED], ids=["ipv4", "ipv4 in ipv6"])
def test_a_process_is_found_by_its_connection_and_asked_what_it_was_started_with(
    program: str,
) -> None:
    with closing(listening()) as server:
        here = server.getsockname()
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(here[1])],
            stdin=subprocess.PIPE,
            env={**os.environ, "ROOST_SESSION": "shop=1", "ROOST_SESSION_NOT": "x"},
        )
        try:
            server.settimeout(20)
            connection, there = server.accept()
            with closing(connection):
                assert tcp_peer(here, there) == Peer(os.getuid(), child.pid)
                assert started_with(child.pid, "ROOST_SESSION") == "shop=1"
                assert started_with(child.pid, "ROOST_SESS") is None
        finally:
            child.communicate(timeout=20)
        assert started_with(child.pid, "ROOST_SESSION") is None


def test_a_connection_that_is_not_there_is_nobodys() -> None:
    with closing(listening()) as server:
        here = server.getsockname()
        assert tcp_peer(here, ("127.0.0.1", here[1])) is None
        client = socket.create_connection(here)
        there = client.getsockname()
        assert tcp_peer(here, there) == Peer(os.getuid(), os.getpid())
        assert tcp_peer(("127.0.0.2", here[1]), there) is None
        client.close()
        assert tcp_peer(here, there) is None


def test_elsewhere_nobody_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert tcp_peer(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
