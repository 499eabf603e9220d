"""Chromium's encrypted cookies: every key that it may use, and keys that cannot be read."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from roost.profiles.chromium import cookies_file, read_chromium
from roost.profiles.keyring import Keyring

HOST = ".example.com"


class KnownKeyring(Keyring):
    """A keyring whose answer is already known."""

    def __init__(self, *words: str) -> None:
        super().__init__(Path("nowhere"))
        self._words = list(words)
        self.problem = "there is none"

    def passwords(self) -> list[str]:
        return self._words


def _sealed(value: str, password: str, *, version: bytes, rounds: int = 1) -> bytes:
    key = hashlib.pbkdf2_hmac("sha1", password.encode(), b"saltysalt", rounds, 16)
    data = hashlib.sha256(HOST.encode()).digest() + value.encode()
    padding = 16 - len(data) % 16
    sealing = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).encryptor()
    return version + sealing.update(data + bytes([padding]) * padding) + sealing.finalize()


def _store(folder: Path, *sealed: bytes, version: int = 24) -> Path:
    path = folder / "Cookies"
    with sqlite3.connect(path) as store:
        store.execute("CREATE TABLE meta (key, value)")
        store.execute("INSERT INTO meta VALUES ('version', ?)", (str(version),))
        store.execute(
            "CREATE TABLE cookies (creation_utc, host_key, top_frame_site_key, name, value,"
            " encrypted_value, path, expires_utc, is_secure, is_httponly, is_persistent, samesite,"
            " has_cross_site_ancestor)"
        )
        for number, value in enumerate(sealed):
            row = (number, HOST, "", f"c{number}", "", value, "/", 13_439_367_147_851_863, 1, 1, 1)
            store.execute(f"INSERT INTO cookies VALUES ({'?, ' * 11} 1, 1)", row)
    store.close()
    return path


def test_the_public_key_decrypts_v10_cookies_on_linux(tmp_path: Path) -> None:
    store = _store(tmp_path, _sealed("hello", "peanuts", version=b"v10"))
    (cookie,) = read_chromium(store, KnownKeyring(), "linux").cookies

    assert (cookie.value, cookie.domain, cookie.same_site) == ("hello", HOST, "Lax")
    assert cookie.expires == pytest.approx(1_794_893_547.85, abs=0.01)
    assert cookie.secure
    assert cookie.http_only


def test_only_the_browsers_own_keyring_key_decrypts_v11_cookies(tmp_path: Path) -> None:
    store = _store(tmp_path, _sealed("hello", "right", version=b"v11"))

    assert read_chromium(store, KnownKeyring("wrong", "right"), "linux").cookies[0].value == "hello"
    refused = read_chromium(store, KnownKeyring("wrong"), "linux")
    assert refused.cookies == []
    assert refused.left_out == {"cookies that none of the keys found opens": 1}


def test_a_mac_keeps_the_key_of_v10_in_its_keychain(tmp_path: Path) -> None:
    store = _store(tmp_path, _sealed("hello", "word", version=b"v10", rounds=1003))

    assert read_chromium(store, KnownKeyring("word"), "darwin").cookies[0].value == "hello"


def test_cookies_that_cannot_be_decrypted_are_counted_with_the_reason(tmp_path: Path) -> None:
    store = _store(
        tmp_path,
        _sealed("a", "right", version=b"v11"),
        _sealed("b", "right", version=b"v11"),
        b"v20" + b"x" * 32,
        b"v10",
    )
    harvest = read_chromium(store, KnownKeyring(), "linux")

    assert harvest.cookies == []
    assert harvest.left_out == {
        "cookies whose key could not be had: there is none": 2,
        "cookies in an encryption Roost does not know ('v20')": 1,
        "cookies that none of the keys found opens": 1,
    }


@pytest.mark.parametrize("place", ["Cookies", "Network/Cookies", "Default/Cookies"])
def test_the_store_is_found_in_a_profile_and_around_it(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).touch()

    assert cookies_file(tmp_path) == tmp_path / place
