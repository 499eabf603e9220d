"""The targets that one client may see, and the protocol sessions it has in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from roost.frontends.cdp.messages import BAD_PARAMS, Call, Json, Refusal

BLANK = "about:blank"
WORKERS = ("service_worker", "shared_worker")
"""Types of targets that belong to a jar and not to a page."""
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
    """Chromium's ``TargetFilter``: the first entry that matches a type includes or excludes it."""

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
    """One protocol session of the client.

    ``above``: the session it was attached through, as the client sees it.
    ``root``: the browser-level session at the top.
    """

    session: str
    kind: Kind
    target: str
    above: str = ""
    root: str = ""
    real_above: str = ""
    """The session it was attached through in the browser, which does not know our tab sessions."""
    auto_attach: AutoAttach | None = None
    discovers: Filter | None = None

    @property
    def is_page(self) -> bool:
        return self.kind is Kind.TARGET


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """A protocol session that was requested from the browser.

    ``above``: the session under which the client will see it.
    ``call``: the client's command that asked for it, if one did.
    """

    target: str
    above: str
    root: str
    waits: bool = False
    call: Call | None = None


@dataclass(slots=True)
class DelayedAnswer:
    """An answer to send once all these attachments are complete."""

    attachments: set[Attachment]
    answer: bytes


@dataclass(slots=True)
class Targets:
    """All targets that the browser reported, and which of them the client may see.

    ``context``: the session's jar. None: the browser's own jar, where only tabs identify the
        session.
    """

    context: str | None
    browser: Json
    """The target info of the browser itself, as this client sees it."""
    made: set[str] = field(default_factory=set)
    """Ids of the contexts this client made."""
    owned: set[str] = field(default_factory=set)
    """Ids of the pages that the broker says belong to the session."""
    seen: dict[str, Json] = field(default_factory=dict)
    """Every target the browser reported, also those of other sessions."""
    links: dict[str, ProtocolSession] = field(default_factory=dict)
    nested: dict[str, Json] = field(default_factory=dict)
    """Frames and workers below the client's pages to which the client is attached."""

    def shows(self, info: Json) -> bool:
        """Return whether the client may know of the target."""
        if info["type"] == "page":
            return info["targetId"] in self.owned
        is_ours = info.get("browserContextId") in {self.context, *self.made} - {None}
        return info["type"] in WORKERS and is_ours

    def visible(self) -> Iterator[Json]:
        return (self.shown(info) for info in list(self.seen.values()) if self.shows(info))

    def get(self, target: str) -> Json | None:
        """Return the target as the client sees it, or None if it must not know of it."""
        info = self.seen.get(target)
        if info is not None and self.shows(info):
            return self.shown(info)
        return self.nested.get(target)

    def shown(self, info: Json) -> Json:
        """Return the target without its opener, if the opener belongs to another session."""
        opener = info.get("openerId")
        if opener is None or opener in self.owned:
            return info
        return {name: value for name, value in info.items() if not name.startswith("opener")}

    def all(self) -> Iterator[Json]:
        """Yield the browser itself, all visible targets, and the tab target around each page."""
        yield self.browser
        for info in self.visible():
            yield info
            if info["type"] == "page":
                yield tab_info(info)

    def page_in(self, tab: str) -> Json | None:
        """Return the page inside that tab target."""
        pages = (info for info in self.visible() if info["type"] == "page")
        return next((info for info in pages if tab_of(info["targetId"]) == tab), None)

    def roots(self) -> list[ProtocolSession]:
        return [link for link in self.links.values() if link.kind is Kind.BROWSER]

    def below(self, session: str) -> list[ProtocolSession]:
        """Return the sessions attached through that one, the deepest first."""
        found: list[ProtocolSession] = []
        for link in [one for one in self.links.values() if one.above == session and one.session]:
            found += [*self.below(link.session), link]
        return found

    def context_of(self, link: ProtocolSession) -> str | None:
        """Return the context of the target that the session is attached to."""
        info = self.seen.get(link.target) or self.nested.get(link.target, {})
        context: str | None = info.get("browserContextId")
        return context

    def tab_behind(self, session: str) -> str | None:
        """Return the tab of that session: its own page, or the page above its frame or worker."""
        link = self.links.get(session)
        while link is not None and link.target not in self.owned:
            link = self.links.get(link.above) if link.session else None
        return None if link is None else link.target

    def of(self, target: str) -> list[ProtocolSession]:
        return [link for link in self.links.values() if link.target == target]


def browser_info(nonce: str) -> Json:
    """Return an invented browser target, because the real browser's id is not for clients."""
    made = hashlib.sha256(f"{nonce} the browser itself".encode()).hexdigest()[:32].upper()
    about = {"title": "", "url": "", "attached": True, "canAccessOpener": False}
    return {"targetId": made, "type": "browser", **about}


def tab_of(page: str) -> str:
    """Return the id of the invented tab target around a page.

    Chromium has a "tab" target around every page, and Puppeteer starts from it. The browser does
    not say which tab target contains which page, so pages of the session get one made here.
    """
    return hashlib.sha256(f"tab around {page}".encode()).hexdigest()[:32].upper()


def tab_info(page: Json) -> Json:
    kept = ("title", "url", "attached", "canAccessOpener", "browserContextId")
    about = {name: page[name] for name in kept if name in page}
    return {"targetId": tab_of(page["targetId"]), "type": "tab", **about}
