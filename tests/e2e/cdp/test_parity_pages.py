"""Playwright's pages, frames, input and pictures: on a Chromium of its own and on a session of a
shared one, alike."""

from __future__ import annotations

import pytest

from tests.e2e.cdp import parity_browser, parity_pages
from tests.e2e.cdp.parity import CHECKS, Stage, checks_of


@pytest.mark.parametrize("name", checks_of(parity_pages))
def test_a_sessions_pages_behave_like_those_of_a_browser_of_its_own(
    stages: list[Stage], name: str
) -> None:
    direct, through_roost = (stage.played(name) for stage in stages)

    assert through_roost == direct


def test_there_are_enough_checks_to_mean_something() -> None:
    assert len(CHECKS) == len(checks_of(parity_pages)) + len(checks_of(parity_browser))
    assert len(CHECKS) >= 150
