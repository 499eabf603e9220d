"""Help for people and agents: all commands, one verb, and what was wrong with the words."""

from __future__ import annotations

import os
from typing import Any

from roost.verb.arguments import UsedWronglyError
from roost.verb.plain_json import dumps
from roost.verb.table import Table

WIDTH = 100
COMMON = """\
  -s, --session ID   Work in this session of yours; it is opened if there is none.
      --json         Print one JSON value and nothing else.
      --raw          Print the bare value, without Roost's words and the untrusted marks.
  -o, --output FILE  Write the answer to a file and print its path.
      --timeout N    Give the call N seconds (default 30).
      --operator     Act as the person. Written to the audit trail."""


def help_on(table: Table, words: list[str]) -> str:
    """Return the help on a verb or on all commands."""
    if not words:
        return _overview(table)
    found = table.verb(words)
    if found is not None:
        return _verb(found[0], found[1])
    below = [name for name in table.entry("names") if name.split()[0] == words[0]]
    if below:
        return "\n".join(_line(table, name) for name in below)
    commands = table.entry("commands")
    if words[0] in commands:
        return f"{commands[words[0]]['about']}\n\nSee `roost {words[0]} --help`."
    raise UsedWronglyError(f"There is no command {words[0]}.", words[0], list(commands) + below)


def usage(name: str, row: dict[str, Any]) -> str:
    words = [f"roost {name}"]
    for one in row.get("positional", ()):
        shown = one["shown"] + ("…" if one.get("many") else "")
        words.append(shown if one.get("required") else f"[{shown}]")
    return " ".join([*words, "[flags]"])


def _verb(name: str, row: dict[str, Any]) -> str:
    about_it = _wrapped("", row["about"], " ")
    lines = [*about_it, "", f"  {usage(name, row)}", f"  Example: {row['example']}", ""]
    for one in row.get("positional", ()):
        about = _described(one)
        if about:
            lines.append(f"  {one['shown']:<18} {about}")
    for flag, about in row.get("flags", {}).items():
        short = f"{about['short']}, " if "short" in about else "    "
        takes = f" {about['value']}" if "value" in about else ""
        lines.append(f"  {short}{flag + takes:<20} {_described(about)}".rstrip())
    lines += ["", "Every verb takes:", COMMON]
    return "\n".join(lines)


def _described(about: dict[str, Any]) -> str:
    choices = f"One of {', '.join(about['choices'])}. " if about.get("choices") else ""
    return f"{choices}{about.get('about', '')}".strip()


def _line(table: Table, name: str) -> str:
    found = table.verb(name.split())
    assert found is not None
    return f"  {usage(name, found[1]).removeprefix('roost '):<44} {found[1]['about']}"


def _overview(table: Table) -> str:
    lines = ["Many agents, one browser. `roost help VERB` shows one verb.", ""]
    commands = table.entry("commands")
    for title in ("Set-up", "Watching"):
        lines.append(f"{title}:")
        named = {name: one for name, one in commands.items() if one["group"] == title}
        lines += [f"  {name:<12} {one['about']}" for name, one in named.items()]
        lines.append("")
    lines.append("Page verbs, in your own session:")
    for title, names in table.entry("groups").items():
        lines += _wrapped(f"  {title + ':':<22} ", ", ".join(names)) if names else []
    lines += ["", "Every page verb takes:", COMMON]
    lines += ["", "Everything of one Roost lies in ROOST_HOME (default ~/.local/state/roost)."]
    return "\n".join(lines)


def _wrapped(head: str, text: str, between: str = ", ") -> list[str]:
    """Return the text in lines of at most ``WIDTH``, broken only at ``between``."""
    lines, line = [], head
    for word in text.split(between):
        if len(line) + len(word) > WIDTH:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += f"{word}{between}"
    return [*lines, line.removesuffix(between)]


def explain(wrong: UsedWronglyError, words: list[str], table: Table) -> str:
    """Return what was wrong with the words, and the nearest that would be right."""
    from difflib import get_close_matches

    near = get_close_matches(wrong.wrong, wrong.known, n=1) if wrong.wrong else []
    left = [word for word in words if not word.startswith("-")]
    found = table.verb(left)
    hint = "See `roost --help`." if found is None else f"See `roost help {found[0]}`."
    if found is not None:
        hint = f"{usage(found[0], found[1])}. {hint}"
    if near:
        hint = f"Did you mean {near[0]}? {hint}"
    if "--json" in words:
        error = {"code": "BAD_REQUEST", "message": str(wrong), "hint": hint}
        os.write(1, (dumps(error) + "\n").encode())
        return ""
    return f"BAD_REQUEST: {wrong}\nhint: {hint}"
