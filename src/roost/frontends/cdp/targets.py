"""What one client may see: the session's targets, and the protocol sessions it has there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from roost.frontends.cdp.messages import BAD_PARAMS, Call, Json, Refusal

WORKERS = ("service_worker", "shared_worker")
"""Targets that belong to a jar, not to a page."""
DEFAULT_FILTER: list[Json] = [
    {"type": "browser", "exclude": True},
    {"type": "tab", "exclude": True},
    {},
]


class Kind(StrEnum):
    BROWSER = "browser"
    TAB = "tab"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Filter:
    """Chromium's ``TargetFilter``: the first entry that matches a type says whether it is in."""

    entries: tuple[tuple[str | None, bool], ...]

    @staticmethod
    def read(value: Any) -> Filter:
        if value is None:
            value = DEFAULT_FILTER
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise Refusal(BAD_PARAMS, "Invalid parameters", "filter: array expected")
        return Filter(tuple((e.get("type"), bool(e.get("exclude"))) for e in value))

    def lets(self, kind: str) -> bool:
        for wanted, is_excluded in self.entries:
            if wanted is None or wanted == kind:
                return not is_excluded
        return False


@dataclass(frozen=True, slots=True)
class AutoAttach:
    waits: bool
    filter: Filter


@dataclass(slots=True)
class ProtocolSession:
    """One protocol session of the client's. ``above`` is the one it was attached through, as the
    client sees it; ``root`` the browser-level one at the top."""

    session: str
    kind: Kind
    target: str
    above: str = ""
    root: str = ""
    real_above: str = ""
    """The same as the browser sees it: the tabs around pages are ours alone."""
    auto_attach: AutoAttach | None = None
    discovers: Filter | None = None

    @property
    def is_page(self) -> bool:
        return self.kind is Kind.TARGET


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """A session that was asked for: shown to the client under ``above``; ``call`` asked for it."""

    target: str
    above: str
    root: str
    waits: bool = False
    call: Call | None = None


@dataclass(slots=True)
class Waiting:
    """An answer that is given once all these attachments are there."""

    attachments: set[Attachment]
    answer: bytes


@dataclass(slots=True)
class Targets:
    """``context`` is the session's jar; None: the browser's own, where only tabs are ours."""

    context: str | None
    browser: Json
    """The browser itself, as this client knows it."""
    made: set[str] = field(default_factory=set)
    """Contexts this client made."""
    owned: set[str] = field(default_factory=set)
    """Pages, by the broker's word."""
    seen: dict[str, Json] = field(default_factory=dict)
    """All the browser has told of, whosever it is."""
    links: dict[str, ProtocolSession] = field(default_factory=dict)
    nested: dict[str, Json] = field(default_factory=dict)
    """Frames and workers that the client is attached to below its pages."""

    def shows(self, info: Json) -> bool:
        """Whether the client may know of the target."""
        if info["type"] == "page":
            return info["targetId"] in self.owned
        is_ours = info.get("browserContextId") in {self.context, *self.made} - {None}
        return info["type"] in WORKERS and is_ours

    def visible(self) -> Iterator[Json]:
        return (self.shown(info) for info in list(self.seen.values()) if self.shows(info))

    def get(self, target: str) -> Json | None:
        """What the client may know of that target; for it, others do not exist."""
        info = self.seen.get(target)
        if info is not None and self.shows(info):
            return self.shown(info)
        return self.nested.get(target)

    def shown(self, info: Json) -> Json:
        """As the client may see it: an opener of another session is none."""
        opener = info.get("openerId")
        if opener is None or opener in self.owned:
            return info
        return {name: value for name, value in info.items() if not name.startswith("opener")}

    def all(self) -> Iterator[Json]:
        """The visible ones, the tab around each page, and the browser itself."""
        yield self.browser
        for info in self.visible():
            yield info
            if info["type"] == "page":
                yield tab_info(info)

    def page_in(self, tab: str) -> Json | None:
        """The page that tab is around."""
        pages = (info for info in self.visible() if info["type"] == "page")
        return next((info for info in pages if tab_of(info["targetId"]) == tab), None)

    def roots(self) -> list[ProtocolSession]:
        return [link for link in self.links.values() if link.kind is Kind.BROWSER]

    def below(self, session: str) -> list[ProtocolSession]:
        """Sessions attached through that one, the deepest first."""
        found: list[ProtocolSession] = []
        for link in [one for one in self.links.values() if one.above == session and one.session]:
            found += [*self.below(link.session), link]
        return found

    def context_of(self, link: ProtocolSession) -> str | None:
        """The context that what is attached there lives in."""
        info = self.seen.get(link.target) or self.nested.get(link.target, {})
        context: str | None = info.get("browserContextId")
        return context

    def tab_behind(self, session: str) -> str | None:
        """The tab that session is in: its own page's, or the one its frame or worker is below."""
        link = self.links.get(session)
        while link is not None and link.target not in self.owned:
            link = self.links.get(link.above) if link.session else None
        return None if link is None else link.target

    def of(self, target: str) -> list[ProtocolSession]:
        return [link for link in self.links.values() if link.target == target]


def browser_info(nonce: str) -> Json:
    """To a client its session is the browser; the real one's id is nobody's business."""
    made = hashlib.sha256(f"{nonce} the browser itself".encode()).hexdigest()[:32].upper()
    about = {"title": "", "url": "", "attached": True, "canAccessOpener": False}
    return {"targetId": made, "type": "browser", **about}


def tab_of(page: str) -> str:
    """Chromium has a "tab" around every page, and Puppeteer starts from it. A page of ours has one
    made here, because the browser does not say which tab is whose."""
    return hashlib.sha256(f"tab around {page}".encode()).hexdigest()[:32].upper()


def tab_info(page: Json) -> Json:
    kept = ("title", "url", "attached", "canAccessOpener", "browserContextId")
    about = {name: page[name] for name in kept if name in page}
    return {"targetId": tab_of(page["targetId"]), "type": "tab", **about}
