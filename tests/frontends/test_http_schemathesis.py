"""schemathesis against the description and a real broker: nothing is found.

Every check of its own, on data that fits the description and data that does not. One thing is
allowed for: a JSON schema cannot say all that makes a request good (either text or regex; an
address with a scheme), so what fits it may still be answered 400, or be out of reach of the browser
in memory (422) or of time (408).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cli_house import Cli, cli

SECONDS = 280.0
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "408", "409", "422", "423", "429"]
"""
ONE_SESSION = """
[parameters]
"path.sessionId" = "work"
"query.timeoutMs" = 300
"""
NEVER = ["/events$", "broker_stop"]
"""A stream has no end, and a broker that is told to stop does."""
ENDS_THE_SESSION = ["session_dispose", "^/session/{sessionId}$"]


def findings(
    house: Cli, token: str, folder: Path, config: str, without: list[str], *phases: str
) -> str:
    """What it found, in its own words; nothing if all is well."""
    address = house.endpoint.http
    headers = {"authorization": f"Bearer {token}"}
    described = folder / "openapi.json"
    described.write_bytes(httpx.get(f"{address}/openapi.json", headers=headers).content)
    settings = folder / "schemathesis.toml"
    settings.write_text(config, encoding="utf-8")
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run",
        str(described), "--url", str(address), "-H", f"Authorization: Bearer {token}",
        "--phases", ",".join(phases), "--max-examples", "2", "--seed", "1", "--no-color",
        "--generation-database", "none", "--exclude-path-regex", "|".join(without),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert "Test cases:" in done.stdout, done.stdout + done.stderr
    return "" if done.returncode == 0 else done.stdout


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_session_calls_everything_with_good_and_bad_data(tmp_path: Path) -> None:
    with cli(tmp_path / "home") as house:
        house.says("up")
        operator = {"authorization": f"Bearer {house.home.operator_token()}"}
        address, body = house.endpoint.http, {"sessionId": "work"}
        opened = httpx.post(f"{address}/session", json=body, headers=operator).json()
        without = [*NEVER, *ENDS_THE_SESSION]
        phases = ("coverage", "fuzzing")
        config = ONE_SESSION + CONFIG
        assert findings(house, opened["token"], tmp_path, config, without, *phases) == ""
        assert "Traceback" not in house.home.log.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_operator_guesses_at_sessions(tmp_path: Path) -> None:
    with cli(tmp_path / "home") as house:
        house.says("up")
        token = house.home.operator_token()
        assert findings(house, token, tmp_path, CONFIG, NEVER, "fuzzing") == ""
        assert "Traceback" not in house.home.log.read_text(encoding="utf-8")
