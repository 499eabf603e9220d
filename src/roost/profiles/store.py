"""The profiles of one ROOST_HOME. Each is a file that only this user can read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from roost.drivers.base import JarContents
from roost.errors import BadRequest, ProfileNotFound, TooLarge
from roost.local.home import read_secret, write_secret
from roost.vault.seal import Damaged, Sealer, is_sealed
from roost.vocabulary import MIB, PROFILE_PATTERN

PROFILE_BYTES = 64 * MIB
FILE_BYTES = PROFILE_BYTES + 1024
"""A file is a little larger than its profile, because it is sealed."""
SUFFIX = ".json"
ANY_AGENT = ".any-agent"
"""Suffix of the empty file that marks a profile every agent may clone."""
_NAME = re.compile(PROFILE_PATTERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named source of logins. Jars get a copy and never change the profile."""

    name: str
    source: str
    """The kind of source that the logins were read from."""
    imported_at: float
    contents: JarContents = field(repr=False)

    @property
    def sites(self) -> set[str]:
        return {cookie.domain.removeprefix(".") for cookie in self.contents.cookies}


_PROFILE = TypeAdapter(Profile)


class ProfileStore:
    """The folder of profiles. Only the broker reads and writes it."""

    def __init__(self, folder: Path, sealer: Sealer) -> None:
        self._folder = folder
        self._sealer = sealer

    def put(self, profile: Profile, *, for_any_agent: bool = False) -> None:
        """Store the profile and replace an existing one of that name.

        for_any_agent: every agent may clone it, not only those that were started with it.
        """
        path = self._path(profile.name)
        data = _PROFILE.dump_json(profile)
        if len(data) > PROFILE_BYTES:
            raise TooLarge(
                f"The profile would take {len(data) // MIB} MiB.",
                hint="Import only the sites you need: --domain example.com.",
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark = self._mark(profile.name)
        mark.unlink(missing_ok=True)  # first, so that an old mark never applies to the new profile
        write_secret(path, self._sealer.seal(_place(profile.name), data))
        if for_any_agent:
            write_secret(mark, b"")

    def get(self, name: str) -> Profile:
        """Return the profile. Raises ``ProfileNotFound`` if it is missing or cannot be read, and
        ``VaultLocked`` without the key that sealed it."""
        data = read_secret(self._path(name), FILE_BYTES)
        if data is None:
            raise _not_found(name)
        try:
            return _PROFILE.validate_json(self._sealer.read(_place(name), data))
        except (Damaged, ValidationError):
            raise ProfileNotFound(
                f"Profile {name} cannot be read.",
                hint=f"Import it again: roost profile import SOURCE --name {name}.",
                profile=name,
            ) from None

    def seal_all(self) -> int:
        """Seal the profiles that an earlier release stored in plain text. Returns their number.

        Raises ``VaultLocked`` without the key. A broker that is killed here leaves each profile
        either plain or sealed, and the next one continues.
        """
        sealed = 0
        for name in self.names():
            data = read_secret(self._path(name), FILE_BYTES)
            if data is not None and not is_sealed(data):
                write_secret(self._path(name), self._sealer.seal(_place(name), data))
                sealed += 1
        return sealed

    def has(self, name: str) -> bool:
        return self._path(name).is_file()

    def check(self, name: str) -> None:
        """Raise ``ProfileNotFound`` if there is no profile of that name."""
        if not self.has(name):
            raise _not_found(name)

    def is_for_any_agent(self, name: str) -> bool:
        """Return True if every agent may clone the profile."""
        return self._mark(name).is_file()

    def names(self) -> list[str]:
        try:
            found = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        names = (name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX))
        return sorted(name for name in names if _NAME.fullmatch(name))

    def remove(self, name: str) -> None:
        """Delete the profile. Jars that were cloned from it keep their contents."""
        self._mark(name).unlink(missing_ok=True)
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise _not_found(name) from None

    def _mark(self, name: str) -> Path:
        return self._path(name).with_name(f"{name}{ANY_AGENT}")

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadRequest(
                f"profile: {name[:64]!r} is not a name for a profile.",
                hint="Use 1 to 64 letters, digits, '.', '_' or '-', beginning with one of the"
                " first two.",
                field="profile",
            )
        return self._folder / f"{name}{SUFFIX}"


def _place(name: str) -> str:
    """Return what a profile is sealed for: its file opens under its own name only."""
    return f"profile/{name}"


def _not_found(name: str) -> ProfileNotFound:
    return ProfileNotFound(f"There is no profile {name}.", profile=name)
