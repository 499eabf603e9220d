"""The bare value of an answer, for ``--raw``: what a shell script wants, without Roost's words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from roost.api import jar_views, page_views, views

_VALUES: dict[type[views.View], Callable[[Any], object]] = {
    views.PageView: lambda view: view.url,
    views.TabsView: lambda view: (
        view.opened or view.closed or "\n".join(tab.tab for tab in view.tabs)
    ),
    views.NamedPageView: lambda view: view.tab_id,
    views.SessionView: lambda view: view.id,
    views.ValueView: lambda view: view.value,
    page_views.ActionView: lambda view: view.url,
    page_views.SnapshotView: lambda view: view.snapshot,
    page_views.FoundView: lambda view: view.matches,
    page_views.ElementValueView: lambda view: "" if view.value is None else view.value,
    page_views.ElementStateView: lambda view: view.value,
    page_views.PageToolsView: lambda view: "\n".join(one.name for one in view.tools),
    page_views.WebTextView: lambda view: view.text,
    page_views.ContentView: lambda view: view.text,
    page_views.WaitView: lambda view: view.url,
    page_views.BodyView: lambda view: view.body or "",
    page_views.StateView: lambda view: view.state,
    page_views.FileView: lambda view: view.path,
    page_views.ScreenshotView: lambda view: view.path or view.data,
    page_views.ScrollView: lambda view: f"{view.x:g} {view.y:g}",
    page_views.SizeView: lambda view: f"{view.width} {view.height}",
    page_views.ConsentView: lambda view: view.action or "",
    page_views.ConsoleView: lambda view: "\n".join(
        f"[{one.level}] {one.text}" for one in view.messages
    ),
    page_views.NetworkView: lambda view: "\n".join(
        f"{one.index} {one.method} {one.status or one.error or 'pending'} {one.url}"
        for one in view.requests
    ),
    page_views.DownloadsView: lambda view: "\n".join(
        one.path or one.name for one in view.downloads
    ),
    jar_views.CookiesView: lambda view: "\n".join(
        one.name if one.value is None else one.value for one in view.cookies
    ),
    jar_views.StorageView: lambda view: "\n".join(
        one.key if one.value is None else one.value for one in view.items
    ),
    jar_views.StorageStateView: lambda view: view.path or "",
}


def bare_value(view: views.View) -> str:
    """Return the view's value as text. Values that are not text are JSON."""
    value = _VALUES.get(type(view), _whole)(view)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _whole(view: views.View) -> object:
    return view.model_copy(update={"notes": None}).to_wire()
