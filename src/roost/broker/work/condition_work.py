"""The work behind the operations on a session's conditions.

An operation computes the new conditions, records them, and makes the browser follow them. If that
fails, the conditions from before come back, and the files of a new rule are deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import os
import re
import secrets
import shutil
import zoneinfo
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from roost import core
from roost.api import condition_operations as ops
from roost.api import condition_views as views
from roost.broker.broker import Broker
from roost.broker.browser import har
from roost.broker.browser.browser import Browser
from roost.broker.work import policy, secret_documents
from roost.broker.work.devices import device
from roost.conditions import (
    ABORTS,
    ANY_ORIGIN,
    ROUTES,
    SCRIPTS,
    Conditions,
    Credentials,
    Emulation,
    Geolocation,
    Grant,
    Header,
    OriginHeaders,
    Route,
    Script,
    written_origin,
)
from roost.core.rows import PageConditions, Session
from roost.drivers.base import ConditionsDriver
from roost.errors import BadRequest, NotFound, RoostError, TooLarge, Unsupported
from roost.hints import Hint
from roost.vocabulary import MIB, AgentId
from roost.wire import globs

BODY_BYTES = 5 * MIB
FOLDER = "routes"
"""The folder of the rules' bodies, in the session's own folder."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,4000}")
_ORIGIN = re.compile(r"(?:https?|wss?)://(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d{1,5})?")
_OURS = frozenset({"host", "content-length", "connection", "transfer-encoding"})
"""Headers of requests that only the browser can set."""


async def show(
    broker: Broker, agent: AgentId, op: ops.Conditions | ops.RouteList
) -> views.ConditionsView:
    _, row = broker.decide(core.conditions_of, agent, op.session, op.tab, acts=False)
    return _view(row)


async def route(broker: Broker, agent: AgentId, op: ops.Route) -> views.ConditionsView:
    glob = _glob(op.url)
    answers = op.status is not None or op.body is not None or op.path is not None
    if op.abort is not None and op.abort not in ABORTS:
        raise BadRequest(
            f"abort: there is no reason {op.abort!r}.",
            hint=f"Reasons: {', '.join(ABORTS)}.",
            field="abort",
        )
    if op.body is not None and op.path is not None:
        raise BadRequest("body: give either body or path.", field="body")
    if op.abort is not None and answers:
        raise BadRequest("abort: a rule either aborts a request or answers it.", field="abort")
    if (op.request_headers or op.remove_headers) and (answers or op.abort):
        raise BadRequest(
            "requestHeaders: this rule lets no request go on whose headers could change.",
            hint="Give headers for the answer, or leave status, body, path and abort away.",
            field="requestHeaders",
        )
    session, _ = broker.decide(core.conditions_of, agent, op.session, op.tab)
    body = await _body(broker, agent, session, op)
    async with _changing(broker, agent, op) as (row, put):
        name = _rule_name(row)
        rule = Route(
            id=name,
            url=glob.text,
            method=None if op.method is None else op.method.upper(),
            kinds=tuple(op.kinds),
            abort=op.abort,
            status=(op.status or 200) if answers else None,
            headers=_answer_headers(op) if answers else (),
            request_headers=_headers(op.request_headers, "requestHeaders", is_request=True),
            remove_headers=tuple(op.remove_headers),
            delay_ms=op.delay_ms,
            body_path=None if body is None else str(_folder(broker, session) / name),
            size=0 if body is None else len(body),
        )
        rule = replace(rule, shown=_shown(op, rule, body))
        _check_together(broker, row, rule)
        async with _files(broker, session):
            if body is not None:
                await asyncio.to_thread(_write, _folder(broker, session) / name, body)
            now = await put(_with_rule(row, rule))
    return _view(now, added=name)


async def route_har(broker: Broker, agent: AgentId, op: ops.RouteHar) -> views.ConditionsView:
    glob = _glob(op.url)
    session, _ = broker.decide(core.conditions_of, agent, op.session, op.tab)
    path = broker.folders(agent, session.id).to_read(op.path, "path")
    data = await asyncio.to_thread(_read, path, har.FILE_BYTES)
    async with _changing(broker, agent, op) as (row, put):
        name = _rule_name(row)
        folder = _folder(broker, session) / name
        is_abort = op.not_found == "abort"
        rule = Route(
            id=name,
            url=glob.text,
            har=str(folder),
            abort="failed" if is_abort else None,
        )
        _check_together(broker, row, rule)
        async with _files(broker, session):
            count, size = await asyncio.to_thread(har.split, data, folder)
            otherwise = "or aborts" if is_abort else "or goes on"
            shown = f"answers from {count} recorded responses, {otherwise}"
            now = await put(_with_rule(row, replace(rule, size=size, shown=shown)))
    return _view(now, added=name)


