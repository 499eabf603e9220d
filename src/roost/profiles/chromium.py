"""Read a profile folder of Chromium, Chrome, Brave or Edge: cookies and localStorage.

Chromium encrypts the values of cookies. ``v10`` values use a publicly known key (Linux) or a key in
the keychain (macOS); ``v11`` values use a key in the desktop's keyring. Cookies that cannot be
decrypted are left out and counted.
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
"""Seconds from Chromium's epoch (1601) to the Unix epoch (1970)."""
SALT, LINUX_ROUNDS, MAC_ROUNDS = b"saltysalt", 1, 1003
KNOWN_TO_ALL = "peanuts"
IV = b" " * 16
HOST_HASH_FROM = 24
"""From this version of the database on, a decrypted value begins with the hash of its host."""
NO_KEY = "cookies whose key could not be had: {}"
WRONG_KEY = "cookies that none of the keys found opens"
UNKNOWN = "cookies in an encryption Roost does not know ({})"
STORAGE = "Local Storage/leveldb"
ITEM, META, FIRST_FIELD = b"_", b"META:", b"\x08"
WIDE, NARROW = 0, 1
"""Encodings of a stored name or value: UTF-16 or Latin-1."""


def cookies_file(folder: Path) -> Path | None:
    """Return the cookie database of a profile folder, or of a user data folder's default profile.
    None if there is none."""
    return next((folder / place for place in PLACES if (folder / place).is_file()), None)


def read_chromium(store: Path, keyring: Keyring, platform: str = sys.platform) -> Harvest:
    """Read the cookie database ``store`` and the localStorage of the same profile."""
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
    columns = row.keys()  # older databases lack the columns of the partition
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
    """Decrypt the cookies of one profile. The keyring is asked only when it is first needed."""

    def __init__(self, keyring: Keyring, platform: str, *, has_host_hash: bool) -> None:
        self._keyring = keyring
        self._is_mac = platform == "darwin"
        self._has_host_hash = has_host_hash
        self._from_keyring: list[bytes] | None = None

    def opened(self, sealed: bytes, host: str, harvest: Harvest) -> str | None:
        """Decrypt a cookie's value. If no key fits, count it in ``left_out`` and return None."""
        if not sealed:
            return None
        version, body = sealed[:3], sealed[3:]
        if version == b"v10" and not self._is_mac:
            # Chromium falls back to an empty password if the keyring fails.
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
        """Return the value, or None if padding, host hash or encoding shows that the key is not
        the right one."""
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
    """Return when the origin's storage was last written, or 0 if unknown. The META entry of the
    origin is a protobuf whose first field is that time."""
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
