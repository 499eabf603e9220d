"""One open dashboard page over its WebSocket.

Text messages are JSON. The page says:

- ``{"code": …}`` or ``{"token": …}`` first, and is answered ``{"welcome": {"token": …}}``;
- ``{"id": 1, "op": "session_pause", "arguments": {…}}`` to perform an operation as the operator,
  and is answered ``{"id": 1, "result": …}`` or ``{"id": 1, "error": …}``;
- ``{"films": [{"number": 1, "tab": "t3", "kind": "tile"}, …]}`` to say which films it shows now;
- ``{"seen": 1}`` when it has drawn a picture of that film;
- ``{"id": 2, "take": "s1"}`` and ``{"id": 3, "give": "s1", "note": "…"}`` to take a session from
  its agent and give it back, answered like an operation;
- ``{"id": 4, "draw": {…}}`` to show the agent a drawing (``api.dashboard.PersonDrawing``);
- ``{"id": 5, "file": "t3", "name": "cv.pdf", "bytes": 1234}`` to announce a file for a page's file
  chooser. Its bytes follow in binary messages, and ``{"id": 6, "choose": "t3"}`` gives the page all
  files that were announced;
- ``{"id": 7, "feed": {"session": "s1", "before": "…"}}`` for earlier lines of the feed;
- ``{"id": 8, "house": true}`` and ``{"id": 9, "doctor": true}`` for what is used, set and broken;
- ``{"id": 10, "forbid": {"browser": "…", "name": "…"}}`` to take a consent back;
- ``{"tab": "t3", "inputs": [{"kind": "down", "x": 10, "y": 20}, …]}`` for mouse and keyboard in a
  session that it has taken (``api.dashboard.PersonInput``).

The page is sent ``{"wall": …}`` and ``{"feed": […]}``. Pictures are binary: the film's number and
the page's width and height in CSS pixels (three big-endian 32-bit numbers), then the JPEG.
``{"missed": 1, "why": "…"}`` says that the film has no picture now.

Only the newest picture of each film and the newest wall wait for a page that reads slowly.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from roost.api.dashboard import (
    DashboardDoor,
    FilmKind,
    FilmWish,
    PersonDrawing,
    PersonInput,
    Viewer,
    WallView,
)
from roost.api.operations import parse
from roost.api.views import View
from roost.errors import BadRequest, RoostError
from roost.vocabulary import HELLO_SECONDS, KIB
from roost.wire.framing import encode

MESSAGE_BYTES = 256 * KIB
CALLS = 16
"""Operations of one page that run at the same time. Further ones are refused."""
FEED_LINES = 500
"""Lines of the feed that wait for a slow page. The oldest are dropped."""
TURN = 64
"""Messages of one page to handle before everybody else gets a turn."""
REPLIES = 256
"""Disconnect a page that asks more while this many answers wait to be sent to it."""
SEND_SECONDS = 20.0
"""Disconnect a page that receives no message for this long."""
POLICY, GOING = 1008, 1001
CALLED = frozenset(
    {"op", "take", "give", "draw", "file", "choose", "feed", "house", "doctor", "forbid"}
)
"""Messages that are answered."""
KNOWN = sorted({*CALLED, "inputs", "films", "seen"})
_HEAD = struct.Struct(">III")
_INPUTS = TypeAdapter(list[PersonInput])


class ViewerSocket:
    """Serves one page. Implements ``api.dashboard.ViewerEar``."""

    def __init__(self, websocket: WebSocket, door: DashboardDoor) -> None:
        self._websocket = websocket
        self._door = door
        self._viewer: Viewer | None = None
        self._news = asyncio.Event()
        self._wall: WallView | None = None
        self._feed: deque[bytes] = deque(maxlen=FEED_LINES)
        self._replies: deque[dict[str, Any]] = deque()
        self._pictures: dict[int, tuple[bytes, tuple[float, float]]] = {}
        self._misses: dict[int, str] = {}
        self._calls: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Serve the page until it leaves or says something that it must not say."""
        await self._websocket.accept()
        loop = asyncio.get_running_loop()
        sending: asyncio.Task[None] | None = None
        try:
            await self._log_in()
            sending = loop.create_task(self._send_all(), name="dashboard sender")
            hearing = loop.create_task(self._hear_all(), name="dashboard reader")
            await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, hearing):
                task.cancel()
            await asyncio.gather(sending, hearing, return_exceptions=True)
            if hearing.done() and not hearing.cancelled():
                hearing.result()
        except RoostError as error:
            with suppress(RuntimeError, OSError, TimeoutError, WebSocketDisconnect):
                await self._say({"error": error.to_wire()})
            await self._close(POLICY)
        except (WebSocketDisconnect, TimeoutError, OSError):
            await self._close(GOING)
        finally:
            for call in self._calls:
                call.cancel()
            if self._viewer is not None:
                self._viewer.leave()

    # --- api.dashboard.ViewerEar -----------------------------------------------------------------

    def showed(self, wall: WallView) -> None:
        self._wall = wall
        self._news.set()

    def fed(self, lines: Sequence[bytes]) -> None:
        self._feed.extend(lines)
        self._news.set()

    def filmed(self, film: int, picture: bytes, viewport: tuple[float, float]) -> None:
        self._pictures[film] = picture, viewport
        self._misses.pop(film, None)
        self._news.set()

    def missed(self, film: int, why: str) -> None:
        self._misses[film] = why
        self._pictures.pop(film, None)
        self._news.set()

    # --- what the page says ----------------------------------------------------------------------

    async def _log_in(self) -> None:
        scope = self._websocket.scope
        await self._door.check_viewer(tuple(scope["server"]), tuple(scope["client"]))
        async with asyncio.timeout(HELLO_SECONDS):
            first = _object(await self._websocket.receive())
        self._viewer = await self._door.enter(
            code=_text(first, "code"), token=_text(first, "token"), ear=self
        )
        scope["state"]["admitted"](is_operator=True)
        self._reply({"welcome": {"token": self._viewer.token}})

    async def _hear_all(self) -> None:
        while True:
            for _ in range(TURN):
                event = await self._websocket.receive()
                if event.get("bytes") is not None:
                    await self._received(event["bytes"])
                else:
                    self._heard(_object(event))
            # Messages that have arrived already are received without waiting. Let others run.
            turn = asyncio.Event()
            asyncio.get_running_loop().call_soon(turn.set)
            await turn.wait()

    def _heard(self, said: Mapping[str, Any]) -> None:
        assert self._viewer is not None
        if len(self._replies) > REPLIES:
            raise BadRequest("Read the answers before you ask more.", field="message")
        if not CALLED.isdisjoint(said):
            self._called(said)
        elif "inputs" in said:
            self._acted(said)
        elif "films" in said:
            self._viewer.want(_wishes(said["films"]))
        elif "seen" in said:
            self._viewer.seen(_number(said["seen"]))
        else:
            raise BadRequest(f"The dashboard knows {', '.join(KNOWN)}.", field="message")

    async def _received(self, data: bytes) -> None:
        """Add bytes to the announced file. The next message waits, so a fast sender waits, too."""
        assert self._viewer is not None
        if len(data) > MESSAGE_BYTES:
            raise BadRequest(f"A message has at most {MESSAGE_BYTES} bytes.", field="message")
        await self._viewer.add_bytes(data)

    def _called(self, said: Mapping[str, Any]) -> None:
        number = _number(said.get("id"))
        if "file" in said:
            self._announced(number, said)
            return
        if len(self._calls) >= CALLS:
            busy = BadRequest(f"{CALLS} operations run already. Wait for one of them.")
            self._reply({"id": number, "error": busy.to_wire()})
            return
        call = asyncio.get_running_loop().create_task(self._call(number, said), name="call")
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    def _announced(self, number: int, said: Mapping[str, Any]) -> None:
        """Announce a file at once: its bytes come with the next messages."""
        assert self._viewer is not None
        try:
            size = _number(said.get("bytes"))
            self._viewer.begin_file(str(said["file"]), str(said.get("name", "")), size)
            self._reply({"id": number, "result": {}})
        except RoostError as error:
            self._reply({"id": number, "error": error.to_wire()})

    async def _call(self, number: int, said: Mapping[str, Any]) -> None:
        assert self._viewer is not None
        try:
            self._reply({"id": number, "result": await self._result(self._viewer, said)})
        except RoostError as error:
            self._reply({"id": number, "error": error.to_wire()})

    async def _result(self, viewer: Viewer, said: Mapping[str, Any]) -> dict[str, Any]:
        if "feed" in said:
            which = said["feed"] if isinstance(said["feed"], dict) else {}
            return (await viewer.feed(_text(which, "session"), _text(which, "before"))).to_wire()
        if "house" in said:
            return (await viewer.house()).to_wire()
        if "doctor" in said:
            return (await viewer.findings()).to_wire()
        if "op" not in said:
            await self._done(viewer, said)
            return {}
        operation = parse(said["op"], said.get("arguments", {}))
        view: View = await viewer.api.call(operation)  # type: ignore[arg-type]
        return view.to_wire()

    async def _done(self, viewer: Viewer, said: Mapping[str, Any]) -> None:
        """Do what has no result of its own."""
        if "take" in said:
            await viewer.take(str(said["take"]))
        elif "give" in said:
            await viewer.give(str(said["give"]), str(said.get("note", "")))
        elif "choose" in said:
            await viewer.choose_files(str(said["choose"]))
        elif "forbid" in said:
            which = said["forbid"] if isinstance(said["forbid"], dict) else {}
            viewer.forbid(_text(which, "browser") or "", _text(which, "name") or "")
        elif "draw" in said:
            try:
                drawing = PersonDrawing.model_validate(said["draw"])
            except ValidationError:
                raise BadRequest("draw: a PersonDrawing is needed.", field="draw") from None
            await viewer.show_agent(drawing)

    def _acted(self, said: Mapping[str, Any]) -> None:
        """Pass input on. Input that is not taken is answered with an error, and the page stays."""
        assert self._viewer is not None
        try:
            inputs = _INPUTS.validate_python(said["inputs"])
        except ValidationError:
            raise BadRequest("inputs: a list of PersonInput is needed.", field="inputs") from None
        try:
            self._viewer.act(str(said.get("tab")), inputs)
        except RoostError as error:
            self._reply({"refused": error.to_wire()})

    # --- what the page is sent -------------------------------------------------------------------

    def _reply(self, message: dict[str, Any]) -> None:
        self._replies.append(message)
        self._news.set()

    async def _send_all(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._replies:
                await self._say(self._replies.popleft())
            if self._wall is not None:
                wall, self._wall = self._wall, None
                await self._say({"wall": wall.to_wire()})
            if self._feed:
                lines = b",".join(line.strip() for line in self._feed)
                self._feed.clear()
                await self._send(b'{"feed":[' + lines + b"]}")
            misses, self._misses = self._misses, {}
            for film, why in misses.items():
                await self._say({"missed": film, "why": why})
            pictures, self._pictures = self._pictures, {}
            for film, (picture, viewport) in pictures.items():
                head = _HEAD.pack(film, round(viewport[0]), round(viewport[1]))
                async with asyncio.timeout(SEND_SECONDS):
                    await self._websocket.send_bytes(head + picture)

    async def _say(self, message: dict[str, Any]) -> None:
        await self._send(encode(message))

    async def _send(self, text: bytes) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._websocket.send_text(text.decode())

    async def _close(self, code: int) -> None:
        with suppress(RuntimeError, OSError, TimeoutError, WebSocketDisconnect):
            async with asyncio.timeout(1.0):
                await self._websocket.close(code)


def _object(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a received message. Raises ``BadRequest`` for anything else."""
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", GOING))
    text = event.get("text")
    if text is None or len(text) > MESSAGE_BYTES:
        raise BadRequest(f"A message is JSON text of at most {MESSAGE_BYTES} characters.")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BadRequest("A message is a JSON object.", field="message")
    return said


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**32:
        raise BadRequest("A number from 0 to 4294967295 is needed.", field="message")
    return value


def _wishes(value: object) -> list[FilmWish]:
    try:
        return [
            FilmWish(_number(one["number"]), str(one["tab"]), FilmKind(one["kind"]))
            for one in value  # type: ignore[attr-defined]
        ]
    except (TypeError, KeyError, ValueError):
        raise BadRequest(
            'films: a list of {"number", "tab", "kind"} is needed.', field="films"
        ) from None
