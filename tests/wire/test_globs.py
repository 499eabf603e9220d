"""Globs match like Playwright's, and in time that no glob can make long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.wire.globs import BadGlob, GlobSet, fits_stars, parse


def matches(glob: str, url: str) -> bool:
    return GlobSet([parse(glob)]).matching(url) == [0]


@pytest.mark.parametrize(
    ("glob", "url", "fits"),
    [
        ("**/*.png", "https://h/a/b.png", True),
        ("**/*.png", "https://h/a/b.png?x", False),
        ("https://h/*", "https://h/a", True),
        ("https://h/*", "https://h/a/b", False),
        ("https://h/**", "https://h/a/b", True),
        ("**/{a,b}/**", "https://h/b/c", True),
        ("**/{a,b}/**", "https://h/c/c", False),
        ("**/api?x=1", "https://h/api?x=1", True),
        ("**/api?x=1", "https://h/apiyx=1", False),
        (r"**/a\*b", "https://h/a*b", True),
        (r"**/a\*b", "https://h/axb", False),
        (r"**/\{a\}", "https://h/{a}", True),
        ("***", "https://h/", True),
        ("**", "x" * 10_000, True),
        ("**/end", "x" * 10_000 + "/end", False),
    ],
)
def test_a_glob_matches_what_playwright_matches(glob: str, url: str, fits: bool) -> None:
    assert matches(glob, url) is fits


@given(st.text("ab/*", min_size=1, max_size=12), st.text("ab/", max_size=12))
def test_a_glob_matches_like_the_regular_expression_it_stands_for(glob: str, url: str) -> None:
    pattern = re.sub(
        r"\*+|[^*]",
        lambda one: {"*": "[^/]*"}.get(one[0], ".*") if "*" in one[0] else re.escape(one[0]),
        glob,
    )
    assert matches(glob, url) is (re.fullmatch(pattern, url, re.S) is not None)


def test_a_set_says_which_globs_match() -> None:
    some = GlobSet([parse("**/a"), parse("**/b"), parse("**/{a,c}")])
    assert some.matching("http://h/a") == [0, 2]
    assert some.matching("http://h/c") == [2]
    assert some.matching("http://h/d") == []
    assert GlobSet([]).matching("http://h/a") == []


@pytest.mark.parametrize("glob", ["", "{a", "{a,b}" * 6, "*a" * 21, "a" * 1001])
def test_a_glob_that_could_grow_is_refused(glob: str) -> None:
    with pytest.raises(BadGlob):
        parse(glob)


def test_too_many_globs_are_refused() -> None:
    with pytest.raises(BadGlob):
        GlobSet([parse("a" * 1000)] * 4)


def test_chromium_gets_wider_patterns_and_firefox_the_origin() -> None:
    glob = parse(r"http://h:80/{a?,b\*}/*")
    assert glob.wildcards() == [r"http://h:80/a\?/*", r"http://h:80/b\*/*"]
    assert glob.origins() == [("http", "h", "80")] * 2
    assert parse("http://*/a").origins() == [None]
    assert parse("https://host/**").origins() == [("https", "host", "")]


@given(
    st.text("ab*?[", max_size=12),
    st.text("ab?[/", max_size=12),
)
def test_a_pattern_with_stars_fits_what_the_expression_fits(pattern: str, text: str) -> None:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert fits_stars(pattern, text) is (re.fullmatch(expression, text, re.DOTALL) is not None)
