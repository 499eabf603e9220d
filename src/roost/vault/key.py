"""The key of one ROOST_HOME: 32 random bytes, in the system's keyring or in a file.

``key.json`` in the home says where the key is: ``{"version", "id", "place", "key"?}``. The file
holds the key itself only if there is no keyring. The id is derived from the key, so a damaged or
foreign key is never taken for the right one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass, field
from enum import StrEnum

from roost.errors import RoostError
from roost.local.home import Home, read_secret, write_secret
from roost.vault.secret_service import KeyringUnavailable, SecretService

logger = logging.getLogger(__name__)
KEY_BYTES = 32
ID_BYTES = 8
VERSION = 1


class Place(StrEnum):
    KEYRING = "keyring"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Key:
    value: bytes = field(repr=False)
    place: Place

    @property
    def id(self) -> bytes:
        return hashlib.sha256(b"roost key id\0" + self.value).digest()[:ID_BYTES]


class HomeKey:
    """The key of ``home``. ``load`` finds or makes it; until then, and if it fails, it is missing.

    keyring: where to look first; None: keep a new key in the file.
    """

    def __init__(self, home: Home, keyring: SecretService | None) -> None:
        self._home = home
        self._keyring = keyring
        self.found: Key | None = None
        self.problem = "it was not looked for"
        """Why the key is missing."""

    def load(self) -> Key | None:
        """Find the key, or make one if this home never had one. Never waits for a person.

        A key that is recorded but missing is never replaced, because the old key may return and
        open what it sealed.
        """
        if self.found is None:
            try:
                self.found = self._recorded()
            except (KeyringUnavailable, OSError, RoostError, ValueError, LookupError) as problem:
                self.problem = str(problem)
        return self.found

    def _recorded(self) -> Key:
        data = read_secret(self._home.key)
        if data is None:
            return self._made()
        try:
            record = json.loads(data)
            wanted, place = bytes.fromhex(record["id"]), Place(record["place"])
            value = bytes.fromhex(record["key"]) if place is Place.FILE else None
        except (ValueError, LookupError, TypeError):
            raise ValueError(f"{self._home.key} is damaged") from None
        if value is None:
            value = (self._keyring or SecretService()).find({"key": wanted.hex()})
            if value is None:
                raise LookupError(f"the keyring has no key {wanted.hex()}")
        key = Key(value, place)
        if len(value) != KEY_BYTES or key.id != wanted:
            raise ValueError(f"the key in the {place} is not key {wanted.hex()}")
        return key

    def _made(self) -> Key:
        """Make the key of a home without one. If the keyring still has this home's key, because
        somebody removed the record, use that key."""
        key = Key(os.urandom(KEY_BYTES), Place.FILE)
        if self._keyring is not None:
            home = os.path.realpath(self._home.path)
            try:
                known = self._keyring.find({"home": home})
                kept = Key(known or key.value, Place.KEYRING)
                if known is None:
                    attributes = {"home": home, "key": kept.id.hex()}
                    self._keyring.store(f"Roost: {home}", attributes, kept.value)
                key = kept
            except KeyringUnavailable as problem:
                logger.info("the key is kept in a file: %s", problem)
        record = {"version": VERSION, "id": key.id.hex(), "place": key.place.value}
        if key.place is Place.FILE:
            record["key"] = key.value.hex()
        write_secret(self._home.key, json.dumps(record).encode())
        return key
