"""``roost fleet``: from nothing to a machine that has joined, and back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roost.frontends.cli.fleet import fleet as command
from tests.support.house import real_home

ROOST = (sys.executable, "-P", "-m", "roost", "fleet")
SECONDS = 60
assert command.name == "fleet"


def run(home: Path, *words: str, given: str = "") -> tuple[int, Any]:
    """Run a command with ``--json``. Returns its exit code and its answer."""
    done = subprocess.run(
        [*ROOST, *words, "--json"],
        env=os.environ | {"ROOST_HOME": str(home)},
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
def test_a_machine_joins_is_shown_and_leaves(tmp_path: Path) -> None:
    with real_home(tmp_path / "head") as head, real_home(tmp_path / "node") as node:
        code, error = run(head.path, "status")
        assert (code, error["code"]) == (1, "NOT_FOUND")
        assert "roost fleet up" in error["hint"]
        try:
            code, up = run(head.path, "up", "--address", "127.0.0.1:0")
            assert code == 0, up
            assert up["isLoopback"]
            assert (head.path / "fleet" / "ca.key").stat().st_mode & 0o077 == 0
            code, joined = run(
                node.path, "join", "-", "--address", "127.0.0.1:0", given=up["joinToken"]
            )
            assert code == 0, joined
            code, error = run(tmp_path / "third", "join", up["joinToken"])
            assert (code, error["code"]) == (1, "UNAUTHORIZED")
            code, status = run(head.path, "status")
            assert [each["name"] for each in status["nodes"]] == [joined["name"]]
            code, token = run(head.path, "token", "add", "ann")
            assert token["token"].startswith("roost-user:ann:")
            code, error = run(head.path, "token", "add", "ann")
            assert (code, error["field"]) == (1, "name")
            code, error = run(head.path, "token", "add", "Not.A.Name")
            assert (code, error["field"]) == (1, "name")
            code, users = run(head.path, "token", "list")
            assert [each["name"] for each in users["users"]] == ["ann"]
            stored = b"".join(path.read_bytes() for path in (head.path / "fleet").iterdir())
            assert token["token"].encode() not in stored, "only its digest is stored"
            code, revoked = run(head.path, "token", "revoke", "ann")
            assert revoked["name"] == "ann"
            code, drained = run(head.path, "drain", joined["name"])
            assert drained["isDraining"]
            code, left = run(node.path, "leave")
            assert left == {"left": joined["name"]}
            code, status = run(head.path, "status")
            assert status["nodes"] == []
        finally:
            run(node.path, "leave", "--force")
            assert run(head.path, "stop") == (0, {"stopped": True})
        assert run(head.path, "stop") == (0, {"stopped": False})
