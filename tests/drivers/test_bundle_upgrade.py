"""A page that stays open while Roost is upgraded: the new broker's bundle replaces the old one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from roost.drivers.base import Bundle
from roost.page.bundle import bundle, versioned
from roost.testing.driver_rig import Reports
from roost.vocabulary import JarPolicy
from tests.drivers import managed_harness as harnesses
from tests.drivers.managed_harness import (
    ChromiumUnderTest,
    FirefoxUnderTest,
    ManagedHarness,
    managed_harness,
)
from tests.page.page_world import BUNDLE

pytestmark = pytest.mark.browser
BUTTON = "() => { document.body.innerHTML = '<button>A</button>' }"
KINDS: dict[str, Any] = {"chromium": ChromiumUnderTest, "firefox": FirefoxUnderTest}


@pytest.fixture(scope="module", params=list(KINDS))
def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ManagedHarness[ChromiumUnderTest | FirefoxUnderTest]]:
    with managed_harness(tmp_path_factory.mktemp("home"), KINDS[request.param]) as harness:
        yield harness


def old_bundle() -> Bundle:
    """Return a bundle that tells three characters of a title."""
    built = BUNDLE.read_text(encoding="utf-8")
    assert "TITLE_CHARS2 = 1e3;" in built
    return versioned(built.replace("TITLE_CHARS2 = 1e3;", "TITLE_CHARS2 = 3;"))


async def test_an_open_page_gets_the_bundle_of_the_broker_that_takes_it_over(
    harness: ManagedHarness[ChromiumUnderTest | FirefoxUnderTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old_bundle().version != bundle().version
    monkeypatch.setattr(harnesses, "bundle", old_bundle)
    async with harness.guest(Reports()) as driver:
        tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
        await driver.page(tab).navigate(harness.url("/other"))
        await driver.page(tab).evaluate(BUTTON)
        told = await driver.page(tab).call_page(None, "snapshot", {})
        assert told["page"]["title"] == "Ot…"
        assert "[ref=e1]" in told["text"]
        monkeypatch.undo()
        heir = await harness.heir(Reports())
        told = await heir.page(tab).call_page(None, "snapshot", {"firstRef": 40})
        assert told["page"]["title"] == "Other"
        assert "[ref=e1]" not in told["text"], "the old bundle's refs name nothing any more"


async def test_an_open_page_keeps_its_refs_when_the_next_broker_has_the_same_bundle(
    harness: ManagedHarness[ChromiumUnderTest | FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
        await driver.page(tab).navigate(harness.url("/other"))
        await driver.page(tab).evaluate(BUTTON)
        before = await driver.page(tab).call_page(None, "snapshot", {})
        heir = await harness.heir(Reports())
        after = await heir.page(tab).call_page(None, "snapshot", {"firstRef": 40})
        assert "[ref=e1]" in before["text"]
        assert after["text"] == before["text"]
