"""Which files an agent may name: below its working directory, or in its session's own folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from roost.errors import BadRequest
from roost.local.home import write_secret

NAME_CHARS = 200


class Folders:
    """``home`` is ROOST_HOME, forbidden but for the session's own folder below ``own``."""

    def __init__(self, home: Path, own: Path, others: Iterable[str]) -> None:
        self._home = home.resolve()
        self._own = own
        self._others = [Path(folder) for folder in others]

    def to_read(self, name: str, field: str) -> Path:
        """A file that is there. ``BadRequest`` says what is wrong with any other."""
        path = self._placed(name, field)
        if not os.path.isfile(path):
            raise BadRequest(f"{field}: {name[:NAME_CHARS]} is not a file.", field=field)
        return path

    def to_write(self, name: str | None, fallback: str, field: str) -> Path:
        """Where to write; its folder is made. Without a name, in the session's own folder."""
        path = self._placed(name, field) if name else self._own / fallback
        with _told(path, field):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def write(
        self, data: bytes, name: str | None, fallback: str, field: str, *, secret: bool = False
    ) -> Path:
        """Write a file; where it is now. A secret one is for its owner alone."""
        path = self.to_write(name, fallback, field)
        with _told(path, field):
            if secret:
                write_secret(path, data)
            else:
                path.write_bytes(data)
        return path

    def _placed(self, name: str, field: str) -> Path:
        base = self._others[0] if self._others else self._own
        try:
            # Resolved on both sides: a symlink must not lead out of the folder.
            real = Path(os.path.normpath(base / name)).resolve()
        except (OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of links
            raise BadRequest(f"{field}: {name[:NAME_CHARS]!r} is no path.", field=field) from None
        if self._is_below(real, self._own):
            return real
        outside = self._is_below(real, self._home)
        if outside or not any(self._is_below(real, folder) for folder in self._others):
            raise BadRequest(
                f"{field}: {name[:NAME_CHARS]} is outside your folders.",
                hint=f"Use files below {base}.",
                field=field,
            )
        return real

    @staticmethod
    def _is_below(path: Path, folder: Path) -> bool:
        return path.is_relative_to(folder.resolve())


@contextmanager
def _told(path: Path, field: str) -> Iterator[None]:
    """What the file system refuses: a name too long for it, a folder, a full disk."""
    try:
        yield
    except OSError as problem:
        shown, why = path.name[:NAME_CHARS], problem.strerror
        raise BadRequest(f"{field}: {shown} cannot be written: {why}.", field=field) from None
