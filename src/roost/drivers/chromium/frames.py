"""The frames of one tab: their documents, protocol sessions and the bundle's isolated worlds.

A frame of another site runs in another process and has its own protocol session ("out of
process"). Commands for a frame go to the session that hosts the frame now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from roost.drivers.base import BLANK
from roost.drivers.connection import Json


@dataclass(slots=True)
class Frame:
    """One frame. ``world`` is the bundle's isolated world in the frame's current document."""

    id: str
    parent: str | None
    session: str
    url: str = BLANK
    """The address of the last committed document, as Chromium reports it. For an error page this is
    the address that could not be loaded."""
    is_error: bool = False
    """The document is Chromium's own error page."""
    loader: str = ""
    main_context: int | None = None
    world: int | None = None


class Frames:
    """The frame tree of one tab, updated by the events of all its protocol sessions."""

    def __init__(self, main: str, session: str) -> None:
        self.main = main
        self._frames: dict[str, Frame] = {main: Frame(main, None, session)}

    def __iter__(self) -> Iterator[Frame]:
        """Yield all frames, parents before children."""
        yield from self._below(self.main)

    def get(self, frame: str | None) -> Frame | None:
        return self._frames.get(frame or self.main)

    def attached(self, frame: str, parent: str | None, session: str) -> Frame:
        known = self._frames.setdefault(frame, Frame(frame, parent, session))
        # A session that was taken over names its frame before an event names the frame's parent.
        known.parent = known.parent or parent
        return known

    def navigated(self, info: Json, session: str) -> Frame:
        """Record a new document, and drop the old document's contexts and child frames."""
        frame = self.attached(info["id"], info.get("parentId"), session)
        self._describe(frame, info)
        frame.session = session
        self._forget_document(frame)
        for child in self._children(frame.id):
            self.detached(child)
        return frame

    def moved_within(self, frame: str, url: str) -> None:
        known = self._frames.get(frame)
        if known is not None:
            known.url = url

    def detached(self, frame: str) -> None:
        if self._frames.pop(frame, None) is not None:
            for child in self._children(frame):
                self.detached(child)

    def hosted_by(self, frame: str, session: str) -> None:
        """Record that the frame's document moved to the process of that session."""
        known = self._frames.get(frame)
        if known is not None and known.session != session:
            known.session = session
            self._forget_document(known)

    def learn(self, tree: Json, session: str) -> None:
        """Add all frames of a ``Page.getFrameTree`` reply."""
        info = tree["frame"]
        frame = self.attached(info["id"], info.get("parentId"), session)
        self._describe(frame, info)
        for child in tree.get("childFrames", []):
            self.learn(child, session)

    # --- execution contexts --------------------------------------------------------------------

    def context_made(self, context: Json, session: str) -> None:
        about = context.get("auxData", {})
        frame = self._frames.get(about.get("frameId", ""))
        if frame is not None and frame.session == session and about.get("isDefault"):
            frame.main_context = context["id"]

    def context_gone(self, context: int, session: str) -> None:
        for frame in self._frames.values():
            if frame.session != session:
                continue
            if frame.main_context == context:
                frame.main_context = None
            if frame.world == context:
                frame.world = None

    def contexts_cleared(self, session: str) -> None:
        for frame in self._frames.values():
            if frame.session == session:
                self._forget_document(frame)

    @staticmethod
    def _describe(frame: Frame, info: Json) -> None:
        unreachable = info.get("unreachableUrl")
        frame.is_error = unreachable is not None
        # The first, empty document of a popup has the address "" or ":".
        committed = info["url"].removeprefix(":") + info.get("urlFragment", "")
        frame.url = unreachable or committed or BLANK
        frame.loader = info["loaderId"]

    @staticmethod
    def _forget_document(frame: Frame) -> None:
        frame.main_context = frame.world = None

    def _below(self, frame: str) -> Iterator[Frame]:
        found = self._frames.get(frame)
        if found is not None:
            yield found
            for child in self._children(frame):
                yield from self._below(child)

    def _children(self, frame: str) -> list[str]:
        return [child.id for child in self._frames.values() if child.parent == frame]
