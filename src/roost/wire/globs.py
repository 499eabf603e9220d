"""Globs for addresses, as Playwright writes them, matched in time linear in the address.

``*`` stands for any characters but ``/``, ``**`` for any characters, ``{a,b}`` for ``a`` or ``b``,
and a backslash takes the next character as it is. All other characters stand for themselves,
``?`` included. All globs of a ``GlobSet`` are matched at once: each position in a glob is one bit
of an integer, and each character of the address is a few operations on that integer. So no glob
can make the matching slow, as a regular expression can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GLOB_CHARS = 1000
ALTERNATIVES = 32
WILDCARDS = 20
"""Maximum number of stars in one alternative. The browser itself also compares them."""
SET_TOKENS = 4000
"""Maximum number of tokens in all globs of one set."""
URL_CHARS = 4000
"""Longer addresses match only globs that end with ``**``, as far as their beginning tells."""
STAR = "*"
STARS = "**"

Tokens = tuple[str, ...]
"""A glob without braces: single characters, ``*`` as ``"*"`` and ``**`` as ``"**"``. A literal
star is ``"\\*"``."""


class BadGlob(ValueError):
    """The text is not a glob, or it has too many alternatives."""


@dataclass(frozen=True, slots=True)
class Glob:
    """One parsed glob: its alternatives, without braces."""

    text: str
    alternatives: tuple[Tokens, ...]

    @property
    def tokens(self) -> int:
        return sum(len(one) + 1 for one in self.alternatives)

    def wildcards(self) -> list[str]:
        """Return the alternatives as patterns in which ``*`` stands for any characters and a
        backslash escapes. They match at least what the glob matches: Chromium knows no more."""
        return ["".join(map(_wildcard, one)) for one in self.alternatives]

    def origins(self) -> list[tuple[str, str, str] | None]:
        """Return scheme, host and port of each alternative; None if a star stands in them."""
        return [_origin(one) for one in self.alternatives]


def parse(text: str) -> Glob:
    """Parse a glob. Raises ``BadGlob``."""
    if not text or len(text) > GLOB_CHARS:
        raise BadGlob(f"a glob has 1 to {GLOB_CHARS} characters")
    found: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        char = text[at]
        if char == "{":
            end = text.find("}", at)
            if end < 0:
                raise BadGlob("a { has no }")
            choices = [_tokens(one) for one in text[at + 1 : end].split(",")]
            if len(found) * len(choices) > ALTERNATIVES:
                raise BadGlob(f"braces make more than {ALTERNATIVES} alternatives")
            found = [[*begin, *choice] for begin in found for choice in choices]
            at = end + 1
            continue
        width = 2 if char == "\\" else 1
        more = _tokens(text[at : at + width])
        found = [[*begin, *more] for begin in found]
        at += width
    alternatives = tuple(_collapsed(one) for one in found)
    if any(sum(token in (STAR, STARS) for token in one) > WILDCARDS for one in alternatives):
        raise BadGlob(f"a glob has at most {WILDCARDS} stars")
    return Glob(text, alternatives)


class GlobSet:
    """Several globs, matched in one pass. Raises ``BadGlob`` if they are too many."""

    def __init__(self, globs: Sequence[Glob]) -> None:
        if sum(glob.tokens for glob in globs) > SET_TOKENS:
            raise BadGlob(f"the globs of all rules have more than {SET_TOKENS} characters")
        self._chars: dict[str, int] = {}
        self._one = self._any = self._start = 0
        self._ends: list[int] = []
        self._open_ends = 0
        bit = 0
        for glob in globs:
            ends = 0
            for tokens in glob.alternatives:
                self._start |= 1 << bit
                for token in tokens:
                    if token == STAR:
                        self._one |= 1 << bit
                    elif token == STARS:
                        self._any |= 1 << bit
                    else:
                        char = token[-1]
                        self._chars[char] = self._chars.get(char, 0) | 1 << bit
                    bit += 1
                ends |= 1 << bit
                if tokens and tokens[-1] == STARS:
                    self._open_ends |= 1 << bit
                bit += 1
            self._ends.append(ends)

    def matching(self, url: str) -> list[int]:
        """Return the numbers of the globs that match the address, in order."""
        if not self._ends:
            return []
        chars, one, every = self._chars, self._one, self._any
        stars = one | every
        is_cut = len(url) > URL_CHARS
        state = self._start
        state |= (state & stars) << 1
        for char in url[:URL_CHARS]:
            step = ((state & chars.get(char, 0)) << 1) | (state & every)
            if char != "/":
                step |= state & one
            state = step | ((step & stars) << 1)
            if not state:
                return []
        if is_cut:
            state &= self._open_ends
        return [number for number, ends in enumerate(self._ends) if state & ends]


def fits_stars(pattern: str, text: str) -> bool:
    """Return whether the text fits a pattern in which ``*`` stands for any characters, and every
    other character for itself. Takes the first place of each part, so it never goes back."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return at <= end


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    chars = iter(text)
    for char in chars:
        if char == "\\":
            found.append("\\" + next(chars, "\\"))
        else:
            found.append(char)
    return found


def _collapsed(tokens: Iterable[str]) -> Tokens:
    """Join neighbouring stars: two or more are ``**``."""
    found: list[str] = []
    for token in tokens:
        if token == STAR and found and found[-1] in (STAR, STARS):
            found[-1] = STARS
        else:
            found.append(token)
    return tuple(found)


def _wildcard(token: str) -> str:
    if token in (STAR, STARS):
        return "*"
    char = token[-1]
    return f"\\{char}" if char in "*?\\" else char


def _origin(tokens: Tokens) -> tuple[str, str, str] | None:
    plain = []
    for token in tokens:
        if token in (STAR, STARS):
            break
        plain.append(token[-1])
    text = "".join(plain)
    scheme, found, rest = text.partition("://")
    authority, slash, _ = rest.partition("/")
    if not found or not slash or not authority:
        return None
    host, colon, port = authority.rpartition(":")
    if not colon or not port.isdigit():
        host, port = authority, ""
    return scheme, host, port
