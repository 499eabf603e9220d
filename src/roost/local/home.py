"""ROOST_HOME: the one folder everybody finds Roost by, its secret files, and where the socket lies.

MCP clients and browsers start us with all kinds of environments. Only ``ROOST_HOME`` and the
password database are asked; ``HOME``, ``XDG_*`` and ``TMPDIR`` never, since they differ by caller.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from roost.errors import BadRequest, Unauthorized

_TOKEN_BYTES: Final = 32
_SECRET_FILE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Home:
    """One Roost. Two values of ``ROOST_HOME`` are two Roosts that know nothing of each other."""

    path: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> Home:
        """The home this process belongs to; not touched, only named."""
        given = environ.get("ROOST_HOME")
        if given:
            return cls(Path(os.path.abspath(given)))
        return cls(user_folder() / ".local/state/roost")

    @property
    def token(self) -> Path:
        """The operator's token."""
        return self.path / "token"

    @property
    def endpoint(self) -> Path:
        """Where the running broker listens."""
        return self.path / "endpoint.json"

    @property
    def http_port(self) -> Path:
        """The port HTTP was last served on, so that it stays the same."""
        return self.path / "http-port"

    @property
    def journal(self) -> Path:
        """What is replayed after a restart."""
        return self.path / "journal.sqlite"

    @property
    def audit(self) -> Path:
        """What a person reads."""
        return self.path / "audit.jsonl"

    @property
    def log(self) -> Path:
        """The broker's diagnostics: its stdout and stderr."""
        return self.path / "broker.log"

    @property
    def config(self) -> Path:
        """The person's settings."""
        return self.path / "config.toml"

    @property
    def files(self) -> Path:
        """Each session's own folder, downloads included."""
        return self.path / "files"

    def extension(self, kind: str) -> Path:
        """The copy of the extension that the person loads into a browser of that kind."""
        return self.path / "extension" / kind

    @property
    def profiles(self) -> Path:
        """Named sources of logins."""
        return self.path / "profiles"

    @property
    def start_lock(self) -> Path:
        """Held by whoever is starting the broker."""
        return self.path / "start.lock"

    @property
    def broker_lock(self) -> Path:
        """Held by the broker for as long as it lives."""
        return self.path / "broker.lock"

    def create(self) -> None:
        """Make the folder, for us alone, or make sure that an existing one is safe to use."""
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
        except OSError as problem:
            raise Unauthorized(
                f"Cannot make {self.path}: {problem.strerror}.",
                hint="Set ROOST_HOME to a folder of your own.",
            ) from None
        found = os.stat(self.path)
        if found.st_uid != os.getuid():
            raise Unauthorized(
                f"{self.path} belongs to another user (uid {found.st_uid}).",
                hint="Set ROOST_HOME to a folder of your own.",
            )
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Unauthorized(
                f"{self.path} can be written by other users.",
                hint=f"chmod 700 {self.path}",
            )

    def operator_token(self) -> str:
        """The operator's token, made at first use. All who ask at once get the same one."""
        made = self.kept_token()
        if made is None:
            self.create()
            _link_secret(self.token, os.urandom(_TOKEN_BYTES).hex().encode())
            made = self.kept_token()
        if made is None:
            raise self._no_token()
        return made

    def kept_token(self) -> str | None:
        """The operator's token, None if there is no file of it. Makes nothing."""
        data = read_secret(self.token)
        if data is None:
            return None
        text = data.decode("ascii", "replace").strip()
        if len(text) != 2 * _TOKEN_BYTES:
            raise self._no_token()
        return text

    def _no_token(self) -> Unauthorized:
        return Unauthorized(
            f"{self.token} does not hold a token.", hint=f"rm {self.token}, and start again."
        )

    def put_back_token(self, token: str) -> None:
        """Write this token if there is no token file."""
        if not os.path.lexists(self.token):
            _link_secret(self.token, token.encode())


def user_folder() -> Path:
    """This user's folder by the password database, whatever ``HOME`` says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise BadRequest(
            f"Uid {os.getuid()} is not in the password database, so it has no home folder.",
            hint="Set ROOST_HOME to a folder of your own.",
        ) from None


def write_secret(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, readable by us alone. Readers see the old file or the new one."""
    temporary = _temporary_secret(path, data)
    try:
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def read_secret(path: Path, limit: int = _SECRET_FILE_BYTES) -> bytes | None:
    """What ``write_secret`` put there; ``None`` if nothing is. A file open to others is refused."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise Unauthorized(
            f"Cannot read {path}: {problem.strerror}.", hint=f"Look at it with ls -l {path}"
        ) from None
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise Unauthorized(f"{path} is not a file of ours.", hint=f"rm {path}")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise Unauthorized(f"{path} is open to other users.", hint=f"chmod 600 {path}")
        return file.read(limit)


def socket_path(
    home: Home, *, run_root: Path = Path("/run/user"), temporary_root: Path = Path("/tmp")
) -> Path:
    """Where the broker of ``home`` listens: short, and in a folder nobody else can enter.

    Unix sockets allow 104 bytes on macOS, so the path holds a hash of the home and not its name.
    """
    from hashlib import sha256  # brings OpenSSL, 3 MiB; only the broker needs it

    uid = os.getuid()
    runtime = run_root / str(uid)
    folder = runtime / "roost" if _is_our_folder(runtime) else temporary_root / f"roost-{uid}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    _refuse_unless_private(folder)
    name = sha256(os.fsencode(os.path.realpath(home.path))).hexdigest()[:16]
    return folder / name


def _is_our_folder(path: Path) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _refuse_unless_private(folder: Path) -> None:
    # lstat: a symbolic link somebody left in /tmp must not be followed.
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unauthorized(
            f"{folder} is not a folder of ours: another user may have put it there.",
            hint=f"Remove it (as its owner or root): rm -r {folder}",
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Unauthorized(f"{folder} is open to other users.", hint=f"chmod 700 {folder}")


def _temporary_secret(path: Path, data: bytes) -> Path:
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else a power cut can leave the new name with nothing in it
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _link_secret(path: Path, data: bytes) -> None:
    """As ``write_secret``, but the first one wins: an existing file stays."""
    temporary = _temporary_secret(path, data)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
