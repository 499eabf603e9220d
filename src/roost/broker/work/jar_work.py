"""The work behind operations on cookies, storage states and profiles."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from roost import core
from roost.api import jar_views as views
from roost.api import operations as ops
from roost.broker.broker import Broker
from roost.broker.browser.files import Folders
from roost.broker.browser.jars import Jars
from roost.broker.work import login_reader, page_use, policy, secret_documents
from roost.core.rows import Jar, Session
from roost.drivers.base import Cookie, JarContents
from roost.errors import BadRequest, NotFound, RoostError
from roost.hints import Hint
from roost.profiles.limits import FILE_BYTES, file_too_large
from roost.profiles.sources import contents_of
from roost.profiles.storage_state import write_storage_state
from roost.profiles.store import Profile
from roost.vault.redaction import Redactor
from roost.vocabulary import OPERATOR, AgentId

STATE_FILE = "storage-state.json"


async def cookies(broker: Broker, agent: AgentId, op: ops.Cookies) -> views.CookiesView:
    session, jar = _own_jar(broker, agent, op, "use the cookies of")
    _, handle = await _made(broker, jar)
    driver = broker.browser(jar.browser).driver
    if op.action == "get" and op.name is None:
        raise BadRequest("name: say which cookie to get.", field="name")
    if op.action == "delete" and op.name is None and op.domain is None:
        raise BadRequest("name: say which cookies to delete.", field="name")
    if op.action == "set":
        one = _cookie(broker, agent, session, op)
        if await driver.write_cookies(handle, [one]):
            raise BadRequest(
                f"name: the browser refused the cookie {op.name}.",
                hint="SameSite None and names like __Host- need secure; values are at most 4 KiB.",
                field="name",
            )
        found = [one]
    else:
        found = [one for one in await driver.read_cookies(handle) if _is_meant(one, op)]
    if op.action in ("delete", "clear"):
        await driver.delete_cookies(handle, found)
    if op.action in ("get", "delete") and not found:
        raise NotFound(
            f"There is no such cookie in session {session.id}.",
            hint=Hint("List them[ with {Cookies action=list}]."),
        )
    if not op.only_reads():
        broker.jar_backups.may_have_changed(jar.id)
    shown = [_cookie_view(one, with_value=op.action == "get") for one in found]
    return views.CookiesView(session=session.id, cookies=shown)


async def storage(broker: Broker, agent: AgentId, op: ops.Storage) -> views.StorageView:
    if op.action in ("get", "set", "delete") and op.key is None:
        raise BadRequest(f"key: say which key to {op.action}.", field="key")
    if op.action == "set" and op.value is None:
        raise BadRequest("value: set needs a value.", field="value")
    use = page_use.reading if op.only_reads() else page_use.acting
    async with use(broker, agent, op, "use the storage of") as at:
        await secret_documents.check_left(at)
        async with page_use.UnlessDialog(at.record):
            found = await at.page.call(
                None,
                "storage",
                kind=op.kind,
                action=op.action,
                key=op.key,
                value=op.value,
                database=op.database,
                store=op.store,
            )
        databases = [
            views.StoredDatabaseView(
                name=one["name"], stores={store["name"]: store["count"] for store in one["stores"]}
            )
            for one in found.get("databases", ())
        ]
        return views.StorageView(
            tab=at.tab,
            origin=found["origin"],
            kind=op.kind,
            action=op.action,
            items=[views.StoredItemView(**item) for item in found["items"]],
            databases=databases if "databases" in found else None,
            total=found["total"],
        )


async def storage_state(
    broker: Broker, agent: AgentId, op: ops.StorageState
) -> views.StorageStateView:
    session, jar = _own_jar(broker, agent, op, "use the storage of")
    jars, _ = await _made(broker, jar)
    folders = broker.folders(agent, session.id)
    if op.action == "save":
        contents = await jars.whole(jar.id)
        data = await asyncio.to_thread(_saved, contents, broker.redactor)
        path = folders.write(
            data, op.filename, STATE_FILE, "filename", overwrite=op.overwrite, secret=True
        )
        refused = None
    else:
        path = _to_load(folders, op)
        data = await asyncio.to_thread(path.read_bytes)
        contents = await login_reader.storage_state(data, "filename")
        refused = sum(await jars.put(jar.id, contents))
        broker.jar_backups.may_have_changed(jar.id)
    return views.StorageStateView(
        session=session.id,
        path=str(path),
        cookies=len(contents.cookies),
        origins=len(contents.storage),
        refused=refused,
    )


def _saved(contents: JarContents, redactor: Redactor) -> bytes:
    """Return a storage state file. Agents read that file, so it has no secret of the person: a page
    may store what was filled in, for example as a draft."""
    text = write_storage_state(contents)
    if not redactor.is_idle:
        text = json.dumps(redactor.data(json.loads(text)))
    return text.encode()


async def profile_import(
    broker: Broker, agent: AgentId, op: ops.ProfileImport
) -> views.ProfileView:
    source = Path(op.source)
    if not source.is_absolute():
        raise BadRequest("source: expected an absolute path.", field="source")
    kind, harvest = await login_reader.source(source, op.domains, "source")
    profile = Profile(
        name=op.name,
        source=kind,
        imported_at=broker.clock.now(),
        contents=contents_of(harvest),
    )
    await asyncio.to_thread(broker.profiles.put, profile, for_any_agent=op.any_agent)
    left_out = [f"{count} {what}" for what, count in harvest.left_out.items()]
    return _profile_view(broker, profile).model_copy(update={"left_out": left_out or None})


async def profile_list(broker: Broker, agent: AgentId, op: ops.ProfileList) -> views.ProfilesView:
    """List all profiles for the operator, and those it may clone for an agent. A caller with a
    session's token cannot open sessions, so its list is empty."""
    if agent == OPERATOR:
        return await _profiles(broker, broker.profiles.names())
    row = broker.state.agents.get(agent)
    if row is None or row.lease_until is not None:
        return views.ProfilesView(profiles=[])
    names = broker.profiles.names()
    return await _profiles(
        broker,
        [name for name in names if name == row.profile or broker.profiles.is_for_any_agent(name)],
    )


