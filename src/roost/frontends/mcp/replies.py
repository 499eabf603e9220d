"""Turn views into text that a model reads, and keep Roost's words apart from the page's.

Everything that a page could have written (names of elements, titles, addresses, text) goes between
the marks of ``roost.wire.marks``, and so do names that agents choose for themselves. What Roost
itself says (ids, numbers, what happened) stays outside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch
from typing import Any

from roost.api import condition_views, jar_views, page_views, secret_views, views
from roost.errors import RoostError
from roost.frontends.mcp.toolset import Image, Reply
from roost.hints import Hint, Spelling, spelled
from roost.wire.marks import error_text, marked, one_line, sendable

DATA: frozenset[type[views.View]] = frozenset(
    {
        views.SpaceView,
        views.GrantView,
        views.LoopView,
        views.DisposedView,
        secret_views.SecretsView,
    }
)
"""Views in which no page and no other agent could have chosen a word. Their tools also send
``structuredContent``. Clients that see it hide the text, and with it the marks."""
NAME_CHARS = 80
SHOWN_REQUESTS = 3


def text_of(view: views.View, spell: Spelling) -> str:
    """Return the text of a view for a reader that performs steps as ``spell`` says."""
    return _whole(told(view), view.notes, spell)


def reply_to(view: views.View, spell: Spelling) -> Reply:
    """Return a tool's answer for the view. ``spell``: how the caller performs steps."""
    shown = [Image(one.data, one.mime_type) for one in view.pictures]
    if type(view) in DATA:
        told_as = as_json(view.to_wire())
        return Reply(_whole([told_as], view.notes, spell), shown, json.loads(told_as))
    images = [*_images(view), *shown]
    return Reply(text_of(view, spell), images)


def _images(view: views.View) -> list[Image]:
    """Return the pictures that were asked for."""
    if isinstance(view, page_views.ScreenshotView) and view.data is not None:
        return [Image(view.data, view.mime_type)]
    if isinstance(view, views.DrawingsView):
        return [Image(one.data, "image/jpeg") for one in view.drawings if one.data is not None]
    return []


def refusal(error: RoostError) -> Reply:
    """Return an error as text, without structured content.

    Some clients show a model structured content instead of the text, others show both.
    """
    return Reply(error_text(error), is_error=True)


def _whole(parts: Iterable[str], notes: list[str] | None, spell: Spelling) -> str:
    """Join the parts of a reply. Parts that name steps are hints."""
    lines = [spelled(part, spell) for part in parts]
    return sendable("\n".join([*lines, *(f"Note: {note}" for note in notes or ())]))


def as_json(value: Any) -> str:
    """Return the value as JSON on one line."""
    return sendable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


# --- the text of each view ----------------------------------------------------------------------


@singledispatch
def told(view: views.View) -> Iterator[str]:
    """Yield the parts of a reply. A view without a function below is shown as JSON."""
    yield marked([as_json(view.model_copy(update={"notes": None}).to_wire())])


def _tells(kind: type[Any]) -> Callable[[Callable[[Any], Iterator[str]]], Any]:
    return told.register(kind)


def _where(url: str, title: str | None = None) -> list[str]:
    return [f"- Page URL: {url}"] + ([f"- Page Title: {title}"] if title else [])


@_tells(views.PageView)
def _page(view: views.PageView) -> Iterator[str]:
    yield f"Opened tab {view.tab}." if view.opened else f"Tab {view.tab}."
    if view.status is not None and not 200 <= view.status < 300:
        yield f"HTTP status: {view.status}."
    if view.evicted:
        yield f"Closed to make room: {', '.join(view.evicted)}."
    page = _where(view.url, view.title)
    if view.downloads:
        yield "The address is a file: it was downloaded, and the tab stayed where it was."
        page += [f"- Downloaded: {path}" for path in view.downloads]
    yield marked(page + _shown(view))


def _shown(view: views.PageView | views.TabsView | page_views.WaitView) -> list[str]:
    """Return the lines of the page that the reply shows, if it shows any."""
    changes = [] if view.changes is None else [f"- Changes: {view.changes}"]
    return changes + (["Snapshot:", view.snapshot] if view.snapshot else [])


@_tells(views.TabsView)
def _tabs(view: views.TabsView) -> Iterator[str]:
    if view.opened:
        yield f"Opened tab {view.opened}."
    if view.closed:
        yield f"Closed tab {view.closed}."
    if view.evicted:
        yield f"Closed to make room: {', '.join(view.evicted)}."
    if not view.tabs:
        yield Hint("No tabs are open[; {Navigate} opens one].")
        return
    pool = f" Pool: {view.tab_pool}." if view.tab_pool else ""
    yield f"Tabs: {_tab_ids(view.tabs)}.{pool}"
    yield marked([*_tab_lines(view.tabs), *_shown(view)])


