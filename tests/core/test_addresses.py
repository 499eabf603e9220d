from __future__ import annotations

import subprocess
import sys

import pytest

from roost.core import addresses
from roost.core.addresses import (
    ADDRESS_CHARS,
    CUT,
    URL_CHARS,
    address_denied,
    can_be_opened_again,
    check_not_own,
    checked_devtools_url,
    checked_domain,
    checked_url,
    host_allowed,
    host_of,
    short_address,
    with_scheme,
)
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
def test_an_incomplete_address_is_a_bad_request(url: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked_url(url)
    assert caught.value.details["field"] == "url"


@pytest.mark.parametrize("url", ["http://[::1", "http://a..b/", f"http://{'a' * 64}.com/"])
def test_a_host_no_browser_would_look_up_is_a_bad_request(url: str) -> None:
    with pytest.raises(BadRequest):
        checked_url(url)


def test_an_address_above_the_limit_is_a_bad_request() -> None:
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
        ("http://0/", "0.0.0.0"),
        ("http://127.1/", "127.0.0.1"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.0X1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://１２７。1/", "127.0.0.1"),
        ("http://%31%32%37.1/", "127.0.0.1"),
        ("http://[::FFFF:127.0.0.1]/", "127.0.0.1"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://LOCALHOST./", "localhost"),
        ("http://256.1.1.1/", ""),
        ("http://1.2.3.4.5/", ""),
        ("http://name.09/", ""),
        ("http://[fe80::1%25eth0]/", ""),
        ("http://[v1.x]/", ""),
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


def test_every_list_allows_the_blank_page() -> None:
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
        ("0x7f.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("0:0::1", "::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("FD00::/8", "fd00::/8"),
        ("Loopback", "loopback"),
        ("private", "private"),
        ("bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_a_domain_is_kept_in_one_spelling(written: str, kept: str) -> None:
    assert checked_domain(written) == kept


@pytest.mark.parametrize(
    "domain",
    ["", "*", "*.", ".com", "a..b", "https://a.com", "a.com/x", "a.com:80", "a*.com", "a b",
     "a" * 256, "a" * 10_000, "10.0.0.0/33", "1.2.3.4.5", "*.127.0.0.1", "[::1", "fe80::1%eth0",
     "::1:80:g"],
)  # fmt: skip
def test_text_that_is_not_a_domain_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked_domain(domain)
    assert caught.value.details["field"] == "allow/deny"
    assert repr(domain[:80]) in str(caught.value)


THIS_MACHINE = [
    "0", "0.0.0.0", "127.1", "127.0.0.1.", "0x7f.1", "0177.1", "2130706433", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[::]", "[::ffff:0:0]", "localhost", "LOCALHOST.",
    "a.b.localhost",
]  # fmt: skip


@pytest.mark.parametrize("deny", ["127.0.0.1", "127.0.0.0/8", "loopback", "private"])
@pytest.mark.parametrize("host", THIS_MACHINE)
def test_a_denied_address_is_denied_in_every_spelling(host: str, deny: str) -> None:
    with pytest.raises(UrlBlocked):
        checked_url(f"http://{host}:8000/", (), (deny,))


@pytest.mark.parametrize("host", ["0", "127.1", "127.9.9.9", "[::1]", "[::]", "x.localhost"])
def test_loopback_allows_this_machine_and_nothing_else(host: str) -> None:
    assert checked_url(f"http://{host}/", ("loopback",))
    with pytest.raises(UrlBlocked):
        checked_url("http://10.0.0.1/", ("loopback",))
    with pytest.raises(UrlBlocked):
        checked_url("http://[64:ff9b::7f00:1]/", ("loopback",))  # it leads there only perhaps


@pytest.mark.parametrize(
    ("address", "is_loopback", "is_private"),
    [
        ("127.255.0.1", True, True),
        ("::1", True, True),
        ("0.0.0.0", True, True),
        ("::", True, True),
        ("::ffff:127.0.0.1", True, True),
        ("10.0.0.1", False, True),
        ("172.31.0.1", False, True),
        ("192.168.1.1", False, True),
        ("169.254.169.254", False, True),
        ("fe80::1%eth0", False, True),
        ("100.64.0.1", False, True),
        ("fd00::1", False, True),
        ("fec0::1", False, True),
        ("224.0.0.251", False, True),
        ("ff02::fb", False, True),
        ("255.255.255.255", False, True),
        ("64:ff9b::a00:1", False, True),
        ("2002:a00:1::", False, True),
        ("8.8.8.8", False, False),
        ("2606:4700::1111", False, False),
        ("64:ff9b::808:808", False, False),
    ],
)
def test_loopback_and_private_cover_their_networks(
    address: str, is_loopback: bool, is_private: bool
) -> None:
    assert address_denied(address, ("loopback",)) is is_loopback
    assert address_denied(address, ("private",)) is is_private


def test_an_allowed_address_allows_itself_and_no_name() -> None:
    assert host_allowed("10.1.2.3", ("10.0.0.0/8",), ())
    assert host_allowed(host_of("http://[::ffff:10.1.2.3]/"), ("10.0.0.0/8",), ())
    assert not host_allowed("11.1.2.3", ("10.0.0.0/8",), ())
    assert not host_allowed("localhost", ("127.0.0.1",), ())
    assert not host_allowed("x.127.0.0.1", ("127.0.0.1",), ())
    assert not host_allowed("127.0.0.1", ("0.0.1",), ())


def test_an_allowed_name_is_denied_if_its_address_is_denied() -> None:
    assert not host_allowed("app.localhost", ("app.localhost",), ("loopback",))
    assert host_allowed("app.localhost", ("app.localhost",), ("10.0.0.0/8",))


def test_a_process_without_descriptors_still_knows_the_host_of_an_address() -> None:
    code = """
import os, resource
from roost.core.addresses import host_of
used = len(os.listdir("/proc/self/fd")) - 1
resource.setrlimit(resource.RLIMIT_NOFILE, (used, used))
print(host_of("http://b\u00fccher.example/"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "xn--bcher-kva.example", done.stderr


def test_a_long_host_outside_ascii_is_no_host_and_is_never_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Folding combining marks takes a time that grows with the square of their number."""
    monkeypatch.setattr(addresses, "urlsplit", None)
    for before in ("http://", "http:\\\\", "https://ada:secret@"):
        assert host_of(before + "\u0301\u0316" * 600 + "/a?b#c") == ""


@pytest.mark.parametrize("label", ["é" * 60_000, "ß." * 30_000, "%C3%A9" * 10_000, "a" * 60_000])
def test_a_host_of_many_thousand_characters_is_no_host(label: str) -> None:
    assert host_of(f"http://{label}/") == ""


def test_a_long_address_is_cut_and_known_to_be_cut() -> None:
    url = "https://x.example/#" + "a" * 2_000_000
    short = short_address(url)
    assert short == url[:ADDRESS_CHARS] + CUT
    assert not can_be_opened_again(short)
    assert short_address(short[:-1]) == short[:-1]
    assert can_be_opened_again(short[:-1])


@pytest.mark.parametrize("end", ["", "@evil.example/", "/", "?", "#", "\\"])
def test_half_a_host_never_passes_for_another_host(end: str) -> None:
    url = f"https://bank.example:{'1' * 3}{'a' * ADDRESS_CHARS}{end}"
    assert short_address(url) == f"https:{CUT}"
    assert host_of(short_address(url)) == ""


@pytest.mark.parametrize(
    ("typed", "opened"),
    [
        ("localhost", "http://localhost"),
        ("localhost:8809/", "http://localhost:8809/"),
        ("LocalHost:8809", "http://LocalHost:8809"),
        ("app.localhost/x", "http://app.localhost/x"),
        ("127.0.0.1:8809", "http://127.0.0.1:8809"),
        ("10.0.0.1", "http://10.0.0.1"),
        ("[::1]:80", "http://[::1]:80"),
        ("example.org", "https://example.org"),
        ("example.org/a?b#c", "https://example.org/a?b#c"),
        ("example.org?q=http://x", "https://example.org?q=http://x"),
        ("example.org:443", "https://example.org:443"),
        ("example.org:8080/x", "http://example.org:8080/x"),
        ("bücher.example", "https://bücher.example"),
        (" \tlocalhost:1/", "http://localhost:1/"),
    ],
)
def test_an_address_that_begins_with_a_host_gets_a_scheme(typed: str, opened: str) -> None:
    assert with_scheme(typed) == opened
    assert checked_url(with_scheme(typed)) == opened


@pytest.mark.parametrize(
    "url",
    [
        "javascript:1",
        "javascript:80/",
        "java\nscript:80",
        "JavaScript:80/x",
        "data:80/x",
        "file:80",
        "about:80",
        "localhost:",
        "localhost:80@evil.example/",
        "user:pw@example.org",
        "x.y:abc",
        "view-source:80/",
    ],
)
def test_a_scheme_is_never_taken_for_a_host(url: str) -> None:
    assert with_scheme(url) == url
    with pytest.raises(UrlBlocked):
        checked_url(with_scheme(url))


@pytest.mark.parametrize(
    "url", ["foo", "/x", "//example.org/", "127.0.0.1:80@evil.example", "[::1"]
)
def test_other_text_does_not_count_as_an_address(url: str) -> None:
    with pytest.raises(BadRequest):
        checked_url(with_scheme(url))


def test_domain_lists_judge_an_address_without_a_scheme() -> None:
    assert checked_url(with_scheme("example.com:8080/"), allow=ALLOW)
    for url in ("localhost:8080", "evil.example", "127.0.0.1:80"):
        with pytest.raises(UrlBlocked):
            checked_url(with_scheme(url), allow=ALLOW)
        with pytest.raises(UrlBlocked):
            checked_url(with_scheme(url), deny=("loopback", "evil.example"))


@pytest.mark.parametrize("url", ["data:text/html,<p>x", "DATA:,x", "blob:http://a.test/1-2"])
def test_a_devtools_client_opens_documents_that_are_made_in_the_browser(url: str) -> None:
    assert checked_devtools_url(url, ("example.com",), ("loopback",)) == url
    with pytest.raises(UrlBlocked):
        checked_url(url)


@pytest.mark.parametrize("url", ["da\nta:,x", "file:///x", "filesystem:http://x/", "about:version"])
def test_a_devtools_client_opens_no_other_scheme(url: str) -> None:
    with pytest.raises(UrlBlocked):
        checked_devtools_url(url)


def test_a_blob_cannot_be_opened_again_because_it_ends_with_its_page() -> None:
    assert not can_be_opened_again("blob:http://a.test/1-2")
    assert can_be_opened_again("data:text/html,x")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4321/dashboard/",
        "http://localhost:4321/",
        "localhost:4321",
        "http://x.localhost:4321/",
        "http://0x7f.1:4321/",
        "http://[::1]:4321/",
        "http://0.0.0.0:4321/",
        "http:\\\\127.0.0.1:4321\\",
        "https://127.0.0.1:4321/",
    ],
)
def test_roosts_own_port_is_blocked_under_every_name_of_this_machine(url: str) -> None:
    with pytest.raises(UrlBlocked):
        check_not_own(url, 4321)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4322/",
        "http://127.0.0.1/",
        "https://example.com:4321/",
        pytest.param("data:text/html," + "x" * 200_000, id="a long data: address"),
        "about:blank",
        "x:y",
    ],
)
def test_other_addresses_are_not_taken_for_roosts_own(url: str) -> None:
    check_not_own(url, 4321)
    check_not_own(url, None)
