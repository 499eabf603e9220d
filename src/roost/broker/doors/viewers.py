"""Viewers: the dashboards that are open now. Implements ``api.dashboard``.

A viewer gets the wall, the feed and pictures. The pictures come from the drivers: ``driver.film``
for each tab that a viewer shows. While no dashboard is open, nothing here runs: no timer, no film,
no listener.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from roost import core
from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.dashboard import (
    FeedView,
    FilmKind,
    FilmWish,
    FindingsView,
    FindingView,
    HouseView,
    PersonDrawing,
    PersonInput,
    TabAsksView,
    TileState,
    TileView,
    ViewerEar,
    WallView,
)
from roost.broker.broker import Broker
from roost.broker.browser.person_files import FILES, IncomingFile
from roost.broker.doors.caller import Caller
from roost.broker.work import drawing_work, house_work, policy
from roost.broker.work import views as view_of
from roost.core import events as ev
from roost.core.rows import Session, Tab, TabState
from roost.drivers.base import (
    Film,
    FilmOptions,
    FilmPicture,
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Wheel,
)
from roost.errors import (
    BadRequest,
    BrowserLost,
    Internal,
    NotFound,
    RoostError,
    TabGone,
    Unauthorized,
)
from roost.local import checkup
from roost.vocabulary import (
    OPERATOR,
    AgentId,
    BrowserId,
    QuestionKind,
    SessionId,
    TabHandle,
    TabId,
)

WALL_SECONDS = 0.5
"""How often the wall is looked at while a viewer is there. Only a changed wall is sent."""
FEED_BYTES = 64 * 1024
VIEWERS = 8
DIALOG_CHARS = 2000
FILMS = 64
INPUTS = 512
INPUT_SECONDS = 5.0
"""Give up input that a page does not take within this time, for example because a dialog is
open."""
FILM_OPTIONS = {
    FilmKind.TILE: FilmOptions(width=400, height=300, quality=40, interval=1.0),
    FilmKind.LARGE: FilmOptions(width=1600, height=1200, quality=70, interval=0.03),
}
SPREAD_STEPS, SPREAD = 7, 0.015
"""The intervals of films of one kind differ by up to six times this share."""
logger = logging.getLogger(__name__)


class Viewers:
    """All open dashboards. Implements ``api.dashboard.DashboardDoor``."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._logins = broker.logins
        self._open: set[BrokerViewer] = set()
        self.has_taken: dict[SessionId, BrokerViewer] = {}
        """Which viewer acts in each session that a person has taken."""
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, *, code: str | None, token: str | None, ear: ViewerEar) -> BrokerViewer:
        if code is not None:
            self._logins.use(code)
        elif token is not None:
            self._logins.check(token)
        else:
            raise Unauthorized("A code or a token is needed.", hint="Run `roost dashboard`.")
        if len(self._open) >= VIEWERS:
            raise Unauthorized(
                f"{VIEWERS} dashboards are open.", hint="Close one of them, then reload this page."
            )
        viewer = BrokerViewer(self, self._broker, ear, self._logins.token)
        self._open.add(viewer)
        self._look()
        try:
            ear.fed(await asyncio.to_thread(self._broker.audit.newest, FEED_BYTES))
        except BaseException:
            viewer.leave()
            raise
        return viewer

    def left(self, viewer: BrokerViewer) -> list[SessionId]:
        """Forget the viewer. Returns the sessions that it had taken."""
        self._open.discard(viewer)
        taken = [session for session, who in self.has_taken.items() if who is viewer]
        for session in taken:
            del self.has_taken[session]
        if not self._open and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return taken

    def _look(self) -> None:
        """Show the wall to everybody who looks, and look again soon."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(WALL_SECONDS, self._look)
        wall, redactor = wall_of(self._broker), self._broker.redactor
        if not redactor.is_idle:
            wall = wall.redacted(redactor.text)
        for viewer in list(self._open):
            viewer.show(wall)


@dataclass(slots=True)
class _Projector:
    """One film that a viewer wants.

    place: where the film was begun: the tab's handle, and the start of its browser. If either is
        another one now, the film is begun anew.
    """

    wish: FilmWish
    place: tuple[TabHandle, int] | None = None
    film: Film | None = None
    beginning: asyncio.Task[None] | None = None

    def stop(self) -> None:
        if self.beginning is not None:
            self.beginning.cancel()
        if self.film is not None:
            self.film.close()
        self.place = self.film = self.beginning = None


class BrokerViewer:
    """One open dashboard. Implements ``api.dashboard.Viewer``."""

    def __init__(
        self, viewers: Viewers, broker: Broker, ear: ViewerEar, new_token: Callable[[], str]
    ) -> None:
        self._viewers = viewers
        self.api: BrokerApi = Caller(broker, OPERATOR)
        self._broker = broker
        self._ear = ear
        self._new_token = new_token
        self._projectors: dict[int, _Projector] = {}
        self._wall: WallView | None = None
        self._stop_feed = broker.audit.listen(lambda line: ear.fed([line]))
        self._is_here = True
        self._inputs: deque[tuple[TabId, Input]] = deque(maxlen=INPUTS)
        """The person's input that was not sent yet. If it is full, the oldest is dropped."""
        self._sending: asyncio.Task[None] | None = None
        self._files: list[IncomingFile] = []
        """Files that the person sends for a page's file chooser."""
        self._usage = house_work.UsageMemory()

    @property
    def token(self) -> str:
        return self._new_token()

    def show(self, wall: WallView) -> None:
        """Send the wall if it has changed, and begin the films that can begin now."""
        if wall != self._wall:
            self._wall = wall
            self._ear.showed(wall)
        for projector in self._projectors.values():
            self._project(projector)

    def want(self, films: Sequence[FilmWish]) -> None:
        wishes = {wish.number: wish for wish in films[:FILMS]}
        for number, projector in list(self._projectors.items()):
            if wishes.get(number) != projector.wish:
                projector.stop()
                del self._projectors[number]
        for number, wish in wishes.items():
            if number not in self._projectors:
                self._projectors[number] = _Projector(wish)
                self._project(self._projectors[number])

    def seen(self, film: int) -> None:
        projector = self._projectors.get(film)
        if projector is not None and projector.film is not None:
            projector.film.go_on()

    async def take(self, session: str) -> None:
        row = self._broker.decide(core.session_for, OPERATOR, session)
        if self._viewers.has_taken.setdefault(row.id, self) is not self:
            raise BadRequest(
                "Another dashboard has taken this session.", hint="Give it back there first."
            )
        await self.api.call(ops.SessionPause(session=row.id))

    async def give(self, session: str, note: str) -> None:
        row = self._broker.decide(core.session_for, OPERATOR, session)
        if self._viewers.has_taken.get(row.id) is self:
            del self._viewers.has_taken[row.id]
        await self._release(row.id)
        await self.api.call(ops.SessionResume(session=row.id, note=note))

    def act(self, tab: str, inputs: Sequence[PersonInput]) -> None:
        row = self._taken_tab(tab)
        for one in inputs:
            self._inputs.extend((row.id, sent) for sent in _driver_input(one))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send(), name="send input")

    def begin_file(self, tab: str, name: str, size: int) -> None:
        row = self._taken_tab(tab)
        if self._files and self._files[-1].left:
            raise BadRequest("Send the last file to its end first.", field="file")
        if len(self._files) >= FILES:
            raise BadRequest(f"{FILES} files are the most at a time.", field="file")
        session = SessionId(row.session or "")
        self._files.append(self._broker.person_files.place(session, row.id, name, size))

    async def add_bytes(self, data: bytes) -> None:
        if not self._files:
            raise BadRequest("Announce a file first.", field="file")
        await self._broker.person_files.write(self._files[-1], data)

    async def choose_files(self, tab: str) -> None:
        row = self._taken_tab(tab)
        files, self._files = self._files, []
        for file in files:
            await self._broker.person_files.write(file, b"")  # an empty file brings no bytes
        paths = [str(file.path) for file in files if file.tab == row.id and not file.left]
        if not paths:
            raise BadRequest("Send a file first.", field="choose")
        asked = self._broker.record(row.id).chooser
        if asked is not None and len(paths) > 1 and not asked.multiple:
            raise BadRequest("The page takes one file.", field="choose")
        async with asyncio.timeout(INPUT_SECONDS):
            await self._broker.page(row).choose_files(paths)

    async def feed(self, session: str | None, before: str | None) -> FeedView:
        try:
            lines, older = await asyncio.to_thread(self._broker.audit.older, before, session)
        except ValueError:
            raise BadRequest("before: not what an earlier answer said.", field="before") from None
        return FeedView(lines=[json.loads(line) for line in lines if line], older=older)

    async def house(self) -> HouseView:
        return await house_work.house(self._broker, self._usage)

    async def findings(self) -> FindingsView:
        try:
            found = await asyncio.to_thread(checkup.findings, self._broker.files.parent)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise Internal(f"`roost doctor` did not answer: {error}.") from None
        return FindingsView(findings=[FindingView(**one) for one in found])

    def forbid(self, browser: str, name: str) -> None:
        known = [row.label for row in self._broker.state.consents(BrowserId(browser))]
        if name not in known:
            raise NotFound("The person has answered nothing about such an agent.")
        self._broker.hear(ev.PersonAnswered(BrowserId(browser), name, allow=False))

    async def show_agent(self, drawing: PersonDrawing) -> None:
        await drawing_work.draw(self._broker, self._tab(drawing.tab), drawing)

    def leave(self) -> None:
        if not self._is_here:
            return
        self._is_here = False
        self._stop_feed()
        self.want(())
        self._inputs.clear()
        for session in self._viewers.left(self):
            self._broker.tasks.spawn(self._release(session), name=f"release {session}")

    def _tab(self, tab: str) -> Tab:
        """Return a tab of a session. The person's own tabs are as absent as closed ones."""
        row = self._broker.state.tabs.get(TabId(tab))
        if row is None or row.session is None:
            raise TabGone(f"Tab {tab[:32]} is gone.")
        return row

    def _taken_tab(self, tab: str) -> Tab:
        """Return a tab of a session that this viewer has taken."""
        row = self._tab(tab)
        session = self._broker.state.sessions[SessionId(row.session or "")]
        if self._viewers.has_taken.get(session.id) is not self or not session.paused:
            raise BadRequest("Take the session over first.", field="tab")
        return row

    async def _release(self, session: SessionId) -> None:
        """Release what the person holds down in the session. A tab that crashed, or whose page
        does not answer, holds nothing that could be released."""
        for tab in list(self._broker.state.tabs_in(session)):
            with contextlib.suppress(RoostError, TimeoutError):
                async with asyncio.timeout(INPUT_SECONDS):
                    await self._broker.page(tab).release()

    async def _send(self) -> None:
        """Send the input that waits, as much at a time as waits for the same tab."""
        while self._inputs:
            tab = self._inputs[0][0]
            batch = []
            while self._inputs and self._inputs[0][0] == tab:
                batch.append(self._inputs.popleft()[1])
            row = self._broker.state.tabs.get(tab)
            try:
                if row is not None:
                    async with asyncio.timeout(INPUT_SECONDS):
                        await self._broker.page(row).send_input(batch)
            except (RoostError, TimeoutError) as error:  # the person sees that nothing happens
                logger.debug("a person's input was not taken: %s", error)

    def _project(self, projector: _Projector) -> None:
        """Begin the film, unless it runs. A tab that is not open now is tried again later."""
        place = self._place(TabId(projector.wish.tab))
        if place == projector.place:
            return
        projector.stop()
        projector.place = place
        if place is not None:
            work = self._begin(projector, place[0])
            projector.beginning = asyncio.get_running_loop().create_task(work, name="begin film")

    def _place(self, tab: TabId) -> tuple[TabHandle, int] | None:
        """Return where the tab is now, or None if it cannot be filmed: only tabs of sessions are
        shown, never the person's own."""
        row = self._broker.state.tabs.get(tab)
        if row is None or row.session is None or row.handle is None:
            return None
        if row.state is not TabState.OPEN:
            return None
        started = self._broker.browser(row.browser).started
        return None if started is None else (row.handle, id(started))

    async def _begin(self, projector: _Projector, handle: TabHandle) -> None:
        wish = projector.wish
        row = self._broker.state.tabs[TabId(wish.tab)]
        driver = self._broker.browser(row.browser).driver

        def show(picture: FilmPicture) -> None:
            self._ear.filmed(wish.number, picture.data, picture.viewport)

        def miss(error: RoostError) -> None:
            self._ear.missed(wish.number, error.message)

        options = FILM_OPTIONS[wish.kind]
        # Films that begin together would take their pictures together, and agents would wait for
        # all of them. So the intervals differ a little.
        spread = wish.number % SPREAD_STEPS * SPREAD
        options = replace(options, interval=options.interval * (1 + spread))
        try:
            projector.film = await driver.film(handle, options, show, miss)
        except (TabGone, BrowserLost) as error:  # the tile says so
            logger.debug("a film did not begin: %s", error)
            projector.place = None
        except RoostError as error:
            miss(error)
            projector.place = None


