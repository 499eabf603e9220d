"""The real command, in processes of its own, in a ROOST_HOME of its own, on the fake driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.local.endpoint import Endpoint, read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree
from tests.support.real_processes import real_home

SECONDS = 30.0
ROOST = (sys.executable, "-P", "-m", "roost")


class Cli:
    """Runs commands as a person at the keyboard."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "ROOST_HOME": str(self.home.path), **more}

    def run(
        self, *arguments: str, operator: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command. Tests have no terminal, so the person says ``--operator``."""
        return subprocess.run(
            [*ROOST, *(["--operator"] if operator else []), *arguments],
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def says(self, *arguments: str, **environment: str) -> str:
        """What it prints when all goes well."""
        done = self.run(*arguments, operator=True, **environment)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def answers(self, *arguments: str) -> Any:
        """The one JSON value it prints."""
        return json.loads(self.says(*arguments, "--json"))

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on by itself."""
        process = subprocess.Popen(
            [*ROOST, "--operator", *arguments],
            env=self.environment(PYTHONUNBUFFERED="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    @property
    def endpoint(self) -> Endpoint:
        found = read_endpoint(self.home)
        assert found is not None
        return found

    def close(self) -> None:
        """End the broker that runs."""
        end_tree(self.endpoint.process, 5)


@contextmanager
def cli(folder: Path) -> Iterator[Cli]:
    with real_home(folder) as home:
        yield Cli(home)
