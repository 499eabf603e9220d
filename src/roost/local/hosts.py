"""Records of running native hosts. A broker that starts reads them to wake the hosts."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from roost.errors import RoostError
from roost.local.home import Home, read_secret, write_secret
from roost.local.processes import Process, identify, is_alive


def record_host(home: Home, browser: str) -> Path:
    """Record that this process is a host of that browser.

    The caller removes the file at its end.
    """
    home.create()
    record = _folder(home) / f"{browser}.{os.getpid()}.json"
    with contextlib.suppress(FileExistsError):
        record.parent.mkdir(mode=0o700)
    process = identify(os.getpid())
    assert process is not None
    fields = {"pid": process.pid, "processStarted": process.started}
    write_secret(record, json.dumps(fields).encode())
    return record


def running_hosts(home: Home, browser: str) -> list[Process]:
    """Return the running hosts of that browser, in all its profiles.

    Removes records of dead ones.
    """
    found = []
    for record in sorted(_folder(home).glob(f"{browser}.*.json")):
        with contextlib.suppress(ValueError, KeyError, RoostError):
            fields = json.loads(read_secret(record) or b"{}")
            host = Process(fields["pid"], fields["processStarted"])
            if is_alive(host):
                found.append(host)
            else:
                record.unlink(missing_ok=True)
    return found


def _folder(home: Home) -> Path:
    return home.path / "hosts"
