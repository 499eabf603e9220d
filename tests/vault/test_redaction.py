"""Redaction: a registered value is found in every usual encoding, and nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.vault.redaction import LEAST_CHARS, Redactor

VALUE = "c4nary&'\"<ü>\\-9Zq+/ secret"
TEXTS = {
    "plain": VALUE,
    "url": quote(VALUE, safe=""),
    "component": quote(VALUE, safe="!'()*"),
    "form": urlencode({"p": VALUE}),
    "plus": quote_plus(VALUE),
    "small percents": quote(VALUE, safe="").replace("%C3%BC", "%c3%bc").lower(),
    "html": html.escape(VALUE),
    "html text": html.escape(VALUE, quote=False),
    "json": json.dumps({"p": VALUE}),
    "json text": json.dumps({"p": VALUE}, ensure_ascii=False),
    "hex": VALUE.encode().hex(),
    "HEX": VALUE.encode().hex().upper(),
}


def _redactor() -> Redactor:
    redactor = Redactor()
    redactor.register_all({"canary": [VALUE]})
    return redactor


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "small percents"])
def test_a_value_is_removed_in_every_usual_encoding(name: str) -> None:
    text = _redactor().text(f"before {TEXTS[name]} after")
    assert "[secret canary]" in text
    assert text.startswith("before ")
    assert text.endswith(" after")
    for form in TEXTS.values():
        assert form not in text


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_base64_of_a_longer_text_shows_no_value(before: bytes, after: bytes) -> None:
    redactor = _redactor()
    data = before + VALUE.encode() + after
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        text = redactor.text(encoded.decode())
        assert "[secret canary]" in text
        # At most the letters that also depend on the neighbours are left.
        assert len(text.replace("[secret canary]", "")) <= len(encoded) - 4 * len(VALUE) // 3 + 4


@given(st.text(min_size=LEAST_CHARS), st.text(), st.text())
def test_whatever_the_value_is_it_is_found(value: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.register("it", value)
    assert value not in redactor.text(before + value + after).replace("[secret it]", "")


@given(st.text())
def test_text_without_a_value_stays_as_it_is(text: str) -> None:
    assert Redactor().text(text) is text
    assert _redactor().text(text) == text


def test_short_values_are_left_alone() -> None:
    redactor = Redactor()
    redactor.register("pin", "12345")
    assert redactor.is_idle
    assert redactor.text("12345") == "12345"


def test_the_longest_of_several_values_wins() -> None:
    redactor = Redactor()
    redactor.register_all({"short": ["canary"], "long": ["canary-and-more"]})
    assert redactor.text("canary-and-more canary") == "[secret long] [secret short]"


def test_later_values_are_found_beside_stored_ones_and_codes_expire() -> None:
    redactor = _redactor()
    redactor.register("later", "another-value")
    redactor.replace("code", "111111")
    redactor.replace("code", "222222")
    assert redactor.text(f"{VALUE} another-value 111111 222222") == (
        "[secret canary] [secret later] 111111 [secret code]"
    )
    assert redactor.holds("xanother-valuex")
    assert not redactor.holds("nothing")


def test_data_and_bytes_are_redacted_to_the_last_string() -> None:
    redactor = _redactor()
    data = {"a": [VALUE, 1, None, {VALUE: (VALUE,)}]}
    assert redactor.data(data) == {
        "a": ["[secret canary]", 1, None, {"[secret canary]": ("[secret canary]",)}]
    }
    assert redactor.encoded(b"\xff" + VALUE.encode()) == b"\xff[secret canary]"
    assert VALUE not in repr(redactor)
    assert redactor.text(f"\ud800 {VALUE}") == "\ud800 [secret canary]"


@given(st.text("ab &", max_size=12), st.integers(0, 60), st.sampled_from(sorted(TEXTS)))
def test_a_cut_leaves_a_secret_whole_or_leaves_it_out(before: str, limit: int, name: str) -> None:
    redactor = _redactor()
    redactor.register("later", "another-secret")
    for secret in (TEXTS[name], "another-secret"):
        if name == "small percents":
            continue
        text = before + secret + " after " * 9
        kept = redactor.cut(text, limit)
        assert len(kept) <= limit
        assert text.startswith(kept)
        if not redactor.holds(kept) and redactor.holds(secret):
            start = text.index(secret)
            # ``p=`` and ``{"p": "`` before the value are no part of it.
            assert len(kept) <= start + 7


def test_text_is_cut_at_its_limit_where_no_secret_is() -> None:
    assert Redactor().cut("abcdef", 3) == "abc"
    assert _redactor().cut("abcdef", 3) == "abc"
    assert Redactor().longest == 0