def _driver_input(one: PersonInput) -> list[Input]:
    """Return the person's input as a driver takes it. A press or wheel says where the mouse is."""
    match one.kind:
        case "move":
            return [MouseMove(one.x, one.y)]
        case "down":
            return [MouseMove(one.x, one.y), MouseDown(one.button, one.clicks)]
        case "up":
            return [MouseMove(one.x, one.y), MouseUp(one.button, one.clicks)]
        case "wheel":
            return [Wheel(one.x, one.y, one.dx, one.dy)]
        case "key_down":
            return [KeyDown(one.key)]
        case "key_up":
            return [KeyUp(one.key)]
        case "text":
            return [InsertText(one.text)]
        case _:
            assert_never(one.kind)


def wall_of(broker: Broker) -> WallView:
    """Return the wall as it is now."""
    state = broker.state
    busy = {tab for tabs in broker.in_use.values() for tab in tabs}
    return WallView(
        version=broker.version,
        started=int(broker.started_at),
        browsers=view_of.browsers(broker),
        tiles=[_tile(broker, row, busy) for row in state.sessions.values()],
        waiting=list(state.requests),
    )


def _tile(broker: Broker, row: Session, busy: set[TabId]) -> TileView:
    state = broker.state
    tabs = sorted(state.tabs_in(row.id), key=view_of.opened_order)
    agents = sorted(state.agents_in(row.id))
    current = _current(broker, row, tabs)
    seen = [broker.seen_at[agent] for agent in agents if agent in broker.seen_at]
    return TileView(
        id=row.id,
        name=row.name,
        color=row.color,
        browser=row.browser,
        state=_state(broker, row, current, is_busy=not busy.isdisjoint(tab.id for tab in tabs)),
        paused=row.paused,
        agent=_agent(broker, agents),
        seen=int(max(seen)) if seen else None,
        current=None if current is None else current.id,
        tabs=[view_of.tab(broker, OPERATOR, tab) for tab in tabs],
        **_question(broker, row),
        asking=[asks for tab in tabs if (asks := _asks(broker, tab)) is not None],
        parent=row.parent,
        policy=policy.restrictions(broker, row.id),
    )


