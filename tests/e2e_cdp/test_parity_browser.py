"""Playwright's popups, workers, dialogs, files, network, cookies, contexts: on a Chromium of its
own and on a session of a shared one, alike."""

from __future__ import annotations

from pathlib import Path

import parity_browser
import pytest
from local_web import Web
from parity import checks_of, played
from playwright.sync_api import Browser

DECIDED = {
    "http_credentials_when_the_server_asks": "Roost's browser asks nobody for passwords, because"
    " its window could not be closed; a 401 is a page like any other. As a header they work.",
}
"""Checks whose answers differ, and why that is right."""


@pytest.mark.parametrize("name", checks_of(parity_browser))
def test_a_session_behaves_like_a_browser_of_its_own(
    browsers: list[Browser], web: Web, folder: Path, name: str
) -> None:
    direct, through_roost = (played(name, browser, web, folder) for browser in browsers)

    assert (through_roost == direct) != (name in DECIDED), (direct, through_roost)
