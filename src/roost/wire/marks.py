"""Text that a model reads, with everything a page could have written between marks.

A model cannot tell who wrote a sentence, so the text says it: page text stands between
``<page-content untrusted id=N>`` and ``</page-content id=N>``. N is random and does not occur in
the text, so no page can close its mark and go on in Roost's voice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from roost.errors import RoostError

MARK_BYTES = 8


def marked(lines: Iterable[str]) -> str:
    """Page text between marks."""
    import secrets  # only here: shims import this module, and secrets brings megabytes along

    text = "\n".join(lines)
    mark = secrets.token_hex(MARK_BYTES)
    while mark in text:
        mark = secrets.token_hex(MARK_BYTES)
    return f"<page-content untrusted id={mark}>\n{text}\n</page-content id={mark}>"


def error_text(error: RoostError) -> str:
    """An error as a model reads it.

    First line ``CODE: message``, then ``hint: …``, then one line of JSON with the details (if any),
    then what the page said, marked (if anything).
    """
    parts = [one_line(str(error)), f"hint: {one_line(error.hint)}"]
    details = dict(error.details)
    if error.retry_after_ms is not None:
        details["retryAfterMs"] = error.retry_after_ms
    if details:
        parts.append(json.dumps(details, ensure_ascii=False, separators=(",", ":"), default=str))
    if error.page_said is not None:
        parts.append(marked([error.page_said]))
    return sendable("\n".join(parts))


def one_line(text: str) -> str:
    """The text without line breaks: what a caller sent must not look like lines of Roost's own."""
    return " ".join(text.splitlines())


def sendable(text: str) -> str:
    """The text without half surrogate pairs. Pages have them, and UTF-8 cannot encode them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
