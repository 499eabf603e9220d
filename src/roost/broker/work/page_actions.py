"""The work behind operations that act in a page. Each returns what it did and what changed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from roost.api import page_operations as ops
from roost.api import page_views as views
from roost.api.views import ValueView
from roost.broker.broker import Broker
from roost.broker.work import page_use, policy, secret_documents, shown_page
from roost.broker.work.own_requests import OwnRequests
from roost.broker.work.page_use import InPage
from roost.core.addresses import origin_of
from roost.errors import (
    ApprovalPending,
    BadRequest,
    DialogOpen,
    NotFound,
    PolicyDenied,
    RoostError,
)
from roost.hints import Hint
from roost.page import actions
from roost.page.page import NO_ORIGIN, Judge
from roost.vocabulary import AgentId

FIELD_CHARS = 80
LEFT_BEFORE = "The page was left before the function began."
CHOOSER_SECONDS = 2.0
"""After a click, wait this long for the page to ask for files."""
DRAWINGS = frozenset({"canvas", "svg"})
"""Elements whose content has no elements of its own that could be clicked."""
CLICKED_MIDDLE = Hint(
    "This is a drawing, and the click was at its middle.[ {MouseClickXy} clicks at any point of it."
    "| {unlisted MouseClickXy} clicks at any point of it.]"
)


async def evaluate(broker: Broker, agent: AgentId, op: ops.Evaluate) -> ValueView:
    async with page_use.acting(broker, agent, op, "run scripts in") as at:
        frame = ref = None
        if op.target is not None:
            frame, found = await at.page.call_where(op.target, "resolve")
            ref = found["ref"]
        async with page_use.UnlessDialog(at.record):
            value = await run_function(at, op.function, frame=frame, ref=ref)
        return ValueView(tab=at.tab, value=value)


async def run_function(
    at: InPage, function: str, *, frame: str | None = None, ref: str | None = None
) -> Any:
    """Call a caller's function in the page's own world. Every operation that runs a caller's script
    goes through here, because none may run in a document into which a secret was filled."""
    await secret_documents.check_left(at)
    at.record.script_ran_at = at.broker.clock.now()
    if at.page.judge is not None:
        function = await _judged(at, at.page.judge, function, frame)
    return await at.page.tab.evaluate(function, frame=frame, ref=ref)


async def _judged(at: InPage, judge: Judge, function: str, frame: str | None) -> str:
    """Return the function as it is run under a policy: it refuses to run in another document than
    the judged one."""
    if not at.broker.browser(at.row.browser).driver.capabilities.page_work:
        judge.may_run(origin_of(at.row.url) or NO_ORIGIN)
        return function
    place = await at.page.judged_place(frame)
    # Page scripts cannot replace ``location``.
    return (
        f"(...given) => {{ if (location.origin !== {json.dumps(place)})"
        f" throw new Error({json.dumps(LEFT_BEFORE)}); return ({function}\n)(...given) }}"
    )


async def click(broker: Broker, agent: AgentId, op: ops.Click) -> views.ActionView:
    notes: list[str] = []

    async def work(at: InPage) -> str:
        spot = await actions.click(
            at.page,
            op.target,
            wait_ms=page_use.wait_ms(broker),
            button=op.button,
            count=2 if op.double_click else 1,
            modifiers=op.modifiers,
        )
        if spot.about["isDownload"] and op.button == "left":
            await _download_begins(at)
        if spot.about["tag"] in DRAWINGS:
            notes.append(CLICKED_MIDDLE)
        return f"Clicked {named(spot.about)}."

    view = await acted(broker, agent, op, "click in", work)
    return view.model_copy(update={"notes": [*(view.notes or []), *notes] or None})


async def triple_click(broker: Broker, agent: AgentId, op: ops.TripleClick) -> views.ActionView:
    async def work(at: InPage) -> str:
        spot = await actions.click(
            at.page, op.target, wait_ms=page_use.wait_ms(broker), count=3, modifiers=op.modifiers
        )
        return f"Clicked {named(spot.about)} three times."

    return await acted(broker, agent, op, "click in", work)


async def type_(broker: Broker, agent: AgentId, op: ops.Type) -> views.ActionView:
    async def work(at: InPage) -> str:
        field = await actions.type_text(
            at.page,
            op.target,
            op.text,
            wait_ms=page_use.wait_ms(broker),
            slowly=op.slowly,
            submit=op.submit,
        )
        done = f"Typed {len(op.text)} characters into {named(field)}"
        return f"{done} and pressed Enter." if op.submit else f"{done}."

    return await acted(broker, agent, op, "type into", work)


async def fill_form(broker: Broker, agent: AgentId, op: ops.FillForm) -> views.ActionView:
    async def work(at: InPage) -> str:
        look, at.page.look = at.page.look, None  # read the changes once, after the last field
        unchosen: list[dict[str, Any]] = []
        for number, field in enumerate(op.fields, 1):
            if number == len(op.fields):
                at.page.look = look
            try:
                filled_in = await actions.fill(
                    at.page, field.target, field.value, wait_ms=page_use.wait_ms(broker)
                )
            except RoostError as error:
                name = (field.name or field.target)[:FIELD_CHARS]
                filled = f"{number - 1} of {len(op.fields)} fields were filled before."
                raise error.retold(
                    message=f"{name}: {error.message}", hint=error.hint + f" {filled}"
                ) from None
            if "unchosen" in filled_in:
                unchosen.append(filled_in)
        count = f"{len(op.fields) - len(unchosen)} of " if unchosen else ""
        did = f"Filled {count}{len(op.fields)} fields."
        return " ".join([did, *map(_not_chosen, unchosen)])

    return await acted(broker, agent, op, "fill", work)


async def select_option(broker: Broker, agent: AgentId, op: ops.SelectOption) -> views.ActionView:
    async def work(at: InPage) -> str:
        field = await actions.select_options(
            at.page, op.target, op.values, wait_ms=page_use.wait_ms(broker)
        )
        return f"Selected {', '.join(op.values)} in {named(field)}."

    return await acted(broker, agent, op, "select in", work)


async def press_key(broker: Broker, agent: AgentId, op: ops.PressKey) -> views.ActionView:
    async def work(at: InPage) -> str:
        await actions.press_key(at.page, op.key)
        return f"Pressed {op.key}."

    return await acted(broker, agent, op, "press keys in", work)


async def hover(broker: Broker, agent: AgentId, op: ops.Hover) -> views.ActionView:
    async def work(at: InPage) -> str:
        spot = await actions.hover(at.page, op.target, wait_ms=page_use.wait_ms(broker))
        return f"The mouse is over {named(spot.about)}."

    return await acted(broker, agent, op, "hover in", work)


async def drag(broker: Broker, agent: AgentId, op: ops.Drag) -> views.ActionView:
    async def work(at: InPage) -> str:
        source, goal = await actions.drag(
            at.page, op.start_target, op.end_target, wait_ms=page_use.wait_ms(broker)
        )
        return f"Dragged {named(source.about)} to {named(goal.about)}."

    return await acted(broker, agent, op, "drag in", work)


async def scroll(broker: Broker, agent: AgentId, op: ops.Scroll) -> views.ScrollView:
    async with page_use.acting(broker, agent, op, "scroll") as at:
        async with page_use.UnlessDialog(at.record):
            moved = await actions.scroll(
                at.page, target=op.target, x=op.x, y=op.y, direction=op.direction
            )
        return views.ScrollView(tab=at.tab, **moved)


async def file_upload(broker: Broker, agent: AgentId, op: ops.FileUpload) -> views.ActionView:
    async def work(at: InPage) -> str:
        folders = broker.folders(agent, at.row.session)
        paths = [str(folders.to_read(path, "paths")) for path in op.paths]
        count = f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
        if op.target is not None:
            field = await actions.upload(
                at.page, op.target, paths, wait_ms=page_use.wait_ms(broker)
            )
            if field["isFile"]:
                return f"Gave {count} to {named(field)}."
            look, at.page.look = at.page.look, None  # read the changes once, after the files
            await actions.click(at.page, field["ref"], wait_ms=page_use.wait_ms(broker))
            at.page.look = look
            await _chooser_opens(at, field)
        asked = at.record.chooser
        if asked is not None and len(paths) > 1 and not asked.multiple:
            raise BadRequest("paths: the page asked for one file.", field="paths")
        await at.page.judge_all_frames()
        await at.page.tab.choose_files(paths)
        await at.page.settle(None)
        return f"Gave {count} to the field that asked."

    return await acted(broker, agent, op, "upload to", work)


async def handle_dialog(broker: Broker, agent: AgentId, op: ops.HandleDialog) -> views.ActionView:
    """Answer the dialog without the tab's turn: the call that holds the turn may be waiting for
    this answer."""
    row = await page_use.located(broker, agent, op, "answer dialogs of", acts=True)
    policy.check_tab(broker, agent, op, row)
    record = broker.record(row.id)
    dialog = record.dialog
    if dialog is None:
        raise NotFound(
            "No dialog is open in this tab.", hint="There is nothing to answer; continue."
        )
    await broker.page(row).answer_dialog(accept=op.accept, text=op.prompt_text)
    while record.dialog is dialog:
        await record.changed()
    did = f"{'Accepted' if op.accept else 'Dismissed'} the {dialog.kind}."
    if record.dialog is not None:
        return views.ActionView(
            tab=row.id, did=did, url=row.url, title=row.title,
            dialog=page_use.dialog_view(record.dialog),
        )  # fmt: skip
    async with broker.lanes.turn(row.id):
        at = page_use.in_page(broker, row, policy.judge_for(broker, agent, row, op))
        try:
            with at.record.while_acting(broker.clock):
                async with page_use.UnlessDialog(at.record):
                    own = OwnRequests(at.page, at.record, broker.clock, broker.request_wait)
                    at.page.look = shown_page.look(agent, op.snapshot)
                    await at.page.settle(None)
                    return await _view(agent, at, did, op.snapshot, set(), own)
        except DialogOpen:
            return await _stopped(at, did)


async def handle_consent(
    broker: Broker, agent: AgentId, op: ops.HandleConsent
) -> views.ConsentView:
    async with page_use.acting(broker, agent, op, "click in") as at:
        async with page_use.UnlessDialog(at.record):
            for frame in [None, *(frame for frame, _ in await at.page.child_frames())]:
                found = await at.page.call(frame, "consent")
                if found["found"] and found.get("point"):
                    await actions.click(at.page, found["ref"], wait_ms=page_use.wait_ms(broker))
                    return views.ConsentView(
                        tab=at.tab, found=True, action=found["action"], text=found["text"]
                    )
        return views.ConsentView(tab=at.tab, found=False)


async def resize(broker: Broker, agent: AgentId, op: ops.Resize) -> views.SizeView:
    async with page_use.acting(broker, agent, op, "resize") as at:
        await at.page.tab.resize(op.width, op.height)
        return views.SizeView(tab=at.tab, width=op.width, height=op.height)


async def acted(
    broker: Broker,
    agent: AgentId,
    op: ops.ActionOperation,
    action: str,
    work: Callable[[InPage], Awaitable[str]],
) -> views.ActionView:
    """Run ``work`` in the tab's turn and describe the page after it. A dialog that the action opens
    is part of the reply, not an error."""
    async with page_use.acting(broker, agent, op, action) as at:
        before, where = _tabs(at), at.where()
        own = OwnRequests(at.page, at.record, broker.clock, broker.request_wait)
        at.page.look = shown_page.look(agent, op.snapshot)
        did = "Done; the page answered with a dialog."
        try:
            async with page_use.UnlessDialog(at.record):
                did = await work(at)
                view = await _view(agent, at, did, op.snapshot, before, own)
                return view.model_copy(update={"stayed": at.where() == where})
        except DialogOpen:
            return await _stopped(at, did)


async def _stopped(at: InPage, did: str) -> views.ActionView:
    """Return the view of an action that was done and after which the page shows a dialog."""
    page_dialog = page_use.dialog_view(at.record.dialog)
    return views.ActionView(**at.where(), did=did, ref=at.page.ref, dialog=page_dialog)


async def _view(
    agent: AgentId, at: InPage, did: str, show: str, before: set[str], own: OwnRequests
) -> views.ActionView:
    """Describe the page after an action and the requests that it began.

    ``opened`` names new tabs by comparison with ``before``. Agents over MCP do not watch notices,
    so this is how they learn of popups.
    """
    has_news = await own.ended()
    if has_news:
        at.page.reread()
        await at.page.settle(None)
    try:
        if (has_news or at.page.has_left) and show != "none":
            await shown_page.drawn(at)
        shown = await shown_page.shown(agent, at, show)
    except (PolicyDenied, ApprovalPending, NotFound) as refusal:
        # The action is done, so the reply says so, although it cannot show the page. The policy
        # refuses that, or the page has no element (``NotFound``).
        shown = {"notes": [f"The page is not shown. {refusal.message}"]}
        if not isinstance(refusal, NotFound):
            shown["title"] = ""
    opened = sorted(_tabs(at) - before, key=_number) if before else []
    asked = at.record.chooser
    return views.ActionView(
        did=did,
        ref=at.page.ref,
        opened=opened or None,
        downloads=await page_use.new_downloads(at.broker, at.row),
        chooser=None if asked is None else views.ChooserView(multiple=asked.multiple),
        under_way=own.under_way(),
        **{**at.where(), **shown},
    )


async def _chooser_opens(at: InPage, clicked: dict[str, Any]) -> None:
    """Wait until the page asks for files after a click. Raises ``BadRequest`` if it does not."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CHOOSER_SECONDS):
            while at.record.chooser is None:
                await at.record.changed()
    if at.record.chooser is None:
        raise BadRequest(
            f"target: {clicked['ref']} is not a field for files, and the page asked for no file"
            " when it was clicked.",
            hint=Hint(
                "Give the ref of the file field[ from {Snapshot}], or click what opens the file"
                " chooser and then upload[ with {FileUpload}] without a target."
            ),
            field="target",
        )


def _not_chosen(field: dict[str, Any]) -> str:
    found = field["unchosen"]
    more = found["total"] - len(found["options"])
    options = ", ".join(found["options"]) + (f" and {more} more" if more > 0 else "")
    return (
        f"Nothing is chosen in {named(field)} yet: the text is typed, and its list offers"
        f" {options}. Click the option that you mean."
    )


async def _download_begins(at: InPage) -> None:
    """Wait until the download of a clicked download link begins. The page itself does not change,
    so only the browser's event shows it."""
    session = at.row.session
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(page_use.DOWNLOAD_BEGINS_SECONDS):
            while session is not None and not at.broker.downloads.unreported(session, at.row.id):
                await at.broker.downloads.changed()


def _tabs(at: InPage) -> set[str]:
    session = at.row.session
    return set() if session is None else {tab.id for tab in at.broker.state.tabs_in(session)}


def _number(tab: str) -> int:
    return int(tab[1:])


def named(about: dict[str, Any]) -> str:
    name = about.get("name")
    role = about.get("role") or about.get("tag") or "element"
    shown = f'{role} "{name}" ({about["ref"]})' if name else f"{role} ({about['ref']})"
    return f"{shown}, {about['choice']}" if "choice" in about else shown
