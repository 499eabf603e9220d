from __future__ import annotations

import pytest

from roost.core.addresses import URL_CHARS, checked_domain, checked_url, host_allowed, host_of
from roost.errors import BadRequest, UrlBlocked

ALLOW = ("example.com",)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "https://example.com/a?b=c#d",
        "HTTPS://EXAMPLE.COM/",
        "https://user:pw@example.com:8443/",
        "http://127.0.0.1:8000/",
        "http://[::1]:8000/",
        "about:blank",
        "ABOUT:BLANK",
        "about:blank#top",
    ],
)
def test_http_https_and_the_blank_page_are_opened(url: str) -> None:
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "scheme",
    [
        "javascript:alert(1)",
        "data:text/html,hi",
        "file:///etc/passwd",
        "chrome://settings",
        "about:config",
        "about:srcdoc",
        "about:blank?x",
        "view-source:https://example.com",
        "blob:https://example.com/1",
        "ws://example.com",
        "ftp://example.com",
        "moz-extension://x/",
        "filesystem:https://example.com/t",
    ],
)
@pytest.mark.parametrize(
    "disguise",
    [
        lambda url: url,
        str.upper,
        lambda url: "  \t\n" + url,
        lambda url: "\x00\x01\x1f " + url,
        lambda url: url[:2] + "\t" + url[2:4] + "\r\n" + url[4:],
        lambda url: url + " \x00",
    ],
)
def test_any_other_scheme_is_blocked_however_it_is_written(scheme: str, disguise: object) -> None:
    assert callable(disguise)
    with pytest.raises(UrlBlocked) as caught:
        checked_url(disguise(scheme))
    assert caught.value.details["scheme"] == scheme.partition(":")[0]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "/path",
        "//example.com",
        "?q",
        "1http://x",
        "http:",
        "http://",
        "https:///",
    ],
)
def test_what_is_no_whole_address_is_a_bad_request(url: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked_url(url)
    assert caught.value.details["field"] == "url"


@pytest.mark.parametrize("url", ["http://[::1", "http://a..b/", f"http://{'a' * 64}.com/"])
def test_a_host_no_browser_would_look_up_is_a_bad_request(url: str) -> None:
    with pytest.raises(BadRequest):
        checked_url(url)


def test_an_address_beyond_all_measure_is_a_bad_request() -> None:
    with pytest.raises(BadRequest):
        checked_url("https://example.com/" + "a" * URL_CHARS)


def test_the_address_is_returned_as_browsers_read_it() -> None:
    assert checked_url(" https://exam\tple.com/\n") == "https://example.com/"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com.", "example.com"),
        ("https://EXAMPLE.com:8443", "example.com"),
        ("https://good.org@example.com/", "example.com"),
        ("https://example.com\\@good.org/", "example.com"),
        ("https:\\\\example.com\\path", "example.com"),
        ("https://example.com#@good.org", "example.com"),
        ("https://example.com?@good.org", "example.com"),
        ("https://ex%61mple%2Ecom/", "example.com"),
        ("https://%45xample.com/", "example.com"),
        ("https://ｅｘａｍｐｌｅ.com/", "example.com"),
        ("https://example。com/", "example.com"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://[::1]/", "::1"),
        ("https://my_host.example/", "my_host.example"),
        ("https://example.com%2F.good.org/", ""),
        ("https://example.com%00.good.org/", ""),
        ("https://", ""),
    ],
)
def test_the_host_is_the_one_a_browser_would_look_up(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("example.com", True),
        ("www.example.com", True),
        ("a.b.example.com", True),
        ("evilexample.com", False),
        ("example.com.evil.org", False),
        ("example.org", False),
        ("com", False),
        ("", False),
    ],
)
def test_lists_match_on_label_boundaries(host: str, allowed: bool) -> None:
    assert host_allowed(host, ALLOW, ()) is allowed
    assert host_allowed(host, (), ALLOW) is not allowed


def test_a_wildcard_covers_subdomains_only() -> None:
    assert host_allowed("www.example.com", ("*.example.com",), ())
    assert not host_allowed("example.com", ("*.example.com",), ())
    assert not host_allowed("evilexample.com", ("*.example.com",), ())


def test_deny_wins_over_allow_and_no_list_allows_everything() -> None:
    assert host_allowed("anything.org", (), ())
    assert not host_allowed("pay.example.com", ALLOW, ("pay.example.com",))
    assert host_allowed("www.example.com", ALLOW, ("pay.example.com",))


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.org/",
        "https://example.com@evil.org/",
        "https://evil.org\\@example.com/",
        "https://evil.org#.example.com",
        "https://EVIL.org./",
        "https://ev%69l.org/",
        "https://[::1]/",
    ],
)
def test_an_address_outside_the_lists_is_blocked_by_host_however_it_is_written(url: str) -> None:
    with pytest.raises(UrlBlocked) as caught:
        checked_url(url, ALLOW)
    assert caught.value.details["host"] in ("evil.org", "::1")


def test_the_blank_page_is_outside_no_list() -> None:
    assert checked_url("about:blank", ALLOW, ("*.com",)) == "about:blank"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("example.com", "example.com"),
        (" Example.COM. ", "example.com"),
        ("*.example.com", "*.example.com"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("my_host", "my_host"),
    ],
)
def test_a_domain_is_kept_in_one_spelling(written: str, kept: str) -> None:
    assert checked_domain(written) == kept


@pytest.mark.parametrize(
    "domain",
    ["", "*", "*.", ".com", "a..b", "https://a.com", "a.com/x", "a.com:80", "a*.com", "a b",
     "a" * 256],
)  # fmt: skip
def test_what_is_no_domain_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked_domain(domain)
    assert caught.value.details["field"] == "allow/deny"
