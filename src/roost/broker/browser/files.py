"""Which files may an agent name? Those below its working folder and in its session's own folder.

Rules:

1. A working folder that cannot be a project gives no rights (``working_folder``), because desktop
   programs start their MCP servers in ``/`` or in the home folder.
2. Symbolic links are resolved before a path is checked, and are not followed when it is written.
3. Hidden files and folders (``.ssh``, ``.git``, ``.env``) are forbidden, unless an allowed folder
   is itself hidden or lies in a hidden folder, as one given with ``--files`` may.
4. ROOST_HOME is forbidden, except for the session's own folder.
5. An existing file is overwritten only if the caller asks for it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from roost.errors import BadRequest

NAME_CHARS = 200
_SYSTEM: Final = tuple(
    map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys"))
) + tuple(map(Path, ("/usr", "/Applications", "/Library", "/System")))
"""System folders: no project lies below these."""
_COMMON: Final = frozenset(
    map(Path, ("/", "/home", "/media", "/mnt", "/opt", "/private/tmp", "/root", "/srv", "/tmp"))
) | frozenset(map(Path, ("/Users", "/Volumes", "/var", "/var/tmp")))
"""These folders are not projects themselves, but a folder below them may be one."""


def working_folder(said: str | None, user_home: Path, roost_home: Path) -> str | None:
    """Return the real path of the working folder if the agent may use files below it, else None.

    said: the folder where the agent's program says that it was started.
    user_home: the home folder of the user. Neither this folder, nor one that holds it, nor a hidden
        folder in it is a project.
    """
    if said is None:
        return None
    folder = Path(os.path.realpath(said))
    home = Path(os.path.realpath(user_home))
    holds_a_home = home.is_relative_to(folder) or Path(os.path.realpath(roost_home)).is_relative_to(
        folder
    )
    is_hidden = folder.parent == home and folder.name.startswith(".")
    is_systems = folder in _COMMON or any(folder.is_relative_to(one) for one in _SYSTEM)
    return None if holds_a_home or is_hidden or is_systems else str(folder)


class Folders:
    """The folders whose files one agent may name in calls on one session.

    home: ROOST_HOME.
    own: the session's folder in ROOST_HOME.
    others: working folders and folders given with ``--files``. Relative names start at the first.
    """

    def __init__(self, home: Path, own: Path, others: Iterable[str]) -> None:
        self._home = home.resolve()
        self._own = own
        self._others = [Path(folder) for folder in others]

    def to_read(self, name: str | None, field: str, fallback: str = "") -> Path:
        """Return the path of an existing file. Raises ``BadRequest`` if it is not one or not
        allowed. Without a name, use the file ``fallback`` in the session's own folder."""
        _, path = self._placed(name, field) if name else (self._own, self._own / fallback)
        if not os.path.isfile(path):
            shown = name or str(path)
            raise BadRequest(f"{field}: {shown[:NAME_CHARS]} is not a file.", field=field)
        return path

    def to_write(self, name: str, field: str) -> Path:
        """Return the path to write to, and create its folder."""
        root, path = self._placed(name, field)
        with _told(path, field):
            os.close(_opened_folder(root, path.parent))
        return path

    def write(
        self,
        data: bytes,
        name: str | None,
        fallback: str,
        field: str,
        *,
        overwrite: bool = False,
        secret: bool = False,
    ) -> Path:
        """Write a file and return its path.

        name: what the caller calls the file. Without a name, the file is ``fallback`` in the
            session's own folder, where Roost replaces what it wrote before.
        overwrite: replace a file that exists.
        secret: only the owner may read the file.
        """
        root, path = self._placed(name, field) if name else (self._own, self._own / fallback)
        # O_NONBLOCK: opening must not block if the path is a named pipe.
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        flags |= 0 if overwrite or not name else os.O_EXCL
        with _told(path, field):
            folder = _opened_folder(root, path.parent)
            try:
                file = os.open(path.name, flags, 0o600 if secret else 0o666, dir_fd=folder)
            except FileExistsError:
                raise BadRequest(
                    f"{field}: {path.name[:NAME_CHARS]} exists.",
                    hint="Choose another name, or pass overwrite: true to replace the file.",
                    field=field,
                ) from None
            finally:
                os.close(folder)
            with open(file, "wb") as writing:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise BadRequest(f"{field}: {path.name} is not a file.", field=field)
                if secret:
                    os.fchmod(file, 0o600)  # an existing file may be readable for others
                writing.truncate()
                writing.write(data)
        return path

    def _placed(self, name: str, field: str) -> tuple[Path, Path]:
        """Return the allowed folder that contains the file, and the file, both resolved."""
        base = self._others[0] if self._others else self._own
        try:
            # Resolve the file like its folders: a symlink must not lead out of the folder.
            real = Path(os.path.normpath(base / name)).resolve()
        except (OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of links
            raise BadRequest(
                f"{field}: {name[:NAME_CHARS]!r} is not a path.", field=field
            ) from None
        own = self._own.resolve()
        if real.is_relative_to(own):
            return own, real
        roots = [folder.resolve() for folder in self._others]
        holding = [root for root in roots if real.is_relative_to(root)]
        if not holding or real.is_relative_to(self._home):
            raise BadRequest(
                f"{field}: {name[:NAME_CHARS]} is outside your folders.",
                hint=f"Use files below {base}. The person gives an agent more folders with"
                " `roost mcp --files DIR`.",
                field=field,
            )
        for root in holding:
            if not any(part.startswith(".") for part in real.relative_to(root).parts):
                return root, real
        raise BadRequest(
            f"{field}: {name[:NAME_CHARS]} is a hidden file, or in a hidden folder.",
            hint="The person gives an agent such a folder with `roost mcp --files DIR`.",
            field=field,
        )


def _opened_folder(root: Path, folder: Path) -> int:
    """Open the folder, create it if it is missing, and return its descriptor. Follow no symbolic
    link below ``root``: one may have been put there after the path was resolved."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(root, flags)
    for part in folder.relative_to(root).parts:
        try:
            with suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=opened)
            deeper = os.open(part, flags | os.O_NOFOLLOW, dir_fd=opened)
        finally:
            os.close(opened)
        opened = deeper
    return opened


@contextmanager
def _told(path: Path, field: str) -> Iterator[None]:
    """Turn an ``OSError`` (name too long, a folder, a full disk) into ``BadRequest``."""
    try:
        yield
    except OSError as problem:
        shown, why = path.name[:NAME_CHARS], problem.strerror
        is_full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise BadRequest(
            f"{field}: {shown} cannot be written: {why}.",
            hint="Free space on that disk, or name a file on another." if is_full else None,
            field=field,
        ) from None
