"""The formats of configuration files: read a text, and change one entry of it.

Everything else in the text stays as it is: comments, order, indentation and line ends.
``json_text.py`` and ``yaml_text.py`` change those formats. TOML is changed here with tomlkit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roost.frontends.cli.install import json_text, yaml_text
from roost.frontends.cli.install.config_error import BOM, Malformed


@dataclass(frozen=True, slots=True)
class Format:
    """A format of configuration files.

    read: returns a text's content. Raises ``Malformed`` with the line.
    change: returns the text with ``value`` at ``path``, or without that entry if ``value`` is None.
    """

    read: Callable[[str], dict[str, Any]]
    change: Callable[[str, Sequence[str], Any], str]


def _read_toml(text: str) -> dict[str, Any]:
    content: dict[str, Any] = _toml_document(text).unwrap()
    return content


def _toml_document(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        return tomlkit.parse(text.removeprefix(BOM).replace("\r\n", "\n"))
    except ParseError as problem:
        what = str(problem).partition(" at line ")[0]
        raise Malformed(what, problem.line) from None
    except TOMLKitError as problem:
        raise Malformed(str(problem), 1) from None


def _change_toml(text: str, path: Sequence[str], value: Any) -> str:
    document = _toml_document(text)
    if not _change(document, path, value):
        return text
    bom = BOM if text.startswith(BOM) else ""
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
            raise Malformed(f"{key} is not a table of entries", 1)
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


JSON: Final = Format(json_text.read, json_text.change)
TOML: Final = Format(_read_toml, _change_toml)
YAML: Final = Format(yaml_text.read, yaml_text.change)
