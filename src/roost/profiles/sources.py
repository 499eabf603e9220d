"""Find out which kind of source a path is, read it, and keep only the wanted domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from roost.drivers.base import JarContents
from roost.errors import BadRequest
from roost.profiles.chromium import cookies_file, read_chromium
from roost.profiles.firefox import is_firefox_profile, read_firefox
from roost.profiles.harvest import Harvest, unreadable
from roost.profiles.keyring import Keyring
from roost.profiles.limits import FILE_BYTES, file_too_large
from roost.profiles.netscape import read_cookies_txt
from roost.profiles.storage_state import is_storage_state, read_storage_state

ORIGINS = 50
"""How many origins' storage is taken from a browser's profile, most recently used first. Each one
makes every clone at least 0.05 s slower. The person can name other sites with ``--domain``."""
BEYOND = f"sites' storage beyond the {ORIGINS} used last; name the sites you need with --domain"


class SourceKind(StrEnum):
    FIREFOX = "firefox"
    CHROMIUM = "chromium"
    STORAGE_STATE = "storage state"
    COOKIES_TXT = "cookies.txt"


def read_source(path: Path, domains: Sequence[str] = ()) -> tuple[SourceKind, Harvest]:
    """Read all logins at the path. Raises ``BadRequest`` if Roost does not know this kind of
    source.

    domains: take only logins of these domains and their subdomains; empty for all.
    """
    wanted = [_domain(one) for one in domains]
    if not path.is_dir():
        kind, harvest = _file(path)
        return kind, _within(harvest, wanted)
    kind, harvest = _folder(path)
    harvest = _within(harvest, wanted)
    if len(harvest.storage) > ORIGINS:
        harvest.left_out[BEYOND] += len(harvest.storage) - ORIGINS
        del harvest.storage[ORIGINS:]
    return kind, harvest


def _folder(path: Path) -> tuple[SourceKind, Harvest]:
    if is_firefox_profile(path):
        return SourceKind.FIREFOX, read_firefox(path)
    cookies = cookies_file(path)
    if cookies is not None:
        return SourceKind.CHROMIUM, read_chromium(cookies, Keyring(cookies))
    raise BadRequest(
        f"source: {path} is not a browser's profile folder.",
        hint="Firefox names its own in about:profiles, Chromium in chrome://version.",
        field="source",
    )


def _file(path: Path) -> tuple[SourceKind, Harvest]:
    try:
        if path.stat().st_size > FILE_BYTES:
            raise file_too_large(path.name, "source")
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from None
    if is_storage_state(text):
        contents = read_storage_state(text, "source")
        return SourceKind.STORAGE_STATE, Harvest(list(contents.cookies), list(contents.storage))
    harvest = read_cookies_txt(text)
    if not harvest.cookies:
        raise BadRequest(
            f"source: {path} is neither a storage-state JSON nor a cookies.txt.",
            hint="Name a browser's profile folder, a storage-state JSON or a cookies.txt.",
            field="source",
        )
    return SourceKind.COOKIES_TXT, harvest


def _within(harvest: Harvest, domains: Sequence[str]) -> Harvest:
    if not domains:
        return harvest
    return replace(
        harvest,
        cookies=[one for one in harvest.cookies if _is_of(one.domain, domains)],
        storage=[
            one for one in harvest.storage if _is_of(urlsplit(one.origin).hostname or "", domains)
        ],
    )


def _is_of(host: str, domains: Sequence[str]) -> bool:
    """Return True if the host is one of the domains or a subdomain of one. Compares whole labels:
    notexample.com does not match example.com."""
    dotted = f".{host.removeprefix('.').lower()}"
    return any(dotted.endswith(f".{domain}") for domain in domains)


def _domain(text: str) -> str:
    domain = text.strip().removeprefix("*").removeprefix(".").lower()
    if not domain or "/" in domain:
        raise BadRequest(
            f"domain: {text[:80]!r} is not a domain.", hint="Write example.com.", field="domain"
        )
    return domain


def contents_of(harvest: Harvest) -> JarContents:
    return JarContents(tuple(harvest.cookies), tuple(harvest.storage))