def _tab_ids(tabs: list[views.TabView]) -> str:
    """Return the ids with their states, like ``t1 (current), t2 (crashed)``."""
    shown = []
    for tab in tabs:
        about = ["current"] if tab.current else []
        about += [tab.state] if tab.state else []
        about += [f"owner {tab.owner_id}"] if tab.owner_id else []
        shown.append(f"{tab.tab} ({', '.join(about)})" if about else tab.tab)
    return ", ".join(shown)


def _tab_lines(tabs: Iterable[views.TabView]) -> Iterator[str]:
    for tab in tabs:
        label = f" ({tab.label})" if tab.label else ""
        yield f"- {tab.tab}{label}: [{one_line(tab.title)}]({one_line(tab.url)})"


@_tells(views.SessionView)
def _session(view: views.SessionView) -> Iterator[str]:
    yield _session_line(view)
    if view.tabs:
        yield marked(_tab_lines(view.tabs))


@_tells(views.SessionsView)
def _sessions(view: views.SessionsView) -> Iterator[str]:
    if not view.sessions:
        yield Hint("You have no session[; {Navigate} opens one].")
        return
    yield from map(_session_line, view.sessions)
    yield marked(_session_names(view.sessions))


@_tells(views.StatusView)
def _status(view: views.StatusView) -> Iterator[str]:
    broker = view.broker
    http = f", {broker.http}" if broker.http else ""
    yield f"Roost {broker.version}, pid {broker.pid}, up {broker.uptime_seconds} s{http}."
    for browser in view.browsers:
        mode = "headless" if browser.headless else "headed"
        version = f" {browser.version}" if browser.version else ""
        room = f"{browser.tabs}/{browser.capacity or '∞'} tabs"
        yield f"Browser {browser.id}{version}: {mode}, {room}."
    if not view.browsers:
        yield "No browser runs yet; the first page starts it."
    for agent in view.agents:
        state = "connected" if agent.connected else "by lease" if agent.leased else "lost"
        yield f"Agent {agent.id}: pid {agent.pid}, session {agent.session}, {state}."
    yield from map(_session_line, view.sessions)
    for request in view.requests:
        waiting = f"waits for a tab slot in {request.browser} since {request.waiting_seconds} s"
        yield f"Session {request.session} {waiting}."
    for kept in view.reservations:
        left = f"for another {kept.expires_in_ms // 1000} s"
        yield f"A tab slot in {kept.browser} is reserved for session {kept.session} {left}."
    names = [f"agent {agent.id}: {_name(agent.name)}" for agent in view.agents]
    lines = [*names, *_session_names(view.sessions)]
    if lines:
        yield marked(lines)


def _session_line(view: views.SessionView) -> str:
    called = f" ({view.alias})" if view.alias and view.alias != view.id else ""
    about = [view.browser, f"jar {view.jar}", view.color, view.lifetime]
    about += ["paused"] if view.paused else []
    tabs = f"tabs: {_tab_ids(view.tabs)}" if view.tabs else "no tabs"
    return f"Session {view.id}{called}: {', '.join(about)}; {tabs}."


def _session_names(sessions: Iterable[views.SessionView]) -> Iterator[str]:
    for session in sessions:
        yield f"session {session.id}: {_name(session.name)}"
        yield from _tab_lines(session.tabs)


def _name(name: str) -> str:
    """Return a name that an agent chose, on one line and shortened."""
    return one_line(name)[:NAME_CHARS]


@_tells(views.HandoffView)
def _handoff(view: views.HandoffView) -> Iterator[str]:
    if view.answer == "waiting":
        yield "The person has not answered yet. Make the same call again to go on waiting."
    elif view.answer == "done":
        yield "The person says it is done. Look at the page again: it may have changed."
    else:
        yield "The person says it cannot be done."
    if view.note is not None:
        yield f"The person's note: {one_line(view.note)}"


@_tells(views.DrawingsView)
def _drawings(view: views.DrawingsView) -> Iterator[str]:
    if not view.drawings:
        yield "The person has shown you nothing in this session."
    for number, drawn in enumerate(view.drawings, 1):
        where = f"x={drawn.x:g}, y={drawn.y:g}, {drawn.width:g}x{drawn.height:g}"
        shapes = " and ".join(f"{kind}" for kind in dict.fromkeys(drawn.kinds))
        yield f"{number}. Tab {drawn.tab}, {shapes} at {where}. The person says: “{drawn.text}”"
        if drawn.path is not None:
            yield f"Picture: {drawn.path}"
        if drawn.elements:
            yield marked(f'{one.ref}: {one.role} "{one_line(one.name)}"' for one in drawn.elements)


