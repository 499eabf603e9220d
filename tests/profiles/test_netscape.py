"""cookies.txt as other programs write it."""

from __future__ import annotations

from roost.drivers.base import Cookie
from roost.profiles.netscape import read_cookies_txt

HEAD = "# Netscape HTTP Cookie File\n# made by hand\n\n"


def _line(*fields: str) -> str:
    return "\t".join(fields) + "\n"


def test_a_cookie_keeps_domain_path_flags_and_expiry() -> None:
    text = HEAD + _line(".example.com", "TRUE", "/app", "TRUE", "1900000000", "sid", "s3cret")

    assert read_cookies_txt(text).cookies == [
        Cookie(
            name="sid",
            value="s3cret",
            domain=".example.com",
            path="/app",
            expires=1900000000.0,
            secure=True,
        )
    ]


def test_host_only_and_domain_cookies_are_distinguished_by_their_flag() -> None:
    text = _line("a.example", "FALSE", "/", "FALSE", "0", "one", "1")
    text += _line("b.example", "TRUE", "/", "FALSE", "0", "two", "2")

    assert [cookie.domain for cookie in read_cookies_txt(text).cookies] == [
        "a.example",
        ".b.example",
    ]


def test_curls_mark_for_http_only_is_not_read_as_a_comment() -> None:
    (cookie,) = read_cookies_txt(
        "#HttpOnly_" + _line("a.example", "FALSE", "/", "FALSE", "0", "sid", "1")
    ).cookies

    assert cookie.http_only
    assert cookie.domain == "a.example"


def test_expiry_zero_is_the_end_of_the_session_and_a_trimmed_empty_value_is_empty() -> None:
    (cookie,) = read_cookies_txt("a.example\tFALSE\t/\tFALSE\t0\tsid\n").cookies

    assert (cookie.expires, cookie.value) == (None, "")


def test_lines_that_are_no_cookies_are_counted() -> None:
    harvest = read_cookies_txt("hello\na.example\tFALSE\t/\tFALSE\tsoon\tsid\t1\n")

    assert harvest.cookies == []
    assert harvest.left_out == {"lines that are no cookies": 2}
