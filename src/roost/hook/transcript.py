"""Reads the agent's last message from Claude Code's transcript (JSON lines, newest last)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import Any, Final

TAIL_BYTES: Final = 8 * 1024 * 1024
"""How much of the file's end is searched. Tool results of megabytes may follow the message."""


def last_message(path: str) -> str:
    """Return the text of the agent's newest message, or "" if it cannot be read."""
    pieces: list[str] = []
    message: object = None
    for entry in _entries_from_the_end(path):
        match entry:
            case {"isSidechain": True}:
                continue  # a sub-agent's message
            case {"type": "assistant", "message": {"content": content} as said}:
                # Each block of a message has its own line, with the message's id.
                if pieces and (said.get("id") is None or said.get("id") != message):
                    break
                message = said.get("id")
                pieces += [text for text in [_text(content)] if text]
            case {"type": "user"} if pieces:
                break
    return "\n".join(reversed(pieces))


def _entries_from_the_end(path: str) -> Iterator[Any]:
    for line in reversed(_tail(path).split(b"\n")):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue  # a blank line, one that the tail cuts, or one that is still being written


def _tail(path: str) -> bytes:
    try:
        # Non-blocking, because the client chooses the path and it may name a pipe.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as f:
            found = os.fstat(f.fileno())
            if not stat.S_ISREG(found.st_mode):
                return b""
            f.seek(max(0, found.st_size - TAIL_BYTES))
            return f.read(TAIL_BYTES)
    except (OSError, ValueError):
        return b""


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
