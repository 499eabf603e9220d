"""How much one set of logins may hold, also when it is read for the broker
(roost.profiles.__main__)."""

from __future__ import annotations

import io
import json
import sys

import pytest

from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.errors import TooLarge
from roost.profiles.__main__ import main
from roost.profiles.limits import COOKIES, ITEMS, ORIGINS, check_size

COOKIE = Cookie(name="a", value="b", domain="c")
ITEM = ("name", "value")


def stored(origins: int, items: int = 1) -> tuple[OriginStorage, ...]:
    return tuple(OriginStorage(f"https://{n}", (ITEM,) * items) for n in range(origins))


def test_the_amounts_that_browsers_keep_are_within_the_limits() -> None:
    check_size(JarContents((COOKIE,) * COOKIES, stored(ORIGINS)), "source")
    check_size(JarContents((), stored(2, ITEMS // 2)), "source")


@pytest.mark.parametrize(
    "contents",
    [
        JarContents((COOKIE,) * (COOKIES + 1)),
        JarContents((), stored(ORIGINS + 1)),
        JarContents((), stored(2, ITEMS // 2 + 1)),
    ],
    ids=["cookies", "origins", "items"],
)
def test_logins_above_the_limits_are_refused_with_field_and_limit(contents: JarContents) -> None:
    with pytest.raises(TooLarge) as refused:
        check_size(contents, "source")
    assert refused.value.details["field"] == "source"
    assert str(refused.value.details["limit"]) in refused.value.message


def test_the_reader_process_prints_its_errors_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    order = json.dumps({"path": None, "field": "filename"}).encode()
    told = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(order + b"\nnonsense")))
    monkeypatch.setattr(sys, "stdout", told)
    assert main() == 1
    assert json.loads(told.buffer.getvalue())["code"] == "BAD_REQUEST"
