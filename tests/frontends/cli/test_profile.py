"""``roost profile`` as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontends.cli.cli_house import Cli
from tests.frontends.cli.cli_house import cli as house


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with house(tmp_path / "home") as made:
        yield made


@pytest.mark.slow
def test_a_profile_is_imported_listed_used_and_removed(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "state.json"
    cookies = [
        {"name": "login", "value": "profile-secret", "domain": domain}
        for domain in ("site.test", "other.test")
    ]
    source.write_text(json.dumps({"cookies": cookies, "origins": []}))

    said = cli.says("profile", "import", str(source), "--name", "work", "--domain", "site.test")
    assert said == "work: 1 cookies of 1 sites and the storage of 0, from a storage state source.\n"
    assert "profile-secret" not in said
    (listed,) = cli.answers("profile", "list")
    assert (listed["name"], listed["cookies"]) == ("work", 1)

    opened = cli.says(
        "session", "open", "--jar", "clone", "--profile", "work", "--url", "http://site.test/"
    )
    assert opened.strip()
    assert cli.says("profile", "remove", "work") == "work is gone.\n"
    refused = cli.run("session", "open", "--jar", "clone", "--profile", "work")
    assert refused.returncode == 1
    assert refused.stderr.startswith("PROFILE_NOT_FOUND: There is no profile work.\n")


@pytest.mark.slow
def test_what_is_left_out_is_said_and_a_bad_source_is_refused(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "cookies.txt"
    source.write_text("site.test\tFALSE\t/\tFALSE\t0\tlogin\t1\nnonsense\n")
    said = cli.says("profile", "import", str(source), "--name", "work")
    assert said.splitlines()[1] == "left out: 1 lines that are no cookies"

    refused = cli.run("profile", "import", str(tmp_path), "--name", "work")
    assert refused.returncode == 1
    assert "is no browser's profile folder" in refused.stderr
    assert cli.run("profile", "import", str(source)).returncode == 2
