from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.redaction import REDACTED, is_secret_key, redacted_form, redacted_url

WORDS = [
    "password", "passwd", "pwd", "token", "api_key", "apikey", "secret", "auth", "key",
    "credential", "session", "sid", "sig", "jwt", "code",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_every_key_that_the_design_lists_is_a_secret(word: str) -> None:
    assert is_secret_key(word)
    assert is_secret_key(word.upper())
    assert is_secret_key(f"my_{word}")
    assert is_secret_key(f"{word}2")
    assert redacted_url(f"https://x/?a=1&{word}=s3&b=2") == f"https://x/?a=1&{word}={REDACTED}&b=2"


@pytest.mark.parametrize(
    "key",
    ["access_token", "X-Api-Key", "authorization", "Authorisation", "oauth_verifier",
     "client_secret", "PHPSESSID", "sessionToken", "X-Amz-Signature", "auth_code", "key[]"],
)  # fmt: skip
def test_secrets_in_longer_keys_are_found(key: str) -> None:
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key", ["author", "authors", "author_id", "authority", "keyword", "monkey", "q", "page", "keys"]
)
def test_ordinary_words_are_not_secrets(key: str) -> None:
    assert not is_secret_key(key)
    assert redacted_url(f"https://x/?{key}=v") == f"https://x/?{key}=v"


@pytest.mark.parametrize("key", ["pass%77ord", "%74oken", "api%5Fkey", "api+key"])
def test_percent_encoded_keys_are_read_as_servers_read_them(key: str) -> None:
    assert redacted_url(f"https://x/?{key}=s3cret") == f"https://x/?{key}={REDACTED}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@x.com/a", f"https://{REDACTED}@x.com/a"),
        ("https://u:p@ss@x.com/a", f"https://{REDACTED}@x.com/a"),
        ("https://token@x.com", f"https://{REDACTED}@x.com"),
        ("https://x.com/@u", "https://x.com/@u"),
        ("https://x.com/?mail=a@b", "https://x.com/?mail=a@b"),
        ("https://x/cb#access_token=s3&state=1", f"https://x/cb#access_token={REDACTED}&state=1"),
        ("https://x/#/route?token=s3", f"https://x/#/route?token={REDACTED}"),
        ("https://x/?token=a=b", f"https://x/?token={REDACTED}"),
        ("https://x/?token=a?b", f"https://x/?token={REDACTED}"),
        ("https://x/?a=1;token=s3", f"https://x/?a=1;token={REDACTED}"),
        ("https://x/?token=s3#part", f"https://x/?token={REDACTED}#part"),
        ("https://x/?token=&a=1", "https://x/?token=&a=1"),
        ("https://x/?token", "https://x/?token"),
        ("https://x/plain", "https://x/plain"),
        ("", ""),
    ],
)
def test_addresses_are_shown_without_their_secrets(url: str, shown: str) -> None:
    assert redacted_url(url) == shown


def test_forms_are_shown_without_their_secrets() -> None:
    assert (
        redacted_form("user=ada&password=s3&author=x") == f"user=ada&password={REDACTED}&author=x"
    )


@given(st.text(), st.text("abcdef0123456789", min_size=8))
def test_a_secret_value_never_comes_through_whatever_stands_before_it(
    text: str, value: str
) -> None:
    rest = text.replace(value, "")
    assert value not in redacted_url(f"https://x/?{rest.replace('=', '')}&token={value}")


@given(st.text())
def test_redacting_twice_gives_the_same_text(text: str) -> None:
    once = redacted_url(text)
    assert redacted_url(once) == once


# --- the time it takes ---------------------------------------------------------------------------

BY_HAND = re.compile(r"([^&;=?#]+)=([^&;#]*)")
"""Pairs as one would write them, tried from every character: right, and quadratic."""


@given(st.text(alphabet="ab=&;?#%7+ktoen", max_size=60))
def test_pairs_are_those_that_a_search_from_every_character_finds(text: str) -> None:
    def redact(pair: re.Match[str]) -> str:
        key, value = pair.groups()
        return f"{key}={REDACTED if value and is_secret_key(key) else value}"

    assert redacted_form(text) == BY_HAND.sub(redact, text)


@pytest.mark.parametrize("piece", ["a", "a&", "=", "a=1&", "?", "%61", "token", "//", "//a", "@"])
@pytest.mark.parametrize("start", ["http://x/?", "http://x/#", "http://", ""])
def test_long_addresses_take_a_time_that_grows_with_their_length_and_no_faster(
    start: str, piece: str
) -> None:
    # A search that grows with the square of this takes minutes, and the test's deadline ends it.
    url = start + piece * 200_000
    redacted_url(url)
    redacted_form(url)
