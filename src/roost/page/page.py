"""``Page``: the only caller of the bundle's functions, for one tab.

Each frame is a document of its own with its own bundle. A ref names the frame of its element:
``f2e7`` is element 7 of frame 2, and plain ``e7`` is in the main frame. A tab never uses a number
twice, so ``PageMemory`` outlives the tab's documents.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from roost.drivers.base import Input, InsertText, KeyDown, MouseDown, MouseUp, PageDriver
from roost.errors import (
    BY_CODE,
    BadRequest,
    Internal,
    NotActionable,
    NotFound,
    RoostError,
    StaleRef,
)
from roost.hints import Hint

Json = dict[str, Any]
ONCE = frozenset({"fillSecret", "setValue", "scroll"})
"""Functions that change the page themselves, so they must not run twice. All others only read, or
prepare for input that follows."""
WATCHING = frozenset({"fillSecret", "prepare", "focusForTyping", "setValue"})
"""Functions that start to watch for the effects of the input that follows."""
FRAMES_STOPPED = 16
"""The most child frames that are told to stop a press that is meant for the main frame."""
FRAME_SECONDS = 0.1
"""How long an action waits until other frames stop its press."""
FRAMES_JUDGED = 64
"""The most frames that are asked for their origin before input whose target is not known."""
NO_ORIGIN = "null"
"""The origin of a document that has none, or that did not say."""
PRESSING_KEYS = frozenset({"Enter", "NumpadEnter", " ", "Space"})
SUGGESTED = {
    ("NOT_FOUND", "similar"): Hint(
        "One of the suggestions may be meant: use its ref as target[, or look with {Snapshot}]."
    ),
    ("NOT_FOUND", "unlike"): Hint(
        "Nothing on the page is like it. The suggestions are what is in view"
        "[; {Snapshot} shows more]."
    ),
    ("STALE_REF", "similar"): Hint(
        "The page has changed since that ref was given. One of the suggestions may be the same"
        " element: use its ref as target[, or look with {Snapshot}]."
    ),
}
"""Hints for a target that does not resolve, by the error's code and reason (``suggestions.ts``)."""
_REF = re.compile(r"\s*(?:@|ref=)?(?:f(\d+))?e(\d+)\s*(?:>>.*)?", re.DOTALL)
"""A ref, or a locator that begins with one (``e12 >> role=button``): both name their frame."""


@dataclass(slots=True)
class PageMemory:
    """Numbers of refs and frames, which must survive a change of the tab's document."""

    next_ref: int = 1
    next_frame: int = 1
    prefixes: dict[str, str] = field(default_factory=dict)
    """The browser's frame id → ``f<n>``. The main frame has no entry."""

    def prefix(self, frame: str) -> str:
        known = self.prefixes.get(frame)
        if known is None:
            known = self.prefixes[frame] = f"f{self.next_frame}"
            self.next_frame += 1
        return known

    def frame(self, prefix: str) -> str | None:
        return next((frame for frame, known in self.prefixes.items() if known == prefix), None)

    def keep_only(self, frames: Collection[str]) -> None:
        """Forget frames that are gone. Their numbers are not used again."""
        if not self.prefixes.keys() <= set(frames):
            self.prefixes = {f: known for f, known in self.prefixes.items() if f in frames}


@dataclass(frozen=True, slots=True)
class Miss:
    """Input that did not reach its target.

    retry: none of the input had an effect, so that it can be given again.
    """

    error: RoostError
    retry: bool

    @staticmethod
    def of(answer: Json) -> Miss:
        retry = bool(answer.pop("retry", False))
        return Miss(RoostError.from_wire(answer), retry)


class Judge(Protocol):
    """Decides whether the operation may do something in a document of that origin."""

    def may_read(self, origin: str) -> None:
        """Raise if the operation may not read a document of that origin."""

    def may_act(self, origin: str) -> None:
        """Raise if the operation may not act in a document of that origin."""

    def may_run(self, origin: str) -> None:
        """Raise if the operation may not run a caller's script in a document of that origin."""

    def may_log_in(self, origin: str) -> None:
        """Raise if the operation may not press a button or Enter where a password is typed in."""

    def may_download(self, origin: str) -> None:
        """Raise if the operation may not click a link that saves a file."""