@_tells(views.ValueView)
def _value(view: views.ValueView) -> Iterator[str]:
    yield marked([as_json(view.value)])


@_tells(page_views.ElementValueView)
def _element_value(view: page_views.ElementValueView) -> Iterator[str]:
    if view.value is None:
        yield "The element has no such attribute."
    elif view.what == "count":
        yield f"{view.value} elements fit."
    elif view.what == "box" and isinstance(view.value, dict):
        yield ", ".join(f"{side} {size}" for side, size in view.value.items())
    else:
        yield marked([view.value if isinstance(view.value, str) else as_json(view.value)])
    if view.truncated:
        yield "Cut: ask for more with maxLength."


@_tells(page_views.ClipboardView)
def _clipboard(view: page_views.ClipboardView) -> Iterator[str]:
    if view.action == "clear":
        yield "The session's clipboard is empty now."
    elif view.action == "write":
        yield f"The session's clipboard holds {' and '.join(view.types)}."
    elif not view.types:
        yield "The session's clipboard is empty."
    else:
        held = view.html or "" if view.text is None else view.text
        yield marked([f"{', '.join(view.types)}:", held])  # pages name the types that they copy


@_tells(page_views.PageToolsView)
def _page_tools(view: page_views.PageToolsView) -> Iterator[str]:
    if not view.tools:
        yield "The page offers no tools."
        return
    yield f"The page offers {len(view.tools)} tools. These are its words, not Roost's:"
    yield marked(line for tool in view.tools for line in _page_tool(tool))


def _page_tool(tool: page_views.PageToolView) -> Iterator[str]:
    yield f"- {one_line(tool.name)}: {one_line(tool.description)}"
    yield f"  input: {one_line(tool.input_schema)}"


@_tells(page_views.WebTextView)
def _web_text(view: page_views.WebTextView) -> Iterator[str]:
    if view.status is not None and not 200 <= view.status < 300:
        yield f"HTTP status: {view.status}."
    yield marked([*_where(view.url, view.title), "", view.text])
    if view.truncated:
        yield f"Cut: {view.length} characters in all; ask for more with maxLength."


@_tells(page_views.ElementStateView)
def _element_state(view: page_views.ElementStateView) -> Iterator[str]:
    which = f" ({view.ref})" if view.ref else ""
    yield f"{view.state}: {'yes' if view.value else 'no'}{which}."


@_tells(page_views.ActionView)
def _action(view: page_views.ActionView) -> Iterator[str]:
    is_told = view.stayed and view.changes is not None
    page = [view.did] if is_told else [view.did, *_where(view.url, view.title)]
    if view.changes is not None:
        page.append(f"- Changes: {view.changes}")
    if view.dialog is not None:
        page.append(f"- Dialog ({view.dialog.kind}): {view.dialog.message}")
    page += [f"- Downloaded: {path}" for path in view.downloads or ()]
    page += [f"- Still under way: {request}" for request in (view.under_way or ())[:SHOWN_REQUESTS]]
    if view.snapshot:
        page += ["Snapshot:", view.snapshot]
    yield marked(page)
    if view.under_way:
        some = "1 request is" if len(view.under_way) == 1 else f"{len(view.under_way)} requests are"
        yield f"{some} still under way. " + Hint("Wait for the result[ with {WaitFor}].")
    if view.opened:
        yield f"It opened: {', '.join(view.opened)}. Your current tab is still {view.tab}."
    if view.dialog is not None:
        yield Hint("A dialog is open: answer it[ with {HandleDialog}].")
    if view.chooser is not None:
        many = "files" if view.chooser.multiple else "a file"
        yield f"The page asks for {many}. " + Hint("Give what it asks for[ with {FileUpload}].")


@_tells(page_views.SnapshotView)
def _snapshot(view: page_views.SnapshotView) -> Iterator[str]:
    yield marked([*_where(view.url, view.title), "Snapshot:", view.snapshot])


@_tells(page_views.FoundView)
def _found(view: page_views.FoundView) -> Iterator[str]:
    if not view.total:
        yield "Nothing on the page matches."
        return
    more = "; the first are" if view.truncated else ""
    yield f"{view.total} match{'' if view.total == 1 else 'es'}{more}:"
    yield marked([view.matches])


