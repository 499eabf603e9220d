"""Reads the built page bundle from the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def bundle() -> str:
    return (files("roost.page") / "bundle.js").read_text(encoding="utf-8")
