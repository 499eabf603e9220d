from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from roost.daemon.settings import PREFIX, Settings, add_flags, as_flags, load_settings
from roost.errors import BadRequest
from roost.vocabulary import POOL_LIMIT, Reads

NO_FLAGS = dict.fromkeys(Settings.model_fields)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_without_anything_set_the_defaults_hold(config: Path) -> None:
    settings = load_settings(NO_FLAGS, {}, config)
    assert (settings.pool, settings.reads) == (POOL_LIMIT, Reads.PRIVATE)


def test_flags_win_over_the_environment_and_that_over_the_file(config: Path) -> None:
    config.write_text('pool = 3\nreads = "shared"\nbrowser = "fake"\n', encoding="utf-8")
    environ = {"ROOST_POOL": "4", "ROOST_READS": "private", "HOME": "/nowhere", "POOL": "9"}
    settings = load_settings({**NO_FLAGS, "pool": "5"}, environ, config)
    assert (settings.pool, settings.reads, settings.browser) == (5, Reads.PRIVATE, "fake")
    assert load_settings(NO_FLAGS, environ, config).pool == 4
    assert load_settings(NO_FLAGS, {}, config).pool == 3


@pytest.mark.parametrize(
    ("flags", "environ", "text", "field", "origin"),
    [
        ({"pool": "many"}, {}, "", "pool", "flags"),
        ({"pool": "-1"}, {}, "", "pool", "flags"),
        ({}, {"ROOST_READS": "all"}, "", "reads", "environment"),
        ({}, {}, "pool = 10001", "pool", "config.toml"),
        ({}, {}, 'browser = "lynx"', "browser", "config.toml"),
        ({}, {}, "colour = 1", "colour", "config.toml"),
        ({"pool": "x"}, {"ROOST_POOL": "4"}, "pool = 3", "pool", "flags"),
    ],
)
def test_a_wrong_setting_is_blamed_by_name_and_by_where_it_was_set(
    flags: dict[str, str],
    environ: dict[str, str],
    text: str,
    field: str,
    origin: str,
    config: Path,
) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest) as refusal:
        load_settings(flags, environ, config)
    assert refusal.value.details["field"] == field
    assert origin in refusal.value.message
    assert "pool" in refusal.value.hint


@pytest.mark.parametrize("data", [b"pool = = 3", b"\xff\xfe", b"pool"])
def test_a_file_that_cannot_be_read_is_named(data: bytes, config: Path) -> None:
    config.write_bytes(data)
    with pytest.raises(BadRequest) as refusal:
        load_settings({}, {}, config)
    assert str(config) in refusal.value.hint


def test_a_folder_in_the_files_place_is_named(config: Path) -> None:
    config.mkdir()
    with pytest.raises(BadRequest) as refusal:
        load_settings({}, {}, config)
    assert str(config) in refusal.value.hint


def test_what_a_starter_was_given_arrives_at_the_daemon_as_it_was(config: Path) -> None:
    given = {"pool": 7, "reads": "shared", "browser": "fake"}
    parser = argparse.ArgumentParser()
    add_flags(parser)
    options = vars(parser.parse_args(as_flags({**NO_FLAGS, **given})))
    assert set(options) == set(Settings.model_fields)
    settings = load_settings(options, {}, config)
    assert (settings.pool, settings.reads, settings.browser) == (7, Reads.SHARED, "fake")
    assert as_flags(NO_FLAGS) == []


def test_every_setting_is_described_and_none_shadows_what_finds_the_broker() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert PREFIX + name.upper() not in {"ROOST_HOME", "ROOST_SESSION"}
