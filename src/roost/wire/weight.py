"""Estimate what a JSON frame costs to parse, before it is parsed.

A string is cheap: about a millisecond per megabyte. Many small values are not: a megabyte of empty
lists takes a tenth of a second, during which the event loop serves nobody. A thread does not help,
because the parser holds the interpreter's lock. So Roost first counts separators in the bytes.
"""

from __future__ import annotations

from typing import Final

from roost.vocabulary import KIB, MIB

FEATHER_BYTES: Final = 64 * KIB
"""A frame up to this size is always light."""
ANSWER_BYTES: Final = 4 * MIB
"""The largest browser response that Roost parses. Its strings take 10 ms, and 20 ms more on their
way to the agent."""
PICTURE_BYTES: Final = 16 * MIB
"""The largest browser response that is one string without escapes: a picture, a print, a body."""
WEIGHED_BYTES: Final = 8 * MIB
"""The largest frame whose strings are scanned, to tell their commas from the frame's own."""
ANSWER_VALUES: Final = 100_000
"""Maximum number of values in a browser's response. They take at most 20 ms, and an agent asked for
them."""
EVENT_VALUES: Final = 10_000
"""Maximum number of values in a browser's event. Pages can cause any number of events."""
EVENT_STRING_BYTES: Final = 64 * KIB
"""Longer strings in events are cut to this length. No code needs more."""
AGENT_VALUES: Final = 50_000
"""Maximum number of values in an agent's frame. Each is also checked against the operation's
model."""

_ESCAPE_BYTES: Final = len(rb"\uXXXX")


def is_light(frame: bytes, values: int) -> bool:
    """Return whether the frame holds at most about ``values`` values."""
    if len(frame) <= FEATHER_BYTES:
        return True
    if _separators(frame) <= values:
        return True
    return len(frame) <= WEIGHED_BYTES and _values(frame, values) <= values


def with_short_strings(event: bytes) -> bytes:
    """Return the event with its long strings cut, which costs a tenth of parsing them.

    An event with very many strings is returned unchanged; ``is_light`` judges it.

    Bytes between two quotation marks are a string or a part of one. The exception is a list of
    thousands of numbers; cutting it leaves invalid JSON.
    """
    parts, kept, here = [], 0, 0
    for _ in range(2 * EVENT_VALUES):
        there = event.find(b'"', here)
        end = len(event) if there < 0 else there
        if end - here > EVENT_STRING_BYTES:
            parts.append(event[kept : _cut(event, here)])
            # Keep backslashes at the end: they escape the quotation mark that follows.
            kept = _before_backslashes(event, here, end)
        if there < 0:
            return b"".join([*parts, event[kept:]])
        here = there + 1
    return event


def _cut(event: bytes, start: int) -> int:
    """Return where to cut the string that starts there, outside of characters and escapes."""
    end = start + EVENT_STRING_BYTES
    while event[end] & 0xC0 == 0x80:
        end -= 1
    escape = event.rfind(b"\\", end - _ESCAPE_BYTES, end)
    return end if escape < 0 else _before_backslashes(event, start, escape)


def _before_backslashes(event: bytes, start: int, end: int) -> int:
    return start + len(event[start:end].rstrip(b"\\"))


def _values(frame: bytes, most: int) -> int:
    """Count the values of the frame, without what is inside strings.

    Returns ``most + 1`` if there are more strings than ``most``.
    """
    if b"\\" in frame:
        frame = frame.replace(rb"\\", b"").replace(rb"\"", b"")
    if frame.count(b'"') > 2 * most:
        return most + 1
    return _separators(b"".join(frame.split(b'"')[::2]))


def _separators(text: bytes) -> int:
    """Count separators.

    Every value follows a comma or, as the first of its container, a bracket.
    """
    return text.count(b",") + text.count(b"[") + text.count(b"{")
