"""What a JSON frame costs to read, known before it is read.

A string is cheap: about a millisecond a megabyte. Many small values are not: a megabyte of empty
lists takes a tenth of a second, during which the event loop answers nobody. A thread does not help,
because the parser holds the interpreter's lock. So a frame is weighed first, by counting bytes.
"""

from __future__ import annotations

from typing import Final

from roost.vocabulary import KIB, MIB

FEATHER_BYTES: Final = 64 * KIB
"""A frame of this size is always light."""
ANSWER_BYTES: Final = 4 * MIB
"""The largest answer of a browser that is read. Its strings take 10 ms, and 20 more on their way to
the agent."""
PICTURE_BYTES: Final = 16 * MIB
"""The largest answer that is one string without escapes: a picture, a print, a body."""
WEIGHED_BYTES: Final = 8 * MIB
"""The largest frame whose strings are looked into, to tell their commas from the frame's own."""
ANSWER_VALUES: Final = 100_000
"""Values in an answer of a browser. They take 20 ms at worst, when somebody asked for them."""
EVENT_VALUES: Final = 10_000
"""Values in an event of a browser. Pages cause events as often as they like."""
EVENT_STRING_BYTES: Final = 64 * KIB
"""What is read of one string in an event. Nobody keeps as much."""
AGENT_VALUES: Final = 50_000
"""Values in a frame of an agent. They are checked against the operation's model as well."""

_ESCAPE_BYTES: Final = len(rb"\uXXXX")


def is_light(frame: bytes, values: int) -> bool:
    """Whether the frame holds at most about that many values."""
    if len(frame) <= FEATHER_BYTES:
        return True
    if _separators(frame) <= values:
        return True
    return len(frame) <= WEIGHED_BYTES and _values(frame, values) <= values


def lightened(event: bytes) -> bytes:
    """The event with its long strings cut, which costs a tenth of reading them. An event with very
    many strings is left as it is: ``is_light`` says what it weighs.

    What stands between two quotation marks is a string or a part of one. (Else it is a list of
    thousands of numbers, and what is left of it is no JSON.)
    """
    parts, kept, here = [], 0, 0
    for _ in range(2 * EVENT_VALUES):
        there = event.find(b'"', here)
        end = len(event) if there < 0 else there
        if end - here > EVENT_STRING_BYTES:
            parts.append(event[kept : _cut(event, here)])
            # Backslashes at the end stay: they escape the quotation mark that follows.
            kept = _before_backslashes(event, here, end)
        if there < 0:
            return b"".join([*parts, event[kept:]])
        here = there + 1
    return event


def _cut(event: bytes, start: int) -> int:
    """Where to end the string that starts there: in no character and in no escape."""
    end = start + EVENT_STRING_BYTES
    while event[end] & 0xC0 == 0x80:
        end -= 1
    escape = event.rfind(b"\\", end - _ESCAPE_BYTES, end)
    return end if escape < 0 else _before_backslashes(event, start, escape)


def _before_backslashes(event: bytes, start: int, end: int) -> int:
    return start + len(event[start:end].rstrip(b"\\"))


def _values(frame: bytes, most: int) -> int:
    """How many values the frame holds, what stands in strings not counted. Where there are more
    strings than ``most``, some number above that."""
    if b"\\" in frame:
        frame = frame.replace(rb"\\", b"").replace(rb"\"", b"")
    if frame.count(b'"') > 2 * most:
        return most + 1
    return _separators(b"".join(frame.split(b'"')[::2]))


def _separators(text: bytes) -> int:
    """Every value but the first of a list or object follows a comma; the first, a bracket."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")
