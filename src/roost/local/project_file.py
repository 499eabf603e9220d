"""Read ``.roost.toml``: what a repository chooses for the sessions of agents that work in it.

The person wrote ``config.toml`` and the flags of ``roost mcp``. Whoever wrote the repository wrote
this file, so it is not trusted: it may only choose among what the person allows, or allow less. It
cannot name a program, a profile, the person's own browser or a folder, and it cannot change the
broker, which also serves other repositories.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roost.errors import BadRequest
from roost.local.policy_place import policy_text
from roost.local.settings import SETTINGS
from roost.vocabulary import JarPolicy

BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class ProjectSetting:
    """One key that the file may have.

    value: what a value looks like, for the docs.
    help: what the setting does, for the docs.
    reason: why a repository may choose it, for the docs.
    read: returns the value of a TOML value. Raises ``ValueError`` if it is wrong.
    """

    value: str
    help: str
    reason: str
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What the file chooses. A flag of ``roost mcp`` takes precedence over each of them.

    ``deny`` is the exception: the lists of file and flag both count.
    """

    path: Path | None = None
    browser: str | None = None
    jar: JarPolicy | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    policy: str | None = None
    """A preset, or the text of a policy file of the repository."""


def _words(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) and one for one in given):
        raise ValueError("expected a list of texts")
    return tuple(given)


def _browser(given: Any) -> str | None:
    if given not in ("auto", "chromium", "firefox"):
        raise ValueError("expected auto, chromium or firefox")
    return None if given == "auto" else str(given)


def _jar(given: Any) -> JarPolicy:
    if given != JarPolicy.FRESH:
        raise ValueError(f"expected {JarPolicy.FRESH}; other jars hold logins, which you choose")
    return JarPolicy.FRESH


def _policy(given: Any) -> str:
    is_path = isinstance(given, str) and not Path(given).is_absolute() and ".." not in given
    if not is_path or not given:
        raise ValueError("expected a preset, or a file below the folder of this file")
    return str(given)


PROJECT_SETTINGS: Final[Mapping[str, ProjectSetting]] = {
    "browser": ProjectSetting(
        '`"auto"`, `"chromium"`, `"firefox"`',
        "Browser in which the sessions live.",
        "Both are browsers that Roost manages. Your own browser (`mine`) is not among them.",
        _browser,
    ),
    "jar": ProjectSetting(
        '`"fresh"`',
        "Start with no cookies and no storage.",
        "An empty jar holds no logins. The other jars do.",
        _jar,
    ),
    "allow": ProjectSetting(
        "list of texts",
        "Reach only these sites, addresses or networks.",
        "It allows less. If `roost mcp` has `--allow`, that list counts instead.",
        _words,
    ),
    "deny": ProjectSetting(
        "list of texts",
        "Reach none of these sites, addresses or networks.",
        "It allows less. Roost adds this list to `--deny`.",
        _words,
    ),
    "tools": ProjectSetting(
        'list of texts, for example `["core"]`',
        "Tools that the agent is shown.",
        "A tool that is not shown can still be called, so this setting allows nothing.",
        _words,
    ),
    "policy": ProjectSetting(
        "a preset, or a file beside this one",
        "Narrow what agents may do.",
        "A policy only narrows. Your own policy and `--policy` hold besides it.",
        _policy,
    ),
}


def read_project(path: Path) -> Project:
    """Return what the file chooses.

    Raises ``BadRequest`` with file and line. A file that cannot be read is not ignored, because it
    may forbid something.
    """
    try:
        # The file may be any file of the repository: never wait for it, never read all of it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(BYTES_MAX + 1)
        if len(data) > BYTES_MAX:
            raise _wrong(path, 1, f"it is larger than {BYTES_MAX // 1024} KiB")
        text = data.decode("utf-8")
        given = tomllib.loads(text)
    except OSError as problem:
        raise _wrong(path, 1, f"{problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise _wrong(path, data.count(b"\n", 0, problem.start) + 1, "not UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        said = re.fullmatch(
            r"(.*?) \(at (?:line (\d+), column \d+|end of document)\)", str(problem)
        )
        what, line = (said[1], said[2]) if said else (str(problem), None)
        raise _wrong(path, int(line or text.count("\n") + 1), f"not TOML ({what})") from None
    chosen = {name: _read(path, text, name, given[name]) for name in given}
    if "policy" in chosen:
        try:
            chosen["policy"] = policy_text(chosen["policy"], path.parent)
        except BadRequest as wrong:
            raise _wrong(path, _line(text, "policy"), f"policy: {wrong.message}") from None
    return Project(path=path, **chosen)


def _read(path: Path, text: str, name: str, value: Any) -> Any:
    try:
        return _setting(name).read(value)
    except ValueError as wrong:
        raise _wrong(path, _line(text, name), f"{name}: {wrong}") from None


def _setting(name: str) -> ProjectSetting:
    if name in PROJECT_SETTINGS:
        return PROJECT_SETTINGS[name]
    if name in SETTINGS:
        raise ValueError("only you can set this, in config.toml")
    raise ValueError("there is no such setting")


def _line(text: str, name: str) -> int:
    """Return the line on which a top-level key or a table of that name stands."""
    found = re.search(rf"^\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]", text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _wrong(path: Path, line: int, what: str) -> BadRequest:
    return BadRequest(
        f"{path}, line {line}: {what}.",
        hint=f"A project may choose: {', '.join(PROJECT_SETTINGS)}.",
        file=str(path),
        line=line,
    )