@_tells(page_views.ContentView)
def _content(view: page_views.ContentView) -> Iterator[str]:
    yield marked([*_where(view.url, view.title), "", view.text])
    if view.truncated:
        yield (
            f"Cut: the whole is {view.length} characters. Ask for a part with selector, or for "
            "more with maxLength."
        )


@_tells(page_views.WaitView)
def _wait(view: page_views.WaitView) -> Iterator[str]:
    yield f"Waited {view.waited_ms} ms."
    yield marked(_where(view.url) + _shown(view))


@_tells(page_views.ConsoleView)
def _console(view: page_views.ConsoleView) -> Iterator[str]:
    yield _count(len(view.messages), view.total, "message")
    if view.messages:
        yield marked(
            f"[{said.level}] {said.text}" + (f" ({said.url}:{said.line})" if said.url else "")
            for said in view.messages
        )


@_tells(condition_views.ConditionsView)
def _conditions(view: condition_views.ConditionsView) -> Iterator[str]:
    where = f"tab {view.tab}" if view.tab else f"session {view.session}"
    lines = [
        *(_route(one, view.added) for one in view.routes),
        *(f"Headers to {one.origin}: {', '.join(one.names)}." for one in view.headers),
        *(f"Credentials for {one.origin}: {one.username}." for one in view.credentials),
        *(["Network: offline."] if view.offline else []),
        *([f"Network: {view.throttle}."] if view.throttle else []),
        *([f"Emulation: {_emulated(view.emulation)}."] if view.emulation else []),
        *(f"Permissions of {one.origin}: {', '.join(one.names)}." for one in view.permissions),
        *([f"Init scripts: {', '.join(view.scripts)}."] if view.scripts else []),
    ]
    yield "\n".join(
        [f"Conditions of {where}:", *lines] if lines else [f"No conditions in {where}."]
    )


def _route(route: condition_views.RouteView, added: str | None) -> str:
    only = [*([route.method] if route.method else []), *(route.kinds or [])]
    limits = f" ({', '.join(only)})" if only else ""
    new = " (new)" if route.id == added else ""
    return f"{route.id}{new}: {route.url}{limits} {route.does}"


def _emulated(emulation: condition_views.EmulationView) -> str:
    return ", ".join(f"{name} {value}" for name, value in emulation.to_wire().items())


@_tells(page_views.NetworkView)
def _network(view: page_views.NetworkView) -> Iterator[str]:
    yield _count(len(view.requests), view.total, "request")
    if view.requests:
        yield marked(_request(request) for request in view.requests)


def _request(request: page_views.RequestLogView) -> str:
    outcome = request.error or (str(request.status) if request.status else "pending")
    took = "" if request.duration_ms is None else f", {request.duration_ms} ms"
    return f"{request.index}. {request.method} {request.url} → {outcome} ({request.kind}{took})"


def _count(shown: int, total: int, what: str) -> str:
    some = f"{total} {what}{'' if total == 1 else 's'}"
    return f"{some}." if shown == total else f"{some}; the last {shown}:"


@_tells(page_views.MessagesView)
def _messages(view: page_views.MessagesView) -> Iterator[str]:
    yield _count(len(view.messages), view.total, "message")
    if view.messages:
        yield marked(_message(message) for message in view.messages)


def _message(message: page_views.MessageView) -> str:
    way = "→" if message.sent else "←"
    name = f" {one_line(message.name)}" if message.name else ""
    text = one_line(message.text)
    return f"{way} {message.kind} {message.url}{name}: {text}"


@_tells(page_views.HarView)
def _har(view: page_views.HarView) -> Iterator[str]:
    if view.recording:
        yield Hint("Recording. Save it[ with {Har action=stop}].")
    else:
        yield f"Saved {view.requests} requests ({view.bytes} bytes):"
        yield marked([str(view.path)])


@_tells(page_views.BodyView)
def _body(view: page_views.BodyView) -> Iterator[str]:
    body = "(no body)" if view.body is None else view.body
    yield marked([_request(view.request), "", body])
    if view.base64:
        yield "The body is base64."
    if view.truncated:
        yield "Cut: ask for more with maxLength."


@_tells(page_views.ScreenshotView)
def _screenshot(view: page_views.ScreenshotView) -> Iterator[str]:
    if view.unchanged:
        yield f"Tab {view.tab} looks as in your last picture."
        return
    yield f"Screenshot of tab {view.tab}: {view.width}x{view.height}, {view.mime_type}."
    yield from _page_coordinates(view)
    if view.path is not None:
        yield f"Written to {view.path}."
    if view.readiness is not None:
        steps = " · ".join(f"{step.event} {step.t}" for step in view.readiness.timeline)
        late = ", not at rest in time" if view.readiness.timed_out else ""
        yield f"Readiness: {view.readiness.wait_ms} ms{late} ({steps})."
    if view.labels:
        yield marked(f'{label.ref}: {label.role} "{label.name}"' for label in view.labels)


