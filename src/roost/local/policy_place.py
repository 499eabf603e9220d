"""Find the policy that a person named: a preset, or a file.

The broker reads the text (``broker.policy_text``). A module of its own, because every shim may have
to find one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from roost.errors import BadRequest

BYTES_MAX: Final = 64 * 1024
_WORD = re.compile(r"[A-Za-z_-]+")


def policy_text(named: str, folder: Path) -> str:
    """Return the name of a preset as it is, and the text of a file.

    named: what the person wrote. A plain word is a preset, unless a file has that name.
    folder: where a relative path begins.
    Raises ``BadRequest`` if the file cannot be read: an agent must not run without its policy.
    """
    path = folder / Path(named).expanduser()
    if _WORD.fullmatch(named) and not path.is_file():
        return named
    try:
        data = path.read_bytes()
        if len(data) > BYTES_MAX:
            raise BadRequest(f"{path} is larger than {BYTES_MAX // 1024} KiB.", field="policy")
        return data.decode("utf-8")
    except OSError as error:
        raise _unreadable(path, error.strerror or "unknown reason") from None
    except UnicodeDecodeError:
        raise _unreadable(path, "not UTF-8") from None


def _unreadable(path: Path, why: str) -> BadRequest:
    return BadRequest(
        f"The policy {path} cannot be read: {why}.",
        hint="Name a preset (open, careful, lockdown) or a policy file.",
        field="policy",
    )