async def serve_folder(broker: Broker, agent: AgentId, session: str | None, folder: Path) -> str:
    """Let the session's pages load the files of a folder. Return the origin where they are.

    Only this session has that origin: its own rule answers the requests, and no server does.
    """
    async with _changing(broker, agent, ops.Conditions(session=session)) as (row, put):
        served = str(folder)
        known = [one for one in row.conditions.routes if one.folder == served]
        if known:
            return known[0].url.removesuffix("/**")
        name = _rule_name(row)
        # The origin is random: a page of another site that guessed it could load the files.
        origin = f"http://{secrets.token_hex(16)}.localhost"
        rule = Route(id=name, url=f"{origin}/**", folder=served, shown=f"answers from {served}")
        _check_together(broker, row, rule)
        await put(_with_rule(row, rule))
    return origin


async def unroute(broker: Broker, agent: AgentId, op: ops.Unroute) -> views.ConditionsView:
    async with _changing(broker, agent, op) as (row, put):
        gone = [one for one in row.conditions.routes if op.rule in (None, one.id, one.url)]
        if op.rule is not None and not gone:
            raise NotFound(
                f"There is no rule {op.rule[:200]!r}.",
                hint=Hint("List the rules[ with {RouteList}]."),
            )
        routes = tuple(one for one in row.conditions.routes if one not in gone)
        async with _files(broker, broker.state.sessions[row.session]):
            now = await put(replace(row, conditions=replace(row.conditions, routes=routes)))
    return _view(now)


async def network_state(
    broker: Broker, agent: AgentId, op: ops.NetworkState
) -> views.ConditionsView:
    if op.state is None and op.throttle is None:
        raise BadRequest("state: give state, throttle or both.", field="state")
    async with _changing(broker, agent, op) as (row, put):
        conditions = row.conditions
        if op.state is not None:
            is_offline = op.state == "offline"
            # A tab that is online on purpose must win over a session that is offline.
            off = is_offline if is_offline or row.tab is not None else None
            conditions = replace(conditions, offline=off)
        if op.throttle is not None:
            to = None if op.throttle == "none" and row.tab is None else op.throttle
            conditions = replace(conditions, throttle=to)
        return _view(await put(replace(row, conditions=conditions)))


async def set_headers(broker: Broker, agent: AgentId, op: ops.SetHeaders) -> views.ConditionsView:
    origin = ANY_ORIGIN if op.origin is None else _origin(op.origin)
    headers = _headers(op.headers, "headers", is_request=True)
    async with _changing(broker, agent, op) as (row, put):
        kept = [one for one in row.conditions.headers if one.origin != origin]
        if headers:
            kept.append(OriginHeaders(origin=origin, headers=headers))
        _check_few(kept, "headers")
        return _view(
            await put(replace(row, conditions=replace(row.conditions, headers=tuple(kept))))
        )


async def set_credentials(
    broker: Broker, agent: AgentId, op: ops.SetCredentials
) -> views.ConditionsView:
    origin = _origin(op.origin)
    async with _changing(broker, agent, op) as (row, put):
        kept = [one for one in row.conditions.credentials if one.origin != origin]
        if op.username is not None:
            kept.append(Credentials(origin=origin, username=op.username, password=op.password))
        _check_few(kept, "origin")
        conditions = replace(row.conditions, credentials=tuple(kept))
        return _view(await put(replace(row, conditions=conditions)))


async def emulate(broker: Broker, agent: AgentId, op: ops.Emulate) -> views.ConditionsView:
    chosen = _emulation(op)
    async with _changing(broker, agent, op) as (row, put):
        if row.tab is not None and (chosen.locale or chosen.timezone or op.permissions is not None):
            raise Unsupported(
                "tab: locale, time zone and permissions hold for all tabs of a session, because"
                " the browser keeps them for its pages together.",
                hint="Leave tab away.",
                field="tab",
            )
        before = Emulation() if op.reset else row.conditions.emulation
        conditions = replace(row.conditions, emulation=chosen.over(before))
        if op.reset:
            conditions = replace(conditions, grants=())
        if op.permissions is not None:
            conditions = replace(conditions, grants=_grants(conditions.grants, op))
        return _view(await put(replace(row, conditions=conditions)))


