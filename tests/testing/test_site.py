"""The contract site over HTTP serves the same pages that the fake browser gets from its table."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from html import unescape

import pytest

from roost.errors import NotFound
from roost.testing.site import FAKE_BASE, PAGES, fake_web, served, unreachable


class _KeepRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


def get(url: str) -> tuple[int, str, str | None]:
    """Return the status, the title, and the address of a redirect."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _KeepRedirects())
    try:
        answer = opener.open(url, timeout=5)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        title = re.search("<title>(.*)</title>", answer.read().decode())
        assert title is not None
        return answer.status, unescape(title.group(1)), answer.headers["Location"]


@pytest.mark.parametrize("path", [path for path, page in PAGES.items() if not page.stalls])
def test_the_server_and_the_fake_web_answer_alike(path: str) -> None:
    page, fake = PAGES[path], fake_web(FAKE_BASE + path)
    with served() as base:
        status, title, redirect = get(base + path)
    assert (title, redirect) == (page.title, page.redirect) == (fake.title, fake.redirect)
    assert status == (302 if page.redirect else page.status)


def test_a_stalled_page_ends_when_the_site_ends() -> None:
    with served() as base, pytest.raises(TimeoutError):
        urllib.request.urlopen(base + "/stalls", timeout=0.05)


def test_nothing_answers_at_an_unreachable_address() -> None:
    with unreachable() as url, pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)
    with pytest.raises(NotFound):
        fake_web("http://elsewhere.test/")
