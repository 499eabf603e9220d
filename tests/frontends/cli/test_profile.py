"""``roost profile`` as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.house import House, house_of


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[House]:
    with house_of(folder=tmp_path / "home") as made:
        yield made


@pytest.mark.slow
def test_a_profile_is_imported_listed_used_and_removed(cli: House, tmp_path: Path) -> None:
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
    refused = cli.command("session", "open", "--jar", "clone", "--profile", "work")
    assert refused.returncode == 1
    assert refused.stderr.startswith("PROFILE_NOT_FOUND: There is no profile work.\n")


@pytest.mark.slow
def test_an_import_says_what_it_left_out_and_refuses_a_bad_source(
    cli: House, tmp_path: Path
) -> None:
    source = tmp_path / "cookies.txt"
    source.write_text("site.test\tFALSE\t/\tFALSE\t0\tlogin\t1\nnonsense\n")
    said = cli.says("profile", "import", str(source), "--name", "work")
    assert said.splitlines()[1] == "left out: 1 lines that are no cookies"

    refused = cli.command("profile", "import", str(tmp_path), "--name", "work")
    assert refused.returncode == 1
    assert "is not a browser's profile folder" in refused.stderr
    assert cli.command("profile", "import", str(source)).returncode == 2
