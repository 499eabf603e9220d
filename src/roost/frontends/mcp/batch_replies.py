"""Turn the outcome of a batch into text: one short line per step, and the page at the end.

All lines that may hold words of a page stand in one pair of marks. A step that reads more than a
line (a snapshot, a search, a log) follows below the lines, in marks of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roost.api import page_views, views
from roost.errors import RoostError
from roost.frontends.mcp.replies import as_json, reply_to, text_of, told
from roost.frontends.mcp.toolset import Image, Reply
from roost.hints import Spelling
from roost.wire.marks import error_text, marked, one_line

LINE_CHARS = 500
"""A step's line is cut after this many characters."""
READ_CHARS = 20_000
"""The texts of all reading steps together have at most this many characters."""
BELOW = "below"


def reply_to_batch(view: views.BatchView, spell: Spelling) -> Reply:
    """Return a batch's answer. It is an error if a step failed, so that no model overlooks it."""
    images = [image for step in view.steps for image in _images(step.answer, spell)]
    return Reply(text_of(view, spell), images, is_error=view.failed > 0)


@told.register
def _batch(view: views.BatchView) -> Iterator[str]:
    yield from _summary(view)
    yield marked(_lines(view))
    yield from _long_texts(view)
    yield from _errors(view)
    if view.snapshot or view.changes is not None:
        changes = [] if view.changes is None else [f"- Changes: {view.changes}"]
        yield f"Tab {view.tab} now:"
        yield marked([*changes, view.snapshot or ""])


def _summary(view: views.BatchView) -> Iterator[str]:
    yield f"{len(view.steps) - view.failed} of {view.of} steps are done."
    if view.not_begun:
        first = len(view.steps) + 1
        yield f"Not begun: {first}." if first == view.of else f"Not begun: {first} to {view.of}."


def _lines(view: views.BatchView) -> Iterator[str]:
    for number, step in enumerate(view.steps, 1):
        if step.error is None:
            yield f"{number}. {step.tool}: {_cut(_line(step.answer))}"
        else:
            yield f"{number}. {step.tool}: failed, {step.error['code']}"


def _line(answer: views.View) -> str:
    """Return a step's answer as one line, or ``BELOW`` if it has more."""
    match answer:
        case page_views.ActionView():
            opened = f" It opened {', '.join(answer.opened)}." if answer.opened else ""
            dialog = answer.dialog and f" Dialog ({answer.dialog.kind}): {answer.dialog.message}"
            files = f" Downloaded: {', '.join(answer.downloads)}." if answer.downloads else ""
            return one_line(f"{answer.did}{opened}{files}{dialog or ''}")
        case views.PageView():
            status = f" ({answer.status})" if answer.status not in (None, 200) else ""
            return one_line(f"{answer.tab}: [{answer.title}]({answer.url}){status}")
        case views.ValueView():
            return as_json(answer.value)
        case page_views.WaitView():
            return one_line(f"waited {answer.waited_ms} ms at {answer.url}")
        case page_views.ScrollView():
            return f"x={answer.x:g}, y={answer.y:g}" if answer.moved else "nothing moved"
        case page_views.ScreenshotView():
            return f"{answer.width}x{answer.height}, {answer.path or answer.mime_type}"
        case _:
            text = "\n".join(told(answer))
            return BELOW if "\n" in text else text


def _long_texts(view: views.BatchView) -> Iterator[str]:
    room = READ_CHARS
    for number, step in enumerate(view.steps, 1):
        if step.error is not None or _line(step.answer) != BELOW:
            continue
        parts = list(told(step.answer))
        size = sum(map(len, parts))
        if size > room:
            yield f"Step {number} has no room here: ask for it in a call of its own."
            continue
        room -= size
        yield f"Step {number}, {step.tool}:"
        yield from parts


def _errors(view: views.BatchView) -> Iterator[str]:
    for number, step in enumerate(view.steps, 1):
        if step.error is not None:
            yield f"Step {number}, {step.tool}:"
            yield error_text(RoostError.from_wire(step.error))


def _images(answer: views.View | None, spell: Spelling) -> Iterable[Image]:
    return [] if answer is None else reply_to(answer, spell).images


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARS else f"{text[: LINE_CHARS - 1]}…"
