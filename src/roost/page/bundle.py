"""Reads the built page bundle from the package."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from roost.drivers.base import Bundle

VERSION_MARK = "ROOST_BUNDLE_VERSION"
"""Stands in the built file where the version belongs."""


@cache
def bundle() -> Bundle:
    return versioned((files("roost.page") / "bundle.js").read_text(encoding="utf-8"))


def versioned(built: str) -> Bundle:
    """Return the bundle with a digest of its code as its version."""
    version = hashlib.sha256(built.encode()).hexdigest()[:16]
    return Bundle(built.replace(VERSION_MARK, version), version)
