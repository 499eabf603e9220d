"""The process at the other end of a TCP connection (roost.local.tcp_peers), as the kernel
reports it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from roost.local import tcp_peers
from roost.local.processes import Peer
from roost.local.tcp_peers import is_stranger, started_with, tcp_peer
from tests.support.other_user import AS_NOBODY, needs_another_user

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


def test_an_absent_connection_has_no_owner() -> None:
    with closing(listening()) as server:
        here = server.getsockname()
        assert tcp_peer(here, ("127.0.0.1", here[1])) is None
        client = socket.create_connection(here)
        there = client.getsockname()
        assert tcp_peer(here, there) == Peer(os.getuid(), os.getpid())
        assert tcp_peer(("127.0.0.2", here[1]), there) is None
        client.close()
        assert tcp_peer(here, there) is None


def test_on_other_systems_no_owner_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert tcp_peer(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert not is_stranger(("127.0.0.1", 1), ("127.0.0.1", 2))


def _no_diag(*_: object) -> int | None:
    raise PermissionError("not in this sandbox")


@pytest.fixture(params=["sock_diag", "/proc/net/tcp"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the owner from one row of the kernel's table, or from all rows."""
    if request.param == "/proc/net/tcp":
        monkeypatch.setattr(tcp_peers, "_diagnosed", _no_diag)


@pytest.mark.usefixtures("source")
def test_this_users_connections_are_not_strangers() -> None:
    with closing(listening()) as server:
        here = server.getsockname()
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
            with socket.socket(family) as client:
                client.connect((host, here[1]))
                connection, there = server.accept()
                with closing(connection):
                    assert not is_stranger(here, there)
                    client.shutdown(socket.SHUT_WR)
                    assert not is_stranger(here, there)


@pytest.mark.usefixtures("source")
def test_a_connection_its_owner_has_closed_is_a_strangers() -> None:
    """The kernel assigns such connections to root, so a broker of root would accept them as its
    own."""
    with closing(listening()) as server:
        here = server.getsockname()
        client = socket.create_connection(here)
        connection, there = server.accept()
        client.close()
        with closing(connection):
            assert is_stranger(here, there)


@needs_another_user
@pytest.mark.usefixtures("source")
def test_another_users_connection_is_a_strangers() -> None:
    with closing(listening()) as server:
        here = server.getsockname()
        program = AS_NOBODY + CONNECT
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(here[1])], stdin=subprocess.PIPE
        )
        try:
            server.settimeout(20)
            connection, there = server.accept()
            with closing(connection):
                assert is_stranger(here, there)
        finally:
            child.communicate(timeout=20)


def test_without_access_to_the_kernels_table_nobody_is_a_stranger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tcp_peers, "_diagnosed", _no_diag)
    monkeypatch.setattr(tcp_peers, "_rows", lambda: iter(()))
    assert not is_stranger(("127.0.0.1", 1), ("127.0.0.1", 2))
