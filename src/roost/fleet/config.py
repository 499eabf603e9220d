"""The folder of the fleet in ROOST_HOME, and how the gateway was started."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from roost.errors import Internal
from roost.local.home import Home, read_secret, write_secret
from roost.wire.framing import encode

Config = TypeVar("Config")
PORT = 8877
"""The gateway's port. Nodes report to the next one, and their doors listen on the one after."""


def fleet_folder(home: Home) -> Path:
    """Return the folder of the fleet's files, made if there is none."""
    home.create()
    folder = home.path / "fleet"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def read_config(kind: type[Config], path: Path, hint: str) -> Config | None:
    """Return the configuration in that file, or None if there is no file.

    hint: what to do if the file cannot be read. Then this raises ``Internal``.
    """
    data = read_secret(path)
    if data is None:
        return None
    try:
        return kind(**json.loads(data))
    except (ValueError, TypeError):
        raise Internal(f"{path} cannot be read.", hint=hint) from None


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Where the gateway listens.

    host: address or name of this machine, by which clients and nodes reach it.
    port: where clients connect; 0 for any.
    control_port: where nodes report; 0 for any.
    """

    host: str
    port: int
    control_port: int

    def write(self, folder: Path) -> None:
        write_secret(folder / "gateway.json", encode(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> GatewayConfig | None:
        """Return what ``write`` wrote, or None. Raises ``Internal`` if it cannot be read."""
        return read_config(cls, folder / "gateway.json", hint="Run `roost fleet up` again.")

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}:{self.port}"


def kept_secret(folder: Path, name: str) -> bytes:
    """Return the random secret in that file, made at first use."""
    kept = read_secret(folder / name)
    if kept is None:
        write_secret(folder / name, secrets.token_hex(32).encode())
        kept = read_secret(folder / name)
    if kept is None or len(kept.strip()) != 64:
        raise Internal(f"{folder / name} does not hold a secret.", hint=f"rm {folder / name}")
    return kept.strip()


def is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.") or host == "::1"


def host_name() -> str:
    return os.uname().nodename.split(".")[0][:40] or "node"
