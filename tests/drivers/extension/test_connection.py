"""Refusals of the extension are typed errors, in both browsers."""

from __future__ import annotations

from typing import Any

import pytest

from roost.drivers.chromium.connection import CdpError
from roost.drivers.connection import SessionConnection
from roost.drivers.extension.chromium import DebuggerConnection
from roost.drivers.extension.connection import ExtensionConnection, ExtensionError
from roost.errors import TabGone, TooLarge
from tests.drivers.scripted_link import ScriptedLink

BOTH = pytest.mark.parametrize("kind", [DebuggerConnection, ExtensionConnection])


async def refused(kind: type[SessionConnection], **error: Any) -> BaseException | None:
    link = ScriptedLink()
    connection = kind(link, lambda *_: None, lambda: None)
    call = connection.call("Page.frames", None, "r.1")
    link.says(id=link.sent[-1]["id"], error=error)
    return call.exception()


@BOTH
async def test_a_tab_outside_managed_groups_is_gone(kind: type[SessionConnection]) -> None:
    assert isinstance(await refused(kind, code=404, message="no tab"), TabGone)


@BOTH
async def test_an_answer_that_the_extension_withheld_is_too_large(
    kind: type[SessionConnection],
) -> None:
    assert isinstance(await refused(kind, code=1, message="larger than 60 MiB"), TooLarge)


async def test_other_refusals_are_errors_of_the_protocol_that_the_browser_speaks() -> None:
    of_chromium = await refused(DebuggerConnection, code=-32000, message="no frame")
    of_firefox = await refused(ExtensionConnection, code=410, message="no document")

    assert isinstance(of_chromium, CdpError)
    assert isinstance(of_firefox, ExtensionError)
    assert of_firefox.code == 410
