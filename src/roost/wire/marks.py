"""Text for models, with everything that a page could have written between marks.

A model cannot tell who wrote a sentence, so the text has to say it. Page text stands between
``<page-content untrusted id=N>`` and ``</page-content id=N>``. N is random and does not occur in
the text, so no page can close its mark and continue as if it were Roost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from roost.errors import RoostError

MARK_BYTES = 8


def marked(lines: Iterable[str]) -> str:
    """Return the lines of page text between marks."""
    # Imported here because shims import this module, and ``secrets`` costs megabytes.
    import secrets

    text = "\n".join(lines)
    mark = secrets.token_hex(MARK_BYTES)
    while mark in text:
        mark = secrets.token_hex(MARK_BYTES)
    return f"<page-content untrusted id={mark}>\n{text}\n</page-content id={mark}>"


def error_text(error: RoostError) -> str:
    """Return an error as a model reads it.

    The first line is ``CODE: message``, then ``hint: …``, then one line of JSON with the details
    (if any), then the page's own text between marks (if any).
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
    """Return the text on one line, so that a caller's text cannot look like lines of Roost."""
    return " ".join(text.splitlines())


def sendable(text: str) -> str:
    """Return the text without half surrogate pairs.

    Pages have them, but UTF-8 cannot encode them.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
