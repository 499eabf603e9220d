"""Playwright's storage state, both ways."""

from __future__ import annotations

import json

import pytest

from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.errors import BadRequest
from roost.profiles.storage_state import read_storage_state, write_storage_state

CONTENTS = JarContents(
    cookies=(
        Cookie(
            name="sid",
            value="s3cret",
            domain=".example.com",
            path="/app",
            expires=1900000000.5,
            http_only=True,
            secure=True,
            same_site="Strict",
        ),
        Cookie(
            name="chip",
            value="1",
            domain="ads.example",
            secure=True,
            same_site="None",
            partition_key="https://shop.example",
            cross_site_ancestor=True,
        ),
    ),
    storage=(OriginStorage("https://example.com", (("theme", "dark"), ("ü", "€"))),),
)


def test_what_is_written_is_read_back_the_same() -> None:
    assert read_storage_state(write_storage_state(CONTENTS), "filename") == CONTENTS


def test_a_storage_state_is_written_as_playwright_writes_it() -> None:
    wire = json.loads(write_storage_state(CONTENTS))

    assert wire["cookies"][0] == {
        "name": "sid",
        "value": "s3cret",
        "domain": ".example.com",
        "path": "/app",
        "expires": 1900000000.5,
        "httpOnly": True,
        "secure": True,
        "sameSite": "Strict",
    }
    assert wire["origins"] == [
        {
            "origin": "https://example.com",
            "localStorage": [{"name": "theme", "value": "dark"}, {"name": "ü", "value": "€"}],
        }
    ]


def test_a_session_cookie_expires_at_minus_one() -> None:
    text = write_storage_state(JarContents((Cookie(name="a", value="b", domain="c"),)))

    assert json.loads(text)["cookies"][0]["expires"] == -1
    assert read_storage_state(text, "filename").cookies[0].expires is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "the file"),
        ('{"cookies": [{"name": "a"}]}', "cookies.0.value"),
        ('{"origins": 3}', "origins"),
    ],
)
def test_an_error_names_the_field_and_contains_no_value(text: str, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        read_storage_state(text, "filename")
