"""The person's secrets and logins: one sealed file in ROOST_HOME."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roost.errors import BadRequest, NotFound, TooLarge, VaultLocked
from roost.local.home import read_secret, write_secret
from roost.vault import providers
from roost.vault.seal import Damaged, Sealer
from roost.vault.totp import Totp
from roost.vocabulary import MIB, PROFILE_PATTERN

FILE_BYTES = 16 * MIB
SECRETS = 10_000
VALUE_CHARS = 16_000
ORIGINS = 50
_PLACE = "vault"
_NAME = re.compile(PROFILE_PATTERN)
_ORIGIN = re.compile(r"(https?)://((?:\*\.)?[a-z0-9.-]+|\[[0-9a-f:]+\])(?::([0-9]{1,5}))?", re.I)


@dataclass(frozen=True, slots=True)
class LoginPage:
    """Where and as whom a secret logs in. ``totp``: name of the secret with the one-time codes."""

    url: str
    username: str
    totp: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One secret.

    origins: where the value may be filled in, and where forms may send it.
    around: further origins that may embed a frame in which it is filled in.
    value: the value or the seed of one-time codes; empty if a provider holds it.
    source: the provider that holds the value; empty if the vault does.
    """

    name: str
    origins: tuple[str, ...]
    around: tuple[str, ...] = ()
    value: str = field(default="", repr=False)
    source: str = ""
    is_totp: bool = False
    login: LoginPage | None = None

    def is_bound_to(self, origin: str) -> bool:
        return fits(origin, self.origins)

    def may_be_below(self, origin: str) -> bool:
        """Return True if a page of that origin may embed the frame that gets the value."""
        return fits(origin, (*self.origins, *self.around))


def fits(origin: str, bound: Iterable[str]) -> bool:
    """Return True if the origin is one of those, or below one with ``*.`` before its host."""
    for one in bound:
        scheme, star, below = one.partition("://*.")
        if origin == one if not star else _is_below(origin, scheme, below):
            return True
    return False


def _is_below(origin: str, scheme: str, below: str) -> bool:
    return origin.startswith(f"{scheme}://") and origin.endswith(f".{below}")


def checked_origin(given: str, name: str = "origins") -> str:
    """Return the origin as browsers spell it. ``example.com`` means https.

    Raises ``BadRequest``.
    """
    text = given.strip().rstrip("/")
    if "://" not in text:
        text = f"https://{text}"
    found = _ORIGIN.fullmatch(text)
    if found is None:
        raise BadRequest(
            f"{name}: expected an origin such as https://example.com or https://*.example.com,"
            f" not {given[:100]!r}.",
            field=name,
        )
    scheme, host, port = found.group(1).lower(), found.group(2).lower(), found.group(3)
    is_usual = port in (None, {"http": "80", "https": "443"}[scheme])
    return f"{scheme}://{host}" + ("" if is_usual else f":{port}")


def login_origin(url: str) -> str:
    """Return the origin of a login page's address. Raises ``BadRequest`` if the address is neither
    http nor https."""
    parts = urlsplit(url)
    return checked_origin(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", "url")


class Vault:
    """The secrets of one home. Every method raises ``VaultLocked`` without the key."""

    def __init__(self, path: Path, sealer: Sealer) -> None:
        self._path = path
        self._sealer = sealer
        self._secrets: dict[str, Secret] | None = None

    @property
    def is_empty(self) -> bool:
        """True if nothing was ever stored here. Needs no key."""
        return not self._path.exists()

    def all(self) -> dict[str, Secret]:
        """Return the secrets by name."""
        if self._secrets is None:
            self._secrets = self._read()
        return self._secrets

    def get(self, name: str) -> Secret:
        found = self.all().get(name)
        if found is None:
            raise NotFound(f"There is no secret {name[:64]}.", secret=name[:64])
        return found

    def put(self, *secrets: Secret) -> None:
        """Store the secrets and replace those of the same names."""
        for secret in secrets:
            _check(secret)
        changed = {**self.all(), **{secret.name: secret for secret in secrets}}
        if len(changed) > SECRETS:
            raise TooLarge(f"The vault would have more than {SECRETS} secrets.")
        self._write(changed)

    def remove(self, name: str) -> None:
        secret = self.get(name)
        gone = {name, secret.login.totp if secret.login else None}
        self._write({one: secret for one, secret in self.all().items() if one not in gone})

    def _read(self) -> dict[str, Secret]:
        data = read_secret(self._path, FILE_BYTES)
        if data is None:
            return {}
        try:
            rows = json.loads(self._sealer.open(_PLACE, data))
            return {row["name"]: _from_json(row) for row in rows}
        except (Damaged, ValueError, LookupError, TypeError):
            raise VaultLocked(
                f"{self._path} is damaged.",
                hint=f"Put a copy of it back, or remove it and add the secrets again: rm"
                f" {self._path}",
            ) from None

    def _write(self, secrets: dict[str, Secret]) -> None:
        data = json.dumps([asdict(secret) for secret in secrets.values()]).encode()
        write_secret(self._path, self._sealer.seal(_PLACE, data))
        self._secrets = secrets


def _check(secret: Secret) -> None:
    if not _NAME.fullmatch(secret.name):
        raise BadRequest(
            "name: use 1 to 64 letters, digits, '.', '_' or '-', beginning with one of the first"
            " two.",
            field="name",
        )
    if not secret.origins or len(secret.origins) + len(secret.around) > ORIGINS:
        raise BadRequest(f"origins: expected 1 to {ORIGINS} origins.", field="origins")
    if bool(secret.value) == bool(secret.source):
        raise BadRequest("value: give either a value or a source.", field="value")
    if len(secret.value) > VALUE_CHARS:
        raise TooLarge(f"value: a secret has at most {VALUE_CHARS} characters.")
    if secret.source:
        providers.check_source(secret.source)
    elif secret.is_totp:
        Totp.parse(secret.value)


def _from_json(row: dict[str, Any]) -> Secret:
    known = {one.name: row[one.name] for one in fields(Secret) if one.name in row}
    login = known.get("login")
    return Secret(
        **{
            **known,
            "origins": _texts(row["origins"]),
            "around": _texts(row.get("around", ())),
            "login": None if login is None else LoginPage(**login),
        }
    )


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(one) for one in given)