async def init_script(broker: Broker, agent: AgentId, op: ops.InitScript) -> views.ConditionsView:
    given = (op.script is not None) + (op.path is not None) + op.remove
    if given != 1:
        raise BadRequest("script: give one of script, path and remove.", field="script")
    session, _ = broker.decide(core.conditions_of, agent, op.session, op.tab)
    text = op.script
    if op.path is not None:
        path = broker.folders(agent, session.id).to_read(op.path, "path")
        read = await asyncio.to_thread(_read, path, ops.SCRIPT_CHARS)
        text = read.decode("utf-8", "replace")
    async with _changing(broker, agent, op) as (row, put):
        kept = [one for one in row.conditions.scripts if one.name != op.name]
        if op.remove and len(kept) == len(row.conditions.scripts):
            raise NotFound(f"There is no script {op.name}.")
        if text is not None:
            kept.append(Script(name=op.name, text=text))
        if len(kept) > SCRIPTS:
            raise BadRequest(f"name: there are {SCRIPTS} scripts already.", field="name")
        conditions = replace(row.conditions, scripts=tuple(kept))
        now = await put(replace(row, conditions=conditions))
    return _view(now, added=None if op.remove else op.name)


# --- recording and following --------------------------------------------------------------------

Put = Callable[[PageConditions], Awaitable[PageConditions]]
WRITES = "no script or route rule is added"
"""What the refusal says while a page holds a secret. A script or a rule could read the secret."""


def _adds_scripts(before: Conditions, after: Conditions) -> bool:
    """Return True if the change may bring a script of the agent into pages."""
    new = set(after.scripts) - set(before.scripts) or set(after.routes) - set(before.routes)
    return bool(new)


@asynccontextmanager
async def _changing(
    broker: Broker, agent: AgentId, op: ops.ConditionOperation
) -> AsyncIterator[tuple[PageConditions, Put]]:
    """Hold the session's turn at its conditions. Yields them, and a function to change them."""
    session, _ = broker.decide(core.conditions_of, agent, op.session, op.tab)
    policy.check_conditions(broker, agent, session, op)
    browser = broker.browser(session.browser)
    driver = browser.driver
    if not isinstance(driver, ConditionsDriver):
        raise Unsupported(
            "Roost changes no conditions in a person's own browser.",
            hint="Work in a session of a browser that Roost started.",
        )
    turn = browser.condition_turns.setdefault(session.id, asyncio.Lock())
    async with turn:
        _, row = broker.decide(core.conditions_of, agent, op.session, op.tab)

        async def put(changed: PageConditions) -> PageConditions:
            driver.check_conditions(changed.conditions)
            adds = _adds_scripts(row.conditions, changed.conditions)
            if adds:
                await secret_documents.check_session_left(broker, session.id, WRITES)
            broker.decide(core.put_conditions, changed)
            try:
                if adds:  # again: a secret may have been filled in since, and now none is
                    await secret_documents.check_session_left(broker, session.id, WRITES)
                await browser.put_conditions(session.id)
            except asyncio.CancelledError:
                # The call's time is over, or its caller is gone: nobody can wait for the browser.
                broker.decide(core.put_conditions, row)
                name = f"take back the conditions of {session.id}"
                broker.tasks.spawn(_put_again(browser, session, turn), name=name)
                raise
            except Exception:
                broker.decide(core.put_conditions, row)
                with contextlib.suppress(RoostError):
                    await browser.put_conditions(session.id)
                raise
            if adds or row.conditions.scripts or row.conditions.routes:
                # What they brought may run on in the open documents after they are removed.
                secret_documents.scripts_may_have_run(broker, session.id)
            return changed

        yield row, put


async def _put_again(browser: Browser, session: Session, turn: asyncio.Lock) -> None:
    async with turn:
        await browser.put_conditions(session.id)


# --- reading arguments ----------------------------------------------------------------------------


def _glob(text: str) -> globs.Glob:
    """Parse a glob. An address without a path means the path ``/``, as in Playwright."""
    if re.fullmatch(r"https?://[^/*?{}]+", text):
        text += "/"
    try:
        return globs.parse(text)
    except globs.BadGlob as error:
        raise BadRequest(
            f"url: {error}.",
            hint="* stands for anything but /, ** for anything, {a,b} for a or b.",
            field="url",
        ) from None


