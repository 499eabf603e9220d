"""The built bundle, as shipped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def bundle() -> str:
    return (files("roost.page") / "bundle.js").read_text(encoding="utf-8")
