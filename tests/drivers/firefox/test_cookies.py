"""Cookies are unchanged after they were written to Firefox and read back."""

from __future__ import annotations

from roost.drivers.base import Cookie
from roost.drivers.firefox.cookies import cookie_from, cookie_to, partition


def test_a_cookie_is_read_back_as_it_was_written() -> None:
    cookie = Cookie(
        name="n", value="v", domain="a.test", path="/p", expires=2_000_000_000,
        http_only=True, secure=True, same_site="Strict",
    )  # fmt: skip
    assert cookie_from(cookie_to(cookie)) == cookie


def test_a_session_cookie_has_no_expiry_and_a_missing_same_site_stays_missing() -> None:
    given = cookie_to(Cookie(name="n", value="v", domain="a.test"))
    assert "expiry" not in given
    assert given["sameSite"] == "default"
    read = cookie_from(given)
    assert (read.expires, read.same_site) == (None, None)


def test_bytes_that_are_no_text_are_kept() -> None:
    stored = {**cookie_to(Cookie(name="n", value="", domain="a.test"))}
    assert cookie_from({**stored, "value": {"type": "base64", "value": "/w=="}}).value == "\xff"


def test_a_partitioned_cookie_names_its_site() -> None:
    assert partition("jar-1") == {"type": "storageKey", "userContext": "jar-1"}
    assert partition("jar-1", "https://top.test")["sourceOrigin"] == "https://top.test"
