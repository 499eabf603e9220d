"""Settings: flags over ``ROOST_*`` over ``$ROOST_HOME/config.toml`` over defaults."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from roost.errors import BadRequest
from roost.vocabulary import POOL_LIMIT, Reads

PREFIX = "ROOST_"


class Settings(BaseModel):
    """What a person may set. Each is a flag of ``roost up``, an environment variable
    ``ROOST_<NAME>`` and a key of ``config.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    browser: Literal["auto", "fake"] = Field("auto", description="which browser to use")
    pool: int = Field(POOL_LIMIT, ge=0, le=10_000, description="tabs per browser; 0: no limit")
    reads: Reads = Field(Reads.PRIVATE, description="who may read a tab")


def load_settings(flags: Mapping[str, Any], environ: Mapping[str, str], config: Path) -> Settings:
    """The settings in force. ``BadRequest`` says which one is wrong and where it was set."""
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
    """One flag per setting, for the daemon's own command line."""
    for name, field in Settings.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=field.description)


def as_flags(values: Mapping[str, Any]) -> Sequence[str]:
    """Settings a starter was given, as the daemon's command line takes them."""
    given = ((name, value) for name, value in values.items() if value is not None)
    return [f"--{name.replace('_', '-')}={value}" for name, value in given]


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    names = {PREFIX + name.upper(): name for name in Settings.model_fields}
    return {names[key]: value for key, value in environ.items() if key in names}


def _from_toml(config: Path) -> dict[str, Any]:
    try:
        text = config.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"config.toml: {error}.", hint=f"Correct {config} or remove it.") from None
