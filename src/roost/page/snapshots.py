"""Builds the snapshot that an agent reads, with each frame's snapshot inside its parent's."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

from roost.errors import NotFound, RoostError
from roost.page.page import Json, Page

FRAME_CHARS_LEAST = 500
INDENT = "  "
FRAMES_READ = 50
FRAMES_DEEP = 8
FRAMES_SECONDS = 8.0
"""Time for all frames of one snapshot together, because a page can nest a thousand frames."""


@dataclass(slots=True)
class _Budget:
    """The number of frames that one snapshot may still read, and the deadline for that."""

    frames: int = FRAMES_READ
    ends: float = field(default_factory=lambda: asyncio.get_running_loop().time() + FRAMES_SECONDS)

    def take(self) -> int | None:
        """Take one frame from the budget. Return its milliseconds; None: do not read the frame."""
        left = int((self.ends - asyncio.get_running_loop().time()) * 1000)
        self.frames -= 1
        return left if self.frames >= 0 and left > 0 else None


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a snapshot or a diff."""

    text: str
    truncated: bool
    changes: str | None = None
    """A summary of the diff, such as ``2 added``. None if the text is a full snapshot."""
    ref: str | None = None
    """The first ref of a full snapshot."""


async def read(
    page: Page, *, max_chars: int, target: str | None = None, boxes: bool = False, **options: Any
) -> Reading:
    """Return the page, or the part at ``target``, with its frames, cut to ``max_chars``.

    boxes: add the box of each element with a ref, in the tab's viewport.
    """
    if boxes:
        options["boxes"] = {"x": 0.0, "y": 0.0}
    budget = _Budget()
    if target is None:
        reply = await page.call(None, "snapshot", maxChars=max_chars, **options)
        return await _with_frames(page, None, reply, max_chars, options, budget)
    frame, reply = await page.call_where(target, "snapshot", maxChars=max_chars, **options)
    if frame is not None and "boxes" in options:
        x, y = await page.offset(frame)
        options["boxes"] = {"x": x, "y": y}
        reply = await page.call(frame, "snapshot", target=target, maxChars=max_chars, **options)
    reading = await _with_frames(page, frame, reply, max_chars, options, budget)
    if options.get("reader") is not None:
        await _count_as_seen(page, frame, options["reader"], budget)
    return reading


async def _count_as_seen(page: Page, but: str | None, reader: str, budget: _Budget) -> None:
    """Let the next diff of a reader who looked at one part begin here in all other frames, too.

    Otherwise the diff would contain all of every frame that the reader has never looked at. Frames
    that the reader has looked at keep what the reader knows of them.
    """
    for frame in [None, *(child for child, _ in await page.child_frames())]:
        budget_ms = budget.take()
        if budget_ms is None:
            return
        if frame != but:
            with contextlib.suppress(RoostError):  # the frame is gone or has no document yet
                await page.call(frame, "snapshot", mode="none", reader=reader, budgetMs=budget_ms)


def changes(reader: str, max_chars: int) -> Json:
    """Return the options of the snapshot that ``read_changes`` needs, for ``Page.look``."""
    return {"mode": "diff", "reader": reader, "maxChars": max_chars}


async def read_changes(page: Page, *, reader: str, max_chars: int) -> Reading:
    """Return what changed in all frames since ``reader`` last read the page.

    If the bundle cannot make a diff, return a full snapshot.
    """
    options = changes(reader, max_chars)
    reply = await page.changes(**options)
    if reply["mode"] != "diff":
        return await _with_frames(page, None, reply, max_chars, {"reader": reader}, _Budget())
    replies, budget, is_all = [reply], _Budget(), True
    if reply["frames"]:
        for frame, _ in await page.child_frames():
            budget_ms = budget.take()
            if budget_ms is None:
                is_all = False
                break
            try:
                found = await page.call(frame, "snapshot", budgetMs=budget_ms, **options)
                replies.append(found)
            except RoostError:
                continue  # the frame is gone or has no document yet
    changed = [one for one in replies if one["mode"] != "diff" or any(one["changes"].values())]
    text = "\n".join(one["text"] for one in changed)
    cut = not is_all or any(one["truncated"] for one in changed) or len(text) > max_chars
    return Reading(text[:max_chars], cut, _summed_up(changed))


async def _with_frames(
    page: Page,
    frame: str | None,
    reply: Json,
    max_chars: int,
    options: Json,
    budget: _Budget,
    deep: int = 1,
) -> Reading:
    """Insert each child frame's snapshot below the line of the element that holds the frame."""
    lines: list[str] = reply["text"].splitlines()
    if not reply["frames"]:
        return Reading(reply["text"], reply["truncated"], ref=reply.get("ref"))
    if deep > FRAMES_DEEP:
        return Reading(f"{reply['text']}\n# frames below this one are not read", truncated=True)
    owners = await _owners(page, frame, budget)
    children = {owner["ref"]: child for child, owner in owners.items()}
    room, cut = max_chars - len(reply["text"]), reply["truncated"]
    for place in sorted(reply["frames"], key=lambda place: place["line"], reverse=True):
        child = children.get(place["ref"])
        if child is None or place["line"] < 0 or room < FRAME_CHARS_LEAST:
            cut = cut or child is not None
            continue
        budget_ms = budget.take()
        if budget_ms is None:
            cut = True
            lines[place["line"]] += f"  # not read: look into it with target={place['ref']!r}"
            continue
        try:
            inside = _moved(options, owners[child])
            given = {"maxChars": room, "budgetMs": budget_ms, **inside}
            below = await page.call(child, "snapshot", **given)
            inner = await _with_frames(page, child, below, room, inside, budget, deep + 1)
        except RoostError:
            continue  # the frame is gone or not loaded yet: keep its line without content
        if inner.text:
            indent = INDENT * (place["depth"] + 1)
            lines[place["line"]] = lines[place["line"]].rstrip(":") + ":"
            lines[place["line"] + 1 : place["line"] + 1] = [
                indent + line for line in inner.text.splitlines()
            ]
            room -= len(inner.text)
        cut = cut or inner.truncated
    return Reading("\n".join(lines), cut, ref=reply.get("ref"))


async def _owners(page: Page, frame: str | None, budget: _Budget) -> dict[str, Json]:
    """Return a document's child frames, each with the element that holds it.

    Stops at the number of frames that the budget still allows to read.
    """
    found: dict[str, Json] = {}
    for child, parent in await page.child_frames():
        if parent == frame and len(found) < budget.frames + 1:
            try:
                found[child] = await page.owner(parent, child)
            except NotFound:
                continue
    return found


def _moved(options: Json, owner: Json) -> Json:
    """Return the options for a child frame. Boxes count from the tab's viewport in every frame, so
    the child must know where its own viewport begins."""
    origin = options.get("boxes")
    if origin is None:
        return options
    return {**options, "boxes": {"x": origin["x"] + owner["x"], "y": origin["y"] + owner["y"]}}


def _summed_up(replies: list[Json]) -> str:
    kinds = {"added": "added", "changed": "changed", "moved": "moved", "removed": "removed"}
    kinds |= {"refs": "new refs"}
    counts = {
        word: sum(one.get("changes", {}).get(kind, 0) for one in replies)
        for kind, word in kinds.items()
    }
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing"