def _rule_name(row: PageConditions) -> str:
    """Return the id of the next rule. Raises ``BadRequest`` if there are too many."""
    if len(row.conditions.routes) >= ROUTES:
        raise BadRequest(
            f"url: there are {ROUTES} rules already.",
            hint=Hint("Remove some[ with {Unroute}]."),
            field="url",
        )
    number = row.routes_made + 1
    return f"r{number}" if row.tab is None else f"{row.tab}-r{number}"


def _with_rule(row: PageConditions, rule: Route) -> PageConditions:
    conditions = replace(row.conditions, routes=(*row.conditions.routes, rule))
    return replace(row, conditions=conditions, routes_made=row.routes_made + 1)


def _check_together(broker: Broker, row: PageConditions, rule: Route) -> None:
    """Refuse a rule that a tab could not follow together with the rules that hold there already:
    the session's, and the tab's own."""
    mine = (*row.conditions.routes, rule)
    beside = [
        one.conditions.routes
        for one in broker.state.page_conditions.values()
        if one.session == row.session and (one.tab is None) != (row.tab is None)
    ]
    try:
        for others in [(), *beside]:
            globs.GlobSet([globs.parse(one.url) for one in (*mine, *others)])
    except globs.BadGlob as error:
        raise BadRequest(
            f"url: {error}.", hint=Hint("Remove some rules[ with {Unroute}]."), field="url"
        ) from None


def _headers(given: Sequence[str], field: str, *, is_request: bool = False) -> tuple[Header, ...]:
    found = []
    for one in given:
        name, colon, value = one.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise BadRequest(f"{field}: expected Name: Value.", field=field)
        if is_request and name.lower() in _OURS:
            raise BadRequest(f"{field}: only the browser can set {name}.", field=field)
        found.append((name, value))
    return tuple(found)


def _answer_headers(op: ops.Route) -> tuple[Header, ...]:
    """Return the headers of the answer, with a content type."""
    headers = _headers(op.headers, "headers")
    if op.content_type is not None:
        (kind,) = _headers([f"Content-Type: {op.content_type}"], "contentType")
        return (*(one for one in headers if one[0].lower() != "content-type"), kind)
    if any(name.lower() == "content-type" for name, _ in headers):
        return headers
    guessed = "text/plain; charset=utf-8" if op.body is not None else None
    if op.path is not None:
        guessed = mimetypes.guess_type(op.path)[0] or "application/octet-stream"
    return headers if guessed is None else (*headers, ("Content-Type", guessed))


def _origin(text: str) -> str:
    origin = text.strip().rstrip("/").lower()
    if not _ORIGIN.fullmatch(origin):
        raise BadRequest(
            "origin: expected scheme, host and port, like https://example.com.", field="origin"
        )
    return _usual(written_origin(origin))


