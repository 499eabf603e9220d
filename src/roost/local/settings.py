"""The broker's settings: one table for flags, environment, ``config.toml``, help and docs.

Flags take precedence over ``ROOST_*`` variables, then comes ``config.toml`` in ROOST_HOME, then the
defaults. ``roost up`` derives its options from the table, and the daemon reads them with
``load_settings``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from roost.errors import BadRequest
from roost.vocabulary import CLONED_JARS, MINE, POOL_LIMIT, REQUEST_WAIT, Reads, own_browser

PREFIX = "ROOST_"
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    name: name in ``config.toml``. Flags and variables are spelled after it.
    default: value if nobody sets it.
    value: what a value looks like, for help and docs. Empty for a switch.
    help: what the setting does, for help and docs.
    read: returns the value of a text or TOML value. Raises ``ValueError`` if it is wrong.
    """

    name: str
    default: Any
    value: str
    help: str
    read: Callable[[Any], Any]

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def has_several(self) -> bool:
        """The setting has several values. A variable separates them as a shell does."""
        return isinstance(self.default, tuple)

    @property
    def is_switch(self) -> bool:
        return not self.value


# --- values --------------------------------------------------------------------------------------


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("expected a text")
    return given


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise ValueError("expected a list of texts")
    return tuple(given)


def _switch(given: Any) -> bool:
    text = str(given).lower()
    if text not in _TRUE + _FALSE:
        raise ValueError("expected true or false")
    return text in _TRUE


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if given not in words:
            raise ValueError(f"expected one of {', '.join(words)}")
        return str(given)

    return read


def _number(least: int, most: int) -> Callable[[Any], int]:
    def read(given: Any) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", str(given)) or not least <= int(given) <= most:
            raise ValueError(f"expected a number from {least} to {most}")
        return int(given)

    return read


def _seconds(given: Any) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", str(given)):
        raise ValueError("expected a number of seconds")
    return float(given)


def _short_wait(given: Any) -> float:
    if (seconds := _seconds(given)) > 30:
        raise ValueError("expected at most 30 seconds")
    return seconds


def _size(given: Any) -> str:
    if not re.fullmatch(r"[0-9]{2,5}x[0-9]{2,5}", str(given)):
        raise ValueError("expected WIDTHxHEIGHT, for example 1280x720")
    return str(given)


def _policy(given: Any) -> Any:
    if not isinstance(given, dict) and not (isinstance(given, str) and given):
        raise ValueError("expected a preset, a file or a table")
    return given


def _reads(given: Any) -> Reads:
    return Reads(_one_of(*Reads)(given))


# --- the table -----------------------------------------------------------------------------------


