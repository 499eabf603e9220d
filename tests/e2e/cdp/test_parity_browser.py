"""Playwright's popups, workers, dialogs, files, network, cookies, contexts: on a Chromium of its
own and on a session of a shared one, alike."""

from __future__ import annotations

import pytest

from tests.e2e.cdp import parity_browser
from tests.e2e.cdp.parity import Stage, checks_of

DECIDED: dict[str, str] = {}
"""Checks whose answers differ, and why that is right."""


@pytest.mark.parametrize("name", checks_of(parity_browser))
def test_a_session_behaves_like_a_browser_of_its_own(stages: list[Stage], name: str) -> None:
    direct, through_roost = (stage.played(name) for stage in stages)

    assert (through_roost == direct) != (name in DECIDED), (direct, through_roost)
