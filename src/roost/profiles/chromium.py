"""A Chromium profile folder (Chrome, Brave, Edge likewise): its Cookies, decrypted where possible,
and localStorage.

Values of cookies are encrypted: ``v10`` with a key everybody knows (Linux) or one of the keychain
(macOS), ``v11`` with one of the desktop's keyring.
https://chromium.googlesource.com/chromium/src/+/HEAD/components/os_crypt/
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from roost.drivers.base import Cookie, OriginStorage
from roost.profiles.harvest import Harvest, database
from roost.profiles.keyring import Keyring
from roost.profiles.leveldb import Bytes, read_leveldb

PLACES = ("Cookies", "Network/Cookies", "Default/Cookies", "Default/Network/Cookies")
SAME_SITES = {0: "None", 1: "Lax", 2: "Strict"}
EPOCH_1601 = 11_644_473_600
"""Seconds from Chromium's year zero to ours."""
SALT, LINUX_ROUNDS, MAC_ROUNDS = b"saltysalt", 1, 1003
KNOWN_TO_ALL = "peanuts"
IV = b" " * 16
HOST_HASH_FROM = 24
"""Since this version of the database a value begins with the hash of its host."""
NO_KEY = "cookies whose key could not be had: {}"
WRONG_KEY = "cookies that none of the keys found opens"
UNKNOWN = "cookies in an encryption Roost does not know ({})"
STORAGE = "Local Storage/leveldb"
ITEM, META, FIRST_FIELD = b"_", b"META:", b"\x08"
WIDE, NARROW = 0, 1
"""How the characters of a name or a value are kept."""


def cookies_file(folder: Path) -> Path | None:
    """Of a profile folder, or of the user data folder around it."""
    return next((folder / place for place in PLACES if (folder / place).is_file()), None)


def read_chromium(store: Path, keyring: Keyring, platform: str = sys.platform) -> Harvest:
    harvest = Harvest()
    with database(store) as connection:
        vault = _Vault(keyring, platform, has_host_hash=_version(connection) >= HOST_HASH_FROM)
        for row in _rows(connection):
            value = vault.opened(bytes(row["encrypted_value"]), row["host_key"], harvest)
            if not row["encrypted_value"]:
                value = row["value"]
            if value is not None:
                harvest.cookies.append(_cookie(row, value))
    _read_storage(store, harvest)
    return harvest


def _version(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    return 0 if found is None else int(found[0])


def _rows(connection: sqlite3.Connection) -> Iterator[sqlite3.Row]:
    connection.row_factory = sqlite3.Row
    return connection.execute("SELECT * FROM cookies ORDER BY creation_utc")


def _cookie(row: sqlite3.Row, value: str) -> Cookie:
    columns = row.keys()  # older databases lack the partition's
    partition = row["top_frame_site_key"] if "top_frame_site_key" in columns else ""
    ancestor = "has_cross_site_ancestor" not in columns or bool(row["has_cross_site_ancestor"])
    return Cookie(
        name=row["name"],
        value=value,
        domain=row["host_key"],
        path=row["path"],
        expires=row["expires_utc"] / 1e6 - EPOCH_1601 if row["is_persistent"] else None,
        http_only=bool(row["is_httponly"]),
        secure=bool(row["is_secure"]),
        same_site=SAME_SITES.get(row["samesite"]),
        partition_key=partition or None,
        cross_site_ancestor=bool(partition) and ancestor,
    )


class _Vault:
    """The keys of one profile, asked for when they are first needed."""

    def __init__(self, keyring: Keyring, platform: str, *, has_host_hash: bool) -> None:
        self._keyring = keyring
        self._is_mac = platform == "darwin"
        self._has_host_hash = has_host_hash
        self._from_keyring: list[bytes] | None = None

    def opened(self, sealed: bytes, host: str, harvest: Harvest) -> str | None:
        if not sealed:
            return None
        version, body = sealed[:3], sealed[3:]
        if version == b"v10" and not self._is_mac:
            # "": what Chromium falls back to when a keyring fails under it.
            keys = [_key(KNOWN_TO_ALL, LINUX_ROUNDS), _key("", LINUX_ROUNDS)]
        elif version in (b"v10", b"v11"):
            keys = self._keyring_keys()
        else:
            harvest.left_out[UNKNOWN.format(ascii(version.decode("latin-1")))] += 1
            return None
        for key in keys:
            value = self._decrypted(body, host, key)
            if value is not None:
                return value
        reason = WRONG_KEY if keys else NO_KEY.format(self._keyring.problem)
        harvest.left_out[reason] += 1
        return None

    def _keyring_keys(self) -> list[bytes]:
        if self._from_keyring is None:
            rounds = MAC_ROUNDS if self._is_mac else LINUX_ROUNDS
            self._from_keyring = [_key(word, rounds) for word in self._keyring.passwords()]
        return self._from_keyring

    def _decrypted(self, body: bytes, host: str, key: bytes) -> str | None:
        if not body or len(body) % 16:
            return None
        opening = Cipher(algorithms.AES(key), modes.CBC(IV)).decryptor()
        data = opening.update(body) + opening.finalize()
        padding = data[-1]
        if not 1 <= padding <= 16 or data[-padding:] != bytes([padding]) * padding:
            return None
        data = data[:-padding]
        if self._has_host_hash:
            if data[:32] != hashlib.sha256(host.encode()).digest():
                return None
            data = data[32:]
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None


def _key(password: str, rounds: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha1", password.encode(), SALT, rounds, 16)


# --- localStorage --------------------------------------------------------------------------------


def _read_storage(cookies: Path, harvest: Harvest) -> None:
    beside = cookies.parent.parent if cookies.parent.name == "Network" else cookies.parent
    folder = beside / STORAGE
    if not (folder / "CURRENT").is_file():
        return
    try:
        pairs = read_leveldb(folder)
    except (OSError, ValueError) as problem:
        harvest.left_out[f"stores of all sites' storage, which cannot be read: {problem}"] += 1
        return
    origins: dict[str, list[tuple[str, str]]] = {}
    for key, value in pairs.items():
        site, _, name = key.removeprefix(ITEM).partition(b"\0")
        if not key.startswith(ITEM) or not site.startswith(b"http"):
            continue
        if b"^" in site:
            harvest.left_out["storage items of sites inside others"] += 1
            continue
        try:
            item = _text(name), _text(value)
        except ValueError:
            harvest.left_out["storage items that cannot be read"] += 1
            continue
        origins.setdefault(site.decode("latin-1"), []).append(item)
    latest_first = sorted(origins, key=lambda origin: -_written_at(pairs, origin))
    harvest.storage += [OriginStorage(origin, tuple(origins[origin])) for origin in latest_first]


def _written_at(pairs: Mapping[bytes, bytes], origin: str) -> int:
    """By what stands beside an origin's items: a protobuf whose first field is a time."""
    about = pairs.get(META + origin.encode("latin-1"), b"")
    if not about.startswith(FIRST_FIELD):
        return 0
    return Bytes(about[1:]).number()


def _text(data: bytes) -> str:
    if not data or data[0] not in (WIDE, NARROW):
        raise ValueError("no text")
    if data[0] == NARROW:
        return data[1:].decode("latin-1")
    return data[1:].decode("utf-16-le", "surrogatepass")
