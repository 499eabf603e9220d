"""Native hosts are found by their records while they run."""

from __future__ import annotations

import json
import os
from pathlib import Path

from roost.local.home import Home, write_secret
from roost.local.hosts import record_host, running_hosts


def test_a_host_is_found_while_it_runs_and_a_dead_ones_record_is_removed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert running_hosts(home, "mine-chromium") == []
    record = record_host(home, "mine-chromium")
    dead, broken = (record.with_name(f"mine-chromium.{n}.json") for n in (1, 2))
    write_secret(dead, json.dumps({"pid": 1, "processStarted": "never"}).encode())
    write_secret(broken, b"no json")

    assert [host.pid for host in running_hosts(home, "mine-chromium")] == [os.getpid()]
    assert running_hosts(home, "mine-firefox") == []
    assert not dead.exists()
    record.unlink()
    assert running_hosts(home, "mine-chromium") == []
