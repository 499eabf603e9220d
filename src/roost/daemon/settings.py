"""Settings of the broker. Flags take precedence over ``ROOST_*`` variables, then comes
``config.toml`` in ROOST_HOME, then the defaults."""

from __future__ import annotations

import argparse
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from roost.errors import BadRequest
from roost.vocabulary import CLONED_JARS, POOL_LIMIT, REQUEST_WAIT, Reads

PREFIX = "ROOST_"


class Settings(BaseModel):
    """What a person may set. Each setting is a flag of ``roost up``, an environment variable
    ``ROOST_<NAME>`` and a key of ``config.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    browser: Literal[
        "auto", "chromium", "firefox", "mine", "mine-chromium", "mine-firefox", "fake"
    ] = Field(
        "auto",
        description="which browser to use; mine is the person's own, through the extension; fake is"
        " one in memory, for tests",
    )
    headless: bool | None = Field(None, description="no window; default: when there is no display")
    browser_path: str | None = Field(None, description="path of the browser's program")
    browser_arg: list[str] = Field(default_factory=list, description="more flags for the browser")
    viewport: str = Field("1280x720", pattern=r"^\d{2,5}x\d{2,5}$", description="size of new tabs")
    proxy: str | None = Field(None, description="send the browser's traffic through this proxy")
    ignore_tls_errors: bool = Field(False, description="open sites with broken certificates")
    keep_seconds: float = Field(
        600.0, ge=0, description="seconds that a browser keeps running without a broker"
    )
    port: int | None = Field(
        None, ge=1, le=65535, description="port for HTTP; default: the port of the last start"
    )
    pool: int = Field(POOL_LIMIT, ge=0, le=10_000, description="tabs per browser; 0: no limit")
    clones: int = Field(CLONED_JARS, ge=0, le=1000, description="most cloned jars at a time")
    request_wait: float = Field(
        REQUEST_WAIT,
        ge=0,
        le=30,
        description="seconds that an action waits for the requests it began; 0: not at all",
    )
    reads: Reads = Field(Reads.PRIVATE, description="which agents may read a tab")


LISTS = frozenset({"browser_arg"})
"""Settings with several values. In the environment, their values are separated as in a shell."""


def load_settings(flags: Mapping[str, Any], environ: Mapping[str, str], config: Path) -> Settings:
    """Merge the sources and return the settings. Raises ``BadRequest`` that says which setting is
    wrong and where it was set."""
    sources = (
        ("config.toml", _from_toml(config)),
        ("environment", _from_environment(environ)),
        ("flags", {name: value for name, value in flags.items() if value is not None}),
    )
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for source, values in sources:
        merged.update(values)
        origin.update(dict.fromkeys(values, source))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        raise BadRequest(
            f"{name} (from {origin.get(name, 'settings')}): {first['msg']}.",
            hint=f"Settings are: {', '.join(Settings.model_fields)}.",
            field=name,
        ) from None


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add one flag per setting to the daemon's own command line."""
    for name, field in Settings.model_fields.items():
        action = "append" if name in LISTS else "store"
        parser.add_argument(f"--{name.replace('_', '-')}", help=field.description, action=action)


def as_flags(values: Mapping[str, Any]) -> Sequence[str]:
    """Return the settings as flags for the daemon's command line."""
    given = [(name, value) for name, value in values.items() if value is not None]
    several = [(name, one) for name, value in given if name in LISTS for one in value]
    single = [(name, value) for name, value in given if name not in LISTS]
    return [f"--{name.replace('_', '-')}={value}" for name, value in (*single, *several)]


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    names = {PREFIX + name.upper(): name for name in Settings.model_fields}
    found: dict[str, Any] = {names[key]: value for key, value in environ.items() if key in names}
    found.update((name, shlex.split(found[name])) for name in LISTS & found.keys())
    return found


def _from_toml(config: Path) -> dict[str, Any]:
    try:
        text = config.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(
            f"config.toml cannot be read: {error}.", hint=f"Correct {config} or remove it."
        ) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"config.toml: {error}.", hint=f"Correct {config} or remove it.") from None
