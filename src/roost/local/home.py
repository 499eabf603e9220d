"""ROOST_HOME: the one folder by which all processes find Roost, its secret files, and its socket.

MCP clients and browsers start us with all kinds of environments. So Roost asks only ``ROOST_HOME``
and the password database, never ``HOME``, ``XDG_*`` or ``TMPDIR``, which differ by caller.
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
    """One Roost. Two values of ``ROOST_HOME`` are two independent Roosts."""

    path: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> Home:
        """Return the home this process belongs to, without touching the folder."""
        given = environ.get("ROOST_HOME")
        if given:
            return cls(Path(os.path.abspath(given)))
        return cls(user_folder() / ".local/state/roost")

    @property
    def token(self) -> Path:
        """File with the operator's token."""
        return self.path / "token"

    @property
    def endpoint(self) -> Path:
        """File that names the running broker's socket (see ``endpoint.py``)."""
        return self.path / "endpoint.json"

    @property
    def http_port(self) -> Path:
        """File with the last HTTP port, so that the port stays the same."""
        return self.path / "http-port"

    @property
    def dashboard(self) -> Path:
        """File that opens the dashboard, once, in a web browser."""
        return self.path / "dashboard.html"

    @property
    def journal(self) -> Path:
        """The journal, which the broker replays after a restart."""
        return self.path / "journal.sqlite"

    @property
    def audit(self) -> Path:
        """The audit trail, for people to read."""
        return self.path / "audit.jsonl"

    @property
    def log(self) -> Path:
        """Diagnostics of the broker: its stdout and stderr."""
        return self.path / "broker.log"

    @property
    def config(self) -> Path:
        """File with the person's settings."""
        return self.path / "config.toml"

    @property
    def files(self) -> Path:
        """Parent of the sessions' own folders, which hold downloads and other files."""
        return self.path / "files"

    def extension(self, kind: str) -> Path:
        """Folder with the copy of the extension for a browser of that kind."""
        return self.path / "extension" / kind

    @property
    def profiles(self) -> Path:
        """Folder of the profiles, which are named sources of logins."""
        return self.path / "profiles"

    @property
    def key(self) -> Path:
        """File that names, or holds, the key of what Roost stores (see ``vault/key.py``)."""
        return self.path / "key.json"

    @property
    def vault(self) -> Path:
        """The person's secrets, sealed."""
        return self.path / "vault.sealed"

    @property
    def start_lock(self) -> Path:
        """Lock that a process holds while it starts the broker."""
        return self.path / "start.lock"

    @property
    def broker_lock(self) -> Path:
        """Lock that the broker holds for as long as it lives."""
        return self.path / "broker.lock"

    def create(self) -> None:
        """Make the folder, accessible only to this user, or check that the existing one is safe.

        Raises ``Unauthorized``.
        """
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
        """Return the operator's token, made at first use. Concurrent callers get the same one."""
        made = self.kept_token()
        if made is None:
            self.create()
            _link_secret(self.token, os.urandom(_TOKEN_BYTES).hex().encode())
            made = self.kept_token()
        if made is None:
            raise self._no_token()
        return made

    def kept_token(self) -> str | None:
        """Return the operator's token, or None if there is no token file."""
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


def home_note(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return a sentence for a person whose ``HOME`` is not the folder that Roost uses, else None.

    Clients, and so ``roost install``, follow ``HOME``. Roost's default home does not.
    """
    said = environ.get("HOME")
    if environ.get("ROOST_HOME") or not said:
        return None
    path = Home.find(environ).path
    if os.path.realpath(said) == os.path.realpath(user_folder()):
        return None
    return f"HOME is {said}, but Roost keeps its files in {path}. Set ROOST_HOME to choose."


def user_folder() -> Path:
    """Return this user's home folder from the password database, whatever ``HOME`` says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise BadRequest(
            f"Uid {os.getuid()} is not in the password database, so it has no home folder.",
            hint="Set ROOST_HOME to a folder of your own.",
        ) from None


def write_secret(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, readable only by this user.

    Readers see the old or the new file.
    """
    temporary = _temporary_secret(path, data)
    try:
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def read_secret(path: Path, limit: int = _SECRET_FILE_BYTES) -> bytes | None:
    """Return what ``write_secret`` wrote, or None.

    Raises ``Unauthorized`` if others can read it.
    """
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
    """Return the socket's path of ``home``: short, and in a folder that only this user can enter.

    Unix sockets allow 104 bytes on macOS, so the path contains a hash of the home, not its name.
    """
    # Imported here because it costs 3 MiB (OpenSSL) and only the broker needs it.
    from hashlib import sha256

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
    # Use lstat, because a symbolic link that somebody left in /tmp must not be followed.
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
            # Without this, a power cut can leave an empty file under the new name.
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _link_secret(path: Path, data: bytes) -> None:
    """Like ``write_secret``, but keep an existing file: the first writer wins."""
    temporary = _temporary_secret(path, data)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
