"""A scripted agent. It knows a page only from the replies it got, as a model does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bench.mcp_client import McpClient
from roost.local.deadline import Deadline

_LINE = re.compile(r"^\s*- (?:<[a-z, ]+> )?'?(?P<words>.*)$")
_NEW_REFS = re.compile(r"^# same content, new refs: (.+)$", re.MULTILINE)
_RANGE = re.compile(r"([a-z]\w*?)(\d+)(?:-\w*?(\d+))?$")
_VALUE = re.compile(r'^".*"$', re.MULTILINE)
_REF = re.compile(r"\[ref=(\w+)\]")


class Agent:
    """One agent with its MCP server. It counts its calls and the bytes of the replies' text.

    thinks: seconds that pass before each call, as they do while a model chooses it.
    """

    def __init__(self, client: McpClient, thinks: float = 0.0) -> None:
        self.calls = 0
        self.bytes = 0
        self._client = client
        self._thinks = thinks
        self._replies: list[str] = []

    def call(self, tool: str, /, **arguments: Any) -> str:
        """Call the tool and read the answer. Raise ``AssertionError`` if it is an error."""
        thinking = Deadline(self._thinks)
        while not thinking.has_passed():
            thinking.pause()
        self.calls += 1
        reply = self._client.call(tool, **arguments)
        self.bytes += len(reply.encode())
        if renewed := _NEW_REFS.search(reply):
            new = dict(_pairs(renewed[1]))
            known = [
                _REF.sub(lambda ref: f"[ref={new.get(ref[1], ref[1])}]", one)
                for one in self._replies
            ]
            self._replies = known
        self._replies.append(reply)
        return reply

    def ref(self, words: str, *, after: str = "", saying: str = "") -> str:
        """Return the ref of the line that begins with these words, as the newest reply shows it.

        after: take the first such line below a line that has these words.
        saying: words that the line itself must have, too.
        """
        for reply in reversed(self._replies):
            if found := _ref_in(reply, words, after, saying):
                return found
        seen = self._replies[-1] if self._replies else "none yet"
        raise AssertionError(f"No reply shows {words!r} after {after!r}. The last reply:\n{seen}")

    def has_read(self, words: str) -> bool:
        """Return whether the newest reply contains these words."""
        return words in self._replies[-1]

    def evaluated(self, function: str) -> str:
        """Return the string that the page's function returns. The call is not the agent's own, so
        it is not counted."""
        text = self._client.call("browser_evaluate", function=function)
        found = _VALUE.search(text)
        assert found is not None, text
        value: str = json.loads(found[0])
        return value

    # The verbs of the stories. Both servers have these tools, under the same names.

    def open(self, address: str, **arguments: Any) -> str:
        return self.call("browser_navigate", url=address, **arguments)

    def look(self, **arguments: Any) -> str:
        return self.call("browser_snapshot", **arguments)

    def click(self, words: str, *, after: str = "", **arguments: Any) -> str:
        return self.call("browser_click", target=self.ref(words, after=after), **arguments)

    def type(self, words: str, text: str, *, after: str = "", **arguments: Any) -> str:
        ref = self.ref(words, after=after)
        return self.call("browser_type", target=ref, text=text, **arguments)

    def batch(self, *steps: dict[str, Any], **arguments: Any) -> str:
        """Do the steps in one call. Only Roost has this tool."""
        return self.call("browser_batch", steps=list(steps), **arguments)

    def find(self, text: str) -> str:
        return self.call("browser_find", text=text)

    def press(self, key: str, **arguments: Any) -> str:
        return self.call("browser_press_key", key=key, **arguments)

    def wait_for(self, text: str) -> str:
        return self.call("browser_wait_for", text=text)


def _ref_in(reply: str, words: str, after: str, saying: str) -> str | None:
    is_past = not after
    for line in reply.splitlines():
        if not is_past:
            is_past = after in line
            continue
        shown = _LINE.match(line)
        if shown and shown["words"].startswith(words) and saying in line:
            if ref := _REF.search(line):
                return ref[1]
    return None


def _pairs(renewed: str) -> Iterator[tuple[str, str]]:
    """Yield old and new refs of a remark like ``e5-e7 → e25-e27, e9 → e30``."""
    for each in renewed.split(", "):
        old, _, new = each.partition(" → ")
        yield from zip(_refs(old), _refs(new), strict=True)


def _refs(span: str) -> list[str]:
    """Return the refs of a span like ``e5-e7`` or ``e9``."""
    found = _RANGE.match(span)
    assert found is not None, span
    first, last = int(found[2]), int(found[3] or found[2])
    return [f"{found[1]}{number}" for number in range(first, last + 1)]
