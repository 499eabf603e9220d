"""Firefox itself is asked for everything that docs/reference/browsers.md says gets UNSUPPORTED."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest

from roost import ops
from roost.api.condition_operations import Permission
from roost.drivers.firefox.conditions import GRANTED
from roost.drivers.firefox.input_translation import NO_SUCH_KEYS
from roost.drivers.firefox.lacks import LACKS
from roost.errors import Unsupported
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Web

UNSUPPORTED: dict[str, Sequence[Any]] = {
    "some keys": [
        *(ops.PressKey(key=key) for key in sorted(NO_SUCH_KEYS)),
        *(ops.KeyDown(key=key) for key in sorted(NO_SUCH_KEYS)),
        ops.HoldKey(key="CapsLock", seconds=0.1),
    ],
    "drops from outside of the page": [
        ops.Drop(target="h1", text="words"),
        ops.Drop(target="h1", data={"text/html": "words"}),
        ops.Drop(target="h1", paths=["dropped.txt"]),
    ],
    "slow networks, touch screens and media features": [
        ops.NetworkState(throttle="slow-3g"),
        ops.NetworkState(throttle="3g"),
        ops.NetworkState(throttle="4g"),
        ops.Emulate(mobile=True),
        ops.Emulate(touch=True),
        ops.Emulate(device="iPhone 15"),
        ops.Emulate(device="iPad Mini"),
        ops.Emulate(color_scheme="dark"),
        ops.Emulate(reduced_motion="reduce"),
        ops.Emulate(contrast="more"),
        ops.Emulate(media="print"),
    ],
    "messages of WebSockets and event sources": [ops.NetworkMessages()],
    "permissions for all origins": [
        ops.Emulate(permissions=["geolocation"]),
        *(
            ops.Emulate(permissions=[name], origin="https://example.com")
            for name in get_args(Permission)
            if name not in GRANTED
        ),
    ],
}
"""The operations that the lack of that name is about."""
BY_CLIENTS = {"the CDP endpoint"}


def test_every_lack_that_is_unsupported_is_asked_for() -> None:
    listed = {lack.name for lack in LACKS if "`UNSUPPORTED`" in lack.then}
    assert listed == UNSUPPORTED.keys() | BY_CLIENTS


async def test_firefox_refuses_what_it_lacks_and_nothing_changes(
    houses: Callable[..., House], web: Web
) -> None:
    house = houses("firefox")
    (house.work / "dropped.txt").write_text("dropped")
    async with house.guest(web) as agent:
        await agent.show("<h1>Lacks</h1>")
        for name, operations in UNSUPPORTED.items():
            for operation in operations:
                refusal = await refused(Unsupported, agent.call(operation))
                assert refusal.message, name
        shown = await agent.call(ops.Conditions())
        assert (shown.throttle, shown.emulation, shown.permissions) == (None, None, [])
        # What Firefox grants, it grants for an origin.
        for permission in sorted(GRANTED):
            grant = {"permissions": [permission], "origin": web.base}
            granted = await agent.call(ops.Emulate.model_validate(grant))
            assert [one.names for one in granted.permissions] == [[permission]]
        await agent.call(ops.Emulate(permissions=[]))


def test_a_protocol_client_of_firefox_is_refused(houses: Callable[..., House]) -> None:
    address = houses("firefox").cdp_url("lacking")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{address}/json/version")
    assert json.load(refusal.value)["code"] == Unsupported.code
