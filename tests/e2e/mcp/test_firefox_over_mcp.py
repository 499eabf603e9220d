"""``roost mcp --names firefox`` as its users start it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.mcp.mcp_clients import client
from tests.support.house import real_home

pytestmark = pytest.mark.slow
URL = "https://site.test/"


async def test_a_claudezilla_configuration_works_after_changing_only_the_command(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path / "home", reads="shared") as home:
        async with client(home, "--names", "firefox") as ada, client(home) as bob:
            listed = await ada.sdk.list_tools()
            assert {tool.name.partition("_")[0] for tool in listed.tools} == {"firefox"}
            opened = await ada.text("firefox_create_window", url=URL)
            assert '"tabId": 1' in opened
            assert '"tabCount": 1, "maxTabs": 12' in await ada.text("firefox_get_tabs")
            assert await ada.code("firefox_close_tab", tabId=99) == "TAB_GONE"
            assert await bob.code("browser_close", tab="t1") == "OWNERSHIP"
