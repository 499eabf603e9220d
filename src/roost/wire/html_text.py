"""Turn HTML into Markdown or an outline of its headings, without a browser. Pure.

The parser is Python's own. Its time grows with the document, so callers run it in another process.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_SKIPPED = frozenset(
    "script style template noscript svg math iframe object canvas audio video select textarea"
    " dialog".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body details dd div dl dt fieldset figcaption figure footer"
    " form header hr li main nav ol p pre section summary table tbody td tfoot th thead tr"
    " ul".split()
)
_HEADING = re.compile(r"h([1-6])")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_SPACE = re.compile(r"[ \t\r\n\f]+")
DEPTH_LIMIT = 200
"""Elements below this depth add their text and no structure."""


def markdown(html: str, base: str) -> tuple[str, str]:
    """Return the document's title and its content as Markdown. ``base``: address of links."""
    writer = _Writer(base)
    writer.feed(html)
    writer.close()
    return writer.title(), writer.text()


def outline(html: str, base: str) -> tuple[str, str]:
    """Return the document's title and its headings, indented by their level."""
    writer = _Writer(base)
    writer.feed(html)
    writer.close()
    lines = [f"{'  ' * (level - 1)}- {text}" for level, text in writer.headings if text]
    return writer.title(), "\n".join(lines)


class _Writer(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.headings: list[tuple[int, str]] = []
        self._base = base
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._open: list[str] = []
        self._skipped: list[str] = []
        """The element whose content is left out, once for each such element inside of it."""
        self._titles: list[str] = []
        self._in_title = False
        self._links: list[tuple[str, int]] = []
        self._lists: list[int | None] = []
        self._quotes = 0
        self._pre = 0
        self._cells: list[str] | None = None
        self._level = 0

    def title(self) -> str:
        return _SPACE.sub(" ", "".join(self._titles)).strip()

    def text(self) -> str:
        self._end_block()
        if self._cells:
            self._blocks.append(" | ".join(self._cells))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._blocks)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self._titles:
            self._in_title = True
        if self._skipped:
            # Other elements inside may lack their end tag, so only the same kind is counted.
            self._skipped += [tag] if tag == self._skipped[0] else []
            return
        if tag in _SKIPPED:
            self._skipped = [tag]
            return
        given = {name: value or "" for name, value in attrs}
        if tag not in _VOID and len(self._open) < DEPTH_LIMIT:
            self._open.append(tag)
        heading = _HEADING.fullmatch(tag)
        if heading:
            self._end_block()
            self._level = int(heading[1])
        elif tag in _BLOCKS:
            self._start_block(tag)
        self._start_inline(tag, given)

    def _start_block(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cells = [] if self._cells is None else self._cells
            return
        self._end_block()
        match tag:
            case "ul":
                self._lists.append(None)
            case "ol":
                self._lists.append(0)
            case "li":
                if self._lists and self._lists[-1] is not None:
                    self._lists[-1] += 1
            case "blockquote":
                self._quotes += 1
            case "pre":
                self._pre += 1
            case "hr":
                self._blocks.append("\n---\n")
        if tag in ("p", "ul", "ol", "table", "blockquote", "pre") and len(self._lists) < 2:
            self._blocks.append("")

    def _start_inline(self, tag: str, given: dict[str, str]) -> None:
        match tag:
            case "a" if given.get("href"):
                self._links.append((urljoin(self._base, given["href"]), len(self._line)))
            case "br":
                self._line.append("\n")
            case "img" if given.get("alt", "").strip():
                self._line.append(f"![{_SPACE.sub(' ', given['alt']).strip()}]")
            case "code" if not self._pre:
                self._line.append("`")
            case "strong" | "b":
                self._line.append("**")
            case "em" | "i":
                self._line.append("_")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipped:
            if tag == self._skipped[0]:
                self._skipped.pop()
            return
        if tag not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            self._close(closed)
            if closed == tag:
                return

    def _close(self, tag: str) -> None:
        if _HEADING.fullmatch(tag):
            text = self._taken()
            if text:
                self.headings.append((self._level, text))
                self._blocks += ["", f"{'#' * self._level} {text}", ""]
            return
        match tag:
            case "a" if self._links:
                to, at = self._links.pop()
                words = _SPACE.sub(" ", "".join(self._line[at:])).strip()
                del self._line[at:]
                self._line.append(f"[{words}]({to})" if words else "")
            case "code" if not self._pre:
                self._line.append("`")
            case "strong" | "b":
                self._line.append("**")
            case "em" | "i":
                self._line.append("_")
            case "td" | "th" if self._cells is not None:
                self._cells.append(self._taken().replace("|", "\\|"))
            case "tr" if self._cells is not None:
                self._blocks.append(f"| {' | '.join(self._cells)} |")
                self._cells = None
            case _ if tag in _BLOCKS:
                self._end_block()
                self._after_block(tag)

    def _after_block(self, tag: str) -> None:
        match tag:
            case "ul" | "ol" if self._lists:
                self._lists.pop()
            case "blockquote":
                self._quotes = max(0, self._quotes - 1)
            case "pre":
                self._pre = max(0, self._pre - 1)
        if tag in ("p", "ul", "ol", "table", "blockquote", "pre") and not self._lists:
            self._blocks.append("")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._titles.append(data)
        elif not self._skipped:
            self._line.append(data if self._pre else _SPACE.sub(" ", data))

    def _taken(self) -> str:
        text = "".join(self._line)
        self._line, self._links = [], [(to, 0) for to, _ in self._links]
        return _SPACE.sub(" ", text).strip()

    def _end_block(self) -> None:
        if self._pre and "".join(self._line).strip():
            body = "".join(self._line).strip("\n")
            self._line = []
            self._blocks += ["```", body, "```"]
            return
        lines = [_SPACE.sub(" ", line).strip() for line in "".join(self._line).split("\n")]
        self._line, self._links = [], [(to, 0) for to, _ in self._links]
        text = "\n".join(line for line in lines if line)
        if text.strip("*_` "):
            self._blocks.append("> " * self._quotes + self._bullet() + text)

    def _bullet(self) -> str:
        if not self._lists or "li" not in self._open:
            return ""
        number = self._lists[-1]
        return "  " * (len(self._lists) - 1) + ("- " if number is None else f"{number}. ")
