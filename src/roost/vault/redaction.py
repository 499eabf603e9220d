"""Remove the person's secrets from text, in every encoding that replies and logs usually have.

One automaton (Aho–Corasick) finds all encodings of all secrets in one pass, so the cost hardly
depends on how many secrets there are.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

LEAST_CHARS = 6
"""Shorter values are not looked for: they would match ordinary text."""
_MARKDOWN = str.maketrans({one: f"\\{one}" for one in "\\`*_[]<>#"})
_SURROGATES = re.compile("[\ud800-\udfff]")
Search = Callable[[str], list[tuple[int, int, int]]]


class Redactor:
    """The values that must not leave Roost, each under the name that is shown in its place.

    Building an automaton of many values takes a while. So the values that a broker finds at its
    start have one automaton, which ``register_all`` may build in a thread, and the few values that
    are registered later have another.
    """

    def __init__(self) -> None:
        self._stored = _Automaton({})
        self._later: dict[str, frozenset[str]] = {}
        self._recent = _Automaton({})
        self.is_idle = True
        """Nothing is registered, so nothing has to be searched."""

    def __repr__(self) -> str:
        return f"Redactor({len(self._later)} names and those stored)"

    def register_all(self, values: Mapping[str, Iterable[str]]) -> None:
        """Remove these values from now on, instead of those of the last ``register_all``."""
        self._stored = _Automaton(values)
        self.is_idle = self.is_idle and self._stored.search is None

    def register(self, name: str, *values: str) -> None:
        """Remove these values from now on, and those registered under the name before."""
        self.replace(name, *values, *self._later.get(name, ()))

    def replace(self, name: str, *values: str) -> None:
        """Remove these values from now on, and no others that were registered under the name."""
        wanted = frozenset(values)
        if self._later.get(name) != wanted:
            self._later[name] = wanted
            self._recent = _Automaton(self._later)
            self.is_idle = self.is_idle and self._recent.search is None

    def text(self, text: str) -> str:
        """Return the text with ``[secret NAME]`` in the place of each secret."""
        if self.is_idle:
            return text
        return self._recent.replaced(self._stored.replaced(text))

    def holds(self, text: str) -> bool:
        """Return True if a secret stands in the text."""
        return self._stored.holds(text) or self._recent.holds(text)

    @property
    def longest(self) -> int:
        """Number of characters of the longest spelling of a secret. 0: nothing is registered."""
        return max(self._stored.longest, self._recent.longest)

    def cut(self, text: str, limit: int) -> str:
        """Return at most the first ``limit`` characters of the text.

        The result ends before a secret that the limit would cut in two: nobody could recognise the
        half that is left.
        """
        if len(text) <= limit or self.is_idle:
            return text[:limit]
        window = text[: limit + self.longest]
        ends = (one.end_before(window, limit) for one in (self._stored, self._recent))
        return text[: min(ends)]

    def encoded(self, data: bytes) -> bytes:
        """Like ``text``, for UTF-8."""
        if self.is_idle:
            return data
        return self.text(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")

    def data(self, value: Any) -> Any:
        """Like ``text``, for every string in JSON-like data."""
        if self.is_idle:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.data(key): self.data(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.data(one) for one in value)
        return value


class _Automaton:
    """Finds all encodings of some values in one pass over a text."""

    def __init__(self, values: Mapping[str, Iterable[str]]) -> None:
        patterns = {
            pattern: name
            for name, those in values.items()
            for value in those
            if len(value) >= LEAST_CHARS
            for pattern in map(_whole, _encodings(value))
        }
        self._names = list(patterns.values())
        self.longest = max(map(len, patterns), default=0)
        self.search = _searching(list(patterns)) if patterns else None

    def replaced(self, text: str) -> str:
        found = self._found(text)
        if not found:
            return text
        parts, end = [], 0
        for pattern, start, stop in found:
            parts += [text[end:start], f"[secret {self._names[pattern]}]"]
            end = stop
        return "".join([*parts, text[end:]])

    def holds(self, text: str) -> bool:
        return bool(self._found(text))

    def end_before(self, text: str, limit: int) -> int:
        """Return the limit, or the start of the secret that the limit would cut in two."""
        starts = (start for _, start, stop in self._found(text) if start < limit < stop)
        return min(starts, default=limit)

    def _found(self, text: str) -> Sequence[tuple[int, int, int]]:
        if self.search is None:
            return ()
        try:
            return self.search(text)
        except UnicodeEncodeError:  # a page's text may hold halves of a surrogate pair
            return self.search(_whole(text))


def _whole(text: str) -> str:
    """Return text of the same length that can be encoded as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def _searching(patterns: list[str]) -> Search:
    # Imported here because most brokers have no secrets.
    from ahocorasick_rs import AhoCorasick, MatchKind

    automaton = AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest)
    return automaton.find_matches_as_indexes


def _encodings(value: str) -> Iterator[str]:
    """Yield the value as texts may spell it. An encoded value may depend on the text around it: of
    base64, only the characters that depend on the value alone are yielded."""
    forms = {value, " ".join(value.split())}
    forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms.add(value.translate(_MARKDOWN))
    forms |= {value.replace("'", "''"), value.replace("\\", "\\\\").replace("'", "\\'")}
    escaped = html.escape(value)
    forms |= {escaped, html.escape(value, quote=False), escaped.replace("&#x27;", "&#39;")}
    data = value.encode(errors="surrogatepass")
    urls = {quote(data, safe=""), quote(data, safe="!'()*"), quote(data, safe="/:@")}
    urls |= {quote_plus(data), quote_plus(data, safe="*")}
    forms |= urls | {_small_percents(one) for one in urls}
    forms |= {data.hex(), data.hex().upper()}
    for offset in range(3):
        forms |= _base64(data, offset)
    yield from (form for form in forms if len(form) >= LEAST_CHARS)


def _base64(data: bytes, offset: int) -> set[str]:
    """Return the part of base64 that is the same wherever the data begins at that offset of 3."""
    padded = bytes(offset) + data
    first = (0, 2, 3)[offset]
    whole = len(padded) % 3
    last = None if whole == 0 else -(4 - whole)
    forms = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(padded).decode()[first:last])
    return forms


def _small_percents(text: str) -> str:
    """Return the text with ``%2f`` instead of ``%2F``."""
    head, *rest = text.split("%")
    return head + "".join("%" + one[:2].lower() + one[2:] for one in rest)
