"""Read logins from files in another process; ``roost.profiles.__main__`` says why."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from roost.drivers.base import JarContents
from roost.errors import Internal, RoostError
from roost.profiles.harvest import Harvest

logger = logging.getLogger(__name__)
_HARVEST = TypeAdapter(Harvest)
_COMMAND = (sys.executable, "-P", "-m", "roost.profiles")


async def source(path: Path, domains: Sequence[str], field: str) -> tuple[str, Harvest]:
    """Return the kind of the source at the path, and the logins in it."""
    return await _read({"path": str(path), "domains": list(domains), "field": field})


async def storage_state(data: bytes, field: str) -> JarContents:
    """Return the logins in a storage-state file."""
    _, harvest = await _read({"path": None, "field": field}, data)
    return JarContents(tuple(harvest.cookies), tuple(harvest.storage))


async def _read(order: dict[str, Any], data: bytes = b"") -> tuple[str, Harvest]:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*_COMMAND, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        said, trouble = await child.communicate(json.dumps(order).encode() + b"\n" + data)
    except BaseException:  # also when the call is cancelled, the reader process must end
        child.kill()
        await child.wait()
        raise
    match child.returncode:
        case 0:
            kind, _, harvest = said.partition(b"\n")
            return json.loads(kind), _HARVEST.validate_json(harvest)
        case 1 if said:
            raise RoostError.from_wire(json.loads(said))
        case code:
            logger.error("the reader of logins ended with %s: %s", code, trouble[-2000:].decode())
            raise Internal("The logins could not be read.")