def _page_coordinates(view: page_views.ScreenshotView) -> Iterator[str]:
    """Say how a point of the picture becomes a point for the mouse tools, if the two differ."""
    factor = round(1 / view.scale, 3)
    steps = [f"multiply by {factor:g}"] if factor != 1 else []
    if view.left is None or view.top is None:
        steps.append("subtract how far the page is scrolled")
    elif (round(view.left), round(view.top)) != (0, 0):
        steps.append(f"add x={round(view.left)}, y={round(view.top)}")
    if steps:
        yield f"Scale {view.scale:g}: for points of the page, {', then '.join(steps)}."


@_tells(page_views.ScrollView)
def _scroll(view: page_views.ScrollView) -> Iterator[str]:
    # The size is that of what moved: the page, or a part of it that scrolls by itself.
    moved = "Scrolled to" if view.moved else "Nothing moved: it stays at"
    yield (
        f"{moved} x={view.x:g}, y={view.y:g} "
        f"of {view.page_width:g}x{view.page_height:g} that can be scrolled."
    )


@_tells(page_views.SizeView)
def _size(view: page_views.SizeView) -> Iterator[str]:
    yield f"The viewport of tab {view.tab} is {view.width}x{view.height}."


@_tells(page_views.FileView)
def _file(view: page_views.FileView) -> Iterator[str]:
    yield f"Written to {view.path} ({view.bytes} bytes)."


@_tells(page_views.ConsentView)
def _consent(view: page_views.ConsentView) -> Iterator[str]:
    if not view.found:
        yield "No cookie banner is there."
        return
    yield f"Answered the cookie banner: {view.action or 'done'}."
    if view.text:
        yield marked([view.text])


@_tells(page_views.DownloadsView)
def _downloads(view: page_views.DownloadsView) -> Iterator[str]:
    if not view.downloads:
        yield "Nothing has been downloaded."
        return
    yield marked(
        f"- {one.name}: {one.state}" + (f", {one.path}" if one.path else "")
        for one in view.downloads
    )


@_tells(jar_views.CookiesView)
def _cookies(view: jar_views.CookiesView) -> Iterator[str]:
    if not view.cookies:
        yield "There are no cookies."
        return
    yield marked(_cookie(one) for one in view.cookies)


def _cookie(cookie: jar_views.CookieView) -> str:
    value = "" if cookie.value is None else f"={cookie.value}"
    flags = [
        flag
        for flag, is_set in (("secure", cookie.secure), ("httpOnly", cookie.http_only))
        if is_set
    ]
    flags += [f"sameSite {cookie.same_site}"] if cookie.same_site else []
    flags += [f"expires {cookie.expires:.0f}"] if cookie.expires is not None else ["session"]
    return f"- {cookie.name}{value} ({cookie.domain}{cookie.path}; {', '.join(flags)})"


@_tells(jar_views.StorageView)
def _storage(view: jar_views.StorageView) -> Iterator[str]:
    kind = {"local": "localStorage", "session": "sessionStorage"}.get(view.kind, "IndexedDB")
    if view.action in ("clear", "delete", "set"):
        did = {"clear": f"Cleared {view.total}", "delete": "Deleted 1", "set": "Stored 1"}
        yield f"{did[view.action]} in {kind}."
        return
    lines = [_stored_item(item) for item in view.items]
    for database in view.databases or ():
        stores = ", ".join(f"{name} ({count})" for name, count in database.stores.items())
        lines.append(f"- {database.name}: {stores or 'no object stores'}")
    if not lines:
        yield f"{kind} is empty."
        return
    yield marked([f"{view.origin}:", *lines])
    if view.total > len(lines):
        yield f"{len(lines)} of {view.total} are shown."


def _stored_item(item: jar_views.StoredItemView) -> str:
    if item.value is not None:
        return f"- {item.key}={item.value}"
    return f"- {item.key}" + ("" if item.size is None else f" ({item.size} characters)")


@_tells(jar_views.StorageStateView)
def _storage_state(view: jar_views.StorageStateView) -> Iterator[str]:
    counted = f"{view.cookies} cookies and the storage of {view.origins} origins"
    if view.refused is None:
        yield f"Wrote {counted} to {view.path}."
    else:
        refused = f", {view.refused} of them refused by the browser" if view.refused else ""
        yield f"Loaded {counted}{refused}."
