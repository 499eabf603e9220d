from __future__ import annotations

from pathlib import Path

import pytest

from roost.daemon.main import _parsed
from roost.errors import BadRequest
from roost.local.settings import SETTINGS, as_flags, from_environment, load_settings
from roost.vocabulary import POOL_LIMIT, Reads

NO_FLAGS = dict.fromkeys(SETTINGS)


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
def test_a_wrong_setting_is_named_with_its_source(
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


def test_the_settings_of_a_starter_reach_the_daemon_unchanged(config: Path) -> None:
    given = {"pool": 7, "reads": "shared", "browser": "fake"}
    options = vars(_parsed(as_flags({**given, "browser_arg": ["--a b", "-c"]})))
    settings = load_settings({name: options[name] for name in SETTINGS}, {}, config)
    assert (settings.pool, settings.reads, settings.browser) == (7, Reads.SHARED, "fake")
    assert settings.browser_arg == ("--a b", "-c")


def test_every_setting_is_described_and_none_shadows_what_finds_the_broker() -> None:
    for setting in SETTINGS.values():
        assert setting.help.endswith("."), setting.name
        assert setting.variable not in {"ROOST_HOME", "ROOST_SESSION"}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("headless", "True", True),
        ("headless", "no", False),
        ("ignore_tls_errors", "1", True),
        ("keep_seconds", "0.5", 0.5),
        ("viewport", "800x600", "800x600"),
        ("port", "65535", 65535),
        ("pool", "0", 0),
        ("browser", "mine-firefox", "mine-firefox"),
        ("reads", "shared", Reads.SHARED),
        ("browser_arg", "--one '--two three'", ("--one", "--two three")),
    ],
)
def test_a_variable_is_read_as_the_settings_type(
    name: str, text: str, value: object, config: Path
) -> None:
    environ = {SETTINGS[name].variable: text}
    assert getattr(load_settings({}, environ, config), name) == value
    assert set(from_environment(environ)) == {name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("headless", "perhaps"),
        ("keep_seconds", "-1"),
        ("keep_seconds", "nan"),
        ("viewport", "800"),
        ("port", "0"),
        ("port", "65536"),
        ("pool", "1e3"),
        ("pool", "٣"),
        ("reads", "all"),
    ],
)
def test_a_value_of_the_wrong_type_or_size_is_refused(name: str, text: str, config: Path) -> None:
    with pytest.raises(BadRequest, match=f"{name} \\(from flags\\): expected"):
        load_settings({name: text}, {}, config)


@pytest.mark.parametrize("text", ["browser_arg = 'one'", "proxy = 3", "pool = true"])
def test_a_value_of_the_wrong_type_in_the_file_is_refused(text: str, config: Path) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match="config.toml"):
        load_settings({}, {}, config)


def test_a_setting_may_stand_in_a_table(config: Path) -> None:
    config.write_text('pool = 3\n[subagents]\nsessions = "shared"\n', encoding="utf-8")
    found = load_settings({}, {}, config)
    assert (found.pool, found.subagents_sessions) == (3, "shared")
    config.write_text('[subagents]\nsessions = "none"\n', encoding="utf-8")
    with pytest.raises(BadRequest, match="subagents_sessions"):
        load_settings({}, {}, config)
    config.write_text("[subagents]\ncolour = 1\n", encoding="utf-8")
    with pytest.raises(BadRequest, match="subagents_colour"):
        load_settings({}, {}, config)