def _usual(origin: str) -> str:
    """Leave out the port that the scheme has anyway: browsers do so in addresses."""
    scheme, _, host = origin.partition("://")
    usual = {"http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}[scheme]
    return f"{scheme}://{host.removesuffix(usual)}"


def _emulation(op: ops.Emulate) -> Emulation:
    """Return what the call asks for: the device, and what it says itself."""
    if (op.width is None) != (op.height is None):
        raise BadRequest("width: give width and height together.", field="width")
    if (op.latitude is None) != (op.longitude is None):
        raise BadRequest("latitude: give latitude and longitude together.", field="latitude")
    if op.timezone is not None:
        _check_timezone(op.timezone)
    place = None
    if op.latitude is not None and op.longitude is not None:
        place = Geolocation(latitude=op.latitude, longitude=op.longitude, accuracy=op.accuracy)
    said = Emulation(
        device=op.device,
        width=op.width,
        height=op.height,
        scale=op.scale,
        mobile=op.mobile,
        touch=op.touch,
        user_agent=op.user_agent,
        geolocation=place,
        locale=op.locale,
        timezone=op.timezone,
        color_scheme=op.color_scheme,
        reduced_motion=op.reduced_motion,
        contrast=op.contrast,
        media=op.media,
    )
    return said if op.device is None else said.over(device(op.device))


def _check_timezone(name: str) -> None:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise BadRequest(
            f"timezone: there is no time zone {name[:64]!r}.",
            hint="Use a name like Europe/Berlin.",
            field="timezone",
        ) from None


def _grants(before: tuple[Grant, ...], op: ops.Emulate) -> tuple[Grant, ...]:
    assert op.permissions is not None
    origin = ANY_ORIGIN if op.origin is None else _origin(op.origin)
    if not op.permissions and op.origin is None:
        return ()
    kept = [one for one in before if one.origin != origin]
    if op.permissions:
        kept.append(Grant(origin=origin, names=tuple(dict.fromkeys(op.permissions))))
    _check_few(kept, "permissions")
    return tuple(kept)


def _check_few(entries: Sequence[object], field: str) -> None:
    if len(entries) > ROUTES:
        raise BadRequest(f"{field}: there are entries for {ROUTES} origins already.", field=field)


# --- bodies ---------------------------------------------------------------------------------------


async def _body(broker: Broker, agent: AgentId, session: Session, op: ops.Route) -> bytes | None:
    """Return the body of the rule's answer. A file is read now, so the rule does not change with
    the file and works after the agent has lost its folder."""
    if op.body is not None:
        return op.body.encode("utf-8", "surrogatepass")
    if op.path is None:
        return None
    path = broker.folders(agent, session.id).to_read(op.path, "path")
    return await asyncio.to_thread(_read, path, BODY_BYTES)


def _read(path: Path, limit: int) -> bytes:
    try:
        # The path is resolved already, so a symbolic link there was put there since.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(file, "rb") as reading:
            data = reading.read(limit + 1)
    except OSError as error:
        raise BadRequest(
            f"path: the file cannot be read: {error.strerror}.", field="path"
        ) from None
    if len(data) > limit:
        raise TooLarge(f"path: the file has more than {limit} bytes.", field="path")
    return data


def _folder(broker: Broker, session: Session) -> Path:
    return broker.files / session.id / FOLDER


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as writing:
        writing.write(body)


@asynccontextmanager
async def _files(broker: Broker, session: Session) -> AsyncIterator[None]:
    """Let a change of the rules write files. Afterwards, delete the files of rules that are gone:
    removed, refused, or of a tab that closed."""
    try:
        yield
    finally:
        rows = broker.state.page_conditions.values()
        mine = [row.conditions.routes for row in rows if row.session == session.id]
        kept = frozenset(route.id for routes in mine for route in routes)
        await asyncio.to_thread(_tidy, _folder(broker, session), kept)


def _tidy(folder: Path, kept: frozenset[str]) -> None:
    """Delete all files and folders below ``folder`` that are not named in ``kept``."""
    for one in folder.glob("*"):
        if one.name in kept:
            continue
        if one.is_dir():
            shutil.rmtree(one, ignore_errors=True)
        else:
            one.unlink(missing_ok=True)


# --- views ----------------------------------------------------------------------------------------


def _shown(op: ops.Route, rule: Route, body: bytes | None) -> str:
    wait = f"waits {rule.delay_ms} ms, then " if rule.delay_ms else ""
    if rule.abort is not None:
        return f"{wait}aborts ({rule.abort})"
    if rule.status is not None:
        what = "" if body is None else f" and {len(body)} bytes"
        return f"{wait}answers {rule.status}{what}"
    names = [f"+{name}" for name, _ in rule.request_headers]
    names += [f"-{name}" for name in rule.remove_headers]
    return f"{wait}goes on" + (f" with {', '.join(names)}" if names else "")


def _view(row: PageConditions, added: str | None = None) -> views.ConditionsView:
    now: Conditions = row.conditions
    return views.ConditionsView(
        session=row.session,
        tab=row.tab,
        added=added,
        routes=[
            views.RouteView(
                id=one.id,
                url=one.url,
                method=one.method,
                kinds=list(one.kinds) or None,
                does=one.shown,
            )
            for one in now.routes
        ],
        headers=[
            views.HeadersView(origin=one.origin, names=[name for name, _ in one.headers])
            for one in now.headers
        ],
        credentials=[
            views.CredentialsView(origin=one.origin, username=one.username)
            for one in now.credentials
        ],
        offline=bool(now.offline),
        throttle=now.throttle,
        emulation=_emulation_view(now.emulation),
        permissions=[
            views.PageGrantView(origin=one.origin, names=list(one.names)) for one in now.grants
        ],
        scripts=[one.name for one in now.scripts],
    )


def _emulation_view(now: Emulation) -> views.EmulationView | None:
    if now == Emulation():
        return None
    place = now.geolocation
    names = views.EmulationView.model_fields.keys() & set(Emulation.__dataclass_fields__)
    return views.EmulationView(
        latitude=None if place is None else place.latitude,
        longitude=None if place is None else place.longitude,
        **{name: getattr(now, name) for name in names},
    )
