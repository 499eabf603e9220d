"""The key of a home: in the keyring or in a file, never replaced while it may come back."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.local.home import Home
from roost.vault import secret_service
from roost.vault.key import HomeKey, Place
from roost.vault.secret_service import KeyringUnavailable, SecretService
from tests.vault.keyring import FakeKeyring, fake_keyring


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def keyring(tmp_path: Path) -> Iterator[FakeKeyring]:
    with fake_keyring(tmp_path / "bus") as keyring:
        yield keyring


def _key(home: Home, keyring: FakeKeyring | None = None) -> HomeKey:
    key = HomeKey(home, None if keyring is None else SecretService(keyring.path))
    key.load()
    return key


def test_without_a_keyring_the_key_is_in_a_file_that_only_this_user_can_read(home: Home) -> None:
    made = _key(home).found
    assert made is not None
    assert made.place is Place.FILE
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600
    assert _key(home).found == made, "the next broker finds the same key"


def test_a_key_in_the_keyring_is_in_no_file(home: Home, keyring: FakeKeyring) -> None:
    made = _key(home, keyring).found
    assert made is not None
    assert made.place is Place.KEYRING
    assert made.value.hex() not in home.key.read_text()
    assert [value for _, value in keyring.items.values()] == [made.value]
    assert _key(home, keyring).found == made


def test_a_locked_keyring_is_not_unlocked_and_its_key_comes_back_later(
    home: Home, keyring: FakeKeyring
) -> None:
    made = _key(home, keyring).found
    keyring.is_locked = True
    later = _key(home, keyring)
    assert later.found is None
    assert later.problem == "the keyring is locked"
    assert keyring.prompts == []
    keyring.is_locked = False
    assert later.load() == made


def test_a_new_home_with_a_locked_keyring_uses_a_file(home: Home, keyring: FakeKeyring) -> None:
    keyring.is_locked = True
    made = _key(home, keyring).found
    assert made is not None
    assert made.place is Place.FILE


def test_a_keyring_that_hangs_delays_a_broker_for_a_bounded_time(
    home: Home, keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    _key(home, keyring)
    monkeypatch.setattr(secret_service, "ANSWER_SECONDS", 0.1)
    keyring.may_answer.clear()
    assert "does not answer" in _key(home, keyring).problem


def test_a_keyring_that_answered_is_asked_again_though_its_thread_has_not_ended_yet(
    keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Thread, "is_alive", lambda _: True)
    service = SecretService(keyring.path)
    assert service.find({"id": "1"}) is None
    service.store("A key", {"id": "1"}, b"value")
    assert service.find({"id": "1"}) == b"value"


def test_a_key_that_left_the_keyring_is_not_replaced(home: Home, keyring: FakeKeyring) -> None:
    _key(home, keyring)
    record = home.key.read_bytes()
    keyring.items.clear()
    lost = _key(home, keyring)
    assert lost.found is None
    assert "has no key" in lost.problem
    assert home.key.read_bytes() == record
    assert keyring.items == {}


def test_a_removed_record_is_made_again_from_the_keyring(home: Home, keyring: FakeKeyring) -> None:
    made = _key(home, keyring).found
    home.key.unlink()
    assert _key(home, keyring).found == made


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"id": 5}'])
def test_a_damaged_record_is_reported_and_stays(home: Home, damage: str) -> None:
    _key(home)
    home.key.write_text(damage)
    lost = _key(home)
    assert lost.found is None
    assert "damaged" in lost.problem
    assert home.key.read_text() == damage


def test_a_changed_key_is_not_taken_for_the_right_one(home: Home) -> None:
    _key(home)
    record = json.loads(home.key.read_text())
    record["key"] = "00" + record["key"][2:]
    home.key.write_text(json.dumps(record))
    lost = _key(home)
    assert lost.found is None
    assert "is not key" in lost.problem


def test_a_machine_without_a_bus_has_no_keyring(tmp_path: Path) -> None:
    with pytest.raises(KeyringUnavailable, match="no keyring"):
        SecretService(tmp_path / "missing").find({})
