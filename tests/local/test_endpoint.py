from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from roost.local.endpoint import Endpoint, read_endpoint, write_endpoint
from roost.local.home import Home, write_secret
from roost.local.processes import Process

ENDPOINT = Endpoint(
    socket=Path("/run/user/1000/roost/0123456789abcdef"),
    process=Process(4242, "boot-99"),
    version="0.1.0",
    wire=1,
    http="http://127.0.0.1:7777",
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("http", ["http://127.0.0.1:7777", None])
def test_an_endpoint_is_read_as_it_was_written(home: Home, http: str | None) -> None:
    endpoint = Endpoint(ENDPOINT.socket, ENDPOINT.process, "0.1.0", 1, http)

    write_endpoint(home, endpoint)

    assert read_endpoint(home) == endpoint
    assert stat.S_IMODE(home.endpoint.stat().st_mode) == 0o600


def test_the_file_has_the_fields_that_scripts_rely_on(home: Home) -> None:
    write_endpoint(home, ENDPOINT)

    assert json.loads(home.endpoint.read_bytes()) == {
        "socket": "/run/user/1000/roost/0123456789abcdef",
        "pid": 4242,
        "processStarted": "boot-99",
        "version": "0.1.0",
        "wire": 1,
        "http": "http://127.0.0.1:7777",
    }


def test_a_missing_file_gives_no_endpoint(home: Home) -> None:
    assert read_endpoint(home) is None


def test_a_truncated_file_counts_as_missing(home: Home) -> None:
    write_endpoint(home, ENDPOINT)
    whole = home.endpoint.read_bytes().rstrip()

    for length in range(len(whole)):
        write_secret(home.endpoint, whole[:length])
        assert read_endpoint(home) is None


@pytest.mark.parametrize(
    "content", [b"\xff", b"[]", b"{}", b"[" * 50_000, b'{"socket": 1, "pid": "x"}']
)
def test_a_file_with_other_content_counts_as_missing(home: Home, content: bytes) -> None:
    write_secret(home.endpoint, content)

    assert read_endpoint(home) is None


def test_a_file_that_others_can_write_counts_as_missing(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_endpoint(home, ENDPOINT)
    home.endpoint.chmod(0o666)
    assert read_endpoint(home) is None

    home.endpoint.chmod(0o600)
    assert read_endpoint(home) == ENDPOINT
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert read_endpoint(home) is None
