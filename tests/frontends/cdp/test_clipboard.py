"""Which keys of a DevTools client use the clipboard, and which permissions it cannot grant."""

from __future__ import annotations

from typing import Any

import pytest

from roost.frontends.cdp.clipboard import check_grant, use_of
from roost.frontends.cdp.messages import Refusal


@pytest.mark.parametrize(
    ("params", "use"),
    [
        ({"type": "keyDown", "modifiers": 2, "key": "v"}, "paste"),
        ({"type": "rawKeyDown", "modifiers": 4, "code": "KeyC"}, "copy"),
        ({"type": "rawKeyDown", "modifiers": 2, "windowsVirtualKeyCode": 88}, "cut"),
        ({"type": "rawKeyDown", "modifiers": 10, "key": "V"}, "paste"),
        ({"type": "keyDown", "modifiers": 8, "key": "Insert"}, "paste"),
        ({"type": "keyDown", "modifiers": 2, "windowsVirtualKeyCode": 45}, "copy"),
        ({"type": "keyDown", "modifiers": 8, "key": "Delete"}, "cut"),
        ({"type": "rawKeyDown", "commands": ["PasteAndMatchStyle"]}, "paste"),
        ({"type": "rawKeyDown", "commands": ["copy"], "modifiers": 2, "key": "v"}, "paste"),
        ({"type": "keyDown", "key": "v"}, None),
        ({"type": "keyUp", "modifiers": 2, "key": "v"}, None),
        ({"type": "keyDown", "modifiers": "2", "key": 7, "commands": "paste"}, None),
        ({"type": "rawKeyDown", "commands": ["selectAll"]}, None),
    ],
)
def test_every_way_to_press_a_clipboard_key_is_recognized(
    params: dict[str, Any], use: str | None
) -> None:
    assert use_of(params) == use


@pytest.mark.parametrize(
    "params",
    [
        {"permissions": ["geolocation", "clipboardReadWrite"]},
        {"permission": {"name": "clipboard-read"}, "setting": "granted"},
        {
            "permission": {"name": "clipboard-write", "allowWithoutSanitization": True},
            "setting": "granted",
        },
    ],
)
def test_no_page_gets_the_permission_to_read_the_clipboard(params: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="session's own"):
        check_grant(params)


def test_other_permissions_pass() -> None:
    check_grant({"permissions": ["geolocation", "clipboardSanitizedWrite"]})
    check_grant({"permission": {"name": "clipboard-read"}, "setting": "denied"})