def _asks(broker: Broker, tab: Tab) -> TabAsksView | None:
    """Return what the tab's page waits for, if it waits for an answer."""
    record = broker.record(tab.id)
    if record.dialog is None and record.chooser is None:
        return None
    many = record.chooser is not None and record.chooser.multiple
    return TabAsksView(
        tab=tab.id,
        dialog=None if record.dialog is None else record.dialog.message[:DIALOG_CHARS],
        chooser=None if record.chooser is None else "many" if many else "one",
    )


def _current(broker: Broker, row: Session, tabs: Sequence[Tab]) -> Tab | None:
    """Return the tab that somebody works in, else the newest."""
    current = {member.current for member in broker.state.members_in(row.id)}
    return next((tab for tab in tabs if tab.id in current), tabs[-1] if tabs else None)


def _state(broker: Broker, row: Session, current: Tab | None, *, is_busy: bool) -> TileState:
    shows = None if current is None else current.state
    if _question(broker, row):
        return TileState.ASKS
    if row.paused:
        return TileState.PAUSED
    if row.id in broker.state.requests:
        return TileState.WAITING
    if current is not None and broker.record(current.id).dialog is not None:
        return TileState.DIALOG
    if shows is TabState.CRASHED:
        return TileState.CRASHED
    if shows is TabState.LOST:
        return TileState.LOST
    if is_busy:
        return TileState.WORKING
    return TileState.IDLE if row.kept_until is None else TileState.AWAY


def _question(broker: Broker, row: Session) -> dict[str, Any]:
    """Return what the session asks the person, as fields of its tile. Empty once it is answered."""
    question = broker.state.questions.get(row.id)
    if question is None or question.answer is not None:
        return {}
    is_approval = question.kind is QuestionKind.APPROVAL
    return {
        "question": question.reason,
        "approval": True if is_approval else None,
        "origin": question.origin or None,
    }


def _agent(broker: Broker, agents: Sequence[AgentId]) -> str:
    """Return the programs that the session's agents run in, without their folders. An agent chooses
    its name itself, so the name is only shown where the program is not known."""
    rows = [broker.state.agents[agent] for agent in agents]
    programs = (row.program.partition(" ")[0].rpartition("/")[2] or row.name for row in rows)
    return ", ".join(dict.fromkeys(programs))
