"""Sealers for tests, with their key in a file."""

from __future__ import annotations

from pathlib import Path

from roost.local.home import Home
from roost.vault.key import HomeKey
from roost.vault.seal import Sealer


def sealer_of(home: Path) -> Sealer:
    """Return the sealer of the ROOST_HOME in that folder. Sealers of one folder share a key."""
    sealer = Sealer(HomeKey(Home(home), keyring=None))
    sealer.load_key()
    return sealer
