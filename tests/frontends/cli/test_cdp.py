"""``roost cdp-url`` (roost.frontends.cli.cdp): the address of one session's endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.house import House, house_of

pytestmark = pytest.mark.slow


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[House]:
    with house_of(folder=tmp_path / "home") as cli:
        cli.says("up")
        yield cli


def test_the_address_is_the_sessions_and_stays_the_same(cli: House) -> None:
    cli.says("session", "open", "--session", "shop")
    url = cli.says("cdp-url", "--session", "shop").strip()
    told = cli.answers("cdp-url", "--session", "shop", "--json")
    assert told == {"session": "shop", "url": url, "webSocket": url.replace("http", "ws", 1)}
    assert cli.says("cdp-url", "--session", "shop", "--ws").strip() == told["webSocket"]
    http = cli.answers("status", "--json")["broker"]["http"]
    assert url.startswith(f"{http}/cdp/")
    # The fake browser has no such protocol, and says so to whoever has the right token.
    assert httpx.get(f"{url}/json/version").json()["code"] == "UNSUPPORTED"
    wrong = httpx.get(f"{url[:-4]}beef/json/version")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "UNAUTHORIZED")
    assert url.rpartition("/")[2] not in cli.says("log")


def test_an_absent_session_has_no_token(cli: House) -> None:
    done = cli.command("cdp-url", "--session", "nobody")
    assert done.returncode == 1
    assert done.stderr.startswith("SESSION_GONE")
