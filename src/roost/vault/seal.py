"""Seal what Roost stores: AES-256-GCM, bound to the place where it is stored.

A sealed value is ``MAGIC``, a version byte, the key's id, a nonce and the ciphertext. The header
and the name of the place are authenticated with it. So a value that was copied to another place,
for example from one session's jar to another's, does not open there.

Nonces are random. With 96 bits, one key may seal 2^32 values, which is 13 years of ten a second.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from roost.errors import VaultLocked
from roost.vault.key import ID_BYTES, HomeKey, Key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"\x93roost"
VERSION = 1
NONCE_BYTES = 12
_HEAD_BYTES = len(MAGIC) + 1 + ID_BYTES


class Damaged(Exception):
    """The value was changed, cut, moved from another place, or never sealed."""


def is_sealed(data: bytes) -> bool:
    return data.startswith(MAGIC)


class Sealer:
    """Seals and opens values with the key of one home."""

    def __init__(self, key: HomeKey) -> None:
        self._key = key

    def load_key(self) -> bool:
        """Find or make the key. Returns True if it is here. Waits a few seconds at most."""
        return self._key.load() is not None

    @property
    def key_problem(self) -> str | None:
        """Why the key is missing, or None if it is here."""
        return None if self._key.found is not None else self._key.problem

    def seal(self, place: str, data: bytes) -> bytes:
        """Return the data sealed for that place. Raises ``VaultLocked`` without the key."""
        key = self._loaded()
        head = MAGIC + bytes([VERSION]) + key.id
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + _cipher(key).encrypt(nonce, data, _bound(head, place))

    def open(self, place: str, sealed: bytes) -> bytes:
        """Return the data. Raises ``VaultLocked`` without the key that sealed it, else ``Damaged``
        if it cannot be opened."""
        from cryptography.exceptions import InvalidTag

        if not is_sealed(sealed) or len(sealed) < _HEAD_BYTES + NONCE_BYTES:
            raise Damaged(f"{place} is not sealed")
        head, nonce = sealed[:_HEAD_BYTES], sealed[_HEAD_BYTES : _HEAD_BYTES + NONCE_BYTES]
        if head[len(MAGIC)] != VERSION:
            raise Damaged(f"{place} was sealed by another version of Roost")
        key = self._loaded()
        if head[-ID_BYTES:] != key.id:
            raise VaultLocked(f"It was sealed with another key ({head[-ID_BYTES:].hex()}).")
        try:
            return _cipher(key).decrypt(
                nonce, sealed[_HEAD_BYTES + NONCE_BYTES :], _bound(head, place)
            )
        except InvalidTag:
            raise Damaged(f"{place} was changed or moved") from None

    def read(self, place: str, stored: bytes) -> bytes:
        """Like ``open``, but return what an earlier release stored in plain text as it is."""
        return self.open(place, stored) if is_sealed(stored) else stored

    def _loaded(self) -> Key:
        if self._key.found is None:
            raise VaultLocked(f"The key of what Roost stores is missing: {self._key.problem}.")
        return self._key.found


def _cipher(key: Key) -> AESGCM:
    # Imported here because it takes 50 ms, which a starting broker does not spend.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key.value)


def _bound(head: bytes, place: str) -> bytes:
    return head + place.encode()