def _setting(default: Any, value: str, help: str, read: Callable[[Any], Any]) -> Any:
    return field(default=default, metadata={"value": value, "help": help, "read": read})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a person may set."""

    browser: str = _setting(
        "auto",
        "NAME",
        "Browser to use: auto (the first found), chromium, firefox, or mine (the person's own, "
        "through the extension; mine-chromium or mine-firefox to say which).",
        _one_of(
            "auto",
            "chromium",
            "firefox",
            MINE,
            own_browser("chromium"),
            own_browser("firefox"),
            "fake",
        ),  # fmt: skip
    )
    headless: bool | None = _setting(
        None, "", "Show no window. Default: only where there is no display.", _switch
    )
    browser_path: str | None = _setting(None, "PATH", "Path of the browser's program.", _text)
    browser_arg: tuple[str, ...] = _setting((), "ARG", "Extra flag for the browser.", _texts)
    viewport: str = _setting("1280x720", "WxH", "Size of new tabs in pixels.", _size)
    proxy: str | None = _setting(
        None, "URL", "Send the browser's traffic through this proxy.", _text
    )
    ignore_tls_errors: bool = _setting(False, "", "Accept bad certificates.", _switch)
    keep_seconds: float = _setting(
        600.0, "N", "Keep browsers running this long without a broker.", _seconds
    )
    port: int | None = _setting(
        None, "N", "Port for HTTP on 127.0.0.1. Default: that of the last start.",
        _number(1, 65535),
    )  # fmt: skip
    pool: int = _setting(POOL_LIMIT, "N", "Tabs per browser; 0: no limit.", _number(0, 10_000))
    clones: int = _setting(CLONED_JARS, "N", "Most cloned jars at a time.", _number(0, 1000))
    request_wait: float = _setting(
        REQUEST_WAIT,
        "SECONDS",
        "Let an action wait this long for the requests it began; 0: not at all.",
        _short_wait,
    )
    policy: Any = _setting(
        None,
        "FILE|PRESET",
        "What agents may do: open, careful, lockdown, or a policy file. In config.toml also a"
        " table.",
        _policy,
    )
    subagents_sessions: str = _setting(
        "own",
        "own|shared",
        "Sessions of sub-agents: own (each has its own, as a child of its parent's) or shared (all "
        "work in their parent's).",
        _one_of("own", "shared"),
    )
    keyring: bool = _setting(
        True,
        "",
        "Keep the key of stored logins and secrets in the system's keyring, if there is one.",
        _switch,
    )
    notifications: bool = _setting(
        True, "", "Tell you on the desktop when an agent asks for you.", _switch
    )
    reads: Reads = _setting(Reads.PRIVATE, "|".join(Reads), "Which agents may read a tab.", _reads)


SETTINGS: Mapping[str, Setting] = {
    row.name: Setting(row.name, row.default, **row.metadata) for row in fields(Settings)
}


# --- where they come from ------------------------------------------------------------------------


def load_settings(flags: Mapping[str, Any], environ: Mapping[str, str], config: Path) -> Settings:
    """Merge the sources and return the settings.

    Raises ``BadRequest`` that says which setting is wrong and where it was set.
    """
    sources = (
        ("config.toml", _from_toml(config)),
        ("environment", from_environment(environ)),
        ("flags", {name: value for name, value in flags.items() if value is not None}),
    )
    found: dict[str, tuple[str, Any]] = {}
    for source, values in sources:
        found.update((name, (source, value)) for name, value in values.items())
    return Settings(**{name: _read(name, *given) for name, given in found.items()})


def shown_settings(settings: Settings) -> dict[str, str]:
    """Return the settings as text for people, without the password that a proxy's URL may hold."""
    shown = {}
    for name in SETTINGS:
        value = getattr(settings, name)
        several = " ".join(value) if isinstance(value, tuple) else value
        text = "" if several is None else str(several)
        shown[name] = re.sub(r"//[^/@]*@", "//…@", text) if name == "proxy" else text
    return shown


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that ``ROOST_*`` variables give."""
    return {
        row.name: shlex.split(environ[row.variable]) if row.has_several else environ[row.variable]
        for row in SETTINGS.values()
        if row.variable in environ
    }


def as_flags(given: Mapping[str, Any]) -> list[str]:
    """Return the settings as flags for the daemon."""
    return [
        f"{SETTINGS[name].flag}={one}"
        for name, value in given.items()
        for one in (value if SETTINGS[name].has_several else (value,))
    ]


def _read(name: str, source: str, given: Any) -> Any:
    try:
        if name not in SETTINGS:
            raise ValueError("there is no such setting")
        return SETTINGS[name].read(given)
    except ValueError as wrong:
        raise BadRequest(
            f"{name} (from {source}): {wrong}.",
            hint=f"Settings are: {', '.join(SETTINGS)}.",
            field=name,
        ) from None


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with those of tables under joined names: ``[subagents] sessions`` is
    ``subagents_sessions``."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= {f"{name}_{inner}": one for inner, one in value.items()}
        else:
            found[name] = value
    return found


def _from_toml(config: Path) -> dict[str, Any]:
    import tomllib  # only the daemon reads the file

    try:
        return _flat(tomllib.loads(config.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # TOML and encoding errors are ValueErrors
        raise BadRequest(
            f"config.toml cannot be read: {error}.", hint=f"Correct {config} or remove it."
        ) from None
