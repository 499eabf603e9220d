"""Set or remove one entry of a JSON or TOML text.

TOML keeps its comments and layout (tomlkit). JSON is written again as a whole, with the text's own
indentation and line ends. JSON with comments is read but not changed, because the comments would be
lost: ``change`` raises ``Commented``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roost.frontends.cli.install.config_error import Commented, Malformed

_BOM: Final = "\ufeff"
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_STRING: Final = r'("(?:[^"\\\n]|\\.)*")'
_COMMENT: Final = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA: Final = re.compile(_STRING + r"|,(?=\s*[}\]])")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of configuration files.

    read: returns a text's content. Raises ``Malformed`` with the line.
    change: returns the text with ``value`` at ``path``, or without that entry if ``value`` is None.
    """

    read: Callable[[str], dict[str, Any]]
    change: Callable[[str, Sequence[str], Any], str]


def _read_json(text: str) -> dict[str, Any]:
    text = _plain(text)
    try:
        config = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as problem:
        raise Malformed(f"it is not JSON ({problem.msg})", problem.lineno) from None
    except RecursionError:
        raise Malformed("it is nested too deep", 1) from None
    if not isinstance(config, dict):
        raise Malformed("it holds no object", 1)
    return config


def _plain(text: str) -> str:
    """Return the text without comments and trailing commas, with the same number of lines."""

    def kept(found: re.Match[str]) -> str:
        return found[1] or "\n" * found[0].count("\n")

    return _LAST_COMMA.sub(kept, _COMMENT.sub(kept, text.removeprefix(_BOM)))


def _change_json(text: str, path: Sequence[str], value: Any) -> str:
    config = _read_json(text)
    if not _change(config, path, value):
        return text
    if _plain(text) != text.removeprefix(_BOM):
        raise Commented
    found = _INDENT.search(text)
    is_one_line = bool(text.strip()) and "\n" not in text.strip()
    indent = None if is_one_line else found.group(1) if found else "  "
    written = json.dumps(config, indent=indent, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold and UTF-8 cannot
        written = json.dumps(config, indent=indent)
    if not text.strip() or text.endswith("\n"):
        written += "\n"
    bom = _BOM if text.startswith(_BOM) else ""
    return bom + (written.replace("\n", "\r\n") if "\r\n" in text else written)


def _read_toml(text: str) -> dict[str, Any]:
    content: dict[str, Any] = _toml_document(text).unwrap()
    return content


def _toml_document(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        return tomlkit.parse(text.removeprefix(_BOM).replace("\r\n", "\n"))
    except ParseError as problem:
        what = str(problem).partition(" at line ")[0]
        raise Malformed(what, problem.line) from None
    except TOMLKitError as problem:
        raise Malformed(str(problem), 1) from None


def _change_toml(text: str, path: Sequence[str], value: Any) -> str:
    document = _toml_document(text)
    if not _change(document, path, value):
        return text
    bom = _BOM if text.startswith(_BOM) else ""
    written: str = document.as_string()
    return bom + (written.replace("\n", "\r\n") if "\r\n" in text else written)


def _change(config: Any, path: Sequence[str], value: Any) -> bool:
    """Change the loaded configuration. Return whether it was different before."""
    *outer, name = path
    for key in outer:
        if key not in config:
            if value is None:
                return False
            config[key] = {}
        config = config[key]
        if not isinstance(config, dict):
            raise Malformed(f"{key} is no table of entries", 1)
    if config.get(name) == value:
        return False
    if value is None:
        del config[name]
    else:
        _put(config, name, value)
    return True


def _put(config: Any, name: str, value: Any) -> None:
    """Set one entry. Change an existing table key by key, so that its comments stay."""
    old = config.get(name)
    if not isinstance(old, dict) or not isinstance(value, dict):
        config[name] = value
        return
    for key in [key for key in old if key not in value]:
        del old[key]
    for key in value:
        if old.get(key) != value[key]:
            _put(old, key, value[key])


JSON: Final = Format(_read_json, _change_json)
TOML: Final = Format(_read_toml, _change_toml)
