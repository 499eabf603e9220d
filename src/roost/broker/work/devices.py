"""The devices that a session can emulate. Sizes, scales and user agents are Playwright's."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from roost.conditions import Emulation
from roost.errors import BadRequest

_APPLE = (
    "Mozilla/5.0 ({system} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/27.2 Mobile/15E148 Safari/604.1"
)
_ANDROID = (
    "Mozilla/5.0 (Linux; Android {system}) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/156.0.0.0{mobile} Safari/537.36"
)


def _phone(width: int, height: int, scale: float, system: str) -> Emulation:
    return _handheld(width, height, scale, _ANDROID.format(system=system, mobile=" Mobile"))


def _tablet(width: int, height: int, scale: float, system: str) -> Emulation:
    return _handheld(width, height, scale, _ANDROID.format(system=system, mobile=""))


def _apple(width: int, height: int, scale: float, system: str) -> Emulation:
    return _handheld(width, height, scale, _APPLE.format(system=system))


def _handheld(width: int, height: int, scale: float, user_agent: str) -> Emulation:
    return Emulation(
        width=width, height=height, scale=scale, mobile=True, touch=True, user_agent=user_agent
    )


DEVICES: Final = {
    "Desktop": Emulation(width=1280, height=720, scale=1),
    "Desktop HiDPI": Emulation(width=1280, height=720, scale=2),
    "iPhone SE": _apple(320, 568, 2, "iPhone; CPU iPhone OS 10_3_1"),
    "iPhone 13": _apple(390, 664, 3, "iPhone; CPU iPhone OS 15_0"),
    "iPhone 14": _apple(390, 664, 3, "iPhone; CPU iPhone OS 16_0"),
    "iPhone 15": _apple(393, 659, 3, "iPhone; CPU iPhone OS 17_5"),
    "iPhone 15 Pro Max": _apple(430, 739, 3, "iPhone; CPU iPhone OS 17_5"),
    "iPad Mini": _apple(768, 1024, 2, "iPad; CPU OS 12_2"),
    "iPad Pro 11": _apple(834, 1194, 2, "iPad; CPU OS 12_2"),
    "Pixel 5": _phone(393, 727, 2.75, "11; Pixel 5"),
    "Pixel 7": _phone(412, 839, 2.625, "14; Pixel 7"),
    "Galaxy S9+": _phone(320, 658, 4.5, "8.0.0; SM-G965U"),
    "Galaxy S24": _phone(360, 780, 3, "14; SM-S921U"),
    "Galaxy Tab S4": _tablet(712, 1138, 2.25, "8.1.0; SM-T837A"),
    "Galaxy Tab S9": _tablet(640, 1024, 2.5, "14; SM-X710"),
    "Moto G4": _phone(360, 640, 3, "7.0; Moto G (4)"),
}


def device(name: str) -> Emulation:
    """Return the device of that name, in any case. Raises ``BadRequest`` if there is none."""
    known = {one.lower(): one for one in DEVICES}
    found = known.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower()[:64], list(known), n=1)
        meant = f"Did you mean {known[near[0]]}? " if near else ""
        raise BadRequest(
            f"device: there is no device {name[:64]!r}.",
            hint=f"{meant}Known devices: {', '.join(DEVICES)}.",
            field="device",
        )
    return DEVICES[found]
