"""Change another program's configuration file completely or not at all, with a backup."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from roost.errors import BadRequest, Interrupted, TooLarge, Unauthorized
from roost.frontends.cli.install.config_error import Malformed

BYTES_MAX: Final = 64 * 1024 * 1024
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that was changed, and its backup, if the file existed before."""

    path: Path
    backup: Path | None


def rewrite(path: Path, edit: Callable[[str], str]) -> ChangedFile | None:
    """Replace the file's text by ``edit`` of it. Return None if that changes nothing.

    The client may write the file at the same time. In that case the client's new text is edited.
    """
    # Follow a symbolic link (into dotfiles, for example), so that it stays a link.
    path = Path(os.path.realpath(path))
    for _ in range(_TRIES):
        before = _read(path)
        text = "" if before is None else _decoded(path, before)
        try:
            after = edit(text).encode()
        except Malformed as problem:
            raise BadRequest(
                f"{path}, line {problem.line}: {problem.what}.",
                hint="Nothing was changed. Mend it, or use --print and put it there yourself.",
                file=str(path),
                line=problem.line,
            ) from None
        if after == (before or b""):
            return None
        with _told(path):
            backup = None if before is None else _backup(path, before)
            if _replaced(path, before, after):
                return ChangedFile(path, backup)
            if backup is not None:
                backup.unlink()
    raise Interrupted(
        f"{path} changes all the time.", hint="Close the program that writes it, and try again."
    )


def text_of(path: Path) -> str:
    """Return the file's text, or nothing if there is no file."""
    path = Path(os.path.realpath(path))
    return _decoded(path, _read(path) or b"")


def _read(path: Path) -> bytes | None:
    with _told(path):
        try:
            with open(path, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise BadRequest(f"{path} is not a file.", file=str(path))
                data = file.read(BYTES_MAX + 1)
        except FileNotFoundError:
            return None
    if len(data) > BYTES_MAX:
        raise TooLarge(f"{path} is larger than 64 MiB.", file=str(path))
    return data


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise BadRequest(f"{path}, line {line}: not UTF-8.", file=str(path), line=line) from None


def _backup(path: Path, data: bytes) -> Path:
    """Write a backup beside the file, with the same mode, under a name that is still free."""
    mode = stat.S_IMODE(path.stat().st_mode)
    number = 1
    while True:
        name = f"{path.name}.roost-backup" + (f"-{number}" if number > 1 else "")
        with contextlib.suppress(FileExistsError):
            _write_new(path.with_name(name), data, mode)
            return path.with_name(name)
        number += 1


def _replaced(path: Path, before: bytes | None, after: bytes) -> bool:
    """Replace the file. Return False if another program has written it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A new file is for this user only, because such files often hold keys of other servers.
    mode = 0o600 if before is None else stat.S_IMODE(path.stat().st_mode)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        _write_new(temporary, after, mode)
        if _read(path) != before:
            return False
        os.replace(temporary, path)
        return True
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise Unauthorized(
            f"{problem.filename or path}: {problem.strerror}.",
            hint="See who owns it with ls -l, or use --print.",
            file=str(path),
        ) from None