class Page:
    """Access to one tab's page. A new ``Page`` is made for each operation.

    ``tab``: the driver's object for the tab. ``memory``: the tab's numbers of refs and frames.
    """

    def __init__(self, tab: PageDriver, memory: PageMemory) -> None:
        self.tab = tab
        self.memory = memory
        self.seen: tuple[str, str] | None = None
        """The main document's address and title at its last answer."""
        self.look: Json | None = None
        """Options of a snapshot to take together with the next action, once it has settled."""
        self.looked: Json | None = None
        """That snapshot. None if the document changed or the action was in a child frame."""
        self.before_input: Callable[[], None] | None = None
        """Called before each input."""
        self.judge: Judge | None = None
        """Judges what the operation reads and does, if a policy restricts the session."""
        self._prepared: Json = {}
        """The last answer of a function in ``WATCHING``: what the next input is for."""
        self.ref: str | None = None
        """The ref of the first target that a call found."""
        self.has_left = False
        """The last action replaced the main document."""
        self._rereads = False
        """The next diff replaces the last one, so it begins where the last one began."""
        self._watched: set[str | None] = set()
        """Frames whose bundle watches for the effects of the next input."""
        self._stopping: set[str | None] = set()
        """Frames whose bundle stops every press, because the press is meant for another frame."""

    async def call(self, frame: str | None, function: str, **argument: Any) -> Json:
        """Call a function of the bundle and return its answer.

        Raises the ``RoostError`` that the function reports.
        """
        given = {name: value for name, value in argument.items() if value is not None}
        if self.judge is not None and function in WATCHING | ONCE:
            # The function refuses to run if another document has come since.
            given["judgedOrigin"] = await self._judged_origin(frame, self.judge)
        reply = await self.tab.call_page(
            frame, function, self._numbers(frame) | given, once=function in ONCE
        )
        answer = self._answer(frame, function, reply)
        if function in WATCHING:
            self._watched.add(frame)
            self._prepared = answer
        return answer

    async def _judged_origin(self, frame: str | None, judge: Judge) -> str:
        """Return the origin of the frame's document, if the operation may act there."""
        origin = (await self._input_state(frame))["origin"]
        judge.may_act(origin)
        return str(origin)

    async def judged_place(self, frame: str | None) -> str:
        """Return ``location.origin`` of the frame's document, if scripts may be run there."""
        state = await self._input_state(frame)
        if self.judge is not None:
            self.judge.may_run(state["origin"])
        return str(state["place"])

    async def _input_state(self, frame: str | None) -> Json:
        reply = await self.tab.call_page(frame, "inputState", self._numbers(frame))
        origin = _origin(reply)
        return self._answer(frame, "inputState", reply) | {"origin": origin}

    async def judge_all_frames(self, *, presses: bool = True) -> None:
        """Judge input whose target is not known: any frame of the tab may get it.

        presses: the input may press a button, or Enter.
        """
        judge = self.judge
        if judge is None:
            return
        frames: list[str | None] = [None, *(frame for frame, _ in await self.child_frames())]
        for state in await asyncio.gather(*map(self._input_state, frames[:FRAMES_JUDGED])):
            judge.may_act(state["origin"])
            if presses and state["isLogin"]:
                judge.may_log_in(state["origin"])
        if len(frames) > FRAMES_JUDGED:
            judge.may_act(NO_ORIGIN)

    async def _judge_input(self, frame: str | None, inputs: Sequence[Input]) -> None:
        """Judge input before it is given. ``prepare`` has judged the origin of its target."""
        judge, prepared = self.judge, self._prepared
        if judge is None or not inputs:
            return
        presses = any(map(_may_press, inputs))
        if frame not in self._watched:
            await self.judge_all_frames(presses=presses)
            return
        if presses and prepared.get("isLogin"):
            judge.may_log_in(prepared["origin"])
        if prepared.get("isDownload") and any(isinstance(one, MouseDown) for one in inputs):
            judge.may_download(prepared["origin"])

    async def act(self, frame: str | None, inputs: Sequence[Input]) -> Miss | None:
        """Give input to that frame and wait until the page has settled.

        That takes as long as the page's handlers and at most one drawn frame, or until the next
        document if the input navigates. Return a ``Miss`` if the page moved the target away from
        the pointer, so that the input was stopped.
        """
        self.looked = None
        await self._judge_input(frame, inputs)
        if self.before_input is not None:
            self.before_input()
        argument = self._numbers(frame) | {"watched": frame in self._watched}
        self._watched.clear()
        if frame is None and self.look is not None:
            argument["snapshot"] = self.look
        reply = await self.tab.act(inputs, frame, argument)
        self.has_left = reply is None and frame is None
        missed: Json | None = None
        if reply is not None:
            # If the snapshot failed, the caller takes it again and gets the error then.
            with contextlib.suppress(RoostError):
                answer = self._answer(frame, "settled", reply)
                self.looked, missed = answer.get("snapshot"), answer.get("missed")
        missed = await self._end_stops() or missed
        return None if missed is None else Miss.of(missed)

    async def changes(self, **options: Any) -> Json:
        """Return the main frame's diff, which the last action may have brought already."""
        if self.looked is not None:
            return self.looked
        again, self._rereads = self._rereads or None, False
        return await self.call(None, "snapshot", again=again, **options)

    def reread(self) -> None:
        """Discard the diff that the last action brought: the page has changed since. The next diff
        contains both."""
        self._rereads, self.look, self.looked = self.looked is not None, None, None

    async def settle(self, frame: str | None) -> None:
        """Wait until the page has settled after a change that was not made by input."""
        await self.act(frame, ())

    async def call_where(
        self, target: str, function: str, **argument: Any
    ) -> tuple[str | None, Json]:
        """Call a function in the frame that contains the target. Return the frame and the answer.

        A ref names its frame. A selector is looked up in the main frame, then in the other frames.
        If no frame has a match yet, wait for one in the main frame.
        """
        frame, answer = await self._call_where(target, function, argument)
        if self.ref is None and isinstance(answer.get("ref"), str):
            self.ref = answer["ref"]
        return frame, answer

    async def _call_where(
        self, target: str, function: str, argument: Json
    ) -> tuple[str | None, Json]:
        ref = _REF.fullmatch(target)
        if ref is not None:
            frame = self._frame_of(target, ref)
            try:
                return frame, await self._call_when_ready(frame, function, target, argument)
            except NotFound:
                if ">>" in target:
                    raise  # nothing fits inside the element
                raise _gone(target) from None  # for a ref this means that the whole frame is gone
        try:
            now = argument | {"timeoutMs": 0}
            return None, await self.call(None, function, target=target, **now)
        except NotActionable:
            found = None
        except NotFound:
            found = await self._elsewhere(target)
        return found, await self._call_when_ready(found, function, target, argument)

    async def _call_when_ready(
        self, frame: str | None, function: str, target: str, argument: Json
    ) -> Json:
        """Call a function that waits for its target, if needed by a separate call of ``prepare``.

        A function in ``ONCE`` cannot be repeated when a navigation interrupts it. So it does not
        wait itself: ``prepare`` waits, and can be repeated.
        """
        wait = argument.get("timeoutMs")
        if function in ONCE and wait is not None:
            try:
                return await self.call(
                    frame, function, target=target, **argument | {"timeoutMs": 0}
                )
            except (NotActionable, NotFound):
                await self.call(frame, "prepare", target=target, action="select", timeoutMs=wait)
        return await self.call(frame, function, target=target, **argument)

    async def origins_above(self, frame: str | None) -> list[str]:
        """Return the origins of the documents around a frame, innermost first.

        A document around a frame cannot change while the document in the frame lives.
        """
        above = [parent for parent, _ in await self._frames_above(frame)]
        return [(await self.call(parent, "identity"))["origin"] for parent in above]

    async def offset(self, frame: str | None) -> tuple[float, float]:
        """Return where a frame's viewport begins in the tab's viewport."""
        x = y = 0.0
        for above, child in await self._frames_above(frame):
            owner = await self.owner(above, child)
            x, y = x + owner["x"], y + owner["y"]
        return x, y

    async def reach(
        self, frame: str, point: tuple[float, float], *, presses: bool, wait_ms: int
    ) -> tuple[float, float]:
        """Scroll the parent documents until the pointer reaches that point of a frame. Return where
        the frame's viewport begins in the tab's viewport.

        presses: let the parent documents stop the next press, which is meant for the frame.
        """
        x = y = 0.0
        options = {"guard": presses, "timeoutMs": wait_ms}
        for above, child in await self._frames_above(frame):
            if presses:
                self._stopping.add(above)
            at = {"x": point[0] + x, "y": point[1] + y}
            owner = await self.owner(above, child, point=at, **options)
            x, y = x + owner["x"], y + owner["y"]
        return x, y

    async def _frames_above(self, frame: str | None) -> list[tuple[str | None, str]]:
        """Return each parent of a frame with its child on the way to the frame, innermost first."""
        found: list[tuple[str | None, str]] = []
        parents = {info.id: info.parent for info in await self.tab.all_frames()}
        main = next(iter(parents))
        while frame is not None and frame != main:
            parent = parents.get(frame)
            if parent is None:
                raise NotFound("That frame is gone.")
            above = None if parent == main else parent
            found.append((above, frame))
            frame = above
        return found

    async def stop_presses_in_child_frames(self) -> None:
        """Let the child frames stop the next press, which is meant for the main frame.

        The layout may move a frame under the pointer. This is done beside other calls and for a
        short time at most, because a frame that answers slowly must not delay the action.
        """
        frames = [frame for frame, _ in await self.child_frames()][:FRAMES_STOPPED]
        self._stopping.update(frames)
        await self._in_frames(frames, "stopPresses")

    async def _end_stops(self) -> Json | None:
        """Let all frames take presses again. Return what a frame stopped, if any did."""
        frames, self._stopping = self._stopping, set()
        answers = await self._in_frames(frames, "stoppedPress") if frames else []
        return next((answer["missed"] for answer in answers if "missed" in answer), None)

    async def _in_frames(self, frames: Collection[str | None], function: str) -> list[Json]:
        """Call a function in those frames at once. Ignore frames that are gone or too slow."""
        answers = await asyncio.gather(*(self._soon(frame, function) for frame in frames))
        return [answer for answer in answers if answer is not None]

    async def _soon(self, frame: str | None, function: str) -> Json | None:
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                return await self.call(frame, function)
        except (TimeoutError, RoostError):
            return None

    async def owner(self, parent: str | None, frame: str, **argument: Any) -> Json:
        """Return the element that holds a frame: its ref in the parent and where its content begins
        there."""
        numbered = self._numbers(parent) | argument
        reply = await self.tab.call_page(parent, "frameOwner", numbered, owner_of=frame)
        return self._answer(parent, "frameOwner", reply)

    async def child_frames(self) -> list[tuple[str, str | None]]:
        """Return every frame except the main one, with its parent (None: the main frame)."""
        main, *others = await self.tab.all_frames()
        self.memory.keep_only([frame.id for frame in others])
        return [(f.id, None if f.parent in (None, main.id) else f.parent) for f in others]

    async def _elsewhere(self, target: str) -> str | None:
        for frame, _ in await self.child_frames():
            try:
                await self.call(frame, "resolve", target=target)
            except BadRequest:  # several elements fit: the caller's own call tells which
                return frame
            except RoostError:
                continue
            return frame
        return None

    def _frame_of(self, target: str, ref: re.Match[str]) -> str | None:
        if ref.group(1) is None:
            return None
        frame = self.memory.frame(f"f{ref.group(1)}")
        if frame is None:
            raise _gone(target)
        return frame

    def _numbers(self, frame: str | None) -> Json:
        prefix = "" if frame is None else self.memory.prefix(frame)
        return {"firstRef": self.memory.next_ref, "prefix": prefix}

    def _answer(self, frame: str | None, function: str, reply: Any) -> Json:
        if not isinstance(reply, dict):
            raise Internal(f"The page answered {function} with {type(reply).__name__}.")
        origin = _origin(reply)
        if self.judge is not None and function not in WATCHING | ONCE | {"inputState"}:
            self.judge.may_read(origin)
        if function in WATCHING:
            reply["origin"] = origin
        page = reply.pop("page", None)
        if frame is None and page is not None:
            self.seen = page["url"], page["title"]
        # Before an error is raised, because errors name other elements by new refs.
        self.memory.next_ref = max(self.memory.next_ref, int(reply.pop("nextRef", 1)))
        error = reply.get("error")
        if isinstance(error, dict) and error.get("code") in BY_CODE:
            raised = RoostError.from_wire(error)
            hint = SUGGESTED.get((raised.code, str(raised.details.get("reason"))))
            raise raised if hint is None else raised.retold(hint=hint)
        return reply


def _origin(reply: Any) -> str:
    """Return the origin of the document that answered. A page cannot forge it."""
    page = reply.get("page") if isinstance(reply, dict) else None
    return str(page.get("origin", NO_ORIGIN)) if isinstance(page, dict) else NO_ORIGIN


def _may_press(given: Input) -> bool:
    """Return whether the input may press a button or submit a form."""
    if isinstance(given, InsertText):
        return "\n" in given.text
    return isinstance(given, MouseDown | MouseUp) or (
        isinstance(given, KeyDown) and given.key in PRESSING_KEYS
    )


def _gone(ref: str) -> StaleRef:
    return StaleRef(f"{ref} is in a frame that is gone.", ref=ref)
