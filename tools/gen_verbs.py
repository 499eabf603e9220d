"""Write ``src/roost/verb/verbs.json`` from the tables of operations and commands: ``make docs``.

``--check`` writes nothing and fails if the file is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from roost.frontends.cli.main import GROUPS as COMMAND_GROUPS
from roost.frontends.cli.main import cli
from roost.frontends.verbs.arguments import aliases, rows
from roost.frontends.verbs.table import GROUPS
from roost.verb.table import FILE
from roost.vocabulary import CONVERSATION_VARIABLES, WIRE_VERSION


def main(arguments: list[str]) -> int:
    path, text = Path(FILE), generated()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in arguments:
        sys.stderr.write(f"Not up to date: {path.name}. Run `make docs`.\n")
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


def generated() -> str:
    """Return the file's text: one line for each verb, so that a run parses one line."""
    verbs = rows()
    entries: dict[str, Any] = {
        "hello": {"versions": [WIRE_VERSION], "conversation": list(CONVERSATION_VARIABLES)},
        "aliases": aliases(),
        "names": list(verbs),
        "groups": GROUPS,
        "commands": dict(commands()),
    }
    lines = [f'"{name}": {_line(value)},' for name, value in entries.items()]
    below = ",\n".join(f' "{name}": {_line(row)}' for name, row in verbs.items())
    return "\n".join(["{", *lines, f'"verbs": {{\n{below}\n}}}}', ""])


def commands() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the commands that are not verbs, each with its group and its arguments."""
    grouped = {name for names in COMMAND_GROUPS.values() for name in names}
    others = tuple(name for name in cli.commands if name not in grouped)
    for group, names in COMMAND_GROUPS.items():
        for name in (*names, *(others if group == "Set-up" else ())):
            yield name, {"group": group, **_about(cli.commands[name])}
            below = cli.commands[name]
            if isinstance(below, click.Group):
                for word, command in below.commands.items():
                    yield f"{name} {word}", {"group": "", **_about(command)}


def _about(command: click.Command) -> dict[str, Any]:
    flags = [option for one in command.params for option in one.opts if option.startswith("--")]
    below = list(command.commands) if isinstance(command, click.Group) else []
    about: dict[str, Any] = {"about": command.get_short_help_str(70)}
    about |= {"flags": flags} if flags else {}
    return about | ({"below": below} if below else {})


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