async def profile_remove(
    broker: Broker, agent: AgentId, op: ops.ProfileRemove
) -> views.ProfilesView:
    broker.profiles.remove(op.name)
    return await _profiles(broker, broker.profiles.names())


async def _profiles(broker: Broker, names: Sequence[str]) -> views.ProfilesView:
    found, notes = [], []
    for name in names:
        try:
            found.append(await asyncio.to_thread(broker.profiles.get, name))
        except RoostError as error:  # a broken profile must not hide the others
            notes.append(f"{error.message} " + error.hint)
    shown = [_profile_view(broker, one) for one in found]
    return views.ProfilesView(profiles=shown, notes=notes or None)


def _own_jar(
    broker: Broker, agent: AgentId, op: ops.PageOperation, action: str
) -> tuple[Session, Jar]:
    session, jar = broker.decide(core.own_jar, agent, op.session, op.tab, action=action)
    policy.check_jar(broker, agent, session, op)
    return session, jar


async def _made(broker: Broker, jar: Jar) -> tuple[Jars, str]:
    browser = broker.browser(jar.browser)
    await browser.ready()
    return browser.jars, await browser.jars.handle(jar.id)


def _to_load(folders: Folders, op: ops.StorageState) -> Path:
    path = folders.to_read(op.filename, "filename", STATE_FILE)
    if os.path.getsize(path) > FILE_BYTES:
        raise file_too_large(path.name, "filename")
    return path


def _cookie(broker: Broker, agent: AgentId, session: Session, op: ops.Cookies) -> Cookie:
    if not op.name or op.value is None:
        raise BadRequest("name: set needs a name and a value.", field="name")
    return Cookie(
        name=op.name,
        value=op.value,
        domain=op.domain or _current_host(broker, agent, session, op),
        path=op.path or "/",
        expires=op.expires,
        http_only=op.http_only,
        secure=op.secure,
        same_site=op.same_site,
    )


def _current_host(broker: Broker, agent: AgentId, session: Session, op: ops.Cookies) -> str:
    """Return the host of the caller's current page, for a cookie without a domain."""
    member = broker.state.member(agent, session.id)
    tab = op.tab or (None if member is None else member.current)
    row = next((one for one in broker.state.tabs_in(session.id) if one.id == tab), None)
    host = None if row is None else urlsplit(row.url).hostname
    if host is None:
        raise BadRequest("domain: say which site the cookie is for.", field="domain")
    return host


def _is_meant(cookie: Cookie, op: ops.Cookies) -> bool:
    if op.name is not None and cookie.name != op.name:
        return False
    if op.path is not None and cookie.path != op.path:
        return False
    if op.domain is None:
        return True
    host, wanted = cookie.domain.removeprefix("."), op.domain.removeprefix(".")
    return host == wanted or host.endswith(f".{wanted}")


def _cookie_view(cookie: Cookie, *, with_value: bool) -> views.CookieView:
    return views.CookieView(
        name=cookie.name,
        domain=cookie.domain,
        path=cookie.path,
        expires=cookie.expires,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=cookie.same_site,
        partition_key=cookie.partition_key,
        value=cookie.value if with_value else None,
    )


def _profile_view(broker: Broker, profile: Profile) -> views.ProfileView:
    return views.ProfileView(
        name=profile.name,
        any_agent=broker.profiles.is_for_any_agent(profile.name) or None,
        source=profile.source,
        imported_at=datetime.fromtimestamp(int(profile.imported_at), UTC),
        cookies=len(profile.contents.cookies),
        sites=len(profile.sites),
        origins=len(profile.contents.storage),
    )
